//! Waits of ranks for each other.
//!
//! A rank waits for another while its call lasts and the other has not yet begun what the call needs: the send of a
//! message (a late sender), the receive of a long message (a late receiver), its part of a collective. The rest of the
//! call's time is the cost of communication, not of waiting.

use std::collections::{BTreeMap, HashMap};

use crate::event::{Event, Kind, NOBODY};
use crate::matching::Matched;
use crate::record::RankRecord;

/// The reason why a rank waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// A wait for a message that was not yet sent.
    LateSender,
    /// A wait for the receive of a message that was not yet posted.
    LateReceiver,
    /// A wait for other ranks to enter a collective.
    Collective,
}

/// A time in which a rank waited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// Its reason.
    pub kind: WaitKind,
    /// Index of the record of the rank that waited, and of its event.
    pub waiter: usize,
    /// See above.
    pub event: usize,
    /// Index of the record of the rank that it waited for, and of the event with which that rank arrived.
    pub cause: usize,
    /// See above.
    pub cause_event: usize,
    /// Start of the wait, in seconds.
    pub begin_s: f64,
    /// Arrival of the other rank, or the end of the call if that was earlier, in seconds.
    pub end_s: f64,
}

impl Wait {
    /// Returns its length in seconds.
    pub fn span_s(&self) -> f64 {
        self.end_s - self.begin_s
    }
}

/// Minimum length of a wait in seconds. A shorter time is a rounding error.
const LEAST_S: f64 = 1e-8;

/// Dependence of a collective's ranks on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// Each rank depends on all.
    All,
    /// Each rank depends on the root.
    OnRoot,
    /// The root depends on all.
    OfRoot,
    /// Each rank depends on those before it.
    OnLower,
}

/// Returns all waits, and only the longest of each call: a call that completes several operations waited for the last
/// of them. They are in the order of records and events. `dependence` returns the dependence of the collective that a
/// place calls.
pub fn waits(
    records: &[RankRecord],
    messages: &[Matched],
    dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
) -> Vec<Wait> {
    let mut found = Vec::new();
    for message in messages {
        found.extend(late_sender(records, message));
        found.extend(late_receiver(records, message));
    }
    collective_waits(records, dependence, &mut found);
    let mut longest: BTreeMap<(usize, u64, u64), Wait> = BTreeMap::new();
    for wait in found {
        let event = &records[wait.waiter].events[wait.event];
        let known = longest.entry((wait.waiter, event.end, event.begin)).or_insert(wait);
        if wait.span_s() > known.span_s() {
            *known = wait;
        }
    }
    longest.into_values().collect()
}

fn late_sender(records: &[RankRecord], message: &Matched) -> Option<Wait> {
    let Matched { from, send, to, receive, .. } = *message;
    let sent = records[from].clock.seconds(records[from].events[send].begin);
    wait(records, WaitKind::LateSender, (to, receive), (from, send), sent)
}

fn late_receiver(records: &[RankRecord], message: &Matched) -> Option<Wait> {
    let Matched { from, send, send_end, to, receive } = *message;
    let blocking = records[from].events[send].kind == Kind::Sent;
    let blocked = if blocking { send } else { send_end? };
    let posted_at = records[to].events[receive].posted;
    let posted = records[to].clock.seconds(posted_at);
    let waiting = &records[from].events[blocked];
    // A send that ends before its receive is posted waits for no rank.
    if records[from].clock.seconds(waiting.end) < posted {
        return None;
    }
    let came = posting(&records[to].events, posted_at).unwrap_or(receive);
    wait(records, WaitKind::LateReceiver, (from, blocked), (to, came), posted)
}

/// Returns the event of the call that began at a time. Events are in the order in which their calls ended.
fn posting(events: &[Event], begin: u64) -> Option<usize> {
    let first = events.partition_point(|event| event.end < begin);
    let mut until = events[first..].iter().take_while(|event| event.begin <= begin);
    Some(first + until.position(|event| event.is_span && event.begin == begin)?)
}

