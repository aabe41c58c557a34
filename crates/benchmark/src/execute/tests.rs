mod streams;

use std::collections::BTreeSet;
use std::sync::Mutex;

use conformance::reference;
use record::{Measurement, StopReason};

use super::*;
use crate::catalogue::{catalogue, select};
use crate::job::Launch;
use crate::plan::plan;
use crate::settings::{RealTime, Settings};
use crate::sizes::Sizes;
use crate::testing::Altered;

fn launches(names: &[&str], ranks: usize, settings: &Settings) -> Vec<Launch> {
    let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
    plan(&select(&names).unwrap(), Some(&[ranks]), 3, settings, &BTreeSet::new()).unwrap()
}

/// Runs the selection `names` on reference ranks, each altered by `alter`. Returns the events of rank 0, launch by
/// launch, or the first rank that failed and the reason.
fn altered(
    names: &[&str],
    ranks: usize,
    settings: &Settings,
    alter: impl Fn(&mut Altered) + Sync,
) -> std::result::Result<Vec<Event>, (usize, Error)> {
    let events = Mutex::new(Vec::new());
    for launch in launches(names, ranks, settings) {
        reference::run(launch.ranks, |inner| {
            let mut rank = Altered::new(inner);
            alter(&mut rank);
            execute(&mut rank, &launch.job, &mut |event| {
                events.lock().unwrap().push(event);
                Ok(())
            })
        })?;
    }
    Ok(events.into_inner().unwrap())
}

fn events(names: &[&str], ranks: usize, settings: &Settings) -> Vec<Event> {
    altered(names, ranks, settings, |_| {}).unwrap()
}

fn measured(events: &[Event]) -> Vec<&[Measurement]> {
    let mut all = Vec::new();
    for event in events {
        if let Event::Measured(metrics) = event {
            all.push(&metrics[..]);
        }
    }
    all
}

/// Returns the settings of a test: a few samples of each.
fn brief(sizes: &str) -> Settings {
    let sizes: Option<Sizes> = Some(sizes.parse().unwrap());
    let real_time = RealTime {
        period_s: Some(0.05),
        instances: Some(4),
        duration_s: Some(0.01),
        ..RealTime::default()
    };
    let few =
        Settings { samples_max: 3, time_min_s: 0.0, time_limit_s: 0.2, ..Settings::default() };
    Settings { sizes, real_time, ..few }
}

#[test]
fn a_ping_pong_leaves_a_time_and_a_rate_for_each_size() {
    let events = events(&["ping-pong"], 2, &brief("0,8"));
    let measured = measured(&events);
    let metrics = |index: usize| -> Vec<&str> {
        measured[index].iter().map(|measurement| measurement.metric.as_str()).collect()
    };
    assert_eq!(metrics(0), ["time"]);
    assert_eq!(metrics(1), ["time", "rate"]);
    let [time, rate] = measured[1] else { unreachable!() };
    assert_eq!((time.ranks, time.size_bytes, time.fabric.as_str()), (2, 8, "reference"));
    assert_eq!(time.samples.len() as u64, time.summary.n);
    assert_eq!(rate.summary.max, 8.0 / time.summary.min);
    assert!(rate.samples.is_empty());
}

#[test]
fn every_benchmark_runs_and_its_data_arrive_at_three_ranks() {
    every_benchmark_runs(3);
}

#[test]
#[ignore = "long"]
fn every_benchmark_runs_and_its_data_arrive_at_two_and_five_ranks() {
    [2, 5].into_iter().for_each(every_benchmark_runs);
}

