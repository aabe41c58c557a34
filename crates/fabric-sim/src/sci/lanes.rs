//! The event queue of an engine: events in the order of their times, and those of one instant in the order of their
//! pushes.
//!
//! Nearly all events of a ring come one of a few times after the event that caused them: a hop, or the length of a
//! packet. The clock never goes back, so events with the same delay are in order as they are pushed. Each such delay
//! has a lane, first in, first out. The next event is the earliest of the first ones of all lanes, of which there are
//! few.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use contract::{Time, TimeSpan};

/// Maximum number of lanes.
const LANES_MAX: usize = 7;
/// Index of the sorted events, behind the lanes.
const SORTED: usize = LANES_MAX;
/// The time of a lane without events.
const NEVER: u64 = u64::MAX;

/// Events by time.
pub(super) struct Lanes<E> {
    /// The delay of each lane, longest first.
    delays: Vec<TimeSpan>,
    /// The events of each lane, each with its time and the number of its push.
    lanes: Vec<VecDeque<(u64, u64, E)>>,
    sorted: BinaryHeap<Reverse<Sorted<E>>>,
    /// The time of the first event of each lane, and of the sorted events.
    first: [u64; LANES_MAX + 1],
    /// Index of the lane with the next event, or [`SORTED`].
    next: usize,
    pushed: u64,
}

/// An event without a fixed delay after its cause.
struct Sorted<E> {
    place: (u64, u64),
    event: E,
}

impl<E: Copy> Lanes<E> {
    /// Creates lanes for events with these delays after their cause.
    pub(super) fn new(mut delays: Vec<TimeSpan>) -> Self {
        delays.sort_unstable_by_key(|&delay| Reverse(delay));
        delays.dedup();
        assert!(delays.len() <= LANES_MAX, "{} lanes", delays.len());
        Lanes {
            lanes: delays.iter().map(|_| VecDeque::new()).collect(),
            delays,
            sorted: BinaryHeap::new(),
            first: [NEVER; LANES_MAX + 1],
            next: SORTED,
            pushed: 0,
        }
    }

    /// Returns the lane of one of the delays.
    pub(super) fn lane(&self, delay: TimeSpan) -> usize {
        self.delays.iter().position(|of| *of == delay).expect("each delay has a lane")
    }

    /// Returns the delay of a lane.
    #[inline]
    pub(super) fn delay(&self, lane: usize) -> TimeSpan {
        self.delays[lane]
    }

    /// Adds an event that comes the delay of a lane after `now`, which must not be before that of an earlier call.
    #[inline]
    pub(super) fn push_after(&mut self, now: Time, lane: usize, event: E) {
        let time = (now + self.delays[lane]).as_ps();
        self.pushed += 1;
        let events = &mut self.lanes[lane];
        debug_assert!(events.back().is_none_or(|(last, ..)| *last <= time), "the clock went back");
        events.push_back((time, self.pushed, event));
        if self.first[lane] == NEVER {
            self.first[lane] = time;
            self.find_next();
        }
    }

    /// Adds an event at any time.
    pub(super) fn push(&mut self, time: Time, event: E) {
        self.pushed += 1;
        self.sorted.push(Reverse(Sorted { place: (time.as_ps(), self.pushed), event }));
        self.first[SORTED] = self.first[SORTED].min(time.as_ps());
        self.find_next();
    }

    #[inline]
    pub(super) fn next_time(&self) -> Option<Time> {
        let time = self.first[self.next];
        (time != NEVER).then(|| Time::from_ps(time))
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Time, E)> {
        let from = self.next;
        let (time, event, next) = match self.lanes.get_mut(from) {
            Some(events) => {
                let (time, _, event) = events.pop_front()?;
                (time, event, events.front().map(|(time, ..)| *time))
            }
            None => {
                let Reverse(Sorted { place, event }) = self.sorted.pop()?;
                (place.0, event, self.sorted.peek().map(|Reverse(next)| next.place.0))
            }
        };
        self.first[from] = next.unwrap_or(NEVER);
        self.find_next();
        Some((Time::from_ps(time), event))
    }

    /// Finds the next event, which is the earliest. Of several lanes with the same time it is the one of the longest
    /// delay, because it was pushed first.
    #[inline]
    fn find_next(&mut self) {
        let (mut next, mut time) = (SORTED, NEVER);
        for (lane, &first) in self.first[..LANES_MAX].iter().enumerate() {
            let earlier = first < time;
            next = if earlier { lane } else { next };
            time = if earlier { first } else { time };
        }
        let sorted = self.first[SORTED];
        self.next = if sorted < time || sorted == time && self.is_sorted_first(next) {
            SORTED
        } else {
            next
        };
    }

    /// Returns whether the first sorted event was pushed before the first event of a lane with the same time.
    #[cold]
    fn is_sorted_first(&self, lane: usize) -> bool {
        let number = self.sorted.peek().map(|Reverse(first)| first.place.1);
        let other = self.lanes.get(lane).and_then(VecDeque::front).map(|(_, number, _)| *number);
        other.is_none() || number < other
    }
}

impl<E> PartialEq for Sorted<E> {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl<E> Eq for Sorted<E> {}

impl<E> PartialOrd for Sorted<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Sorted<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place.cmp(&other.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Compares lanes with a sorted list, with pushes and pops mixed, and with one lane up to all of them.
    #[test]
    fn events_of_one_instant_come_in_the_order_they_were_pushed() {
        for (seed, delays) in [(21, 1), (22, 4), (23, LANES_MAX as u64)] {
            let mut random = Random::new(seed, 0);
            let all = (0..delays).map(|delay| TimeSpan::from_ps(3 * delay)).collect();
            let mut lanes = Lanes::new(all);
            let mut model: Vec<(Time, u32)> = Vec::new();
            let mut now = Time::ZERO;
            for number in 0..6000 {
                let delay = TimeSpan::from_ps(3 * random.below(delays));
                match random.below(5) {
                    0 | 1 if !model.is_empty() => {
                        let first = (0..model.len()).min_by_key(|&at| model[at]).unwrap();
                        assert_eq!(lanes.next_time(), Some(model[first].0), "seed {seed}");
                        now = model[first].0;
                        assert_eq!(lanes.pop(), Some(model.remove(first)), "seed {seed}");
                    }
                    2 => {
                        let time = now + TimeSpan::from_ps(random.below(30));
                        lanes.push(time, number);
                        model.push((time, number));
                    }
                    _ => {
                        let lane = lanes.lane(delay);
                        lanes.push_after(now, lane, number);
                        model.push((now + delay, number));
                    }
                }
            }
            model.sort();
            let rest: Vec<_> = std::iter::from_fn(|| lanes.pop()).collect();
            assert_eq!(rest, model, "seed {seed}");
            assert_eq!(lanes.next_time(), None);
        }
    }
}
