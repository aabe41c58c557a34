//! The event queue: events in the order of their times, and those of one instant in the order of their pushes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use contract::Time;

use random::finalise;

/// Events by time. Those of one instant come in the order in which they were pushed, which makes a run repeatable.
///
/// Programs that do the same on every rank create many events of one instant. These share a bucket, and the heap holds
/// each bucket once, so most events never touch the heap.
pub(crate) struct Queue<E> {
    /// Time and number of each bucket, and its index.
    heap: BinaryHeap<Reverse<(Time, u64, u32)>>,
    buckets: Vec<VecDeque<E>>,
    free: Vec<u32>,
    /// The newest buckets of some times. A time that is not here gets a new bucket, whose events were all pushed after
    /// those of an older bucket of the same time.
    recent: [Option<(Time, u32)>; RECENT],
    sequence: u64,
}

const RECENT: usize = 64;

fn slot(time: Time) -> usize {
    finalise(time.as_ps()) as usize % RECENT
}

impl<E> Queue<E> {
    pub(crate) fn new() -> Self {
        Queue {
            heap: BinaryHeap::new(),
            buckets: Vec::new(),
            free: Vec::new(),
            recent: [None; RECENT],
            sequence: 0,
        }
    }

    pub(crate) fn push(&mut self, time: Time, event: E) {
        let recent = &mut self.recent[slot(time)];
        if let Some((its_time, bucket)) = *recent
            && its_time == time
        {
            self.buckets[bucket as usize].push_back(event);
            return;
        }
        let bucket = self.free.pop().unwrap_or_else(|| {
            self.buckets.push(VecDeque::new());
            self.buckets.len() as u32 - 1
        });
        self.buckets[bucket as usize].push_back(event);
        *recent = Some((time, bucket));
        self.sequence += 1;
        self.heap.push(Reverse((time, self.sequence, bucket)));
    }

    pub(crate) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((time, ..))| *time)
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, E)> {
        let Reverse((time, _, bucket)) = *self.heap.peek()?;
        let events = &mut self.buckets[bucket as usize];
        let event = events.pop_front().expect("a bucket in the heap holds an event");
        if events.is_empty() {
            self.heap.pop();
            self.free.push(bucket);
            let recent = &mut self.recent[slot(time)];
            if *recent == Some((time, bucket)) {
                *recent = None;
            }
        }
        Some((time, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Compares the queue with a sorted list, with pushes and pops mixed, few times (long buckets) and many (buckets
    /// forgotten).
    #[test]
    fn events_of_one_instant_come_in_the_order_they_were_pushed() {
        for (seed, times) in [(11, 5), (12, 300), (13, 100_000)] {
            let mut random = Random::new(seed, 0);
            let mut queue = Queue::new();
            let mut model: Vec<(Time, u32)> = Vec::new();
            for number in 0..4000 {
                if random.below(3) == 0 && !model.is_empty() {
                    let first = (0..model.len()).min_by_key(|&index| model[index]).unwrap();
                    assert_eq!(queue.next_time(), Some(model[first].0), "seed {seed}");
                    assert_eq!(queue.pop(), Some(model.remove(first)), "seed {seed}");
                } else {
                    let time = Time::from_ps(random.below(times));
                    queue.push(time, number);
                    model.push((time, number));
                }
            }
            model.sort();
            let rest: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(rest, model, "seed {seed}");
        }
    }
}
