//! A processing chain: its shortest sustained period, its period without messages, and its behaviour meanwhile.

use contract::{Error, Rank, Result, Time, TimeSpan};
use record::{Better, Measurement, Parameters};

use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::chain::{Chain, ChainVariant, Pacing};
use crate::data::Blocks;
use crate::declaration::{Benchmark, Group, Repeats};
use crate::options::PERIODS;
use crate::paper;
use crate::period::{self, Deadlines, SearchBasis, SearchOutcome, Trial, derived};
use crate::pipeline::{
    Member, Mode, Profile, SETTLING, VARIANTS, computing_us, in_rounds, profile,
};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO};
use crate::ranks::{Placement, RankRule};
use crate::settings::Settings;

pub(in crate::programs) const PIPELINE: Benchmark = Benchmark {
    name: "pipeline",
    group: Group::RealTime,
    summary: "a chain of processing stages: its shortest sustained period, its jitter",
    explains: "A source injects a matrix each period, stages on separate ranks process it, and a sink compares \
        the results with a direct computation. Receives are always posted, a block is sent when its receiver has \
        requested it, and buffers overlap communication with computing. A matrix is missed if the source cannot \
        inject it within its period, or if its result is over a period later than the latest of the first results. \
        Without a period, the chain, its functions alone and its messages alone are measured alternately: \
        `back-to-back` is the time of the chain per matrix, `busiest-processor` that of its functions, \
        `back-to-back-per-computing` the ratio of the two in each turn, and `hidden` the share of the \
        communication that is hidden behind computing. At the `period` found, the record has `latency`, `jitter` \
        (the deviation of the time between successive matrices from the period) and `computing` of each stage. \
        With synchronised timing, each stage processes a matrix one period after the previous stage. `cornerstone \
        pipeline FILE` runs other chains.",
    source: paper::MITRE.part("section 5"),
    ranks: RankRule::OfChain,
    placement: Placement::Spread,
    cases,
    program: Program {
        // For the check of the memory: the source has two matrices, the sink their results, and a stage no more than
        // that in buffers.
        blocks: |_| Blocks { send: 1, receive: 2, ..Blocks::NONE },
        ..BETWEEN_TWO
    },
    measure,
    lasts_s: Some(lasts_s),
    repeats: Repeats::Trials,
    options: &[PERIODS],
    repeatable: false,
    ..BENCHMARK
};

const ROWS: &str = "rows";
const MODE: &str = "mode";
/// Number of matrices of a trial in which only the stages are observed, and its longest time.
const PROFILED: u64 = 1000;
const PROFILED_S_MAX: f64 = 0.5;
const PROFILED_VIRTUAL_S_MAX: f64 = 5.0;
/// Time that this takes at a period of a millisecond.
const PROFILED_S: f64 = 0.5;

fn cases(scope: &Scope) -> Vec<Case> {
    let pipeline = &scope.settings.pipeline;
    let modes: &[Mode] = match pipeline.pacing {
        Pacing::SelfTimed => &[Mode::SelfTimed],
        Pacing::Synchronised => &[Mode::Synchronised],
        Pacing::Both => &[Mode::SelfTimed, Mode::Synchronised],
    };
    let case = |variant: &ChainVariant, rows: usize, mode: Mode| {
        let mut parameters = variant.parameters.clone();
        parameters.insert("chain".into(), variant.chain.name.as_str().into());
        parameters.insert(ROWS.into(), (rows as u64).into());
        parameters.insert(MODE.into(), mode.name().into());
        Case { parameters, size_bytes: variant.chain.matrix_bytes() as u64 }
    };
    let mut cases = Vec::new();
    let variants = pipeline.variants();
    for variant in variants.iter().filter(|variant| variant.chain.ranks() == scope.ranks) {
        let own = [variant.chain.rows_per_message];
        let rows = match pipeline.rows_per_message.as_slice() {
            [] => &own,
            wanted => wanted,
        };
        cases.extend(
            rows.iter().flat_map(|&rows| modes.iter().map(move |&mode| case(variant, rows, mode))),
        );
    }
    period::variants(scope, cases)
}

/// Returns the time of the rounds, of the search, and of the profile at the period found.
fn lasts_s(settings: &Settings, _: &Parameters) -> f64 {
    let real_time = &settings.real_time;
    // The limit of a search includes the rounds.
    let is_limited = real_time.period_s.is_none() && real_time.search_limit_s.is_some();
    let rounds_s = if is_limited { 0.0 } else { period::rounds_last_s(settings, VARIANTS.len()) };
    rounds_s + period::lasts_s(settings) + PROFILED_S
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let ChainVariant { chain, copies, .. } = wanted(bench)?;
    if bench.skips_without_rate(&chain.kinds())? {
        return Ok(());
    }
    let begun = bench.rank.now();
    let synchronised = bench.step.parameters.get(MODE) == Some(&Mode::Synchronised.name().into());
    let mode = if synchronised { Mode::Synchronised } else { Mode::SelfTimed };
    let mut member = Member::new(&chain, mode, bench.settings.seed, bench.rank)?;
    let mut in_variant =
        |variant: usize, rank: &mut dyn Rank, trial: &Trial, late: &mut Deadlines| {
            member.keep_up(VARIANTS[variant], rank, trial, late)
        };
    let rounds = period::back_to_back(bench, VARIANTS.len(), &mut in_variant)?;
    flowing(bench, (&chain, copies), &mut member, mode, (begun, &rounds))
}