fn every_benchmark_runs(ranks: usize) {
    // Patterns, chains, corner turns and congestors have numbers of ranks of their own, and tests of their own.
    // Applications need problems that are large enough for their ranks. A steady stream has rates over time, and times
    // no event.
    let excluded = [
        "pmp",
        "pipeline",
        "corner-turn",
        "multiply",
        "parallel-sort",
        "parallel-fft",
        "sor",
        "steady-stream",
        "shared-stream",
        "congestion-impact",
        // Reference ranks have no operating system, and few ranks have too few destinations for a stack.
        "wake-up",
        "traffic",
    ];
    let all = catalogue().iter().map(|one| one.name);
    let chosen: Vec<&str> = all.filter(|name| !excluded.contains(name)).collect();
    let events = events(&chosen, ranks, &brief("0,1,8,3000"));
    let steps = events.iter().filter(|event| matches!(event, Event::Started { .. })).count();
    let (measured, skipped) = (measured(&events), skipped(&events));
    assert_eq!(steps, measured.len() + skipped.len());
    // Reference ranks are bound to no processor, and have no priorities.
    let (refused, other): (Vec<_>, Vec<_>) =
        skipped.iter().partition(|(label, _)| label.contains("priority=rate-monotonic"));
    assert!(refused.iter().all(|(_, reason)| reason.contains("no priorities")), "{refused:?}");
    // The longest size is no tuple and no buffer.
    let mut other: Vec<&str> = other.iter().map(|(label, _)| *label).collect();
    other.sort_unstable();
    let expected = [
        "process-switch",
        "send-and-receive mode=asynchronous partner=another rank 3000 B",
        "send-and-receive mode=asynchronous partner=itself 3000 B",
        "send-and-receive mode=synchronous partner=another rank 3000 B",
        "send-and-receive mode=synchronous partner=itself 3000 B",
        "tuple-space 3000 B",
    ];
    assert_eq!(other, expected);
    for name in chosen.iter().filter(|name| **name != "process-switch") {
        assert!(measured.iter().any(|of| of[0].benchmark == *name), "{name}");
    }
    for first in measured.iter().map(|of| &of[0]).filter(|first| first.search.is_some()) {
        assert_eq!(first.search.as_ref().unwrap().trials.len(), 1, "{first:?}");
    }
    for time in measured.iter().map(|of| &of[0]).filter(|first| first.group != "real-time") {
        assert!(time.summary.n >= 1 && time.metric == "time" && time.unit == "us", "{time:?}");
        assert!(!time.warm_up_samples.is_empty(), "{time:?}");
        assert_ne!(time.stop_reason, StopReason::Precision, "3 samples are never enough");
    }
}

fn skipped(events: &[Event]) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    for event in events {
        if let Event::Skipped { label, reason, .. } = event {
            all.push((label.as_str(), reason.as_str()));
        }
    }
    all
}

#[test]
fn a_process_switch_is_measured_only_on_one_processor() {
    let together = altered(&["process-switch"], 2, &brief("0"), |rank| rank.processor = Some(3));
    let together = together.unwrap();
    assert_eq!(measured(&together).len(), 1);
    let outcome = altered(&["process-switch"], 2, &brief("0"), |rank| {
        rank.processor = Some(rank.rank());
    });
    let outcome = outcome.unwrap();
    assert!(skipped(&outcome)[0].1.contains("not bound to one processor"));
    assert!(measured(&outcome).is_empty());
}

#[test]
fn without_shared_memory_what_needs_it_is_skipped_and_the_rest_runs() {
    let names = ["hand-over", "ping-pong"];
    let events = altered(&names, 3, &brief("8"), |rank| rank.has_shared_line = false).unwrap();
    // Three pairs of three ranks, and the first once more after the ping-pong.
    assert_eq!(skipped(&events).len(), 4);
    assert_eq!(skipped(&events)[1].0, "hand-over from=0 to=2");
    assert_eq!(measured(&events).len(), 1);
}

#[test]
fn a_clock_too_uncertain_for_one_way_times_gives_half_of_a_reply() {
    let method = |uncertainty: TimeSpan| {
        let events = altered(&["simple-transfer"], 2, &brief("8"), |rank| {
            rank.uncertainty = uncertainty;
        });
        let events = events.unwrap();
        let measured = measured(&events);
        assert_eq!(measured.len(), 1, "one measurement, however it is made");
        measured[0][0].parameters.get("method").map(ToString::to_string)
    };
    assert_eq!(method(TimeSpan::ZERO), None);
    assert_eq!(method(TimeSpan::from_s(1.0)), Some("half-of-reply".into()));
}

#[test]
fn a_measurement_made_another_way_than_planned_is_not_made_again() {
    let events = altered(&["simple-transfer"], 2, &brief("8"), |rank| {
        rank.uncertainty = TimeSpan::from_s(1.0);
    });
    let done = measured(&events.unwrap()).iter().map(|metrics| metrics[0].key()).collect();
    let selection = select(&["simple-transfer".into()]).unwrap();
    let plan = |sizes| plan(&selection, None, 2, &brief(sizes), &done).unwrap();
    assert_eq!(plan("8"), []);
    assert_eq!(plan("8,16")[0].job.steps.len(), 1);
}

