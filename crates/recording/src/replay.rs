//! Doing again what a rank has done.

use contract::{
    Completion, Endpoint, Process, Rank, Readable, Request, Result, Selector, Time, TimeSpan,
    Writable,
};

use crate::event::{Collective, CollectiveKind, Event, Message, Room};

/// Contexts of a replay are later ones than those of its collectives, which take any message there.
const LATER: u32 = 2;

/// Memory that all operations of a rank share: nobody looks at the data.
struct Scratch {
    out: Vec<u8>,
    room: Vec<u8>,
}

/// A started operation.
#[derive(Clone, Copy)]
enum Started {
    UnderWay(Request),
    Over,
}

struct Replay<'o, E: Endpoint> {
    process: Process<E>,
    occupy: &'o dyn Fn(&mut E, TimeSpan),
    started: Vec<Started>,
    /// How many operations were started before the first of `started`.
    dropped: usize,
    scratch: Scratch,
    account: TimeSpan,
}

/// Does on `endpoint` what `events` say. `occupy` lets the rank's processor work for some time. Returns how long the rank has
/// computed, and when it was done.
///
/// # Errors
/// Those of the endpoint, and a deadlock where the events do not fit together.
pub fn replay<E: Endpoint>(
    endpoint: E,
    mut events: impl Iterator<Item = Event> + Clone,
    occupy: &dyn Fn(&mut E, TimeSpan),
) -> Result<(TimeSpan, Time)> {
    let scratch = Scratch::for_events(events.clone(), endpoint.size());
    let mut again = Replay {
        process: Process::new(endpoint),
        occupy,
        started: Vec::new(),
        dropped: 0,
        scratch,
        account: TimeSpan::ZERO,
    };
    let outcome = events.try_for_each(|event| again.perform(event));
    let Replay { process, account, .. } = again;
    let endpoint = process.into_endpoint();
    let end = endpoint.now();
    endpoint.finish(outcome.clone());
    outcome.map(|()| (account, end))
}

impl Scratch {
    fn for_events(events: impl Iterator<Item = Event>, ranks: usize) -> Self {
        let (mut out, mut room) = (0, 0);
        for event in events {
            match event {
                Event::Send(message) | Event::PostSend { message, .. } => {
                    out = out.max(message.bytes);
                }
                Event::Exchange(message, other) => {
                    (out, room) = (out.max(message.bytes), room.max(other.bytes));
                }
                Event::Receive(other) | Event::PostReceive(other) => room = room.max(other.bytes),
                Event::Collective(Collective { bytes, .. }) => {
                    let all = bytes.saturating_mul(ranks);
                    (out, room) = (out.max(all), room.max(all));
                }
                Event::Compute(_) | Event::Sleep(_) | Event::End(_) | Event::Cancel(_) => {}
            }
        }
        Scratch { out: vec![0; out], room: vec![0; room] }
    }
}