/// Returns the chain of the step.
fn wanted(bench: &Bench<'_>) -> Result<ChainVariant> {
    let is_it = |variant: &ChainVariant| {
        let mut named = variant.parameters.iter();
        named.all(|(name, value)| bench.step.parameters.get(name) == Some(value))
    };
    let mut variants = bench.settings.pipeline.variants().into_iter();
    let refuse = |what: String| Err(Error::Program(what));
    let Some(mut variant) = variants.find(is_it) else {
        return refuse("the chain of this step is none of the file's".into());
    };
    let chain = &mut variant.chain;
    chain.rows_per_message = bench.number(ROWS)?;
    if let Some(mistake) = chain.mistake() {
        return refuse(format!(
            "{} rows in a message do not fit {}: {mistake}",
            chain.rows_per_message, chain.name
        ));
    }
    if chain.ranks() != bench.shape.ranks {
        return refuse(format!(
            "{} needs {} ranks and has {}",
            chain.name,
            chain.ranks(),
            bench.shape.ranks
        ));
    }
    Ok(variant)
}

/// Returns the period that the chain sustains, its profile at that period, and the results of the rounds before.
fn flowing(
    bench: &mut Bench<'_>,
    (chain, copies): (&Chain, usize),
    member: &mut Member,
    mode: Mode,
    (begun, rounds): (Time, &[Vec<f64>]),
) -> Result<()> {
    // A period must be sustained in every performance state of the machine.
    let slowest_us = rounds.iter().map(|round| round[0]).fold(0.0, f64::max);
    let each = (mode == Mode::SelfTimed).then(|| TimeSpan::from_s(slowest_us / 1e6));
    let (waiting, settling) = (chain.backlog as u64, SETTLING as usize);
    let basis = SearchBasis { each, begun: Some(begun), waiting, settling };
    let mut body = |rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines| {
        member.keep_up(mode, rank, trial, deadlines)
    };
    let found = period::find_from(bench, basis, &mut body)?;
    let period_us = found.search.as_ref().and_then(|search| search.shortest_sustained_us);
    let profile = profiled(bench, (chain, period_us), member, mode, &found)?;
    let computing_us = (bench.shape.me == 0).then(|| computing_us(rounds)).flatten();
    let subject = bench.subject(Parameters::new());
    let summarise = |samples: &[f64]| subject.summary(samples);
    let in_rounds = in_rounds(rounds, summarise)?;
    period::report(bench, found, Parameters::new(), |first| {
        let mut also = in_rounds.measurements(first);
        if first.metric == "period" {
            also.extend(rates(chain, first));
            also.extend((copies > 1).then(|| shared_by(first, copies)));
            also.extend(computing_us.map(|us| against_computing(first, us)));
            also.extend(profile.into_iter().flat_map(|profile| profile.measurements(first)));
        }
        Ok(also)
    })
}

/// Returns the profile of the chain at a period, at rank 0. The stages are those of the last trial if it had this period,
/// or else of another one.
fn profiled(
    bench: &mut Bench<'_>,
    (chain, period_us): (&Chain, Option<f64>),
    member: &mut Member,
    mode: Mode,
    found: &SearchOutcome,
) -> Result<Option<Profile>> {
    let period = period_us.map(|us| TimeSpan::from_s(us / 1e6)).unwrap_or_default();
    let mut words = [period.as_ps().to_ne_bytes()];
    bench.rank.broadcast(0, words.as_flattened_mut())?;
    let period = TimeSpan::from_ps(u64::from_ne_bytes(words[0]));
    if period == TimeSpan::ZERO {
        return Ok(None);
    }
    if member.last().is_none_or(|trial| trial.period != period) {
        let is_virtual = bench.rank.clock().is_virtual;
        let most_s = if is_virtual { PROFILED_VIRTUAL_S_MAX } else { PROFILED_S_MAX };
        let instances = ((most_s / period.as_s()) as u64).clamp(2, PROFILED);
        let mut body = |rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines| {
            member.keep_up(mode, rank, trial, deadlines)
        };
        period::keep_up(bench, &mut body, period, instances)?;
    }
    let instances = member.last().map_or(0, |trial| trial.instances);
    let stamps = member.bring_stamps(bench.rank, instances)?;
    let targets = member.bring_found(bench.rank, chain)?;
    if bench.shape.me != 0 {
        return Ok(None);
    }
    let subject = bench.subject(Parameters::new());
    let summarise = |samples: &[f64]| subject.summary(samples);
    profile(chain, found, (&stamps, targets), period, summarise).map(Some)
}

/// Returns the ratio of `period` to the computing of the busiest processor.
fn against_computing(period: &Measurement, computing_us: f64) -> Measurement {
    let ratio = |period_us| period_us / computing_us;
    derived(period, ("period-per-computing", "ratio"), Better::Lower, ratio)
}

/// Returns the period of matrices that this number of copies of the chain take in turn. A matrix is in progress as long
/// as in one.
fn shared_by(period: &Measurement, copies: usize) -> Measurement {
    derived(period, ("period-in-turn", "us"), Better::Lower, |us| us / copies as f64)
}

/// Returns the rates of the chain at its period.
fn rates(chain: &Chain, period: &Measurement) -> impl Iterator<Item = Measurement> + use<> {
    // An operation in a microsecond is a MFLOP/s.
    let nominal = |us: f64| chain.operations() / us;
    let nominal = derived(period, ("nominal-rate", "MFLOP/s"), Better::Higher, nominal);
    period::rate(period, chain.matrix_bytes() as f64).into_iter().chain([nominal])
}
