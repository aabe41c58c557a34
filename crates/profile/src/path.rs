//! The critical path: the chain of activities across ranks that determines the run's length. An activity that is not on
//! it could be faster without making the run shorter.
//!
//! It is followed backwards from the rank that ended last. If a call of that rank had ended with the part of another, the
//! path continues at the other, from the moment at which that part began. This is the path that a simulated machine
//! follows forwards while it replays a program (`fabric_sim::CriticalPath`); a test compares both.

use std::collections::BTreeMap;

use crate::arrivals::Arrival;
use crate::event::Event;
use crate::record::RankRecord;

/// A time in which the path is at one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Index of the record.
    pub record: usize,
    /// Start in seconds.
    pub begin_s: f64,
    /// End in seconds.
    pub end_s: f64,
    /// The place of the call of this rank for which a message was under way meanwhile, if the rank had not yet begun that
    /// call.
    pub under_way: Option<u16>,
}

/// An activity of a rank on the path, by the indices of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathPart {
    /// In a call.
    In(u16),
    /// Not yet in a call for which a message was under way.
    UnderWay(u16),
    /// Outside calls, after one call and before the next, if there are any.
    Between(Option<u16>, Option<u16>),
}

/// Returns the path in the order of time, and the time on it of each rank, by the index of its record, and activity.
pub fn critical_path(
    records: &[RankRecord],
    arrivals: &[Arrival],
) -> (Vec<Stretch>, BTreeMap<(usize, PathPart), f64>) {
    let path = stretches(records, arrivals);
    let mut parts = BTreeMap::new();
    let spans: Vec<Vec<&Event>> = records
        .iter()
        .map(|record| record.events.iter().filter(|event| event.is_span).collect())
        .collect();
    for stretch in &path {
        divide(&records[stretch.record], &spans[stretch.record], stretch, &mut |part, span_s| {
            *parts.entry((stretch.record, part)).or_insert(0.0) += span_s;
        });
    }
    (path, parts)
}

/// Returns the rank at which the path ends, and the time: the rank that ended last, or, if events were lost, the rank
/// that lost them first, because later waits are unknown.
fn end(records: &[RankRecord]) -> Option<(usize, f64)> {
    let of = |lost: bool| {
        let chosen =
            records.iter().enumerate().filter(move |(_, one)| (one.events_lost > 0) == lost);
        chosen.map(move |(index, one)| {
            let recorded_until = one.events.last().map_or(one.begin, |event| event.end);
            (index, one.clock.seconds(if lost { recorded_until } else { one.last }))
        })
    };
    let first_cut = of(true).min_by(|a, b| a.1.total_cmp(&b.1));
    first_cut.or_else(|| of(false).max_by(|a, b| a.1.total_cmp(&b.1)))
}

