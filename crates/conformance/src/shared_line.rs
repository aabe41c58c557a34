//! The cache line that all ranks share, on fabrics that have one.

use std::sync::atomic::Ordering;

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::expect;
use contract::{Rank, Result, SharedLine};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("shared-line/all-ranks-see-the-same-words", ANY, same_words),
        Case::new("shared-line/no-increment-is-lost", ANY, no_increment_lost),
        Case::new("shared-line/a-sleeper-is-woken", TWO_OR_MORE, sleeper_woken),
    ]
}

/// Rank w modulo the number of ranks writes word w, and all read it.
fn same_words(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let Some(line) = machine.shared_line() else {
        return Ok(());
    };
    // Release and acquire pair through the barrier in any case; these orders state the intent.
    for word in (0..8).filter(|word| word % size == rank) {
        line.word(word).store(0x0123_4567_89ab_cde0 + word as u64, Ordering::Release);
    }
    machine.barrier()?;
    for word in 0..8 {
        let found = line_of(machine).word(word).load(Ordering::Acquire);
        expect(&format!("word {word}"), 0x0123_4567_89ab_cde0 + word as u64, found)?;
    }
    machine.barrier()
}

fn line_of(machine: &dyn Rank) -> &dyn SharedLine {
    machine.shared_line().expect("a fabric offers its line always or never")
}

fn no_increment_lost(machine: &mut dyn Rank) -> Result<()> {
    let Some(line) = machine.shared_line() else {
        return Ok(());
    };
    if machine.rank() == 0 {
        line.word(3).store(0, Ordering::Release);
    }
    machine.barrier()?;
    for _ in 0..1000 {
        line_of(machine).word(3).fetch_add(1, Ordering::AcqRel);
    }
    machine.barrier()?;
    let total = line_of(machine).word(3).load(Ordering::Acquire);
    expect("the sum of all increments", 1000 * machine.size() as u64, total)
}

/// Passes a value around the ring twice, by sleeping and waking.
fn sleeper_woken(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank() as u64, machine.size() as u64);
    let Some(line) = machine.shared_line() else {
        return Ok(());
    };
    if rank == 0 {
        line.word(5).store(0, Ordering::Release);
    }
    machine.barrier()?;
    let line = line_of(machine);
    for round in 0..2 {
        let turn = round * size + rank;
        loop {
            // Acquire, partner of the release store of the previous rank.
            let value = line.word(5).load(Ordering::Acquire);
            if value == turn {
                break;
            }
            line.sleep_while(5, value);
        }
        line.word(5).store(turn + 1, Ordering::Release);
        line.wake(5);
    }
    machine.barrier()?;
    expect("the turns taken", 2 * size, line_of(machine).word(5).load(Ordering::Acquire))
}
