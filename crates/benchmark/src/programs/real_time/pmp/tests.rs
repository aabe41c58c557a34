//! Tests patterns on the reference fabric, where long messages wait for their receives and a deadlock is an error.

use std::sync::Mutex;

use conformance::reference;
use contract::{Time, TimeSpan};
use pattern::corner_turn::Design;
use record::Measurement;

use super::*;
use crate::catalogue::select;
use crate::event::Event;
use crate::execute::execute;
use crate::job::Job;
use crate::plan::plan;
use crate::programs::common::{ITS_TAG, TAG};
use crate::settings::{RealTime, Settings};

/// Executes some periods back to back, with every other rank late to each.
fn run(pattern: &Pattern, periods: u64) -> std::result::Result<(), (usize, Error)> {
    reference::run(pattern.nodes.len(), |rank| {
        let me = rank.rank();
        let mut interpreter = Interpreter::new(pattern, me, 7)?;
        interpreter.begin(rank)?;
        for period in 0..periods {
            if (me as u64 + period).is_multiple_of(2) {
                std::thread::yield_now();
            }
            interpreter.period(rank, Time::ZERO, TimeSpan::ZERO)?;
        }
        rank.barrier()?;
        interpreter.finish(rank)?;
        // A receive that is still posted would take this message, and leave the next one unmatched.
        let partner = me ^ 1;
        if partner < rank.size() {
            rank.send(partner, TAG, &[me as u8])?;
            let mut byte = [0];
            rank.receive(contract::Source::Rank(partner), ITS_TAG, &mut byte)?;
            assert_eq!(byte, [partner as u8]);
        }
        Ok(())
    })
}

#[test]
fn patterns_run_for_many_periods_and_leave_nothing_posted() {
    for text in [
        "0: S 1 262144 R E 1: R S 0 0 E",
        "0..4: S (node + 1) % nodes 5000 R E",
        "0: L 20 (S 1 8) L 5 (R) W 0.5 E 1: L 5 (L 4 (R) S 0 100 kB) E",
        "0: R R E 1: S 0 4096 E 2: S 0 4096 E",
        "0: E 1: W 0.25 E",
    ] {
        let pattern = pattern::read("test", text).unwrap_or_else(|refusal| panic!("{refusal}"));
        run(&pattern, 20).unwrap_or_else(|(rank, error)| panic!("rank {rank}: {error}\n{text}"));
    }
}

#[test]
fn corner_turns_run_although_their_nodes_are_not_held_in_step() {
    for (design, nodes) in [(Design::Recursive, 8), (Design::Balanced, 8), (Design::Balanced, 6)] {
        let pattern = design.schedule(nodes).unwrap().to_pattern(3000);
        run(&pattern, 10).unwrap_or_else(|(rank, error)| panic!("rank {rank}: {error}"));
    }
}

#[test]
fn what_the_checker_takes_to_be_buffered_every_fabric_buffers() {
    assert_eq!(pattern::SHORT_BYTES as usize, contract::EAGER_BYTES);
}

#[test]
fn a_message_that_arrives_changed_is_an_error() {
    let pattern = pattern::read("pair", "0: S 1 5000 E 1: R E").unwrap();
    let ended = reference::run(2, |rank| {
        // Rank 0 sends the data of another seed.
        let mut interpreter = Interpreter::new(&pattern, rank.rank(), rank.rank() as u64)?;
        interpreter.begin(rank)?;
        interpreter.period(rank, Time::ZERO, TimeSpan::ZERO)?;
        rank.barrier()?;
        interpreter.finish(rank)
    });
    let (rank, error) = ended.unwrap_err();
    assert_eq!(rank, 1);
    assert!(error.to_string().contains("of the last message at rank 1"), "{error}");
}

fn settings(text: &str) -> Settings {
    Settings {
        pattern: Some(PatternText { name: "some/where/pair.pmp".into(), text: text.into() }),
        real_time: RealTime {
            period_s: Some(0.02),
            instances: Some(4),
            miss_rate: 0.9,
            ..RealTime::default()
        },
        ..Settings::default()
    }
}

fn executed(job: &Job, ranks: usize) -> std::result::Result<Vec<Measurement>, (usize, Error)> {
    let measured = Mutex::new(Vec::new());
    reference::run(ranks, |rank| {
        execute(rank, job, &mut |event| {
            if let Event::Measured(measurements) = event {
                measured.lock().unwrap().extend(measurements);
            }
            Ok(())
        })
    })?;
    Ok(measured.into_inner().unwrap())
}

fn job(settings: &Settings, ranks: usize) -> Option<Job> {
    let selection = select(&["pmp".into()]).unwrap();
    let launches = plan(&selection, Some(&[ranks]), 2, settings, &Default::default()).unwrap();
    launches.into_iter().next().map(|launch| launch.job)
}

#[test]
fn a_measurement_has_the_patterns_name_its_longest_message_and_the_rate_of_the_busiest_node() {
    let settings = settings("0: S 1 40000 R S 1 10000 E 1: R S 0 100 R E");
    let job = job(&settings, 2).unwrap();
    let found = executed(&job, 2).unwrap();
    assert_eq!(found[0].size_bytes, 40_000);
    assert_eq!(found[0].parameters["pattern"], "pair".into());
    assert!(found[0].search.is_some());
    let Some(period) = found.iter().find(|m| m.metric == "period") else { return };
    let rate = found.iter().find(|m| m.metric == "rate").unwrap();
    // Node 0 sends 50000 bytes a period.
    assert_eq!(rate.summary.median, 50_000.0 / period.summary.median);
}

#[test]
fn without_a_pattern_there_is_nothing_to_measure() {
    assert_eq!(job(&Settings::default(), 2), None);
}

#[test]
fn a_pattern_runs_with_as_many_ranks_as_it_has_nodes() {
    let job = job(&settings("0: S 1 8 E 1: R E"), 3).unwrap();
    let (_, error) = executed(&job, 3).unwrap_err();
    let expected = "some/where/pair.pmp has 2 nodes and runs with as many ranks, not 3";
    assert!(error.to_string().ends_with(expected), "{error}");
}
