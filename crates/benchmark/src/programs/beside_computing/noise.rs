//! The effect of disturbances of single ranks on collectives of all.

use contract::{Element, Operation, Rank, Reduction, Result, TimeSpan};

use super::computing::{BESIDE_COMPUTING, operations_in};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::paper;
use crate::program::{Program, Timing};
use crate::programs::collectives::allreduce::ALLREDUCE;
use crate::programs::common::{BENCHMARK, compute};

pub(in crate::programs) const NOISE: Benchmark = Benchmark {
    name: "noise",
    group: Group::BesideComputing,
    summary: "computing alternates with allreduce: the cost of a disturbance of one rank",
    explains: "All ranks compute for 10, 100 or 1000 us and execute an allreduce of 8 bytes, which waits for \
        the last of them. The time is that of the slowest rank. The delay is this time minus the computing of an \
        undisturbed rank and the allreduce alone; the loss is the delay as a share of the computing, in per cent.",
    source: paper::NOISE.part("fixed work between collectives"),
    ranks: ALLREDUCE.ranks,
    bound: ALLREDUCE.bound,
    cases,
    measure,
    program: BESIDE_COMPUTING,
    repeatable: false,
    ..BENCHMARK
};

const QUANTUM: &str = "computing_us";
const SUM: Reduction = Reduction::new(Element::U64, Operation::Sum);

fn cases(_: &Scope) -> Vec<Case> {
    let case = |us: u64| Case { parameters: [(QUANTUM.into(), us.into())].into(), size_bytes: 8 };
    [10, 100, 1000].map(case).into()
}

fn reduce(rank: &mut dyn Rank) -> Result<()> {
    let (mine, mut sum) = (1u64.to_ne_bytes(), [0; 8]);
    rank.allreduce(SUM, &mine, &mut sum)?;
    let (found, ranks) = (u64::from_ne_bytes(sum), rank.size() as u64);
    if found == ranks {
        return Ok(());
    }
    Err(contract::Error::Program(format!("{ranks} ranks with 1 each have the sum {found}")))
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let program = bench.definition.program;
    let quantum = TimeSpan::from_us(bench.number(QUANTUM)? as u64);
    let Some(operations) = operations_in(bench.rank, quantum)? else {
        return bench.skip("the machine does not say how fast it computes".into());
    };
    let alone = bench.sampled_as(program, |rank, _| reduce(rank))?;
    let of_one = Program { timing: Timing::First, ..program };
    let computing = bench.sampled_as(of_one, |rank, _| {
        compute(rank, operations);
        Ok(())
    })?;
    let both = bench.sampled_as(program, |rank, _| {
        compute(rank, operations);
        reduce(rank)
    })?;
    let (Some(both), Some(computing), Some(alone)) = (both, computing, alone) else {
        return Ok(());
    };
    let (computing_us, alone_us) = (computing.median_ps() / 1e6, alone.median_ps() / 1e6);
    let subject = bench.subject(Default::default());
    let time = subject.time(1, &both)?;
    // Rounded to the picosecond, because rounding errors are no delay.
    let delay = |us: &f64| ((us - computing_us - alone_us) * 1e6).round().max(0.0) / 1e6;
    let delays: Vec<f64> = time.samples.iter().map(delay).collect();
    let losses = delays.iter().map(|us| 100.0 * us / computing_us).collect();
    let delay = subject.metric(("delay", "us"), delays, time.timing.clone())?;
    let loss = subject.metric(("loss", "%"), losses, time.timing.clone())?;
    bench.emit(Event::Measured(vec![time, delay, loss]))
}
