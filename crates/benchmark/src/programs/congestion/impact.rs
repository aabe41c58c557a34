//! The effect of congestors on others: victims alone, and with congestors.

use contract::{Context, Element, Error, Operation, Rank, Reduction, Result};
use record::{Measurement, Parameters, Summary};

use super::congestors::Congestors;
use super::{random_order, swap};
use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::contents::{check_block, fill};
use crate::data::Received;
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::paper;
use crate::presentation::Headline;
use crate::program::{Program, Timing};
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;
use crate::settings::Settings;
use crate::timed_loop::Outcome;

pub(in crate::programs) const IMPACT: Benchmark = Benchmark {
    name: "congestion-impact",
    group: Group::Congestion,
    summary: "a ring or an allreduce of half the ranks, alone and beside congestors",
    explains: "Half of the ranks, which the seed chooses, are victims; the others are congestors. The victims \
        measure first alone and then while the congestors load the network: a message of 8 bytes (latency) or \
        128 KiB (bandwidth) to both neighbours of a random ring of victims, or an allreduce of 8 bytes. The \
        congestors send messages of 16 KiB to one of them (`incast`), to all others (`all-to-all`), or put them \
        into the memory of one of them (`puts`), from before the first event until after the last. Fewer than four ranks are no two of each. `alone` and \
        `time` are the times of the slowest victim without and beside congestors; `impact` is the ratio of \
        their averages, `impact_99` and `impact_99_9` those of their 99 % and 99.9 % quantiles. 1 means that the \
        congestors cost nothing. The seed also decides which ranks share a host or a link: measure with several.",
    source: paper::GPCNET.part("congestion impact factors"),
    ranks: RankRule::Pairs(RANKS_MIN / 2),
    headlines: &[Headline {
        words: "largest average impact of congestors",
        metric: "impact",
        size_bytes: None,
    }],
    cases,
    measure,
    program: Program {
        in_a_row: false,
        received: Received::Nothing,
        moved: |_| 0,
        timing: Timing::Slowest,
        ..COLLECTIVE
    },
    repeatable: false,
    ..BENCHMARK
};

/// Parameter of the victims' operation, and its values.
const VICTIM: &str = "victim";
const RING: &str = "ring";
const ALLREDUCE: &str = "allreduce";
/// Parameter of the congestors' operation.
const CONGESTORS: &str = "congestors";
/// Minimum number of ranks: two victims and two congestors.
const RANKS_MIN: usize = 4;
/// Minimum number of samples. With fewer, the quantile of 99.9 % is below the largest by chance only.
const SAMPLES_MIN: u64 = 1000;
const SUM: Reduction = Reduction::new(Element::U64, Operation::Sum);

fn cases(scope: &Scope) -> Vec<Case> {
    let mut all = Vec::new();
    for (victim, sizes) in [(RING, &[8, 128 << 10][..]), (ALLREDUCE, &[8])] {
        for (congestors, _) in Congestors::LOADS {
            let named = |case: Case| {
                let parameters = [(VICTIM, victim), (CONGESTORS, congestors)];
                let parameters = parameters.map(|(name, value)| (name.into(), value.into()));
                Case { parameters: parameters.into(), ..case }
            };
            all.extend(sized(scope, sizes).into_iter().map(named));
        }
    }
    // If there are fewer ranks, this is reported once.
    all.truncate(if scope.ranks < RANKS_MIN { 1 } else { all.len() });
    all
}

/// Returns the victims, the first of which is rank 0, and the congestors: halves of a random order, the victims the
/// larger one.
fn halves(ranks: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let others = random_order(ranks, seed).into_iter().filter(|&rank| rank != 0);
    let mut victims: Vec<usize> = std::iter::once(0).chain(others).collect();
    let congestors = victims.split_off(ranks.div_ceil(2));
    (victims, congestors)
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    if bench.shape.ranks < RANKS_MIN {
        return bench.skip(format!("congestors and victims are {RANKS_MIN} ranks or more"));
    }
    let named = bench.step.parameters.get(CONGESTORS).map(ToString::to_string);
    let load = Congestors::LOADS.iter().find(|(name, _)| Some(*name) == named.as_deref());
    let Some(&(_, load)) = load else { return Err(bench.unknown(CONGESTORS)) };
    let (me, seed) = (bench.shape.me, bench.settings.seed);
    let (victims, congestors) = halves(bench.shape.ranks, seed);
    let congestors = Congestors { load, ranks: congestors, seed };
    // Congestors load the network by their ranks among all.
    let place = victims.iter().position(|&rank| rank == me);
    let context = bench.rank.split(place.map(|_| 0), place.unwrap_or(0) as i64)?;
    let mut window = bench.rank.open_window(congestors.window_bytes(me))?;
    bench.rank.barrier()?;
    let mut found = None;
    if let Some(context) = &context {
        let alone = times(bench, context, &victims)?;
        bench.rank.barrier()?;
        if me == 0 {
            congestors.await_load(bench.rank)?;
        }
        let disturbed = times(bench, context, &victims)?;
        if me == 0 {
            congestors.stop(bench.rank)?;
        }
        found = alone.zip(disturbed);
    } else {
        bench.rank.barrier()?;
        congestors.run(bench.rank, &mut window)?;
    }
    // The target of puts may have to serve them, which it does not do in a barrier.
    window.fence(bench.rank)?;
    congestors.check_puts(bench.rank, &mut window)?;
    bench.rank.close_window(window)?;
    if let Some(context) = context {
        bench.rank.close(context)?;
    }
    found.map_or(Ok(()), |(alone, disturbed)| report(bench, &alone, &disturbed))
}

