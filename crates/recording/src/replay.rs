//! The replay of a rank's events.

use std::iter::Peekable;

use collectives::Collective;
use contract::{Destination, Endpoint, Process, Rank, Result, Time, TimeSpan};

use crate::duties::{Duties, ServingEndpoint};
use crate::event::{RankEvent, RecordedCollective, SentMessage};
use crate::longest::Longest;
use crate::operations::{LATER, Operations, Scratch, later};

struct Replay<'o, E: Endpoint> {
    process: Process<ServingEndpoint<E>>,
    /// Memory of collectives.
    scratch: Scratch,
    occupy: &'o dyn Fn(&mut E, TimeSpan),
    account: RankTimes,
}

/// Use of the time of a rank in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTimes {
    /// Its computing.
    pub computing: TimeSpan,
    /// Its sleeping.
    pub sleeping: TimeSpan,
    /// The time of its end.
    pub end: Time,
}

/// Executes `events` on `endpoint`. Their messages must not be longer than `longest`. `occupy` lets the rank's
/// processor work for some time.
///
/// # Panics
/// If a message is longer.
///
/// # Errors
/// Those of the endpoint, and a deadlock if the events do not fit together.
pub fn replay<E: Endpoint>(
    endpoint: E,
    longest: Longest,
    events: impl Iterator<Item = RankEvent>,
    occupy: &dyn Fn(&mut E, TimeSpan),
) -> Result<RankTimes> {
    let (scratch, others) = match Scratch::new(longest, endpoint.size()) {
        Ok(memory) => memory,
        Err(error) => {
            endpoint.finish(Err(error.clone()));
            return Err(error);
        }
    };
    let operations = Operations::new(others);
    let process = Process::new(ServingEndpoint::new(endpoint, operations));
    let mut again = Replay { process, scratch, occupy, account: RankTimes::default() };
    let outcome = again.perform_all(events.peekable());
    let Replay { process, account, .. } = again;
    let endpoint = process.into_endpoint();
    let end = endpoint.now();
    endpoint.finish(outcome.clone());
    outcome.map(|()| RankTimes { end, ..account })
}

/// Takes the events that happened in the middle of the last one, with the computing between them. Returns computing that
/// was taken and is not followed by such an event.
fn add_duties(
    events: &mut Peekable<impl Iterator<Item = RankEvent>>,
    duties: &mut Duties,
) -> Vec<RankEvent> {
    let mut computing = Vec::new();
    loop {
        while let Some(span) = events.next_if(|event| matches!(event, RankEvent::Compute(_))) {
            computing.push(span);
        }
        if events.next_if_eq(&RankEvent::Meanwhile).is_none() {
            return computing;
        }
        computing.drain(..).chain(events.next()).for_each(|duty| duties.add(duty));
    }
}

