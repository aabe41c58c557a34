//! Programs that cannot continue end at once, with an explanation.

use contract::{EAGER_BYTES, Error, Source, Tag};

use super::{TAG, machine, run};
use crate::Machine;
use crate::machine::find;

fn switch() -> Machine {
    machine("[protocol]\neager_bytes = 1024\n[network]\nshape = \"switch\"\nlink_mb_per_s = 100")
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let outcome = run(&switch(), 3, |rank| match rank.rank() {
        0 => rank.receive(Source::Rank(1), TAG.into(), &mut []).map(drop),
        1 => rank.send(0, Tag::new(6), &[0; EAGER_BYTES + 1]),
        _ => Ok(()),
    });
    let explanation = "rank 0 waits to receive tag 3 from rank 1 (it has, not asked for, tag 6 from rank 1); \
                       rank 1 waits to send 1025 bytes with tag 6 to rank 0; rank 2 has ended";
    assert_eq!(outcome.map(drop), Err((0, Error::Deadlock { explanation: explanation.into() })));
}

#[test]
fn a_deadlock_of_many_ranks_names_a_few() {
    let outcome =
        run(&switch(), 100, |rank| if rank.rank() == 7 { Ok(()) } else { rank.barrier() });
    let Err((0, Error::Deadlock { explanation })) = outcome.map(drop) else {
        panic!("no deadlock")
    };
    assert!(explanation.ends_with("and 83 more ranks wait"), "{explanation}");
}

#[test]
fn a_rank_that_fails_or_panics_ends_the_run() {
    let outcome = run(&switch(), 3, |rank| {
        if rank.rank() == 1 {
            return Err(Error::Program("the check sum is wrong".into()));
        }
        rank.barrier()
    });
    assert_eq!(outcome.map(drop), Err((1, Error::Program("the check sum is wrong".into()))));
    let outcome = run(&switch(), 2, |rank| {
        if rank.rank() == 0 {
            std::panic::resume_unwind(Box::new("lost"));
        }
        rank.barrier()
    });
    assert_eq!(outcome.map(drop), Err((0, Error::Program("the rank panicked: lost".into()))));
}

#[test]
fn ranks_that_a_machine_cannot_have_are_refused() {
    let refused = |name: &str, ranks| {
        let outcome = run(&find(name).unwrap(), ranks, |_| Ok(()));
        outcome.map(drop).unwrap_err().1.to_string()
    };
    assert_eq!(refused("sharc-ring", 33), "sim:sharc-ring cannot have 33 ranks: it has at most 32");
    assert_eq!(refused("cluster", 0), "sim:cluster cannot run without ranks: ask for at least one");
}

#[test]
fn full_buffers_in_a_circle_do_not_stop_a_ring_or_a_torus() {
    for shape in ["shape = \"ring\"\none_way = true", "shape = \"torus\"\nextents = [4, 4]"] {
        let machine = machine(&format!(
            "[network]\n{shape}\npacket_bytes = 100\nlink_mb_per_s = 100\nbuffer_packets = 2\n"
        ));
        let options =
            crate::Options { level: Some(crate::Level::Packets), ..crate::Options::new(16) };
        let outcome = crate::run(&machine, &options, |rank| {
            rank.all_to_all(&vec![1; 16 * 5000], &mut vec![0; 16 * 5000])
        });
        assert!(outcome.is_ok(), "{shape}: {:?}", outcome.map(drop));
    }
}
