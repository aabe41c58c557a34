//! The event queue: what happens next, and in which order what happens at once.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use contract::Time;

/// Events by time; those of one instant in the order in which they were pushed, which makes a run repeatable.
pub(crate) struct Queue<E> {
    heap: BinaryHeap<Entry<E>>,
    sequence: u64,
}

struct Entry<E> {
    time: Time,
    sequence: u64,
    event: E,
}

impl<E> Queue<E> {
    pub(crate) fn new() -> Self {
        Queue { heap: BinaryHeap::new(), sequence: 0 }
    }

    pub(crate) fn push(&mut self, time: Time, event: E) {
        self.sequence += 1;
        self.heap.push(Entry { time, sequence: self.sequence, event });
    }

    pub(crate) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|entry| entry.time)
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, E)> {
        self.heap.pop().map(|entry| (entry.time, entry.event))
    }
}

// The heap gives its greatest first, so the earlier entry is the greater.
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn events_of_one_instant_come_in_the_order_they_were_pushed() {
        let seed = 11;
        let mut random = Random::new(seed, 0);
        let mut queue = Queue::new();
        let mut model = Vec::new();
        for number in 0..2000 {
            let time = Time::from_ps(random.below(50));
            queue.push(time, number);
            model.push((time, number));
        }
        model.sort();
        let popped: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(popped, model, "seed {seed}");
    }
}
