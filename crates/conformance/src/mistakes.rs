//! Mistakes between ranks that must end the run with an error, and must not hang.
//!
//! A barrier follows each mistake: the latest place at which it must be detected. The suite only contains mistakes that
//! can be detected from messages alone; see [`collective`](contract::collective).

use super::case::{ANY, Case, TWO_OR_MORE};
use contract::{Error, Rank, Reduction, Result, Source, Tag};

pub(super) fn cases() -> Vec<Case> {
    let unequal = |name, program| Case::failing(name, TWO_OR_MORE, program, is_mismatch);
    vec![
        unequal("mistakes/broadcast-of-unequal-lengths", broadcast_lengths),
        unequal("mistakes/broadcast-of-lengths-worlds-apart", broadcast_long_and_short),
        unequal("mistakes/scatter-of-unequal-lengths", scatter_lengths),
        unequal("mistakes/gather-of-unequal-lengths", gather_lengths),
        unequal("mistakes/allgather-of-unequal-lengths", allgather_lengths),
        unequal("mistakes/allgather-in-place-of-unequal-lengths", in_place_lengths),
        unequal("mistakes/reduce-of-unequal-lengths", reduce_lengths),
        unequal("mistakes/allreduce-of-unequal-lengths", allreduce_lengths),
        unequal("mistakes/allreduce-of-lengths-worlds-apart", allreduce_long_and_short),
        unequal("mistakes/all-to-all-of-unequal-lengths", all_to_all_lengths),
        unequal("mistakes/broadcast-from-two-roots", broadcast_roots),
        unequal("mistakes/allreduce-with-two-operations", allreduce_operations),
        unequal("mistakes/allgather-in-a-barrier", allgather_in_a_barrier),
        unequal("mistakes/gather-in-a-reduce", gather_in_a_reduce),
        Case::failing("mistakes/waiting-for-a-rank-that-ended", TWO_OR_MORE, ended, is_mismatch),
        Case::failing("mistakes/a-program-that-gives-up", ANY, gives_up, is_own_words),
        Case::failing("mistakes/a-program-that-panics", ANY, panics, |_| true),
    ]
}

/// Returns whether an error reports the mismatch. A fabric that detects deadlocks, or ends a run when a rank leaves
/// others waiting, may report that instead.
fn is_mismatch(error: &Error) -> bool {
    matches!(
        error,
        Error::UnequalCounts { .. } | Error::MismatchedCollective { .. } | Error::Deadlock { .. }
    )
}

/// Returns whether this is the rank that makes the mistake: not the root, and not the same at all numbers of ranks.
fn is_odd_one(machine: &dyn Rank) -> bool {
    machine.rank() == 1 + machine.size() / 3 % (machine.size() - 1)
}

fn pick<T>(machine: &dyn Rank, usual: T, odd: T) -> T {
    if is_odd_one(machine) { odd } else { usual }
}

fn broadcast_lengths(machine: &mut dyn Rank) -> Result<()> {
    let mut buffer = vec![0; pick(machine, 100, 99)];
    machine.broadcast(0, &mut buffer)?;
    machine.barrier()
}

fn broadcast_long_and_short(machine: &mut dyn Rank) -> Result<()> {
    let mut buffer = vec![0; pick(machine, 100_000, 8)];
    machine.broadcast(0, &mut buffer)?;
    machine.barrier()
}

fn scatter_lengths(machine: &mut dyn Rank) -> Result<()> {
    let mut block = vec![0; pick(machine, 100, 200)];
    let send = vec![0; 100 * machine.size()];
    machine.scatter(0, &send, &mut block)?;
    machine.barrier()
}

fn gather_lengths(machine: &mut dyn Rank) -> Result<()> {
    let block = vec![0; pick(machine, 100, 92)];
    let mut all = vec![0; 100 * machine.size()];
    machine.gather(0, &block, &mut all)?;
    machine.barrier()
}

