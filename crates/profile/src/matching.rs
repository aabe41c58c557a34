//! The matching of sends and receives.
//!
//! Messages from one rank to another with the same tag in the same communicator are received in the order in which they
//! were sent, by the receives in the order in which they were posted. So the n-th send belongs to the n-th receive.

use std::collections::HashMap;

use crate::event::{Event, Kind};
use crate::record::RankRecord;

/// A message, by indices into the records and their events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Record of the sender, and the event that began the send.
    pub from: usize,
    /// See above.
    pub send: usize,
    /// Event in which the send ended, if it is another one and is known.
    pub send_end: Option<usize>,
    /// Record of the receiver, and the event in which the receive ended.
    pub to: usize,
    /// See above.
    pub receive: usize,
}

/// Sender, receiver, communicator and tag.
type Route = (u32, u32, u64, i32);

/// Identity of a send among those of its rank: its time, receiver, tag and communicator.
type Posted = (u64, u32, i32, u16);

/// Returns all messages with two known ends, in the order of the receivers' events.
pub fn messages(records: &[RankRecord]) -> Vec<Matched> {
    let mut sends = sends(records);
    let ended: Vec<HashMap<Posted, usize>> = records.iter().map(ended_sends).collect();
    let mut found = Vec::new();
    for (to, record) in records.iter().enumerate() {
        let is_received = |(_, event): &(usize, &Event)| event.kind == Kind::Received;
        let mut receives: Vec<_> = record.events.iter().enumerate().filter(is_received).collect();
        receives.sort_by_key(|(_, event)| event.posted);
        for (receive, event) in receives {
            let route = route(event.peer, record.rank as u32, record, event);
            let Some((from, send)) = sends.get_mut(&route).and_then(Iterator::next) else {
                continue;
            };
            let send_end = ended[from].get(&posted(&records[from].events[send])).copied();
            found.push(Matched { from, send, send_end, to, receive });
        }
    }
    found.sort_by_key(|message| (message.to, message.receive, message.send));
    found
}

/// Returns the sends of each route in order, as record and event.
fn sends(records: &[RankRecord]) -> HashMap<Route, std::vec::IntoIter<(usize, usize)>> {
    let mut routes: HashMap<Route, Vec<(usize, usize)>> = HashMap::new();
    for (from, record) in records.iter().enumerate() {
        for (index, event) in record.events.iter().enumerate() {
            if matches!(event.kind, Kind::Sent | Kind::SendStarted) {
                let route = route(record.rank as u32, event.peer, record, event);
                routes.entry(route).or_default().push((from, index));
            }
        }
    }
    for sends in routes.values_mut() {
        // A call that waits is recorded at its end, so calls of several threads may be recorded in another order.
        sends.sort_by_key(|&(from, index)| records[from].events[index].begin);
    }
    routes.into_iter().map(|(route, sends)| (route, sends.into_iter())).collect()
}

fn route(from: u32, to: u32, record: &RankRecord, event: &Event) -> Route {
    // All communicators that found no room in the table count as one.
    let communicator = record.communicators.get(usize::from(event.communicator));
    (from, to, communicator.map_or(0, |one| one.number), event.tag)
}

fn posted(event: &Event) -> Posted {
    (event.posted, event.peer, event.tag, event.communicator)
}

fn ended_sends(record: &RankRecord) -> HashMap<Posted, usize> {
    let ended = |(index, event): (usize, &Event)| {
        (event.kind == Kind::SendEnded).then(|| (posted(event), index))
    };
    record.events.iter().enumerate().filter_map(ended).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::SplitMix64;

    use crate::testing::Run;

    #[test]
    fn receives_get_messages_in_the_order_of_their_posting() {
        let mut run = Run::of(2);
        run.send(0, 1, 5, 10, 11);
        run.send(0, 1, 5, 20, 21);
        run.send(0, 1, 6, 30, 31);
        // The receive that was posted second ended first, in a call that ended before the other's.
        run.receive(1, 0, 5, 2, 40, 50);
        run.receive(1, 0, 5, 1, 60, 70);
        run.receive(1, 0, 6, 3, 71, 72);
        let found = messages(&run.records);
        let pairs: Vec<_> = found.iter().map(|one| (one.send, one.receive)).collect();
        assert_eq!(pairs, [(1, 0), (0, 1), (2, 2)]);
    }

    #[test]
    fn a_started_send_is_known_with_its_end() {
        let mut run = Run::of(2);
        run.start_send(0, 1, 5, 10, 11);
        run.start_send(0, 1, 7, 12, 13);
        run.end_send(0, 1, 7, 12, 90, 99);
        run.receive(1, 0, 7, 3, 71, 72);
        let found = messages(&run.records);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].send, found[0].send_end), (1, Some(2)));
    }

    /// Matches random messages. Each has a number of its own as its length, which both ends must have.
    #[test]
    fn random_messages_find_their_other_ends() {
        for seed in 0..200 {
            let mut random = SplitMix64::new(seed);
            let mut run = Run::of(4);
            let mut queues: HashMap<(usize, usize, i32), Vec<u64>> = HashMap::new();
            for time in 0..200_u64 {
                let (from, to) = (random.below(4), random.below(4));
                let tag = random.below(3) as i32;
                if random.below(2) == 0 {
                    run.send(from, to, tag, time * 10, time * 10 + 1).bytes = time;
                    queues.entry((from, to, tag)).or_default().push(time);
                } else if let Some(queue) = queues.get_mut(&(from, to, tag))
                    && !queue.is_empty()
                {
                    let bytes = queue.remove(0);
                    run.receive(to, from, tag, time * 10, time * 10, time * 10 + 1).bytes = bytes;
                }
            }
            let left: usize = queues.values().map(Vec::len).sum();
            let found = messages(&run.records);
            let sent = |event: &&Event| event.kind == Kind::Sent;
            let sends = run.records.iter().flat_map(|record| &record.events).filter(sent).count();
            assert_eq!(found.len(), sends - left, "seed {seed}");
            for one in found {
                let send = run.records[one.from].events[one.send];
                let receive = run.records[one.to].events[one.receive];
                assert_eq!(send.bytes, receive.bytes, "seed {seed}");
            }
        }
    }
}