impl<E: Endpoint> Replay<'_, E> {
    fn perform(&mut self, event: Event) -> Result<()> {
        let endpoint = self.process.endpoint_mut();
        let Scratch { out, room: all } = &mut self.scratch;
        match event {
            Event::Compute(span) => {
                (self.occupy)(endpoint, span);
                self.account = self.account + span;
            }
            Event::Sleep(span) => {
                let until = endpoint.now() + span;
                endpoint.wait_until_time(until);
            }
            Event::Send(Message { to, context, tag, bytes }) => {
                endpoint.send(to, context + LATER, tag, &out[..bytes])?;
            }
            Event::Receive(Room { selector, bytes }) => {
                endpoint.receive(later(selector), &mut all[..bytes])?;
            }
            Event::Exchange(Message { to, context, tag, bytes }, room) => {
                let place = (to, context + LATER, tag);
                let selector = later(room.selector);
                endpoint.exchange(place, &out[..bytes], selector, &mut all[..room.bytes])?;
            }
            Event::PostSend { message: Message { to, context, tag, bytes }, synchronous } => {
                let way = if synchronous { Completion::Synchronous } else { Completion::Local };
                // SAFETY: the memory outlives the endpoint's requests, and nobody writes to it.
                let data = unsafe { Readable::new(out.as_ptr(), bytes) };
                let request = endpoint.post_send(to, context + LATER, tag, data, way)?;
                self.started.push(Started::UnderWay(request));
            }
            Event::PostReceive(Room { selector, bytes }) => {
                // SAFETY: as above; several requests write to it, and nobody looks at what they write.
                let memory = unsafe { Writable::new(all.as_mut_ptr(), bytes) };
                let request = endpoint.post_receive(later(selector), memory)?;
                self.started.push(Started::UnderWay(request));
            }
            Event::End(back) => {
                if let Some(request) = self.take(back) {
                    let endpoint = self.process.endpoint_mut();
                    endpoint.wait_any(&[request])?;
                    endpoint.end(request);
                }
            }
            Event::Cancel(back) => {
                if let Some(request) = self.take(back)
                    && !self.process.endpoint_mut().cancel_receive(request)
                {
                    // Here a message has come first.
                    self.process.endpoint_mut().wait_any(&[request])?;
                    self.process.endpoint_mut().end(request);
                }
            }
            Event::Collective(collective) => self.collective(collective)?,
        }
        Ok(())
    }

    /// The request of a started operation, which is over then.
    fn take(&mut self, back: u64) -> Option<Request> {
        let count = self.dropped + self.started.len();
        let index =
            count.checked_sub(1 + usize::try_from(back).ok()?)?.checked_sub(self.dropped)?;
        let taken = match std::mem::replace(&mut self.started[index], Started::Over) {
            Started::UnderWay(request) => Some(request),
            Started::Over => None,
        };
        let is_over = |one: &Started| matches!(one, Started::Over);
        if self.started.len() > 64 && self.started.iter().all(is_over) {
            self.dropped += self.started.len();
            self.started.clear();
        }
        taken
    }

    fn collective(&mut self, collective: Collective) -> Result<()> {
        let Collective { kind, root, bytes } = collective;
        let mut world = self.process.world();
        let (me, all) = (world.rank(), bytes * world.size());
        let Scratch { out, room } = &mut self.scratch;
        let reduction = collective.reduction();
        match kind {
            CollectiveKind::Barrier => world.barrier(),
            CollectiveKind::Broadcast => world.broadcast(root, &mut room[..bytes]),
            CollectiveKind::Scatter => {
                let send = if me == root { &out[..all] } else { &[] };
                world.scatter(root, send, &mut room[..bytes])
            }
            CollectiveKind::Gather => {
                let receive = if me == root { &mut room[..all] } else { &mut [] };
                world.gather(root, &out[..bytes], receive)
            }
            CollectiveKind::Allgather => world.allgather(&out[..bytes], &mut room[..all]),
            CollectiveKind::AllToAll => world.all_to_all(&out[..all], &mut room[..all]),
            CollectiveKind::Reduce => {
                let receive = if me == root { &mut room[..bytes] } else { &mut [] };
                world.reduce(root, reduction, &out[..bytes], receive)
            }
            CollectiveKind::Allreduce => {
                world.allreduce(reduction, &out[..bytes], &mut room[..bytes])
            }
        }
    }
}

