//! The least time of messages, by the limits of this machine in a run.

use std::collections::HashMap;
use std::path::Path;

use analysis::limits::Limits;
use profile::{Dependence, Event, Kind, Matched, RankRecord};

use crate::failure::Failure;
use crate::results;

/// Bytes in the first line, which cost no more than the line itself.
const LINE_BYTES: u64 = 64;

/// Reads the limits in a results file.
///
/// # Errors
/// If the file cannot be read, or has no limits.
pub(super) fn read(path: &Path) -> Result<Limits, Failure> {
    let limits = Limits::of(&results::read_noting_gaps(path)?);
    if limits.fastest_hand_over_us().is_none() || limits.copies.is_empty() {
        let shown = path.display();
        return Err(Failure::usage(format!(
            "the run '{shown}' did not measure this machine's limits"
        ))
        .hint("`cornerstone run limits` does"));
    }
    Ok(limits)
}

/// A call of a rank: its number, the index of the site, and when it began.
type Call = (usize, u16, u64);

/// The least seconds of the calls of each place for which the limits have a bound, by the rank and the index of the
/// site.
///
/// * A message that is received: the hand-over of a line between the fastest pair of processors, and one copy of what
///   is beyond that line.
/// * A blocking send: one copy of what is beyond a line. Its data must be in another buffer before it ends, but no
///   other rank need have seen them. A send that is only started may leave the copy to another call, and has no bound.
/// * A call that sends and receives: the longer of both, because another rank may copy at the same time.
/// * A blocking collective of several members: a hand-over if this member needs data of another, and one copy of what
///   it gives.
pub(super) fn floors(
    records: &[RankRecord],
    messages: &[Matched],
    limits: Option<&Limits>,
    dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
) -> HashMap<(usize, u16), f64> {
    let mut floors = HashMap::new();
    let Some(limits) = limits else { return floors };
    let (mut received, mut sent) = (HashMap::<Call, f64>::new(), HashMap::<Call, f64>::new());
    for message in messages {
        let bytes = records[message.from].events[message.send].bytes;
        let (to, event) = (&records[message.to], &records[message.to].events[message.receive]);
        let floor_s = hand_over_s(limits) + copy_s(limits, bytes);
        *received.entry((to.rank, event.site, event.begin)).or_default() += floor_s;
    }
    for record in records {
        for event in &record.events {
            let floor_s = match event.kind {
                Kind::Sent => copy_s(limits, event.bytes),
                Kind::Collective => of_collective(limits, record, event, dependence),
                _ => 0.0,
            };
            *sent.entry((record.rank, event.site, event.begin)).or_default() += floor_s;
        }
    }
    for (call, floor_s) in sent {
        let longer = received.entry(call).or_default();
        *longer = longer.max(floor_s);
    }
    for ((rank, site, _), floor_s) in received.into_iter().filter(|(_, floor_s)| *floor_s > 0.0) {
        *floors.entry((rank, site)).or_insert(0.0) += floor_s;
    }
    floors
}

fn of_collective(
    limits: &Limits,
    record: &RankRecord,
    event: &Event,
    dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
) -> f64 {
    let communicator = record.communicators.get(usize::from(event.communicator));
    if communicator.is_none_or(|one| one.size < 2) {
        return 0.0;
    }
    let is_root = event.peer as usize == record.rank;
    let needs_another = match dependence(record, event.site) {
        Dependence::All => true,
        Dependence::OnRoot => !is_root,
        Dependence::OfRoot => is_root,
        // The lowest member needs nothing, and the record does not say which one it is.
        Dependence::OnLower => false,
    };
    let hand_over_s = if needs_another { hand_over_s(limits) } else { 0.0 };
    hand_over_s + copy_s(limits, event.bytes)
}

fn hand_over_s(limits: &Limits) -> f64 {
    limits.fastest_hand_over_us().unwrap_or(0.0) * 1e-6
}

