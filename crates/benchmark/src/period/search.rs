//! The search itself: rank 0 decides, and the others follow.

use contract::{Error, Rank, Result, TimeSpan};
use record::SearchEnd;

use super::acceptance::{Acceptance, Limits};
use super::command::Command;
use super::deadlines::Body;
use super::decision::{Answer, Decision, NextStep, NextToConfirm, SearchRange, Verdict};
use super::outcome::{SearchBasis, SearchOutcome};
use super::schedule::Schedule;
use super::segment::TrialSegments;
use super::trials::{Confirmed, TrialRunner};
use super::{first_guess, os_isolation};
use crate::bench::Bench;
use crate::settings::Settings;

/// Longest period that is tried, as a multiple of the first guess, and its minimum, a tenth of a second: a delay of a
/// rank is as long for a short job.
const LONGEST: f64 = 256.0;
const LONGEST_AT_LEAST: TimeSpan = TimeSpan::from_us(100_000);
/// Shortest period that is tried. The clock's step is another lower limit.
const SHORTEST: TimeSpan = TimeSpan::from_ns(10);

/// Searches for the minimum sustainable period of `body`, or tests the period in the settings.
/// Collective.
///
/// # Errors
/// Any error of the contract, after the trials so far have been reported; [`Error::Program`] for a period that the
/// clock cannot resolve.
pub(crate) fn find(bench: &mut Bench<'_>, body: Body<'_>) -> Result<SearchOutcome> {
    find_from(bench, SearchBasis::default(), body)
}

/// As [`find`], for a job with known properties.
pub(crate) fn find_from(
    bench: &mut Bench<'_>,
    basis: SearchBasis,
    body: Body<'_>,
) -> Result<SearchOutcome> {
    let basis = SearchBasis { begun: basis.begun.or(Some(bench.rank.now())), ..basis };
    let settings = &bench.settings.real_time;
    let step = bench.rank.clock().resolution;
    let requested = settings.period_s.map(TimeSpan::from_s);
    if let Some(period) = requested {
        check_period(period, step)?;
    }
    let guess = settings.guess_s.map(TimeSpan::from_s);
    let shortest = step.max(SHORTEST);
    let outcomes = os_isolation::apply(bench.rank, settings.os_isolation, &bench.step.parameters)?;
    let limits = Limits::of(settings.required);
    let mut segments = TrialSegments::new(body, bench.overheads.agreement).within(limits);
    let guess = match requested.or(guess).or(basis.each) {
        Some(guess) => guess,
        None => first_guess::measure(bench.rank, &mut segments, settings.trial_s())?,
    };
    let longest = TimeSpan::from_s(guess.as_s() * LONGEST).max(LONGEST_AT_LEAST);
    if bench.shape.me != 0 {
        let found = follow(bench.rank, &mut segments);
        os_isolation::restore(bench.rank);
        return found;
    }
    let mut runner = TrialRunner::new(bench, segments, basis);
    let answer = match requested {
        Some(period) => one_period(&mut runner, period)?,
        None => {
            let repeats =
                if runner.is_steady || super::without("repeats") { 1 } else { settings.repeats };
            let width = settings.width;
            search(&mut runner, SearchRange { shortest, longest, width, repeats }, guess)?
        }
    };
    let mut found = runner.conclude(answer)?;
    os_isolation::restore(bench.rank);
    if let Some(search) = &mut found.search {
        search.hygiene = outcomes;
    }
    Ok(found)
}

/// Time of a search without a time limit, in whole trials. Most of its trials are cut short.
const TRIALS: f64 = 5.0;

/// Estimates the time of [`find`] in seconds.
pub(crate) fn lasts_s(settings: &Settings) -> f64 {
    let real_time = &settings.real_time;
    let needed = Acceptance { miss_rate: real_time.miss_rate, confidence: settings.confidence };
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

/// Executes `instances` of `period` without a verdict, in order to observe them. Collective.
pub(crate) fn keep_up(
    bench: &mut Bench<'_>,
    body: Body<'_>,
    period: TimeSpan,
    instances: u64,
) -> Result<()> {
    TrialSegments::new(body, bench.overheads.agreement).run(bench.rank, period, instances).map(drop)
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

fn search(
    runner: &mut TrialRunner<'_, '_>,
    limits: SearchRange,
    guess: TimeSpan,
) -> Result<Answer> {
    runner.predict(guess)?;
    let expected = runner.expected_verdicts();
    let mut decision = Decision::new(limits, expected.map_or(guess, |expected| expected.sustained));
    decision.expect(expected);
    let Schedule { narrowing_s, finding_s, times, .. } = runner.schedule;
    let answer = loop {
        if runner.spent_s() >= narrowing_s && !super::without("hurry") {
            decision.hurry();
        }
        let step = match runner.spent_s() >= finding_s && runner.has_tried() {
            true => decision.done(SearchEnd::TimeLimit),
            false => decision.next(),
        };
        match step {
            NextStep::Done(answer) => break answer,
            NextStep::Try(period) => {
                decision.record(period, runner.test(period, finding_s)?);
                decision.expect(runner.expected_verdicts());
            }
        }
    };
    if times == 0 { Ok(answer) } else { confirm(runner, decision, answer) }
}

/// Continues from `answer` upwards until a period is confirmed, or the time is over.
fn confirm(
    runner: &mut TrialRunner<'_, '_>,
    mut decision: Decision,
    answer: Answer,
) -> Result<Answer> {
    let until_s = runner.schedule.confirming_s;
    let mut end = answer.end;
    loop {
        match decision.next_to_confirm(runner.longest_to_confirm()) {
            NextToConfirm::Nothing => break,
            NextToConfirm::Try(_) if runner.spent_s() >= until_s => break,
            NextToConfirm::Try(period) => {
                decision.record(period, runner.test(period, until_s)?);
                decision.expect(runner.expected_verdicts());
            }
            NextToConfirm::Confirm(period) => match runner.confirm(period)? {
                Confirmed::Holds => {
                    decision.confirm(period);
                    break;
                }
                Confirmed::NoTime => break,
                Confirmed::Fails(verdict) => {
                    decision.disprove(period, verdict);
                    decision.expect(runner.expected_verdicts());
                    // The ends of the interval are now farther apart than requested.
                    let settled = end == SearchEnd::Settled;
                    end = if settled { SearchEnd::Unsettled } else { end };
                }
            },
        }
    }
    let is_open = end == SearchEnd::Settled && decision.needs_proof();
    Ok(decision.answer(if is_open { SearchEnd::Unsettled } else { end }))
}

fn one_period(runner: &mut TrialRunner<'_, '_>, period: TimeSpan) -> Result<Answer> {
    runner.resume(period);
    let verdict = runner.test(period, f64::INFINITY)?;
    let is = |wanted| (verdict == wanted).then_some(period);
    Ok(Answer {
        end: SearchEnd::OnePeriod,
        longest_refused: is(Verdict::Refused),
        shortest_sustained: is(Verdict::Sustained),
    })
}

/// Does the work of every rank except 0: runs segments as rank 0 commands.
fn follow(rank: &mut dyn Rank, segments: &mut TrialSegments<'_>) -> Result<SearchOutcome> {
    loop {
        match Command::receive(rank)? {
            Command::Segment { period, instances } => drop(segments.run(rank, period, instances)?),
            Command::End { .. } => {
                return Ok(SearchOutcome::default());
            }
        }
    }
}