/// Times the event of the victims, among them. Returns the outcome at rank 0.
fn times(bench: &mut Bench<'_>, context: &Context, victims: &[usize]) -> Result<Option<Outcome>> {
    let (size, seed, me) = (bench.shape.size, bench.settings.seed, bench.shape.me);
    let Program { timing, in_a_row, .. } = bench.definition.program;
    let samples_min = bench.settings.samples_min.max(SAMPLES_MIN).min(bench.settings.samples_max);
    let settings = Settings { samples_min, ..bench.settings.clone() };
    let is_ring = match bench.step.parameters.get(VICTIM).map(ToString::to_string).as_deref() {
        Some(RING) => true,
        Some(ALLREDUCE) => false,
        _ => return Err(bench.unknown(VICTIM)),
    };
    let mut sent = vec![0; size];
    let mut room = vec![0; size];
    if is_ring {
        fill(&mut sent, seed, me, 0);
    } else {
        sent.chunks_exact_mut(8).for_each(|number| number.copy_from_slice(&1u64.to_ne_bytes()));
    }
    let outer = bench.rank.enter(context.clone());
    let (place, count) = (bench.rank.rank(), victims.len());
    let (next, before) = ((place + 1) % count, (place + count - 1) % count);
    let outcome = bench.measure_by(&settings, timing, in_a_row, |rank: &mut dyn Rank| {
        if !is_ring {
            return rank.allreduce(SUM, &sent, &mut room);
        }
        swap(rank, (next, before), &sent, &mut room)?;
        swap(rank, (before, next), &sent, &mut room)
    })?;
    bench.rank.enter(outer);
    if is_ring {
        check_block(&room, seed, (victims[next], 0), "the last block", me)?;
    } else if let Some(sum) = wrong_sum(&room, count as u64) {
        return Err(Error::Program(format!("{count} ranks with 1 each have the sum {sum}")));
    }
    Ok(outcome)
}

/// Returns a sum that is not `expected`, if there is one.
fn wrong_sum(sums: &[u8], expected: u64) -> Option<u64> {
    let (sums, _) = sums.as_chunks();
    sums.iter().map(|sum| u64::from_ne_bytes(*sum)).find(|&sum| sum != expected)
}

fn report(bench: &mut Bench<'_>, alone: &Outcome, disturbed: &Outcome) -> Result<()> {
    let subject = bench.subject(Parameters::new());
    let time = subject.time(1, disturbed)?;
    let alone = Measurement { metric: "alone".into(), ..subject.time(1, alone)? };
    let ratio = |of: fn(&Summary) -> f64| of(&time.summary) / of(&alone.summary);
    let ratios = [
        ("impact", ratio(|summary| summary.mean)),
        ("impact_99", ratio(|summary| summary.p99)),
        ("impact_99_9", ratio(|summary| summary.p999)),
    ];
    let mut impacts = Vec::new();
    // A machine whose messages cost nothing has no ratios.
    for (name, ratio) in ratios.into_iter().filter(|(_, ratio)| ratio.is_finite()) {
        impacts.push(subject.metric((name, "x"), vec![ratio], time.timing.clone())?);
    }
    let all = [time, alone].into_iter().chain(impacts).collect();
    bench.emit(Event::Measured(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_is_victim_or_congestor_and_rank_0_leads_the_victims() {
        for ranks in 4..40 {
            for seed in 0..10 {
                let (victims, congestors) = halves(ranks, seed);
                assert_eq!(victims[0], 0, "seed {seed}");
                // If the number is odd, there is one more victim.
                let found = (victims.len(), congestors.len());
                assert_eq!(found, (ranks - ranks / 2, ranks / 2), "seed {seed}");
                let mut all = [victims, congestors].concat();
                all.sort_unstable();
                assert_eq!(all, (0..ranks).collect::<Vec<_>>(), "seed {seed}");
            }
        }
    }

    #[test]
    fn one_wrong_sum_among_right_ones_is_found() {
        let sums = |numbers: [u64; 3]| numbers.map(u64::to_ne_bytes).concat();
        assert_eq!(wrong_sum(&sums([4, 4, 4]), 4), None);
        assert_eq!(wrong_sum(&sums([4, 3, 4]), 4), Some(3));
    }
}