/// The least time to copy what is beyond the first line.
fn copy_s(limits: &Limits, bytes: u64) -> f64 {
    let beyond = bytes.saturating_sub(LINE_BYTES);
    // A byte a microsecond is a megabyte a second.
    limits.copy_mb_per_s(bytes.max(1)).map_or(0.0, |rate| beyond as f64 / rate) * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::limits::{Copy, HandOver};
    use profile::{Clock, Communicator, NOBODY};

    /// A line takes 0.1 us; beyond it 10 000 bytes at 10 000 MB/s take 1 us.
    fn limits() -> Limits {
        Limits {
            hand_overs: vec![HandOver { from: 0, to: 1, time_us: 0.1 }],
            copies: vec![Copy { size_bytes: 4096, rate_mb_per_s: 10_000.0 }],
            ..Limits::default()
        }
    }

    fn event(kind: Kind, site: u16, bytes: u64, peer: u32) -> Event {
        let (begin, end) = (u64::from(site), u64::from(site) + 9);
        let posted = begin;
        Event {
            kind,
            is_span: true,
            begin,
            end,
            posted,
            bytes,
            peer,
            tag: 0,
            site,
            communicator: 0,
        }
    }

    fn record(rank: usize, members: u64, events: Vec<Event>) -> RankRecord {
        RankRecord {
            last: 100,
            communicators: vec![Communicator { number: 1, size: members }],
            events,
            ..RankRecord::new(rank, 2, Clock::ideal(1e6))
        }
    }

    fn expect(floors: &HashMap<(usize, u16), f64>, expected_us: &[((usize, u16), f64)]) {
        assert_eq!(floors.len(), expected_us.len(), "{floors:?}");
        for (place, floor_us) in expected_us {
            assert!((floors[place] - floor_us * 1e-6).abs() < 1e-12, "{place:?} {floors:?}");
        }
    }

    /// 64 bytes are a line, and 10 000 more take a microsecond.
    #[test]
    fn messages_take_a_copy_at_both_ends_and_a_hand_over_at_the_receiver() {
        let long = 10_064;
        let sends = vec![
            event(Kind::Sent, 1, long, 1),
            event(Kind::Sent, 2, 8, 1),
            event(Kind::SendStarted, 3, long, 1),
            // Both ends of an exchange, of which the receive takes longer.
            event(Kind::Sent, 4, long, 1),
            event(Kind::Received, 4, long, 1),
        ];
        let receives = vec![event(Kind::Received, 1, long, 0), event(Kind::Sent, 9, long, 0)];
        let records = [record(0, 2, sends), record(1, 2, receives)];
        let matched = |from, send, to, receive| Matched { from, send, send_end: None, to, receive };
        let messages = [matched(0, 0, 1, 0), matched(1, 1, 0, 4)];
        let all = &|_: &RankRecord, _| Dependence::All;
        let found = floors(&records, &messages, Some(&limits()), all);
        // A short send and a started one have no bound.
        expect(&found, &[((0, 1), 1.0), ((0, 4), 1.1), ((1, 1), 1.1), ((1, 9), 1.0)]);
        assert!(floors(&records, &messages, None, all).is_empty());
    }

    #[test]
    fn members_of_a_collective_take_a_hand_over_if_they_need_another_and_a_copy_of_what_they_give()
    {
        let of = |rank, members| {
            let calls =
                [event(Kind::Collective, 1, 10_064, 0), event(Kind::Collective, 2, 8, NOBODY)];
            record(rank, members, calls.to_vec())
        };
        let records = [of(0, 2), of(1, 2)];
        let by = |dependence| floors(&records, &[], Some(&limits()), &move |_, _| dependence);
        let all = [((0, 1), 1.1), ((0, 2), 0.1), ((1, 1), 1.1), ((1, 2), 0.1)];
        expect(&by(Dependence::All), &all);
        // Rank 0 is the root of the first call. The second has no root.
        expect(
            &by(Dependence::OnRoot),
            &[((0, 1), 1.0), ((0, 2), 0.1), ((1, 1), 1.1), ((1, 2), 0.1)],
        );
        expect(&by(Dependence::OfRoot), &[((0, 1), 1.1), ((1, 1), 1.0)]);
        expect(&by(Dependence::OnLower), &[((0, 1), 1.0), ((1, 1), 1.0)]);
        let alone = floors(&[of(0, 1)], &[], Some(&limits()), &|_, _| Dependence::All);
        assert!(alone.is_empty());
    }
}
