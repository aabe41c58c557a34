//! The search for the minimum sustainable period, for every real-time benchmark on every fabric.
//!
//! # For a benchmark
//! A periodic benchmark is a function that keeps up one [`Trial`]:
//!
//! ```text
//! fn keep_up(rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines) -> Result<()> {
//!     for instance in 0..trial.instances {
//!         deadlines.wait_for(rank, instance);              // returns at once if this rank is behind
//!         ...                                              // this rank's part of the instance
//!         deadlines.ended(instance, stage, rank.now());    // stage: which part it was; 0 if there is one
//!     }
//!     Ok(())
//! }
//! ```
//!
//! All ranks call it alike with the same trial. It must leave no message under way and must allocate nothing (its
//! buffers live outside, made before). [`find`] then does what the settings ask ([`RealTime`]): it searches for the
//! shortest period, or keeps up the one that is asked for, and returns a [`Found`] with which [`report`] makes the
//! measurements `period`, `response` and `miss-rate`.
//!
//! Its cases go through [`variants`], which adds one for each part of the hygiene that is to be left out, and for each search
//! of the same. [`find`] switches the hygiene on and off, and says in the record what was granted.
//!
//! # What counts
//! * An instance is *missed* when any deadline of any rank in it is: [`Deadlines::ended`] after [`Trial::deadline`].
//!   Deadlines are absolute, so an instance that ends late does not move the next one.
//! * A period is *sustained* when so few instances of all its trials are missed that the upper bound of the miss rate at
//!   the wanted confidence is no more than the wanted miss rate, and *refused* when the lower bound is more. Where there are
//!   too few instances to show that rate, it is sustained if none is missed, and is told as not proven. Misses that come in
//!   bursts, as a pause of the system makes them, count as fewer ([`analysis::statistics::miss_rate`]).
//! * The answer is an interval: every period at or below its lower end that was tried is refused, every one at or above its
//!   upper end sustained, and each end was tried several times ([`decision`]). What is neither lies inside it.
//! * A search may have a limit of time; then the interval is what is known when it is over.
//! * What was found is *confirmed*: kept up for a multiple of a trial's length, of which the new instances alone must show the
//!   wanted miss rate. A period that does not hold is sustained no more, and the search goes on upwards ([`schedule`]).
//!
//! # How a trial runs
//! In legs that grow eightfold: each begins at an agreed instant, and when the misses so far already refuse the period,
//! and not in so short a time that one pause may have caused them all, the trial ends. So a period that is a thousand times
//! too short costs a fraction of a trial. Rank 0 decides every leg and spreads it by broadcast; virtual time serves as well
//! as real time.

mod back_to_back;
mod decision;
mod first_guess;
mod hygiene;
mod leg;
mod orders;
mod report;
mod schedule;
mod tested;
#[cfg(test)]
mod tests;
mod trial;
mod variants;
mod wanted;

use analysis::statistics::MissRate;
use contract::record::{PeriodSearch, SearchEnd};
use contract::{Error, Rank, Result, Time, TimeSpan};

pub(crate) use back_to_back::{back_to_back, turns_last_s};
pub(crate) use hygiene::{PRIORITY, RATE_MONOTONIC, prioritise, refusal};
pub(crate) use report::{derived, rate, report};
pub(crate) use trial::{Deadlines, Trial, Usual};
pub(crate) use variants::variants;

use crate::Settings;
use crate::execute::Bench;
use decision::{Answer, Decision, Limits, Step, Upwards, Verdict};
use leg::Legs;
use orders::Order;
use schedule::Schedule;
use tested::{Confirmed, Tester};
use wanted::Wanted;

/// One rank's part of a trial.
pub(crate) type Body<'a> = &'a mut dyn FnMut(&mut dyn Rank, &Trial, &mut Deadlines) -> Result<()>;

/// What is known of a job before its period is searched for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// About how long an instance takes, so that it need not be measured: at every rank or at none, and what rank 0 says counts.
    pub(crate) each: Option<TimeSpan>,
    /// How many instances may wait for each other before one is late.
    pub(crate) waiting: u64,
}

