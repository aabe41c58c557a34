//! The semaphores that a node arbitrates.

use std::collections::VecDeque;

/// Number of semaphores of a node.
pub const SEMAPHORES: u32 = 64;

/// A signal that waits for its answer: its sender, and its number among that node's signals.
pub(super) type Waiter = (usize, u32);

#[derive(Debug)]
struct Semaphore {
    count: u32,
    waiting: VecDeque<Waiter>,
}

/// All semaphores. Each begins with one unit, so that P and V provide mutual exclusion.
#[derive(Debug)]
pub(super) struct Semaphores(Vec<Semaphore>);

impl Semaphores {
    pub(super) fn new() -> Self {
        let one = || Semaphore { count: 1, waiting: VecDeque::new() };
        Semaphores((0..SEMAPHORES).map(|_| one()).collect())
    }

    /// Takes a unit, or queues the node for one. Returns whether it was taken.
    pub(super) fn p(&mut self, semaphore: u32, who: Waiter) -> bool {
        let one = &mut self.0[semaphore as usize];
        match one.count.checked_sub(1) {
            Some(left) => {
                one.count = left;
                true
            }
            None => {
                one.waiting.push_back(who);
                false
            }
        }
    }

    /// Releases a unit to the node that has waited longest, which it returns.
    pub(super) fn v(&mut self, semaphore: u32) -> Option<Waiter> {
        let one = &mut self.0[semaphore as usize];
        let next = one.waiting.pop_front();
        if next.is_none() {
            one.count = one.count.saturating_add(1);
        }
        next
    }

    /// Ends the wait of a node. Returns false if it no longer waited.
    pub(super) fn withdraw(&mut self, semaphore: u32, node: usize) -> bool {
        let waiting = &mut self.0[semaphore as usize].waiting;
        let before = waiting.len();
        waiting.retain(|&(other, _)| other != node);
        waiting.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_goes_to_whoever_has_waited_longest() {
        let mut all = Semaphores::new();
        assert!(all.p(3, (1, 10)));
        assert!(!all.p(3, (2, 20)) && !all.p(3, (0, 5)) && !all.p(3, (4, 1)));
        assert!(all.p(4, (2, 21)), "the others are others");
        assert!(all.withdraw(3, 0) && !all.withdraw(3, 1), "only who waits withdraws");
        assert_eq!([all.v(3), all.v(3), all.v(3)], [Some((2, 20)), Some((4, 1)), None]);
        assert!(all.p(3, (0, 6)));
    }
}
