//! A processing chain: the shortest period that it keeps up, what it would be without messages, and what it does meanwhile.

use contract::record::{Better, Measurement, Parameters};
use contract::{Error, Result, TimeSpan};

use crate::Settings;
use crate::catalogue::{Benchmark, Placement, Program, RankRule};
use crate::data::Blocks;
use crate::execute::Bench;
use crate::period::{self, Deadlines, Trial, derived};
use crate::pipeline::{Chain, Member, Mode, Pacing, computing_us, hidden, profile};
use crate::plan::{Case, Scope};
use crate::programs::{BENCHMARK, BETWEEN_TWO};

pub(in crate::programs) const PIPELINE: Benchmark = Benchmark {
    name: "pipeline",
    group: "real-time",
    summary: "a chain of processing stages: the shortest period that it keeps, its jitter",
    explains: "A source injects a matrix each period, stages on ranks of their own work on it, a sink checks results \
        against the same computed directly. Receives are always posted, a block is sent when its receiver has asked \
        for it, and buffers let it come and go while others are worked on. A matrix is missed when the source \
        cannot inject it within its period, or when its result is over a period later than the latest of the first \
        results. `period` is found for the chain, for its functions without messages, and for its messages without \
        functions; `hidden` is the share of the communication that does not show in the chain's period. At that period \
        `latency`, `jitter` (how far the time between successive matrices is off the period) and `computing` are \
        noted at each stage. Synchronised, each stage works on a matrix a period after the stage before. Source: MITRE \
        real-time benchmarks (1995), section 5. `cornerstone pipeline FILE` runs other chains.",
    ranks: RankRule::OfChain,
    placement: Placement::Spread,
    cases,
    program: Program {
        // For the check whether memory suffices: the source has two matrices, the sink what they become, and a stage no
        // more than that in buffers.
        blocks: |_| Blocks { send: 1, receive: 2, ..Blocks::NONE },
        ..BETWEEN_TWO
    },
    measure,
    lasts_s: Some(lasts_s),
    in_turns: false,
    ..BENCHMARK
};

const ROWS: &str = "rows";
const MODE: &str = "mode";
/// Matrices of the trial in which latency and jitter are noted, and how long it lasts at most.
const PROFILED: u64 = 1000;
/// Matrices that warm a chain up: as many as a search begins with.
const WARMING: u64 = 256;
/// Matrices that are computed on alone, one after the other.
const COMPUTED: u64 = 256;
/// A period that no chain keeps, so that every matrix follows the one before at once.
const BACK_TO_BACK: TimeSpan = TimeSpan::from_ps(1);
const PROFILED_S_MAX: f64 = 5.0;
/// How long that takes at a period of a millisecond.
const PROFILED_S: f64 = 1.0;

fn cases(scope: &Scope) -> Vec<Case> {
    let pipeline = &scope.settings.pipeline;
    let chain = pipeline.chain();
    let own = [chain.rows_per_message];
    let rows = match pipeline.rows_per_message.as_slice() {
        [] => &own,
        wanted => wanted,
    };
    let modes: &[Mode] = match pipeline.pacing {
        Pacing::SelfTimed => &[Mode::SelfTimed],
        Pacing::Synchronised => &[Mode::Synchronised],
        Pacing::Both => &[Mode::SelfTimed, Mode::Synchronised],
    };
    let case = |rows: usize, mode: Mode| Case {
        parameters: Parameters::from([
            ("chain".into(), chain.name.as_str().into()),
            (ROWS.into(), (rows as u64).into()),
            (MODE.into(), mode.name().into()),
        ]),
        size_bytes: chain.matrix_bytes() as u64,
    };
    let cases = rows.iter().flat_map(|&rows| modes.iter().map(move |&mode| case(rows, mode)));
    period::variants(scope, cases.collect())
}

/// A self-timed chain is searched for three times: whole, its messages, its functions; and looked at once more.
fn lasts_s(settings: &Settings, parameters: &Parameters) -> f64 {
    let whole_s = period::lasts_s(settings);
    let is_alone = settings.real_time.period_s.is_some()
        || parameters.get(MODE) == Some(&Mode::Synchronised.name().into());
    let searches = if is_alone { 1.0 } else { 3.0 };
    searches * whole_s + PROFILED_S
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let chain = wanted(bench)?;
    let synchronised = bench.step.parameters.get(MODE) == Some(&Mode::Synchronised.name().into());
    let mode = if synchronised { Mode::Synchronised } else { Mode::SelfTimed };
    let mut member = Member::new(&chain, mode, bench.settings.seed, bench.rank)?;
    if bench.settings.real_time.period_s.is_some() {
        warm_up(bench, &mut member, mode)?;
    }
    let with_us = flowing(bench, &chain, &mut member, mode)?;
    if mode == Mode::Synchronised || bench.settings.real_time.period_s.is_some() {
        return Ok(());
    }
    let messages_us = apart(bench, &chain, &mut member, Mode::MessagesOnly, None)?;
    member.clear();
    apart(bench, &chain, &mut member, Mode::FunctionsOnly, with_us.zip(messages_us))?;
    Ok(())
}

/// Lets some matrices through before any is timed, where no search does so: at first even pages that others have touched are
/// new to a rank.
fn warm_up(bench: &mut Bench<'_>, member: &mut Member, mode: Mode) -> Result<()> {
    let mut body = |rank: &mut dyn contract::Rank, trial: &Trial, deadlines: &mut Deadlines| {
        member.keep_up(mode, rank, trial, deadlines)
    };
    period::keep_up(bench, &mut body, Some(BACK_TO_BACK), WARMING).map(drop)
}

