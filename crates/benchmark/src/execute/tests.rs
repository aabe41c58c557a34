use std::collections::BTreeSet;
use std::sync::Mutex;

use contract::record::StopReason;
use contract::reference;

use super::*;
use crate::{Sizes, catalogue, plan, select};

/// Runs what `names` select on reference ranks; the events of rank 0, launch by launch.
fn events(names: &[&str], ranks: usize, settings: &Settings) -> Vec<Event> {
    let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
    let selection = select(&names).unwrap();
    let launches = plan(&selection, Some(&[ranks]), 3, settings, &BTreeSet::new()).unwrap();
    let events = Mutex::new(Vec::new());
    for launch in launches {
        reference::run(launch.ranks, |rank| {
            execute(rank, &launch.job, &mut |event| {
                events.lock().unwrap().push(event);
                Ok(())
            })
        })
        .unwrap();
    }
    events.into_inner().unwrap()
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

/// The settings of a test: a few samples of each.
fn brief(sizes: &str) -> Settings {
    let sizes: Option<Sizes> = Some(sizes.parse().unwrap());
    Settings { sizes, samples_max: 3, time_min_s: 0.0, time_limit_s: 0.2, ..Settings::default() }
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
fn every_benchmark_runs_and_its_data_arrive_at_any_number_of_ranks() {
    for ranks in [2, 3, 5] {
        let events = events(&[], ranks, &brief("0,1,8,3000"));
        let steps = events.iter().filter(|event| matches!(event, Event::Started { .. })).count();
        let measured = measured(&events);
        let skipped: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                Event::Skipped { label, reason, .. } => Some((label, reason)),
                _ => None,
            })
            .collect();
        // Reference ranks are bound to no processor, so nothing can be said about one.
        assert_eq!(skipped.len(), 1, "{skipped:?}");
        assert_eq!(skipped[0].0, "process-switch");
        assert_eq!(steps, measured.len() + 1);
        for benchmark in catalogue().iter().filter(|one| one.name != "process-switch") {
            assert!(measured.iter().any(|of| of[0].benchmark == benchmark.name), "{benchmark:?}");
        }
        for time in measured.iter().map(|of| &of[0]) {
            assert!(time.summary.n >= 1 && time.metric == "time" && time.unit == "us", "{time:?}");
            assert!(!time.warm_up_samples.is_empty(), "{time:?}");
            assert_ne!(time.stop_reason, StopReason::Precision, "3 samples are never enough");
        }
    }
}
