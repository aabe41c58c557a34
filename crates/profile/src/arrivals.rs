//! What the calls of ranks waited for.
//!
//! A call cannot end before other ranks have begun their parts: the send of a message, the receive of a long message,
//! the entry of a collective. The latest of these determines the end of the call if it came after the call had begun,
//! or so shortly before that its message was still under way.

use std::collections::{BTreeMap, BTreeSet};

use crate::collectives::{Part, collectives};
use crate::event::{Event, IDLE_TICKS, Kind, NOBODY};
use crate::layout::bin_of;
use crate::least::{Least, Usual};
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

/// Dependence of a collective's ranks on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// The part of another rank that a call ended with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Kind of the wait for it.
    pub kind: WaitKind,
    /// Index of the record of the rank that depended on it, and of its event.
    pub waiter: usize,
    /// See above.
    pub event: usize,
    /// Index of the record of the other rank, and of the event with which it arrived. It is the same rank if the transfer
    /// that ended the call began with an earlier call of this one.
    pub cause: usize,
    /// See above.
    pub cause_event: usize,
    /// Start of the call, or of the idle polls that ended with it, in seconds.
    pub from_s: f64,
    /// Moment at which the other rank began its part, in seconds. It may be before `from_s`: the message was under way.
    pub came_s: f64,
    /// Earliest moment at which the part can have reached the rank that depended on it, in seconds.
    reached_s: f64,
}

/// Least time in seconds by which a part ends a call. A shorter one is a rounding error.
pub(crate) const LEAST_S: f64 = 1e-8;

/// Returns the part of another rank that each call ended with, for calls that ended with one: the last of all that the
/// call needed. They are in the order of records and events. `dependence` returns the dependence of the collective that
/// a place calls.
pub fn arrivals(
    records: &[RankRecord],
    messages: &[Matched],
    dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
) -> Vec<Arrival> {
    let finder = Finder { records, begins: records.iter().map(begins).collect() };
    let mut found = finder.of_messages(messages);
    finder.of_collectives(dependence, &mut found);
    let mut last: BTreeMap<(usize, u64, u64), Arrival> = BTreeMap::new();
    for arrival in found {
        let event = &records[arrival.waiter].events[arrival.event];
        let latest = last.entry((arrival.waiter, event.end, event.begin)).or_insert(arrival);
        if arrival.is_after(latest) {
            *latest = arrival;
        }
    }
    last.into_values().collect()
}

impl Arrival {
    /// Returns whether it reached the call after another one. Of the parts of one call, a message comes first.
    fn is_after(&self, other: &Arrival) -> bool {
        match (self.cause, self.came_s) == (other.cause, other.came_s) {
            true => self.kind < other.kind,
            false => self.reached_s > other.reached_s,
        }
    }
}

/// Returns for each event the tick from which on its rank did nothing else: the start of the call, or of the idle polls
/// just before it.
fn begins(record: &RankRecord) -> Vec<u64> {
    let mut polls: Option<&Event> = None;
    // The call after the polls. Several events may be of one call.
    let mut call = None;
    let mut all = Vec::with_capacity(record.events.len());
    for event in &record.events {
        if event.kind == Kind::Polls {
            (polls, call) = (Some(event), None);
        } else if call.replace(event.begin).is_some_and(|begin| begin != event.begin) {
            polls = None;
        }
        let idle = polls.filter(|one| event.begin.saturating_sub(one.end) < IDLE_TICKS);
        all.push(idle.map_or(event.begin, |one| one.begin));
    }
    all
}

/// Finds what calls ended with.
struct Finder<'a> {
    records: &'a [RankRecord],
    /// See [`begins`], by record and event.
    begins: Vec<Vec<u64>>,
}

