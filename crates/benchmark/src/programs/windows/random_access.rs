//! Updates of random words of a table that is distributed over the memory of all ranks.

use contract::{Element, Error, Operation, Reduction, Result};
use record::Parameters;

use super::opened::Opened;
use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::presentation::Headline;
use crate::program::{Program, Timing};
use crate::programs::collectives::NUMBER_BYTES;
use crate::programs::common::{BENCHMARK, NO_DATA};
use crate::ranks::RankRule;
use random::mix;

pub(in crate::programs) const RANDOM_ACCESS: Benchmark = Benchmark {
    name: "random-access",
    group: Group::Windows,
    summary: "updates of random words of a table that all ranks share",
    explains: "A table is distributed over the memory of all ranks; the size is the part of each rank. Every \
        rank atomically adds numbers to 256 random words of it, and all ranks execute a fence. The time is that of \
        the slowest rank, from a synchronised start; the rate is the updates of all ranks divided by it, in \
        thousand millions per second (GUP/s). Every word of the table is checked afterwards. RandomAccess of HPC \
        Challenge uses exclusive or instead of addition, and may lose one update in a hundred; this benchmark may \
        not.",
    ranks: RankRule::AtLeast(2),
    cases: sizes,
    headlines: &[Headline { words: "updates of random words", metric: "rate", size_bytes: None }],
    repeatable: false,
    measure: updates,
    program: Program { timing: Timing::Slowest, ..NO_DATA },
    ..BENCHMARK
};

/// Number of updates of a rank in an event.
const UPDATES: u64 = 256;
const SUM: Reduction = Reduction::new(Element::U64, Operation::Sum);

fn sizes(scope: &Scope) -> Vec<Case> {
    // A table has at least one word.
    let round = |case: Case| {
        let size_bytes = case.size_bytes.max(1).next_multiple_of(NUMBER_BYTES);
        Case { size_bytes, ..case }
    };
    let mut cases: Vec<Case> = sized(scope, &[1 << 20]).into_iter().map(round).collect();
    cases.dedup();
    cases
}

/// Returns one update: the rank of the word, the word, and the added number.
fn update(
    seed: u64,
    (origin, number): (usize, u64),
    ranks: usize,
    words: u64,
) -> (usize, u64, u64) {
    let random = mix(mix(seed ^ origin as u64) ^ number);
    let place = ((u128::from(random) * (ranks as u128 * u128::from(words))) >> 64) as u64;
    ((place / words) as usize, place % words, random)
}

fn updates(bench: &mut Bench<'_>) -> Result<()> {
    let (program, size, seed) = (bench.definition.program, bench.shape.size, bench.settings.seed);
    let (me, ranks, words) = (bench.shape.me, bench.shape.ranks, (size / 8) as u64);
    let mut opened = Opened::new(bench, size)?;
    let outcome = bench.sampled_as(program, |rank, _| {
        let first = opened.events * UPDATES;
        opened.events += 1;
        for number in first..first + UPDATES {
            let (target, word, addend) = update(seed, (me, number), ranks, words);
            let place = (target, 8 * word);
            opened.window.accumulate(rank, place, SUM, &addend.to_ne_bytes(), None)?;
        }
        opened.window.fence(rank)
    })?;
    check(&mut opened, bench, words)?;
    opened.close(bench)?;
    let Some(outcome) = outcome else { return Ok(()) };
    let subject = bench.subject(Parameters::new());
    let time = subject.time(1, &outcome)?;
    let all = (UPDATES * ranks as u64) as f64;
    let rate = subject.derived(&time, "rate", "GUP/s", |us| all / us * 1e-3)?;
    bench.emit(Event::Measured(vec![time, rate]))
}

/// Repeats all updates of all ranks, in a table of this rank's own, and compares the results.
fn check(opened: &mut Opened, bench: &mut Bench<'_>, words: u64) -> Result<()> {
    let (me, ranks, seed) = (bench.shape.me, bench.shape.ranks, bench.settings.seed);
    let mut expected = vec![0_u64; words as usize];
    for origin in 0..ranks {
        for number in 0..opened.events * UPDATES {
            let (target, word, addend) = update(seed, (origin, number), ranks, words);
            if target == me {
                let word = &mut expected[word as usize];
                *word = word.wrapping_add(addend);
            }
        }
    }
    let found = opened.own(bench, 0, bench.shape.size)?;
    let found = found.elements::<u64>();
    match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(index) => Err(Error::Program(format!(
            "wrong data: word {index} of the table at rank {me} is {:#x} where the sum is {:#x}",
            found[index], expected[index]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_go_to_every_rank_and_only_to_words_that_are_there() {
        let (ranks, words) = (3, 5);
        let mut hits = vec![0; ranks * words as usize];
        for number in 0..3000 {
            let (target, word, _) = update(7, (1, number), ranks, words);
            assert!(target < ranks && word < words);
            hits[target * words as usize + word as usize] += 1;
        }
        // 200 each are expected; six standard deviations are 82.
        assert!(hits.iter().all(|&count| (118..=282).contains(&count)), "{hits:?}");
    }
}