/// Returns the wait of an event for an action of another rank at a time, if the event began before.
fn wait(
    records: &[RankRecord],
    kind: WaitKind,
    (waiter, event): (usize, usize),
    (cause, cause_event): (usize, usize),
    came_s: f64,
) -> Option<Wait> {
    let clock = &records[waiter].clock;
    let waiting = &records[waiter].events[event];
    let (begin_s, end_s) = (clock.seconds(waiting.begin), clock.seconds(waiting.end).min(came_s));
    let is_wait = end_s - begin_s > LEAST_S && waiter != cause;
    is_wait.then_some(Wait { kind, waiter, event, cause, cause_event, begin_s, end_s })
}

/// A rank's part in a collective: its record, the event with which it arrived, and the event in which it may have
/// waited.
#[derive(Clone, Copy)]
struct Part {
    record: usize,
    came: usize,
    waited: Option<usize>,
}

fn collective_waits(
    records: &[RankRecord],
    dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
    found: &mut Vec<Wait>,
) {
    for parts in collectives(records) {
        let came = |part: &Part| {
            let record = &records[part.record];
            record.clock.seconds(record.events[part.came].begin)
        };
        let last = |parts: &mut dyn Iterator<Item = &Part>| {
            parts.max_by(|a, b| came(a).total_cmp(&came(b))).copied()
        };
        let first = &parts[0];
        let first_event = &records[first.record].events[first.came];
        let depends = dependence(&records[first.record], first_event.site);
        let root = first_event.peer;
        let is_root = |part: &Part| root != NOBODY && records[part.record].rank as u32 == root;
        let last_of_all = last(&mut parts.iter());
        for part in &parts {
            let cause = match depends {
                Dependence::All => last_of_all,
                Dependence::OnRoot => parts.iter().find(|one| is_root(one)).copied(),
                Dependence::OfRoot => last_of_all.filter(|_| is_root(part)),
                Dependence::OnLower => {
                    let rank = records[part.record].rank;
                    last(&mut parts.iter().filter(|one| records[one.record].rank < rank))
                }
            };
            let (Some(cause), Some(waited)) = (cause, part.waited) else { continue };
            let (waiter, cause_event) = ((part.record, waited), (cause.record, cause.came));
            found.extend(wait(records, WaitKind::Collective, waiter, cause_event, came(&cause)));
        }
    }
}

/// Returns the collectives for which the parts of all members are known.
fn collectives(records: &[RankRecord]) -> Vec<Vec<Part>> {
    let communicators = records.iter().flat_map(|noted| &noted.communicators);
    let sizes: HashMap<u64, u64> = communicators.map(|one| (one.number, one.size)).collect();
    let mut all = collective_parts(records);
    let whole = |(number, _): &(u64, u64), parts: &Vec<Part>| {
        sizes.get(number).is_some_and(|&size| parts.len() as u64 == size)
    };
    all.retain(|key, parts| whole(key, parts));
    all.into_values().collect()
}