/// The chain of the step.
fn wanted(bench: &Bench<'_>) -> Result<Chain> {
    let mut chain = bench.settings.pipeline.chain();
    chain.rows_per_message = bench.number(ROWS)?;
    let refuse = |what: String| Err(Error::Program(what));
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
    Ok(chain)
}

/// The chain as it is, and a closer look at it at the period that it keeps up. Rank 0 gets that period, if there is one.
fn flowing(
    bench: &mut Bench<'_>,
    chain: &Chain,
    member: &mut Member,
    mode: Mode,
) -> Result<Option<f64>> {
    let mut body = |rank: &mut dyn contract::Rank, trial: &Trial, deadlines: &mut Deadlines| {
        member.keep_up(mode, rank, trial, deadlines)
    };
    let found = period::find(bench, &mut body)?;
    let period_us = found.search.as_ref().and_then(|search| search.shortest_sustained_us);
    let period = period_us.map(|us| TimeSpan::from_s(us / 1e6));
    let instances =
        period.map_or(0, |period| ((PROFILED_S_MAX / period.as_s()) as u64).clamp(2, PROFILED));
    let mut count = instances.to_ne_bytes();
    bench.rank.broadcast(0, &mut count)?;
    let instances = u64::from_ne_bytes(count);
    let looked_at = period::keep_up(bench, &mut body, period, instances)?;
    let kept = looked_at.is_some();
    let profile = match looked_at {
        Some((begin, period)) => {
            let stamps = member.bring_stamps(bench.rank, instances)?;
            let subject = bench.subject(Parameters::new());
            let summarise = |samples: &[f64]| subject.summary(samples);
            let at = (begin.as_ps(), period);
            (bench.shape.me == 0).then(|| profile(chain, &stamps, at, summarise))
        }
        None => None,
    };
    let profile = profile.transpose()?;
    let computing_us = if kept { computing(bench, member)? } else { None };
    period::report(bench, found, Parameters::new(), |first| {
        let Some(profile) = profile.filter(|_| first.metric == "period") else {
            return Ok(Vec::new());
        };
        let computing = computing_us.into_iter().flat_map(|us| against_computing(first, us));
        Ok(rates(chain, first).chain(computing).chain(profile.measurements(first)).collect())
    })?;
    Ok(period_us)
}

/// The computing time that a matrix places on the busiest processor, in microseconds: the functions alone, one matrix after
/// the other. Ranks other than 0 get nothing.
fn computing(bench: &mut Bench<'_>, member: &mut Member) -> Result<Option<f64>> {
    member.clear();
    let mut alone = |rank: &mut dyn contract::Rank, trial: &Trial, deadlines: &mut Deadlines| {
        member.keep_up(Mode::FunctionsOnly, rank, trial, deadlines)
    };
    period::keep_up(bench, &mut alone, Some(BACK_TO_BACK), COMPUTED)?;
    let stamps = member.bring_stamps(bench.rank, COMPUTED)?;
    let processors = bench.processors()?;
    let sharing = std::thread::available_parallelism().map_or(1, usize::from);
    let us = computing_us(&stamps, &processors, sharing);
    Ok((bench.shape.me == 0 && us > 0.0).then_some(us))
}

/// The computing of the busiest processor beside `period`, and how many times as long the period is.
fn against_computing(period: &Measurement, computing_us: f64) -> [Measurement; 2] {
    let lower = Better::Lower;
    let ratio = |period_us| period_us / computing_us;
    [
        derived(period, ("busiest-processor", "us"), lower, |_| computing_us),
        derived(period, ("period-per-computing", "ratio"), lower, ratio),
    ]
}

/// What the chain moves and computes at its period.
fn rates(chain: &Chain, period: &Measurement) -> impl Iterator<Item = Measurement> + use<> {
    // An operation in a microsecond is a MFLOP/s.
    let nominal = |us: f64| chain.operations() / us;
    let nominal = derived(period, ("nominal-rate", "MFLOP/s"), Better::Higher, nominal);
    period::rate(period, chain.matrix_bytes() as f64).into_iter().chain([nominal])
}

/// The functions without messages, or the messages without functions. With `others`, the periods of the chain and of its
/// messages, the share that is hidden is told as well.
fn apart(
    bench: &mut Bench<'_>,
    chain: &Chain,
    member: &mut Member,
    mode: Mode,
    others: Option<(f64, f64)>,
) -> Result<Option<f64>> {
    let found = period::find(bench, &mut |rank, trial, deadlines| {
        member.keep_up(mode, rank, trial, deadlines)
    })?;
    let period_us = found.search.as_ref().and_then(|search| search.shortest_sustained_us);
    let more = Parameters::from([(MODE.into(), mode.name().into())]);
    let whole = bench.step.parameters.clone();
    period::report(bench, found, more, |first| {
        let Some(rate) = period::rate(first, chain.matrix_bytes() as f64) else {
            return Ok(Vec::new());
        };
        let mut also = vec![rate];
        also.extend(others.map(|(with_us, messages_us)| {
            let hidden = |functions_us| hidden(with_us, functions_us, messages_us);
            let hidden = derived(first, ("hidden", "%"), Better::Higher, hidden);
            Measurement { parameters: whole, ..hidden }
        }));
        Ok(also)
    })?;
    Ok(period_us)
}