/// A trial has so many times as many instances as may wait, unless somebody said how long it is to be: a job that has an
/// eighth of its time to spare then works off all that may wait within half of it.
pub(crate) const PERIODS_PER_WAITING: u64 = 16;

/// What was found, at rank 0.
#[derive(Debug)]
pub(crate) struct Found {
    /// The search as the record tells it; none at the other ranks.
    pub(crate) search: Option<PeriodSearch>,
    /// How often the period that was found is missed (or else the longest refused one, or else the one tried last); none at
    /// the other ranks.
    pub(crate) miss_rate: Option<MissRate>,
    /// The responses of all instances of the trials at that period, in microseconds.
    pub(crate) responses_us: Vec<f64>,
}

/// Periods up to this many times the first guess are tried, and up to a tenth of a second on any machine, for what puts
/// a rank off for a while does so however short the job is.
const LONGEST: f64 = 256.0;
const LONGEST_AT_LEAST: TimeSpan = TimeSpan::from_us(100_000);
/// No period below this is tried, nor below the clock's step.
const SHORTEST: TimeSpan = TimeSpan::from_ns(10);

/// Searches for the minimum sustainable period of `body`, or keeps up the period that the settings ask for. All ranks
/// call it alike.
///
/// # Errors
/// Any error of the contract, after what was tried has been told; [`Error::Program`] for a period that no clock of this
/// machine can keep.
pub(crate) fn find(bench: &mut Bench<'_>, body: Body<'_>) -> Result<Found> {
    find_knowing(bench, Known::default(), body)
}

/// The same for a job of which something is known.
pub(crate) fn find_knowing(bench: &mut Bench<'_>, known: Known, body: Body<'_>) -> Result<Found> {
    let settings = &bench.settings.real_time;
    let step = bench.rank.clock().resolution;
    let asked = settings.period_s.map(TimeSpan::from_s);
    if let Some(period) = asked {
        check_period(period, step)?;
    }
    let guess = settings.guess_s.map(TimeSpan::from_s);
    let shortest = step.max(SHORTEST);
    let told = hygiene::apply(bench.rank, settings.hygiene, &bench.step.parameters)?;
    let mut legs = Legs::new(body, bench.overheads.agreement);
    let guess = match asked.or(guess).or(known.each) {
        Some(guess) => guess,
        None => first_guess::measure(bench.rank, &mut legs, settings.trial_s())?,
    };
    let longest = TimeSpan::from_s(guess.as_s() * LONGEST).max(LONGEST_AT_LEAST);
    if bench.shape.me != 0 {
        let found = follow(bench.rank, &mut legs);
        hygiene::restore(bench.rank);
        return found;
    }
    let mut tester = Tester::new(bench, legs, known.waiting);
    let answer = match asked {
        Some(period) => one_period(&mut tester, period)?,
        None => {
            let (width, repeats) = (settings.width, settings.repeats);
            search(&mut tester, Limits { shortest, longest, width, repeats }, guess)?
        }
    };
    let mut found = tester.conclude(answer)?;
    hygiene::restore(bench.rank);
    if let Some(search) = &mut found.search {
        search.hygiene = told;
    }
    Ok(found)
}

/// Whole trials that a search without a limit of time makes, in which most are cut short.
const TRIALS: f64 = 5.0;

/// How long [`find`] takes, in seconds, as far as one can tell before.
pub(crate) fn lasts_s(settings: &Settings) -> f64 {
    let real_time = &settings.real_time;
    let needed = Wanted { miss_rate: real_time.miss_rate, confidence: settings.confidence };
    let trial_s = |period_s: f64| {
        let period = TimeSpan::from_s(period_s).max(SHORTEST);
        real_time.instances(period, needed.instances_needed()) as f64 * period_s
    };
    if let Some(period_s) = real_time.period_s {
        return trial_s(period_s);
    }
    let search_s = real_time.search_limit_s.unwrap_or(TRIALS * real_time.trial_s());
    let Schedule { times, to_its_end, .. } = Schedule::new(real_time);
    let more = if to_its_end { f64::from(times) } else { 0.0 };
    search_s + more * real_time.trial_s()
}