fn later(selector: Selector) -> Selector {
    Selector { context: selector.context + LATER, ..selector }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric_sim::machine::find;
    use fabric_sim::{Options, SimEndpoint, run_endpoints};
    use std::rc::Rc;

    use crate::Recording;

    fn run(machine: &str, ranks: &[Vec<Event>]) -> (Time, u64, u64) {
        let recording = Rc::new(Recording::of("a test", ranks));
        let program = move |endpoint: SimEndpoint<'_>| {
            let events: Vec<Event> = recording.events(endpoint.rank()).collect();
            let occupy = |endpoint: &mut SimEndpoint<'_>, span| endpoint.occupy(span);
            replay(endpoint, events.into_iter(), &occupy)
        };
        let outcome =
            run_endpoints(&find(machine).unwrap(), &Options::new(ranks.len()), program).unwrap();
        (outcome.end, outcome.event_hash, outcome.counts.messages)
    }

    fn us(us: u64) -> TimeSpan {
        TimeSpan::from_us(us)
    }

    fn message(to: usize, bytes: usize) -> Message {
        Message { to, context: 0, tag: 4, bytes }
    }

    fn room(from: Option<u32>, bytes: usize) -> Room {
        Room { selector: Selector { context: 0, source: from, tag: Some(4) }, bytes }
    }

    #[test]
    fn computing_and_sleeping_take_as_long_as_they_took() {
        let alone = vec![Event::Compute(us(30)), Event::Sleep(us(12)), Event::Compute(us(1))];
        assert_eq!(run("cluster", &[alone]).0, Time::ZERO + us(43));
    }

    /// What was started is waited for where it was waited for, and computing between goes on beside it.
    #[test]
    fn messages_go_beside_computing_until_they_are_waited_for() {
        let first = |wait_early: bool| {
            let (compute, end) = (Event::Compute(us(5000)), Event::End(0));
            let rest = if wait_early { [end, compute] } else { [compute, end] };
            [&[Event::PostReceive(room(None, 1 << 20))], &rest[..]].concat()
        };
        let other = vec![
            Event::PostSend { message: message(0, 1 << 20), synchronous: true },
            Event::End(0),
        ];
        let (early, ..) = run("cluster", &[first(true), other.clone()]);
        let (late, ..) = run("cluster", &[first(false), other]);
        assert!(late >= Time::ZERO + us(5000) && early > late, "{early:?} {late:?}");
    }

    #[test]
    fn every_kind_of_event_is_done_again_and_twice_the_same() {
        let ranks: Vec<Vec<Event>> = (0..4_usize)
            .map(|me| {
                let (next, before) = ((me + 1) % 4, ((me + 3) % 4) as u32);
                let mut events = vec![
                    Event::Exchange(message(next, 300), room(Some(before), 300)),
                    Event::PostReceive(room(Some(before), 70_000)),
                    Event::PostReceive(room(Some(before), 8)),
                    Event::PostSend { message: message(next, 70_000), synchronous: false },
                    Event::Compute(us(7)),
                    Event::PostSend { message: message(next, 8), synchronous: true },
                    Event::End(3),
                    Event::End(0),
                    Event::End(1),
                    Event::End(2),
                    Event::PostReceive(room(Some(before), 8)),
                    Event::Cancel(0),
                ];
                events.extend(
                    CollectiveKind::ALL
                        .map(|kind| Event::Collective(Collective { kind, root: 2, bytes: 400 })),
                );
                events.push(if me < 2 {
                    Event::Send(message(me + 2, 9))
                } else {
                    Event::Receive(room(Some(me as u32 - 2), 9))
                });
                events
            })
            .collect();
        for machine in ["cluster", "sharc-ring", "paragon-osf1"] {
            assert_eq!(run(machine, &ranks), run(machine, &ranks));
            assert!(run(machine, &ranks).2 > 14, "{machine}");
        }
    }

    #[test]
    fn events_that_do_not_fit_together_are_a_deadlock() {
        let recording = Recording::of("a test", &[vec![Event::Receive(room(Some(1), 8))], vec![]]);
        let program = move |endpoint: SimEndpoint<'_>| {
            let events: Vec<Event> = recording.events(endpoint.rank()).collect();
            replay(endpoint, events.into_iter(), &|_, _| {})
        };
        let ended = run_endpoints(&find("cluster").unwrap(), &Options::new(2), program);
        assert!(matches!(ended, Err((0, contract::Error::Deadlock { .. }))), "{:?}", ended.err());
    }
}