impl Finder<'_> {
    fn seconds(&self, record: usize, ticks: u64) -> f64 {
        self.records[record].clock.seconds(ticks)
    }

    fn event(&self, (record, event): (usize, usize)) -> &Event {
        &self.records[record].events[event]
    }

    /// Returns the moments from which on a rank did nothing but the call of an event, and at which the call ended.
    fn call(&self, (record, event): (usize, usize)) -> (f64, f64) {
        let begin = self.begins[record][event];
        (self.seconds(record, begin), self.seconds(record, self.event((record, event)).end))
    }

    /// Returns the arrival of a part at `came_s` that needs at least `least_s` to end a call, if the call ended with it.
    fn arrival(
        &self,
        kind: WaitKind,
        (waiter, event): (usize, usize),
        (cause, cause_event): (usize, usize),
        (came_s, least_s): (f64, f64),
    ) -> Option<Arrival> {
        let (from_s, end_s) = self.call((waiter, event));
        let reached_s = (came_s + least_s).min(end_s);
        let is_cause = reached_s - from_s > LEAST_S && (waiter != cause || came_s < from_s);
        let arrival =
            Arrival { kind, waiter, event, cause, cause_event, from_s, came_s, reached_s };
        is_cause.then_some(arrival)
    }

    fn of_messages(&self, messages: &[Matched]) -> Vec<Arrival> {
        let is_buffered =
            |message: &&Matched| self.posted_s(message) > self.call(self.blocked(message)).1;
        let buffered: BTreeSet<_> =
            messages.iter().filter(is_buffered).map(|message| self.kind_of_send(message)).collect();
        let mut ends = Vec::new();
        for message in messages {
            let is_buffered = buffered.contains(&self.kind_of_send(message));
            let start = self.start(message, is_buffered);
            let bin = bin_of(self.event((message.from, message.send)).bytes);
            ends.push((WaitKind::LateSender, (message.to, message.receive), start, bin));
            if !is_buffered {
                ends.push((WaitKind::LateReceiver, self.blocked(message), start, bin));
            }
        }
        let mut least = Least::new();
        for &(kind, end, (_, start_s), bin) in &ends {
            least.add((kind, bin), start_s, self.call(end));
        }
        let arrival = |(kind, end, (cause, start_s), bin): (_, _, (_, f64), usize)| {
            self.arrival(kind, end, cause, (start_s, least.of(&(kind, bin))))
        };
        ends.into_iter().filter_map(arrival).collect()
    }

    /// Returns the event with which the data of a message begin to move, and the moment: the send, or the call that posts
    /// the receive if that is later and the message is not buffered.
    fn start(&self, message: &Matched, is_buffered: bool) -> ((usize, usize), f64) {
        let Matched { from, send, to, receive, .. } = *message;
        let sent_s = self.seconds(from, self.event((from, send)).begin);
        let posted_s = self.posted_s(message);
        if is_buffered || sent_s >= posted_s {
            return ((from, send), sent_s);
        }
        let posted = self.event((to, receive)).posted;
        ((to, posting(&self.records[to].events, posted).unwrap_or(receive)), posted_s)
    }

    /// Returns the event in which a message's sender may wait for its receive: that of the send's end, or of the call that
    /// began it, as in an exchange.
    fn blocked(&self, message: &Matched) -> (usize, usize) {
        (message.from, message.send_end.unwrap_or(message.send))
    }

    fn posted_s(&self, message: &Matched) -> f64 {
        self.seconds(message.to, self.event((message.to, message.receive)).posted)
    }

    /// Returns the kind of a send: those of one place with messages of about one size. If one of them ended before its
    /// receive was posted, their messages are buffered, and none waits for its receive.
    fn kind_of_send(&self, message: &Matched) -> (usize, u16, usize) {
        let sent = self.event((message.from, message.send));
        (message.from, sent.site, bin_of(sent.bytes))
    }

    fn of_collectives(
        &self,
        dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
        found: &mut Vec<Arrival>,
    ) {
        let all: Vec<Gathering> = collectives(self.records)
            .into_iter()
            .map(|parts| self.gathering(parts, dependence))
            .collect();
        let mut least = Least::new();
        let mut after_last = Vec::new();
        for one in &all {
            for part in one.parts.iter() {
                let Some(waited) = part.waited else { continue };
                let call = self.call((part.record, waited));
                if let Some(cause) = self.needed(one, part) {
                    least.add(one.key, self.came_s(&cause), call);
                }
                after_last.push((one.key, (call.1 - self.came_s(&one.last)).max(0.0)));
            }
        }
        let usual = Usual::of_all(after_last.into_iter());
        for one in &all {
            for part in one.parts.iter() {
                found.extend(self.last_member(one, part, least.of(&one.key), usual.of(&one.key)));
            }
        }
    }

    /// Returns the moment at which a member entered a collective.
    fn came_s(&self, part: &Part) -> f64 {
        self.seconds(part.record, self.event((part.record, part.came)).begin)
    }

    /// Returns the member that was the last of some to enter.
    fn last<'a>(&self, parts: impl Iterator<Item = &'a Part>) -> Option<Part> {
        parts.max_by(|a, b| self.came_s(a).total_cmp(&self.came_s(b))).copied()
    }

    fn gathering(
        &self,
        parts: Vec<Part>,
        dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
    ) -> Gathering {
        let first = parts[0];
        let record = &self.records[first.record];
        let event = self.event((first.record, first.came));
        let depends = dependence(record, event.site);
        let communicator = record.communicators[usize::from(event.communicator)].number;
        let last = self.last(parts.iter()).expect("a collective has members");
        let key = (communicator, depends, bin_of(event.bytes));
        Gathering { parts, depends, root: event.peer, last, key }
    }

    /// Returns the last member to enter of those that a member needs by the meaning of the collective.
    fn needed(&self, of: &Gathering, part: &Part) -> Option<Part> {
        let is_root =
            |part: &&Part| of.root != NOBODY && self.records[part.record].rank as u32 == of.root;
        match of.depends {
            Dependence::All => Some(of.last),
            Dependence::OnRoot => of.parts.iter().find(is_root).copied(),
            Dependence::OfRoot => is_root(&part).then_some(of.last),
            Dependence::OnLower => {
                let rank = self.records[part.record].rank;
                self.last(of.parts.iter().filter(|one| self.records[one.record].rank < rank))
            }
        }
    }

    /// Returns the member that a member's call ended with: one that it needed, unless the call lasted longer after that
    /// one than such a collective usually takes after its last member. Then the algorithm made it wait for others, and it
    /// is the last that came before the end.
    fn last_member(
        &self,
        of: &Gathering,
        part: &Part,
        least_s: f64,
        usual_s: f64,
    ) -> Option<Arrival> {
        let waiter = (part.record, part.waited?);
        let end_s = self.call(waiter).1;
        let needed = self.needed(of, part);
        let explains = |cause: &Part| end_s - self.came_s(cause) <= usual_s;
        let before = || self.last(of.parts.iter().filter(|one| self.came_s(one) <= end_s));
        let cause = needed.filter(explains).or_else(before)?;
        let came = (self.came_s(&cause), least_s);
        self.arrival(WaitKind::Collective, waiter, (cause.record, cause.came), came)
    }
}

/// A collective of a run.
struct Gathering {
    parts: Vec<Part>,
    depends: Dependence,
    root: u32,
    /// The member that entered last.
    last: Part,
    /// Its kind: collectives of one kind take about the same time.
    key: (u64, Dependence, usize),
}

/// Returns the event of the call that began at a time. Events are in the order in which their calls ended.
fn posting(events: &[Event], begin: u64) -> Option<usize> {
    let first = events.partition_point(|event| event.end < begin);
    let mut until = events[first..].iter().take_while(|event| event.begin <= begin);
    Some(first + until.position(|event| event.is_span && event.begin == begin)?)
}