impl<E: Endpoint> Replay<'_, E> {
    fn perform_all(&mut self, mut events: Peekable<impl Iterator<Item = RankEvent>>) -> Result<()> {
        while let Some(event) = events.next() {
            let later = add_duties(&mut events, &mut self.process.endpoint_mut().duties);
            self.perform(event)?;
            let left = self.process.endpoint_mut().duties.take()?;
            left.into_iter().chain(later).try_for_each(|event| self.perform(event))?;
        }
        Ok(())
    }

    fn perform(&mut self, event: RankEvent) -> Result<()> {
        let own = self.process.endpoint_mut();
        if own.perform(event)? {
            return Ok(());
        }
        let ServingEndpoint { endpoint, operations, .. } = own;
        let Scratch { out, room: all } = &mut operations.scratch;
        match event {
            RankEvent::Compute(span) => {
                (self.occupy)(endpoint, span);
                self.account.computing = self.account.computing + span;
            }
            RankEvent::Sleep(span) => {
                let until = endpoint.now() + span;
                contract::wait_until_time(endpoint, until);
                self.account.sleeping = self.account.sleeping + span;
            }
            RankEvent::Send(SentMessage { to, context, tag, bytes }) => {
                let to = Destination { rank: to, context: context + LATER, tag };
                endpoint.send(to, &out[..bytes])?;
            }
            RankEvent::Receive(room) => {
                endpoint.receive(later(room.selector), &mut all[..room.bytes])?;
            }
            RankEvent::Exchange(SentMessage { to, context, tag, bytes }, room) => {
                let to = Destination { rank: to, context: context + LATER, tag };
                let selector = later(room.selector);
                endpoint.exchange((to, &out[..bytes]), (selector, &mut all[..room.bytes]))?;
            }
            RankEvent::End(back) | RankEvent::Cancel(back) => {
                if let Some(request) = operations.request(back) {
                    endpoint.wait_any(&[request])?;
                    operations.perform(endpoint, event)?;
                }
            }
            RankEvent::Collective(collective) => self.collective(collective)?,
            // `Operations::perform` starts operations, and marks precede other events.
            RankEvent::PostSend { .. }
            | RankEvent::PostReceive(_)
            | RankEvent::Meanwhile
            | RankEvent::Aside => {}
        }
        Ok(())
    }

    fn collective(&mut self, collective: RecordedCollective) -> Result<()> {
        let RecordedCollective { kind, root, bytes } = collective;
        let Scratch { out, room } = &mut self.scratch;
        let mut world = self.process.world();
        let (me, all) = (world.rank(), bytes * world.size());
        let reduction = collective.reduction();
        match kind {
            Collective::Barrier => world.barrier(),
            Collective::Broadcast => world.broadcast(root, &mut room[..bytes]),
            Collective::Scatter => {
                let send = if me == root { &out[..all] } else { &[] };
                world.scatter(root, send, &mut room[..bytes])
            }
            Collective::Gather => {
                let receive = if me == root { &mut room[..all] } else { &mut [] };
                world.gather(root, &out[..bytes], receive)
            }
            Collective::Allgather => world.allgather(&out[..bytes], &mut room[..all]),
            Collective::AllToAll => world.all_to_all(&out[..all], &mut room[..all]),
            Collective::Reduce => {
                let receive = if me == root { &mut room[..bytes] } else { &mut [] };
                world.reduce(root, reduction, &out[..bytes], receive)
            }
            Collective::Allreduce => world.allreduce(reduction, &out[..bytes], &mut room[..bytes]),
            other => unreachable!("{other:?} is recorded as its messages"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::Selector;
    use fabric_sim::machine::find;
    use fabric_sim::{Options, SimEndpoint, run_endpoints};
    use std::rc::Rc;

    use crate::{Recording, Room};

    /// Runs the events, and checks that the result does not depend on whether messages carry their data.
    fn run(machine: &str, ranks: &[Vec<RankEvent>]) -> (Time, u64, u64) {
        let [with, without] = [true, false].map(|carry_data| run_with(machine, ranks, carry_data));
        assert_eq!(with, without, "{machine}");
        with
    }

    fn run_with(machine: &str, ranks: &[Vec<RankEvent>], carry_data: bool) -> (Time, u64, u64) {
        let recording = Rc::new(Recording::of("a test", ranks));
        let program = move |endpoint: SimEndpoint<'_>| {
            let (rank, again) = (endpoint.rank(), Rc::clone(&recording));
            let occupy = |endpoint: &mut SimEndpoint<'_>, span| endpoint.occupy(span);
            replay(endpoint, again.longest(rank), again.events(rank), &occupy)
        };
        let options = Options { carry_data, ..Options::new(ranks.len()) };
        let outcome = run_endpoints(&find(machine).unwrap(), &options, program).unwrap();
        (outcome.end, outcome.event_hash, outcome.counts.messages)
    }

    fn us(us: u64) -> TimeSpan {
        TimeSpan::from_us(us)
    }

    fn message(to: usize, bytes: usize) -> SentMessage {
        SentMessage { to, context: 0, tag: 4, bytes }
    }

    fn room(from: Option<u32>, bytes: usize) -> Room {
        Room { selector: Selector { context: 0, source: from, tag: Some(4) }, bytes }
    }

    #[test]
    fn computing_and_sleeping_take_as_long_as_they_took() {
        let alone =
            vec![RankEvent::Compute(us(30)), RankEvent::Sleep(us(12)), RankEvent::Compute(us(1))];
        assert_eq!(run("cluster", &[alone]).0, Time::ZERO + us(43));
    }

    /// A started operation is awaited at the recorded event, and progresses during the computing before it.
    #[test]
    fn messages_go_beside_computing_until_they_are_waited_for() {
        let first = |wait_early: bool| {
            let (compute, end) = (RankEvent::Compute(us(5000)), RankEvent::End(0));
            let rest = if wait_early { [end, compute] } else { [compute, end] };
            [&[RankEvent::PostReceive(room(None, 1 << 20))], &rest[..]].concat()
        };
        let other = vec![
            RankEvent::PostSend { message: message(0, 1 << 20), synchronous: true },
            RankEvent::End(0),
        ];
        let (early, ..) = run("cluster", &[first(true), other.clone()]);
        let (late, ..) = run("cluster", &[first(false), other]);
        assert!(late >= Time::ZERO + us(5000) && early > late, "{early:?} {late:?}");
    }

    #[test]
    fn every_kind_of_event_is_done_again_and_twice_the_same() {
        let ranks: Vec<Vec<RankEvent>> = (0..4_usize)
            .map(|me| {
                let (next, before) = ((me + 1) % 4, ((me + 3) % 4) as u32);
                let mut events = vec![
                    RankEvent::Exchange(message(next, 300), room(Some(before), 300)),
                    RankEvent::PostReceive(room(Some(before), 70_000)),
                    RankEvent::PostReceive(room(Some(before), 8)),
                    RankEvent::PostSend { message: message(next, 70_000), synchronous: false },
                    RankEvent::Compute(us(7)),
                    RankEvent::PostSend { message: message(next, 8), synchronous: true },
                    RankEvent::End(3),
                    RankEvent::End(0),
                    RankEvent::End(1),
                    RankEvent::End(2),
                    RankEvent::PostReceive(room(Some(before), 8)),
                    RankEvent::Cancel(0),
                ];
                events.extend(Collective::with_plans().map(|kind| {
                    RankEvent::Collective(RecordedCollective { kind, root: 2, bytes: 400 })
                }));
                events.push(if me < 2 {
                    RankEvent::Send(message(me + 2, 9))
                } else {
                    RankEvent::Receive(room(Some(me as u32 - 2), 9))
                });
                events
            })
            .collect();
        for machine in ["cluster", "sharc-ring", "paragon-osf1"] {
            assert_eq!(run(machine, &ranks), run(machine, &ranks));
            assert!(run(machine, &ranks).2 > 14, "{machine}");
        }
    }

    /// Rank 1 enters the first collective only when rank 0, which is in it already, has answered. Rank 0 is in the
    /// second one when the answer to its own request arrives.
    #[test]
    fn a_rank_answers_others_while_it_waits_in_a_collective() {
        let barrier = RankEvent::Collective(RecordedCollective {
            kind: Collective::Barrier,
            root: 0,
            bytes: 0,
        });
        let post = |to| RankEvent::PostSend { message: message(to, 40), synchronous: false };
        let receive = |from| RankEvent::PostReceive(room(Some(from), 40));
        let answers = |other: u32| {
            [receive(other), RankEvent::End(0), post(other as usize), RankEvent::End(0)]
                .into_iter()
                .flat_map(|event| [RankEvent::Meanwhile, event])
        };
        let asks = |other: u32| {
            let late = RankEvent::Compute(us(1000));
            [late, post(other as usize), receive(other), RankEvent::End(0), RankEvent::End(1)]
        };
        let mut first = vec![barrier];
        first.extend(answers(1).chain(asks(1)).chain([barrier]));
        let mut second = asks(0).to_vec();
        second.extend([barrier, barrier].into_iter().chain(answers(0)));
        for machine in ["cluster", "sharc-ring", "paragon-osf1"] {
            let ended = run(machine, &[first.clone(), second.clone()]);
            assert!(ended.0 >= Time::ZERO + us(2000) && ended.2 >= 4, "{machine}: {ended:?}");
            assert_eq!(run(machine, &[first.clone(), second.clone()]), ended);
        }
    }

    /// Rank 0 has computed in the barrier before it answered and between its answers, as its library does in any wait.
    /// Rank 1 enters the barrier with the answer; then both compute, for 5 and 3 us.
    #[test]
    fn computing_in_a_collective_does_not_delay_answers() {
        let (kind, root, bytes) = (Collective::Barrier, 0, 0);
        let barrier = RankEvent::Collective(RecordedCollective { kind, root, bytes });
        let post = |to| RankEvent::PostSend { message: message(to, 40), synchronous: false };
        let receive = |from| RankEvent::PostReceive(room(Some(from), 40));
        let (compute, meanwhile) = (RankEvent::Compute(us(1)), RankEvent::Meanwhile);
        let mut first = vec![barrier, compute, compute, meanwhile, receive(1), meanwhile, compute];
        first.extend([meanwhile, RankEvent::End(0), compute, meanwhile, post(1)]);
        first.extend([meanwhile, RankEvent::End(0), compute]);
        let second = vec![post(0), receive(0), RankEvent::End(0), RankEvent::End(1), barrier];
        let second = [second, vec![RankEvent::Compute(us(3))]].concat();
        for machine in ["cluster", "sharc-ring", "paragon-osf1"] {
            let alone = run(machine, &[vec![barrier], vec![barrier]]).0;
            let ended = run(machine, &[first.clone(), second.clone()]).0;
            assert!(ended >= alone + us(5), "{machine}: {ended:?}");
        }
    }

    #[test]
    fn events_that_do_not_fit_together_are_a_deadlock() {
        let recording =
            Recording::of("a test", &[vec![RankEvent::Receive(room(Some(1), 8))], vec![]]);
        let program = move |endpoint: SimEndpoint<'_>| {
            let rank = endpoint.rank();
            replay(endpoint, recording.longest(rank), recording.events(rank), &|_, _| {})
        };
        let ended = run_endpoints(&find("cluster").unwrap(), &Options::new(2), program);
        assert!(matches!(ended, Err((0, contract::Error::Deadlock { .. }))), "{:?}", ended.err());
    }
}