#[test]
fn data_that_arrive_wrong_end_the_run_and_are_named() {
    for name in
        ["ping-pong", "simple-transfer", "bandwidth", "adjacent-pair", "broadcast", "gather"]
    {
        let corrupts = |rank: &mut Altered| rank.corrupts = Some(96);
        let (_, error) = altered(&[name], 2, &brief("96"), corrupts).unwrap_err();
        let words = error.to_string();
        assert!(words.starts_with(name) && words.contains(" 96 B: wrong data: byte 0"), "{words}");
    }
    let (_, error) =
        altered(&["reduce"], 2, &brief("96"), |rank| rank.corrupts = Some(96)).unwrap_err();
    assert!(error.to_string().contains("reduce 96 B: wrong data: element 0"), "{error}");
}

#[test]
fn a_sink_that_fails_ends_the_run() {
    let launch = &launches(&["ping-pong"], 3, &brief("8"))[0];
    let full = || Error::Program("the disk is full".into());
    let failed = reference::run(3, |rank| execute(rank, &launch.job, &mut |_| Err(full())));
    assert_eq!(failed, Err((0, full())));
}

#[test]
fn a_job_of_another_build_or_for_other_ranks_is_refused() {
    let mut job = launches(&["copy"], 1, &brief("8")).remove(0).job;
    let run =
        |job: &Job| reference::run(2, |rank| execute(rank, job, &mut |_| Ok(()))).unwrap_err();
    assert_eq!(run(&job).1, Error::Program("`copy` runs with 1 rank, not with 2".into()));
    job.steps[0].benchmark = "ackermann".into();
    let words = "there is no benchmark `ackermann` in this build";
    assert_eq!(run(&job).1, Error::Program(words.into()));
}

#[test]
fn the_clock_has_a_cost_and_a_resolution() {
    let events = events(&["clock-cost"], 1, &Settings { time_min_s: 0.0, ..Settings::default() });
    let [cost, resolution] = measured(&events)[0] else { panic!("two metrics") };
    assert_eq!((cost.metric.as_str(), resolution.metric.as_str()), ("time", "resolution"));
    assert_eq!(cost.key(), resolution.key());
    assert!(resolution.summary.min > 0.0);
}

#[test]
fn a_clock_that_stands_still_shows_its_own_resolution() {
    let launch = &launches(&["clock-cost"], 1, &Settings::default())[0];
    let metrics = Mutex::new(Vec::new());
    reference::run(1, |inner| {
        let time_ps = std::cell::Cell::new(0);
        let mut rank = Altered { time_ps: Some(&time_ps), ..Altered::new(inner) };
        execute(&mut rank, &launch.job, &mut |event| {
            if let Event::Measured(found) = event {
                *metrics.lock().unwrap() = found;
            }
            Ok(())
        })
    })
    .unwrap();
    let metrics = metrics.into_inner().unwrap();
    assert_eq!((metrics[0].summary.median, metrics[1].samples.as_slice()), (0.0, &[1e-6][..]));
}

#[test]
fn the_time_for_all_shrinks_the_limit_of_each_but_not_to_nothing() {
    let settings = Settings { time_limit_s: 0.5, ..Settings::default() };
    let job = Job { steps: Vec::new(), settings, limit_s: Some(10.0) };
    let limit_s = |spent_s, left| limit(&job, TimeSpan::from_s(spent_s), left).as_s();
    // 8 s left for 100: four shares of 0.08 s.
    assert_eq!(limit_s(2.0, 100), 0.32);
    assert_eq!(limit_s(0.0, 10), 0.5);
    assert_eq!(limit_s(11.0, 5), LIMIT_MIN_S);
    let unlimited = Job { limit_s: None, ..job };
    assert_eq!(limit(&unlimited, TimeSpan::from_s(99.0), 1).as_s(), 0.5);
}

#[test]
fn jobs_and_events_survive_the_way_between_processes() {
    let job = launches(&["adjacent-pair"], 2, &Settings::quick()).remove(0).job;
    let bytes = serde_json::to_vec(&job).unwrap();
    assert_eq!(serde_json::from_slice::<Job>(&bytes).unwrap(), job);
    for event in events(&["copy"], 1, &brief("8")) {
        let bytes = serde_json::to_vec(&event).unwrap();
        assert_eq!(serde_json::from_slice::<Event>(&bytes).unwrap(), event);
    }
}

