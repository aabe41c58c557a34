//! Processes are threads here, and their fabric is a simulated machine in another thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use contract::{Destination, Endpoint, Error, Process, Result};
use fabric_proxy::{ProxyEndpoint, join_line};

use super::{Writer, run_processes};
use crate::machine::find;
use crate::{Computing, Machine, Options, Processes};

/// Runs a program as the ranks of a machine. Returns the outcome of each rank, and the hash of the run.
fn run(
    machine: &Machine,
    ranks: usize,
    program: impl Fn(ProxyEndpoint) -> Result<()> + Sync,
) -> (Vec<Result<()>>, Option<u64>) {
    let all = Arc::new(Processes::create(ranks, Computing::None, None).unwrap());
    std::thread::scope(|scope| {
        let own = all.clone();
        let simulation = scope.spawn(move || {
            let outcome = run_processes(machine, &Options::new(ranks), &own);
            // A process that still makes a request must not wait for ever.
            own.stop();
            outcome.map(|outcome| outcome.event_hash)
        });
        let processes: Vec<_> = (0..ranks)
            .map(|rank| {
                let (all, program) = (&all, &program);
                scope.spawn(move || {
                    let joined = join_line(all.line(rank), rank, ranks)?;
                    // A panic is the death of a process, which the launcher detects.
                    let ended = catch_unwind(AssertUnwindSafe(|| program(joined)));
                    ended.unwrap_or_else(|_| {
                        all.stop();
                        Err(Error::Program("the program panicked".into()))
                    })
                })
            })
            .collect();
        let outcomes = processes.into_iter().map(|one| one.join().unwrap()).collect();
        all.stop();
        (outcomes, simulation.join().unwrap().ok())
    })
}

fn expect_all_well(what: &str, outcomes: &[Result<()>]) {
    for (rank, outcome) in outcomes.iter().enumerate() {
        assert_eq!(*outcome, Ok(()), "{what}: rank {rank}");
    }
}

#[test]
fn endpoints_pass_the_suite_on_machines_with_and_without_collectives_of_their_own() {
    endpoints_pass(3);
}

#[test]
#[ignore = "long"]
fn endpoints_pass_the_suite_at_other_numbers_of_ranks() {
    [2, 5].into_iter().for_each(endpoints_pass);
}

fn endpoints_pass(ranks: usize) {
    for machine in ["cluster", "sharc-ring"] {
        let machine = find(machine).unwrap();
        for (index, case) in conformance::endpoint_cases::<ProxyEndpoint>().iter().enumerate() {
            let (outcomes, _) = run(&machine, ranks, |mut endpoint| {
                let case = &conformance::endpoint_cases()[index];
                let outcome = (case.program)(&mut endpoint);
                endpoint.finish(outcome.clone());
                outcome
            });
            expect_all_well(&format!("{} on {ranks} of {}", case.name, machine.name), &outcomes);
        }
    }
}

#[test]
fn ranks_pass_the_suite() {
    let machine = find("cluster").unwrap();
    let launch = |case: &'static conformance::Case, ranks: usize| {
        let (outcomes, _) = run(&machine, ranks, |endpoint| {
            let mut process = Process::new(endpoint);
            let outcome = case.run(&mut process.world());
            process.finish(outcome.clone());
            outcome
        });
        let failed =
            outcomes.into_iter().enumerate().find_map(|(rank, one)| Some((rank, one.err()?)));
        failed.map_or(Ok(()), |(rank, error)| Err(format!("rank {rank}: {error}")))
    };
    conformance::run_all([1, 3], launch).unwrap_or_else(|failed| panic!("{failed}"));
}

/// Each rank sends to the next one. Two runs must have equal hashes.
#[test]
fn a_run_is_the_same_twice() {
    let machine = find("cluster").unwrap();
    let ring = |mut endpoint: ProxyEndpoint| {
        let (me, size) = (endpoint.rank(), endpoint.size());
        let selector = contract::Selector { context: 0, source: None, tag: Some(3) };
        let mut room = [0; 1];
        for _ in 0..20 {
            endpoint.exchange(
                (Destination { rank: (me + 1) % size, context: 0, tag: 3 }, &[me as u8]),
                (selector, &mut room),
            )?;
            assert_eq!(usize::from(room[0]), (me + size - 1) % size);
        }
        endpoint.finish(Ok(()));
        Ok(())
    };
    let (first, hash) = run(&machine, 7, ring);
    expect_all_well("a ring", &first);
    assert!(hash.is_some());
    assert_eq!(run(&machine, 7, ring).1, hash);
}

#[test]
fn messages_longer_than_a_line_carries_are_refused_and_the_run_goes_on() {
    let machine = find("cluster").unwrap();
    let (outcomes, _) = run(&machine, 2, |mut endpoint| {
        // Nothing reads the memory: the message is refused for its length.
        // SAFETY: as said.
        #[allow(unsafe_code)]
        let data = unsafe { contract::Readable::new(std::ptr::dangling(), (1 << 30) + 1) };
        let to = 1 - endpoint.rank();
        let posted = endpoint.post_send(
            Destination { rank: to, context: 0, tag: 1 },
            data,
            contract::Completion::Local,
        );
        assert!(matches!(posted, Err(Error::Unsupported { .. })), "{posted:?}");
        endpoint.finish(Ok(()));
        Ok(())
    });
    expect_all_well("refused", &outcomes);
}

/// A request that no version of the library makes ends the run, and the launcher has the reason.
#[test]
fn a_request_that_cannot_be_read_ends_the_run() {
    let all = Arc::new(Processes::create(1, Computing::None, None).unwrap());
    let line = all.line(0);
    Writer::new(&line).end(&u64::MAX);
    line.request();
    let outcome = run_processes(&find("cluster").unwrap(), &Options::new(1), &all);
    assert!(outcome.is_err());
    let why = all.fatal().expect("the run cannot continue");
    assert!(why.contains("a request that nobody knows"), "{why}");
}
