//! Processes are threads here, and their fabric is a simulated machine in another thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use contract::{Destination, Endpoint, Error, Process, Result, TimeSpan};
use fabric_sim::machine::find;
use fabric_sim::{Machine, Options, run_endpoints};

use crate::caller::Caller;
use crate::{Computing, Host, ProxyEndpoint, Works};

/// Lets computing take no time.
struct NoTime;

impl<E> Works<E> for NoTime {
    fn occupy(&self, _: &mut E, _: TimeSpan) {}

    fn work_beside(&self, _: &mut E) -> bool {
        false
    }
}

/// Runs a program as the ranks of a machine. Returns the outcome of each rank, and the hash of the run.
fn run(
    machine: &Machine,
    ranks: usize,
    program: impl Fn(ProxyEndpoint) -> Result<()> + Sync,
) -> (Vec<Result<()>>, Option<u64>) {
    let host = Arc::new(Host::create(ranks, Computing::None, None).unwrap());
    std::thread::scope(|scope| {
        let own = host.clone();
        let simulation = scope.spawn(move || {
            let serve = {
                let own = own.clone();
                move |endpoint: fabric_sim::SimEndpoint<'_>| own.serve(endpoint, &NoTime)
            };
            let outcome = run_endpoints(machine, &Options::new(ranks), serve);
            // A process that still makes a request must not wait for ever.
            own.stop();
            outcome.map(|outcome| outcome.event_hash)
        });
        let processes: Vec<_> = (0..ranks)
            .map(|rank| {
                let (host, program) = (&host, &program);
                scope.spawn(move || {
                    let caller = Caller::new(host.line(rank), None, None);
                    let joined = ProxyEndpoint::join(caller, rank, ranks, "sim:test".into())?;
                    // A panic is the death of a process, which the launcher detects.
                    let ended = catch_unwind(AssertUnwindSafe(|| program(joined)));
                    ended.unwrap_or_else(|_| {
                        host.stop();
                        Err(Error::Program("the program panicked".into()))
                    })
                })
            })
            .collect();
        let outcomes = processes.into_iter().map(|one| one.join().unwrap()).collect();
        host.stop();
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