fn allgather_lengths(machine: &mut dyn Rank) -> Result<()> {
    let bytes = pick(machine, 100, 108);
    machine.allgather(&vec![0; bytes], &mut vec![0; bytes * machine.size()])?;
    machine.barrier()
}

fn in_place_lengths(machine: &mut dyn Rank) -> Result<()> {
    let bytes = pick(machine, 100, 40_000);
    machine.allgather_in_place(&mut vec![0; bytes * machine.size()])?;
    machine.barrier()
}

fn reduce_lengths(machine: &mut dyn Rank) -> Result<()> {
    let bytes = pick(machine, 80, 88);
    machine.reduce(0, Reduction::SUM_F64, &vec![0; bytes], &mut vec![0; bytes])?;
    machine.barrier()
}

fn allreduce_lengths(machine: &mut dyn Rank) -> Result<()> {
    let bytes = pick(machine, 80, 0);
    machine.allreduce(Reduction::SUM_F64, &vec![0; bytes], &mut vec![0; bytes])?;
    machine.barrier()
}

fn allreduce_long_and_short(machine: &mut dyn Rank) -> Result<()> {
    let bytes = pick(machine, 8, 80_000);
    machine.allreduce(Reduction::SUM_F64, &vec![0; bytes], &mut vec![0; bytes])?;
    machine.barrier()
}

fn all_to_all_lengths(machine: &mut dyn Rank) -> Result<()> {
    let bytes = pick(machine, 300, 8) * machine.size();
    machine.all_to_all(&vec![0; bytes], &mut vec![0; bytes])?;
    machine.barrier()
}

fn broadcast_roots(machine: &mut dyn Rank) -> Result<()> {
    let root = pick(machine, 0, machine.rank());
    machine.broadcast(root, &mut [0; 8])?;
    machine.barrier()
}

fn allreduce_operations(machine: &mut dyn Rank) -> Result<()> {
    let reduction = pick(machine, Reduction::SUM_F64, Reduction::MAXIMUM_F64);
    machine.allreduce(reduction, &[0; 8], &mut [0; 8])?;
    machine.barrier()
}

fn allgather_in_a_barrier(machine: &mut dyn Rank) -> Result<()> {
    if is_odd_one(machine) {
        machine.allgather(&[1; 8], &mut vec![0; 8 * machine.size()])?;
    } else {
        machine.barrier()?;
    }
    machine.barrier()
}

fn gather_in_a_reduce(machine: &mut dyn Rank) -> Result<()> {
    if is_odd_one(machine) {
        machine.gather(0, &[1; 8], &mut [])?;
    } else {
        machine.reduce(0, Reduction::SUM_F64, &[0; 8], &mut [0; 8])?;
    }
    machine.barrier()
}

/// Rank 0 waits for a message of a rank that has ended normally. It must end with [`Error::RankEnded`] or in a deadlock.
fn ended(machine: &mut dyn Rank) -> Result<()> {
    if machine.rank() == 0 {
        let last = machine.size() - 1;
        machine.receive(last.into(), Tag::new(1).into(), &mut [])?;
    }
    Ok(())
}

const OWN_WORDS: &str = "this rank gives up on purpose";

fn is_own_words(error: &Error) -> bool {
    *error == Error::Program(OWN_WORDS.into())
}

/// One rank returns an error. The others wait for a message that never arrives, and must not wait for ever.
fn gives_up(machine: &mut dyn Rank) -> Result<()> {
    if machine.rank() == machine.size() / 2 {
        return Err(Error::Program(OWN_WORDS.into()));
    }
    let from = Source::Rank(machine.size() / 2);
    machine.receive(from, Tag::new(1).into(), &mut []).map(drop)
}

fn panics(machine: &mut dyn Rank) -> Result<()> {
    if machine.rank() == machine.size() / 2 {
        // Without the hook's message: this panic is intended.
        std::panic::resume_unwind(Box::new("this rank panics on purpose"));
    }
    machine.barrier()
}
