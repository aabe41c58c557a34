//! The record of the charges for collectives over boards. A test compares it with the table that the executor of the
//! fabric in shared memory must match, too, so that the twin cannot drift from that fabric.

/// Kind of work that a rank is charged for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Charge {
    /// A step.
    Step,
    /// Bytes that it writes to boards.
    Write,
    /// Bytes that it copies from boards.
    Read,
    /// Bytes of the results of combining two operands.
    Combine,
}

/// Records a charge of a rank. Only the test reads it.
pub(super) fn note(_rank: usize, _what: Charge, _amount: usize) {
    #[cfg(test)]
    tests::note(_rank, _what, _amount);
}

#[cfg(test)]
#[path = "../../../collectives/tests/traffic/mod.rs"]
mod table;

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use collectives::Collective;
    use contract::{Rank, Reduction, Result};

    use super::Charge;
    use super::table::{Case, ROOT, Subject, Traffic, check};
    use crate::machine::parse;
    use crate::{Options, run};

    /// A machine with the boards of the fabric. Its times do not matter.
    const BOARDS: &str = "name = \"test\"\ntitle = \"test\"\n[processor]\ncopy_mb_per_s = 1000\n[board]\n\
        ranks_max = 32\nbytes_max = 1048576\nline_bytes = 48\npiece_bytes = 32768\nslot_bytes = 73728\nplaces = 16\n\
        see_us = 1\nput = [{ from_bytes = 0, us = 1, ns_per_byte = 1 }]\n\
        take = [{ from_bytes = 0, us = 1, ns_per_byte = 1 }]\n\
        combine = [{ from_bytes = 0, us = 1, ns_per_byte = 1 }]\n[protocol]\neager_bytes = 4096\n[network]\n\
        shape = \"switch\"\nlink_mb_per_s = 100\nlatency_us = 50\n[[source]]\n\
        of = [\"processor\", \"protocol\", \"network\", \"board\"]\nkind = \"assumed\"\nfrom = \"a test\"\n";

    thread_local! {
        /// Charges by rank: the ranks of a simulated machine share a thread.
        static CHARGED: RefCell<Vec<Traffic>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn note(rank: usize, what: Charge, amount: usize) {
        CHARGED.with_borrow_mut(|ranks| {
            let Some(traffic) = ranks.get_mut(rank) else { return };
            *match what {
                Charge::Step => &mut traffic.steps,
                Charge::Write => &mut traffic.written,
                Charge::Read => &mut traffic.read,
                Charge::Combine => &mut traffic.combined,
            } += amount;
        });
    }

    #[test]
    fn the_simulator_charges_what_the_table_says() {
        check(Subject::Twin, charged);
    }

    /// Returns the charges of the ranks of a case.
    fn charged(case: &Case) -> Vec<Traffic> {
        let machine = parse("test.toml", BOARDS).unwrap();
        CHARGED.set(vec![Traffic::default(); case.ranks]);
        let Case { collective, bytes, .. } = *case;
        let outcome =
            run(&machine, &Options::new(case.ranks), move |rank| make(rank, collective, bytes));
        assert!(outcome.is_ok());
        CHARGED.take()
    }

    fn make(rank: &mut dyn Rank, collective: Collective, bytes: usize) -> Result<()> {
        let blocks = rank.size() * bytes;
        let (one, all) = (&vec![0; bytes], &vec![0; blocks]);
        let (mut own, mut every) = (vec![0; bytes], vec![0; blocks]);
        match collective {
            Collective::Barrier => rank.barrier(),
            Collective::Broadcast => rank.broadcast(ROOT, &mut own),
            Collective::Scatter => rank.scatter(ROOT, all, &mut own),
            Collective::Gather => rank.gather(ROOT, one, &mut every),
            Collective::Allgather => rank.allgather(one, &mut every),
            Collective::AllToAll => rank.all_to_all(all, &mut every),
            Collective::Reduce => rank.reduce(ROOT, Reduction::SUM_F64, one, &mut own),
            Collective::Allreduce => rank.allreduce(Reduction::SUM_F64, one, &mut own),
            other => panic!("{other:?} has no boards"),
        }
    }
}