#[test]
fn a_repeated_measurement_is_told_once_and_knows_its_repetitions() {
    let repetitions = 3;
    // The number of samples alone ends a measurement, however slow the machine is.
    let settings = Settings { repetitions, samples_max: 9, time_limit_s: 1e6, ..brief("8,64") };
    let events = events(&["ping-pong", "barrier"], 2, &settings);
    let begun: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Started { label, .. } => Some(label.as_str()),
            _ => None,
        })
        .collect();
    // All are made once before any is made again.
    let round = |turn: u32| {
        ["ping-pong 8 B", "ping-pong 64 B", "barrier"]
            .map(|label| format!("{label}, turn {turn} of 3"))
    };
    assert_eq!(begun, (1..=repetitions).flat_map(round).collect::<Vec<_>>());
    let measured = measured(&events);
    assert_eq!(measured.len(), 3);
    for metrics in measured {
        let time = &metrics[0];
        // A third of nine samples each.
        assert_eq!(time.turns.iter().map(|turn| turn.samples).collect::<Vec<_>>(), [3, 3, 3]);
        assert_eq!(time.samples.len(), 9);
    }
}

#[test]
fn what_cannot_be_put_together_is_measured_once() {
    let settings = Settings { repetitions: 2, time_min_s: 0.0, ..Settings::default() };
    let found = events(&["clock-cost"], 1, &settings);
    let begun = found.iter().filter(|event| matches!(event, Event::Started { .. })).count();
    assert_eq!((begun, measured(&found).len()), (1, 1));
    // One turn, with the times of operations during it.
    let [turn] = &measured(&found)[0][0].turns[..] else { panic!("{found:?}") };
    assert!(turn.line_us.is_none() && !turn.operations_ns.is_empty());
}

#[test]
fn applications_tell_what_they_gain_and_what_they_cannot_do() {
    for ranks in [1, 2, 3] {
        let events = events(&["applications"], ranks, &brief("30KiB"));
        let refused = |event: &&Event| match event {
            Event::Skipped { label, reason, .. } => {
                let stages = label.contains("form=stages") && reason.contains("by 3 ranks");
                // A grid of 61 x 61 has 61 rows, and 3 ranks can have 48 strips at most.
                assert!(stages, "{label}: {reason}");
                true
            }
            _ => false,
        };
        let skipped = events.iter().filter(refused).count();
        assert_eq!(skipped, if ranks == 3 { 2 } else { 0 });
        for metrics in measured(&events) {
            let names: Vec<&str> = metrics.iter().map(|one| one.metric.as_str()).collect();
            let all =
                ["time", "speed-up", "efficiency", "serial", "work", "uneven", "communication"];
            assert_eq!(names[..7], all);
            let of = |name: &str| metrics.iter().find(|one| one.metric == name).unwrap();
            let median = |name: &str| of(name).summary.median;
            // The middle of two times is not that of their inverses.
            if of("time").summary.n.is_multiple_of(2) {
                continue;
            }
            let speed_up = median("serial") / median("time");
            assert!((median("speed-up") / speed_up - 1.0).abs() < 1e-6);
            assert!((median("efficiency") / (100.0 * speed_up / ranks as f64) - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn chosen_values_of_parameters_leave_the_other_cases_out() {
    let only = |wanted: &[(&str, &str)]| Settings {
        only: wanted.iter().map(|&(name, value)| (name.into(), vec![value.into()])).collect(),
        ..brief("8KiB")
    };
    let labels = |settings: &Settings| -> Vec<String> {
        let all = launches(&["multiply"], 2, settings);
        all.iter().flat_map(|launch| launch.job.steps.iter().map(|step| step.label())).collect()
    };
    // Blocks have no grain.
    let grain = labels(&only(&[("grain", "8")]));
    assert_eq!(grain, ["multiply form=blocks 8 KiB", "multiply form=rows grain=8 8 KiB"]);
    let both = labels(&only(&[("grain", "8"), ("form", "rows")]));
    assert_eq!(both, ["multiply form=rows grain=8 8 KiB"]);
    let none = only(&[("form", "columns")]);
    let selection = select(&["multiply".into()]).unwrap();
    let words = plan(&selection, Some(&[2]), 3, &none, &BTreeSet::new()).unwrap_err().to_string();
    assert_eq!(
        words,
        "no case of the selection has form=columns; there are form=blocks,rows,rows-hcs"
    );
}