/// Returns the known parts of each collective, by its communicator and its number there.
fn collective_parts(records: &[RankRecord]) -> BTreeMap<(u64, u64), Vec<Part>> {
    let mut all: BTreeMap<(u64, u64), Vec<Part>> = BTreeMap::new();
    for (record, noted) in records.iter().enumerate() {
        let number = |event: &Event| {
            let communicator = noted.communicators.get(usize::from(event.communicator))?;
            Some((communicator.number, event.posted))
        };
        for (index, event) in noted.events.iter().enumerate() {
            let Some(key) = number(event) else { continue };
            match event.kind {
                Kind::Collective => {
                    let part = Part { record, came: index, waited: Some(index) };
                    all.entry(key).or_default().push(part);
                }
                Kind::CollectiveStarted => {
                    all.entry(key).or_default().push(Part { record, came: index, waited: None });
                }
                Kind::CollectiveEnded => {
                    let parts = all.get_mut(&key).into_iter().flatten();
                    parts.filter(|part| part.record == record).for_each(|part| {
                        part.waited = Some(index);
                    });
                }
                _ => {}
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::messages;
    use crate::testing::Run;

    fn found(run: &Run, depends: Dependence) -> Vec<(WaitKind, usize, usize, u64)> {
        let found = waits(&run.records, &messages(&run.records), &|_, _| depends);
        let us = |wait: &Wait| (wait.span_s() * 1e6).round() as u64;
        found.iter().map(|wait| (wait.kind, wait.waiter, wait.cause, us(wait))).collect()
    }

    /// The receive is posted at 100 us, the send begins at 600: 500 us are waiting, the 10 after that are not.
    #[test]
    fn a_receiver_waits_for_a_late_sender() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 600, 605);
        run.receive(1, 0, 3, 100, 100, 610);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateSender, 1, 0, 500)]);
    }

    #[test]
    fn a_message_that_was_there_makes_nobody_wait() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 50, 55);
        run.receive(1, 0, 3, 100, 100, 110);
        assert_eq!(found(&run, Dependence::All), []);
    }

    /// The send blocks from 100 us on, the receive is posted at 400: 300 us. The started send's wait begins at 150.
    #[test]
    fn a_sender_waits_for_a_late_receiver_if_it_is_still_there() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 100, 450);
        run.receive(1, 0, 3, 400, 400, 460);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateReceiver, 0, 1, 300)]);
        let mut run = Run::of(2);
        run.start_send(0, 1, 3, 100, 101);
        run.end_send(0, 1, 3, 100, 150, 450);
        run.receive(1, 0, 3, 400, 400, 460);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateReceiver, 0, 1, 250)]);
    }

    /// The send blocks from 100 us on. Rank 1 posts the receive at 400, in the second of its three calls, and the
    /// third call ends it.
    #[test]
    fn a_late_receiver_came_with_the_call_that_posted_the_receive() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 100, 450);
        run.event(1, Kind::Call, 10, 390);
        run.event(1, Kind::Call, 400, 401);
        run.receive(1, 0, 3, 400, 420, 460);
        let found = waits(&run.records, &messages(&run.records), &|_, _| Dependence::All);
        let causes: Vec<_> =
            found.iter().map(|wait| (wait.kind, wait.cause, wait.cause_event)).collect();
        assert_eq!(causes, [(WaitKind::LateReceiver, 1, 1)]);
    }

    /// Two messages end in one call of rank 2 that lasts from 10 to 310. One was sent at 100, the other at 300.
    #[test]
    fn a_call_waits_for_the_last_of_its_operations_only() {
        let mut run = Run::of(3);
        run.send(0, 2, 3, 100, 101);
        run.send(1, 2, 3, 300, 301);
        run.receive(2, 0, 3, 1, 10, 310);
        run.receive(2, 1, 3, 2, 10, 310);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateSender, 2, 1, 290)]);
    }

    /// Ranks enter at 10, 20 and 50 and leave at 60. Rank 1 is the root.
    #[test]
    fn at_a_collective_ranks_wait_for_those_that_they_depend_on() {
        let mut run = Run::of(3);
        for (rank, begin) in [(0, 10), (1, 20), (2, 50)] {
            run.collective(rank, 0, 1, begin, 60);
        }
        let kind = WaitKind::Collective;
        assert_eq!(found(&run, Dependence::All), [(kind, 0, 2, 40), (kind, 1, 2, 30)]);
        assert_eq!(found(&run, Dependence::OnRoot), [(kind, 0, 1, 10)]);
        assert_eq!(found(&run, Dependence::OfRoot), [(kind, 1, 2, 30)]);
        assert_eq!(found(&run, Dependence::OnLower), []);
    }

    #[test]
    fn a_collective_that_was_started_waits_where_it_ends() {
        let mut run = Run::of(2);
        run.collective(0, 0, NOBODY, 10, 11).kind = Kind::CollectiveStarted;
        run.collective(1, 0, NOBODY, 80, 81).kind = Kind::CollectiveStarted;
        run.collective(0, 0, NOBODY, 30, 90).kind = Kind::CollectiveEnded;
        let expected = [(WaitKind::Collective, 0, 1, 50)];
        assert_eq!(found(&run, Dependence::All), expected);
    }

    #[test]
    fn a_collective_that_not_all_have_come_to_is_left_out() {
        let mut run = Run::of(3);
        run.collective(0, 0, NOBODY, 10, 60);
        run.collective(1, 0, NOBODY, 20, 60);
        assert_eq!(found(&run, Dependence::All), []);
    }
}