fn stretches(records: &[RankRecord], arrivals: &[Arrival]) -> Vec<Stretch> {
    let Some((mut record, mut at_s)) = end(records) else { return Vec::new() };
    let mut of_each: Vec<Vec<(f64, &Arrival)>> = vec![Vec::new(); records.len()];
    for arrival in arrivals {
        let waiter = &records[arrival.waiter];
        let over_s = waiter.clock.seconds(waiter.events[arrival.event].end);
        of_each[arrival.waiter].push((over_s, arrival));
    }
    of_each.iter_mut().for_each(|all| all.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let mut path = Vec::new();
    let mut add = |stretch: Stretch| {
        if stretch.begin_s < stretch.end_s {
            path.push(stretch);
        }
    };
    loop {
        let begun_s = records[record].clock.seconds(records[record].begin);
        // The last call that was over by now, and ended with something that began before. The comparison is needed
        // because the clocks of several hosts agree only approximately.
        let over = of_each[record].partition_point(|&(over_s, _)| over_s <= at_s);
        of_each[record].truncate(over);
        match of_each[record].pop() {
            Some((_, arrival)) if arrival.came_s < at_s => {
                let Arrival { from_s, came_s, event, .. } = *arrival;
                let from_s = from_s.clamp(came_s, at_s);
                add(Stretch { record, begin_s: from_s, end_s: at_s, under_way: None });
                let under_way = Some(records[record].events[event].site);
                add(Stretch { record, begin_s: came_s, end_s: from_s, under_way });
                (record, at_s) = (arrival.cause, came_s);
            }
            Some(_) => {}
            None => {
                add(Stretch { record, begin_s: begun_s.min(at_s), end_s: at_s, under_way: None });
                break;
            }
        }
    }
    path.reverse();
    path
}

/// Reports the parts of a section of a rank with these calls.
fn divide(
    record: &RankRecord,
    spans: &[&Event],
    stretch: &Stretch,
    add: &mut dyn FnMut(PathPart, f64),
) {
    if let Some(site) = stretch.under_way {
        return add(PathPart::UnderWay(site), stretch.end_s - stretch.begin_s);
    }
    let clock = &record.clock;
    let first = spans.partition_point(|span| clock.seconds(span.end) <= stretch.begin_s);
    let mut at_s = stretch.begin_s;
    let mut before = first.checked_sub(1).map(|index| spans[index].site);
    for span in &spans[first..] {
        let (begin_s, end_s) = (clock.seconds(span.begin), clock.seconds(span.end));
        let outside_s = begin_s.min(stretch.end_s) - at_s;
        if outside_s > 0.0 {
            add(PathPart::Between(before, Some(span.site)), outside_s);
        }
        if begin_s >= stretch.end_s {
            return;
        }
        let inside_s = end_s.min(stretch.end_s) - begin_s.max(at_s);
        if inside_s > 0.0 {
            add(PathPart::In(span.site), inside_s);
        }
        at_s = at_s.max(end_s);
        before = Some(span.site);
    }
    if stretch.end_s > at_s {
        add(PathPart::Between(before, None), stretch.end_s - at_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::messages;
    use random::SplitMix64;

    use crate::arrivals::{Dependence, arrivals};
    use crate::testing::Run;

    fn us(s: f64) -> u64 {
        (s * 1e6).round() as u64
    }

    fn path(run: &Run) -> (Vec<Stretch>, BTreeMap<(usize, PathPart), f64>) {
        let all = |_: &RankRecord, _| Dependence::All;
        critical_path(&run.records, &arrivals(&run.records, &messages(&run.records), &all))
    }

    /// Rank 0 computes until 600 and sends until 605. Rank 1 waits from 100 on, has the message at 610, computes until
    /// 900, and is in a call until 905. So the path is rank 0 until 600, then rank 1.
    #[test]
    fn the_path_goes_to_who_was_waited_for() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 600, 605);
        run.receive(1, 0, 3, 100, 100, 610);
        run.event(1, crate::Kind::Call, 900, 905);
        let (path, parts) = path(&run);
        let found: Vec<_> =
            path.iter().map(|one| (one.record, us(one.begin_s), us(one.end_s))).collect();
        assert_eq!(found, [(0, 0, 600), (1, 600, 905)]);
        let found: Vec<_> =
            parts.iter().map(|(&(record, part), &s)| (record, part, us(s))).collect();
        assert_eq!(
            found,
            [
                (0, PathPart::Between(None, Some(1)), 600),
                (1, PathPart::In(1), 10),
                (1, PathPart::In(2), 5),
                (1, PathPart::Between(Some(1), Some(2)), 290),
            ]
        );
    }

    /// Rank 1 polls from 100 until 500 and has the message, sent at 400, with the next call.
    #[test]
    fn the_path_goes_from_polls_to_who_ended_them() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 400, 405);
        run.event(1, crate::Kind::Polls, 100, 500);
        run.receive(1, 0, 3, 90, 501, 502);
        let found: Vec<_> =
            path(&run).0.iter().map(|one| (one.record, us(one.begin_s), us(one.end_s))).collect();
        assert_eq!(found, [(0, 0, 400), (1, 400, 502)]);
    }

    /// The first message takes 10 us, so the second one, sent 4 us before its receive began, was under way then.
    #[test]
    fn the_path_follows_a_message_that_is_under_way() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 600, 601);
        run.receive(1, 0, 3, 500, 500, 610);
        run.send(0, 1, 3, 1000, 1001);
        run.receive(1, 0, 3, 1004, 1004, 1010);
        let (path, parts) = path(&run);
        let found: Vec<_> = path
            .iter()
            .map(|one| (one.record, us(one.begin_s), us(one.end_s), one.under_way))
            .collect();
        let expected = [(0, 0, 1000, None), (1, 1000, 1004, Some(2)), (1, 1004, 1010, None)];
        assert_eq!(found, expected);
        assert_eq!(us(parts[&(1, PathPart::UnderWay(2))]), 4);
    }

    /// Rank 1 lost events after 610, so all waits after that are unknown.
    #[test]
    fn the_path_ends_where_events_were_lost() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 600, 605);
        run.receive(1, 0, 3, 100, 100, 610);
        run.records[1].events_lost = 5;
        run.records[1].last = 900;
        run.event(0, crate::Kind::Call, 1000, 1005);
        let found: Vec<_> =
            path(&run).0.iter().map(|one| (one.record, us(one.begin_s), us(one.end_s))).collect();
        assert_eq!(found, [(0, 0, 600), (1, 600, 610)]);
    }

    /// The path of a random run is complete: it ends when the last rank does, has no gap, and its parts add up to it.
    #[test]
    fn the_path_of_any_run_has_no_gap() {
        for seed in 0..200 {
            let mut random = SplitMix64::new(seed);
            let mut run = Run::of(3);
            let mut now = [0_u64; 3];
            for number in 0..50 {
                let (from, to) = (random.below(3), random.below(3));
                now[from] += random.below(50) as u64 + 1;
                now[to] += random.below(50) as u64 + 1;
                if from == to {
                    let begin = now;
                    let end = begin.iter().max().unwrap() + 2;
                    for (rank, begin) in begin.into_iter().enumerate() {
                        run.collective(rank, number, u32::MAX, begin, end);
                    }
                    now = [end; 3];
                } else {
                    let sent = now[from];
                    run.send(from, to, 1, sent, sent + 1);
                    now[from] = sent + 1;
                    let end = (sent + 2).max(now[to] + 1);
                    run.receive(to, from, 1, now[to], now[to], end);
                    now[to] = end;
                }
            }
            let (path, parts) = path(&run);
            let last = run.records.iter().map(|record| record.last).max().unwrap();
            assert_eq!(us(path.last().unwrap().end_s), last, "seed {seed}");
            assert_eq!(us(path[0].begin_s), 0, "seed {seed}");
            for pair in path.windows(2) {
                assert_eq!(pair[0].end_s, pair[1].begin_s, "seed {seed}");
            }
            let total: f64 = parts.values().sum();
            assert_eq!(us(total), last, "seed {seed}");
        }
    }
}