/// Keeps up `period`, which rank 0 says, for `instances` without judging it; gives the instant at which it began. All
/// ranks call it alike. For looking closer at what a search found.
pub(crate) fn keep_up(
    bench: &mut Bench<'_>,
    body: Body<'_>,
    period: Option<TimeSpan>,
    instances: u64,
) -> Result<Option<(Time, TimeSpan)>> {
    let mut words = [period.unwrap_or_default().as_ps().to_ne_bytes()];
    bench.rank.broadcast(0, words.as_flattened_mut())?;
    let period = TimeSpan::from_ps(u64::from_ne_bytes(words[0]));
    if period == TimeSpan::ZERO {
        return Ok(None);
    }
    let mut begin = Time::ZERO;
    let mut noting = |rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines| {
        begin = trial.begin;
        body(rank, trial, deadlines)
    };
    Legs::new(&mut noting, bench.overheads.agreement).run(bench.rank, period, instances)?;
    Ok(Some((begin, period)))
}

fn check_period(period: TimeSpan, step: TimeSpan) -> Result<()> {
    if period == TimeSpan::ZERO {
        return Err(Error::Program("a period of zero cannot be kept; ask for a longer one".into()));
    }
    if period < step {
        return Err(Error::Program(format!(
            "a period of {} ns is shorter than the {} ns that the clock here can tell apart; ask for a longer one",
            period.as_ns(),
            step.as_ns()
        )));
    }
    Ok(())
}

fn search(tester: &mut Tester<'_, '_>, limits: Limits, guess: TimeSpan) -> Result<Answer> {
    let mut decision = Decision::new(limits, guess);
    let Schedule { narrowing_s, finding_s, times, .. } = tester.schedule;
    let answer = loop {
        if tester.spent_s() >= narrowing_s {
            decision.hurry();
        }
        let step = match tester.spent_s() >= finding_s {
            true => decision.done(SearchEnd::TimeLimit),
            false => decision.next(),
        };
        match step {
            Step::Done(answer) => break answer,
            Step::Try(period) => decision.record(period, tester.test(period, finding_s)?),
        }
    };
    if times == 0 { Ok(answer) } else { confirm(tester, decision, answer) }
}

/// Goes on from `answer` upwards until a period holds, or the time is over.
fn confirm(tester: &mut Tester<'_, '_>, mut decision: Decision, answer: Answer) -> Result<Answer> {
    let until_s = tester.schedule.confirming_s;
    let mut end = answer.end;
    loop {
        match decision.upwards() {
            Upwards::Nothing => break,
            Upwards::Try(_) if tester.spent_s() >= until_s => break,
            Upwards::Try(period) => decision.record(period, tester.test(period, until_s)?),
            Upwards::Confirm(period) => match tester.confirm(period)? {
                Confirmed::Holds | Confirmed::NoTime => break,
                Confirmed::Fails(verdict) => {
                    decision.disprove(period, verdict);
                    // The ends are no longer as close as wanted.
                    let settled = end == SearchEnd::Settled;
                    end = if settled { SearchEnd::Unsettled } else { end };
                }
            },
        }
    }
    Ok(decision.answer(end))
}

fn one_period(tester: &mut Tester<'_, '_>, period: TimeSpan) -> Result<Answer> {
    let verdict = tester.test(period, f64::INFINITY)?;
    let is = |wanted| (verdict == wanted).then_some(period);
    Ok(Answer {
        end: SearchEnd::OnePeriod,
        longest_refused: is(Verdict::Refused),
        shortest_sustained: is(Verdict::Sustained),
    })
}

/// What every rank but 0 does: legs as they are ordered.
fn follow(rank: &mut dyn Rank, legs: &mut Legs<'_>) -> Result<Found> {
    loop {
        match Order::receive(rank)? {
            Order::Leg { period, instances } => drop(legs.run(rank, period, instances)?),
            Order::End { .. } => {
                return Ok(Found { search: None, miss_rate: None, responses_us: Vec::new() });
            }
        }
    }
}
