//! The search itself: rank 0 decides, and the others follow.

use contract::{Error, Rank, Result, TimeSpan};
use record::SearchEnd;

use super::acceptance::{Acceptance, Limits, Verdict};
use super::bisection::{Answer, Bisection, SearchRange, times};
use super::command::Command;
use super::constants::CONSTANTS;
use super::deadlines::Body;
use super::outcome::{SearchBasis, SearchOutcome};
use super::schedule::Schedule;
use super::segment::TrialSegments;
use super::trials::{Confirmed, TrialRunner};
use super::{first_guess, os_isolation};
use crate::bench::Bench;
use crate::settings::Settings;

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
    let shortest = step.max(CONSTANTS.shortest);
    let outcomes = os_isolation::apply(bench.rank, settings.os_isolation, &bench.step.parameters)?;
    let limits = Limits::of(settings.required);
    let mut segments = TrialSegments::new(body, bench.overheads.agreement).within(limits);
    let guess = match requested.or(guess).or(basis.each) {
        Some(guess) => guess,
        None => first_guess::measure(bench.rank, &mut segments, settings.trial_s())?,
    };
    let longest = times(guess, CONSTANTS.longest_guesses).max(CONSTANTS.longest_at_least);
    if bench.shape.me != 0 {
        let found = follow(bench.rank, &mut segments);
        os_isolation::restore(bench.rank);
        return found;
    }
    let mut runner = TrialRunner::new(bench, segments, basis);
    let answer = match requested {
        Some(period) => one_period(&mut runner, period)?,
        None => {
            search(&mut runner, SearchRange { shortest, longest, width: settings.width }, guess)?
        }
    };
    let mut found = runner.conclude(answer)?;
    os_isolation::restore(bench.rank);
    if let Some(search) = &mut found.search {
        search.hygiene = outcomes;
    }
    Ok(found)
}

/// Estimates the time of [`find`] in seconds.
pub(crate) fn lasts_s(settings: &Settings) -> f64 {
    let real_time = &settings.real_time;
    let needed = Acceptance { miss_rate: real_time.miss_rate, confidence: settings.confidence };
    let trial_s = |period_s: f64| {
        let period = TimeSpan::from_s(period_s).max(CONSTANTS.shortest);
        real_time.instances(period, needed.instances_needed()) as f64 * period_s
    };
    if let Some(period_s) = real_time.period_s {
        return trial_s(period_s);
    }
    let search_s =
        real_time.search_limit_s.unwrap_or(CONSTANTS.unlimited_trials * real_time.trial_s());
    let Schedule { times, to_its_end, .. } = Schedule::new(real_time, false);
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

/// Finds the ends of the interval: by what is predicted if there is a prediction, and then confirms the upper one.
fn search(runner: &mut TrialRunner<'_, '_>, range: SearchRange, guess: TimeSpan) -> Result<Answer> {
    runner.predict(guess)?;
    let answer = match runner.follows_forecast() {
        true => refuse_predicted(runner, range)?,
        false => bisect(runner, range, runner.forecast_period().unwrap_or(guess))?,
    };
    let is_open = runner.schedule.times > 0 && answer.end != SearchEnd::NeverSustained;
    if is_open { confirm(runner, range, answer) } else { Ok(answer) }
}

fn bisect(runner: &mut TrialRunner<'_, '_>, range: SearchRange, guess: TimeSpan) -> Result<Answer> {
    let finding_s = runner.schedule.finding_s;
    let mut bisection = Bisection::new(range, guess);
    loop {
        if runner.spent_s() >= finding_s && runner.has_tried() {
            return Ok(bisection.answer(SearchEnd::TimeLimit));
        }
        match bisection.next() {
            Ok(period) => bisection.record(period, runner.test(period, finding_s)?),
            Err(end) => return Ok(bisection.answer(end)),
        }
    }
}

/// Refuses the longest period that the time for finding suffices for: each trial is of the longest one that it will
/// probably refuse, given all trials before, and longer than those refused.
fn refuse_predicted(runner: &mut TrialRunner<'_, '_>, range: SearchRange) -> Result<Answer> {
    let finding_s = runner.schedule.finding_s;
    let mut refused = None;
    loop {
        let trial_s = CONSTANTS.refuting * (finding_s - runner.spent_s());
        let longer = refused.map_or(range.shortest, |period| times(period, 1.0 + range.width));
        if trial_s < CONSTANTS.finding_left * finding_s {
            break;
        }
        let Some(period) = runner.refutable(trial_s).filter(|period| *period >= longer) else {
            break;
        };
        let is_refused = runner.test(period, finding_s)? == Verdict::Refused;
        refused = refused.max(is_refused.then_some(period));
    }
    Ok(Answer { end: SearchEnd::TimeLimit, longest_refused: refused, shortest_sustained: None })
}

/// Confirms the shortest period that probably can be, and longer ones until one holds or the time is over.
fn confirm(
    runner: &mut TrialRunner<'_, '_>,
    range: SearchRange,
    mut answer: Answer,
) -> Result<Answer> {
    let longer = |period| times(period, 1.0 + range.width);
    let above = answer.longest_refused.map_or(TimeSpan::ZERO, longer);
    let mut from = answer.shortest_sustained.map_or(above, |sustained| above.min(sustained));
    let mut step = CONSTANTS.step_first;
    while let Some(period) = runner.to_confirm(answer.shortest_sustained, from) {
        match runner.confirm(period)? {
            Confirmed::Holds => {
                let is_narrow = answer.end == SearchEnd::TimeLimit
                    && answer.longest_refused.is_some_and(|refused| period <= longer(refused));
                let end = if is_narrow { SearchEnd::Settled } else { answer.end };
                return Ok(Answer { end, shortest_sustained: Some(period), ..answer });
            }
            Confirmed::NoTime => break,
            Confirmed::Fails(verdict) => {
                let refused = (verdict == Verdict::Refused).then_some(period);
                answer.longest_refused = answer.longest_refused.max(refused);
                answer.shortest_sustained =
                    answer.shortest_sustained.filter(|sustained| *sustained > period);
                if answer.end == SearchEnd::Settled {
                    answer.end = SearchEnd::Unsettled;
                }
                if period >= range.longest {
                    break;
                }
                from = times(period, step).min(range.longest);
                step = (step * step).min(CONSTANTS.step_max);
            }
        }
    }
    Ok(answer)
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
