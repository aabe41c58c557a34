//! The proof that no rank can ever continue.
//!
//! A rank may have several waits, one for each thread of its program. It then counts a poll once each of them has had
//! one, and declares whether something else may end them, such as a thread that is not in a wait.
//!
//! Ranks have no threads of this library, so a rank in a wait changes what others see only in its polls. A rank that
//! waits for long counts its idle polls for everything, and publishes a number that changes whenever anything of it
//! moves.
//!
//! Assume that all ranks are in the same long waits at two moments, with the same numbers, and that each has had a few
//! idle polls between the two. Then nothing can move any more. Consider the first change after the first moment, and
//! the poll that made it. It is none of the counted polls, since it would have changed that rank's number. So the same
//! rank has polled before it, has seen the same memory, as nothing has changed before the first change, and has found
//! nothing: it finds nothing again. Data in the system's connections are not in memory, so everything that was written
//! must have been read.
//!
//! Some polls do more than others: in every few of them a rank checks whether the others make the same call, and
//! publishes its own. Hence the required number of polls, and the required time.

use std::iter::Sum;
use std::time::{Duration, Instant};

use crate::page::LongWait;

/// Required idle polls of every rank. Calls are checked at every fourth poll at the latest.
const POLLS: u64 = 6;
/// Shortest standstill, in addition to [`TIME_PER_RANK`]: over TCP, ranks exchange their calls after half of it.
const TIME: Duration = Duration::from_millis(300);
const TIME_PER_RANK: Duration = Duration::from_millis(10);

/// The state of a rank at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankState {
    /// It may do anything.
    Runs,
    /// It has ended its part, and does nothing that others would see.
    Finished,
    /// It is in a long wait.
    Waits(LongWait),
}

/// The search for a standstill of the ranks, from one moment to the next.
#[derive(Default)]
pub(super) struct Standstill {
    begin: Option<(Instant, Vec<RankState>)>,
}

impl Standstill {
    /// Records the states of all ranks. Returns how long they have stood still: in the same waits, or out of long
    /// waits, with no change in them.
    pub(super) fn note(&mut self, now: Instant, ranks: &[RankState]) -> Duration {
        match &self.begin {
            Some((since, begin)) if is_same(begin, ranks) => now.duration_since(*since),
            _ => {
                self.begin = Some((now, ranks.to_vec()));
                Duration::ZERO
            }
        }
    }

    /// Returns whether no rank can ever continue.
    pub(super) fn is_for_ever(&self, now: Instant, ranks: &[RankState]) -> bool {
        let Amounts { sent, received } = Amounts::of(ranks);
        sent == received && self.is_stuck(now, ranks, ranks.len())
    }

    /// Returns whether none of `ranks`, which belong to a run of `of` ranks, can continue unless something arrives that
    /// is under way.
    pub(super) fn is_stuck(&self, now: Instant, ranks: &[RankState], of: usize) -> bool {
        let Some((since, begin)) = &self.begin else { return false };
        let waits = |rank: &RankState| matches!(rank, RankState::Waits(_));
        let is_stuck = |(begin, now): (&RankState, &RankState)| match (begin, now) {
            (RankState::Waits(begin), RankState::Waits(now)) => {
                now.polls >= begin.polls + POLLS && !now.found.may_end_otherwise
            }
            (RankState::Finished, RankState::Finished) => true,
            _ => false,
        };
        is_same(begin, ranks)
            && ranks.iter().any(waits)
            && begin.iter().zip(ranks).all(is_stuck)
            && now.duration_since(*since) >= TIME + TIME_PER_RANK * of as u32
    }
}

/// What ranks have sent and received outside of memory that they share ([`PollState`](crate::PollState)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// What they have sent.
    pub sent: u64,
    /// What they have received.
    pub received: u64,
}

impl Amounts {
    pub(super) fn of(ranks: &[RankState]) -> Self {
        let each = ranks.iter().map(|rank| match rank {
            RankState::Waits(wait) => {
                Amounts { sent: wait.found.sent, received: wait.found.received }
            }
            RankState::Runs | RankState::Finished => Amounts::default(),
        });
        each.sum()
    }
}

impl Sum for Amounts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Amounts::default(), |sum, one| Amounts {
            sent: sum.sent.wrapping_add(one.sent),
            received: sum.received.wrapping_add(one.received),
        })
    }
}

fn is_same(begin: &[RankState], now: &[RankState]) -> bool {
    let is_same = |(begin, now): (&RankState, &RankState)| match (begin, now) {
        (RankState::Waits(begin), RankState::Waits(now)) => {
            (begin.number, begin.found) == (now.number, now.found)
        }
        _ => begin == now,
    };
    begin.len() == now.len() && begin.iter().zip(now).all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PollState;

    fn waits(number: u64, polls: u64, state: u64) -> RankState {
        let found = PollState { state, ..PollState::default() };
        RankState::Waits(LongWait { number, polls, found })
    }

    /// Returns whether two moments a second apart prove an endless standstill.
    fn is_hang(begin: &[RankState], end: &[RankState]) -> bool {
        let (mut standstill, now) = (Standstill::default(), Instant::now());
        standstill.note(now, begin);
        let later = now + Duration::from_secs(1);
        standstill.note(later, end);
        standstill.is_for_ever(later, end)
    }

    #[test]
    fn ranks_whose_polls_all_failed_are_deadlocked() {
        let begin = [waits(1, 4, 9), waits(3, 8, 7), RankState::Finished];
        assert!(is_hang(&begin, &[waits(1, 10, 9), waits(3, 14, 7), RankState::Finished]));
        assert!(!is_hang(&begin, &[waits(1, 10, 9), waits(3, 13, 7), RankState::Finished]));
        assert!(!is_hang(&begin, &[waits(2, 10, 9), waits(3, 14, 7), RankState::Finished]));
        assert!(!is_hang(&begin, &[waits(1, 10, 8), waits(3, 14, 7), RankState::Finished]));
        assert!(!is_hang(&begin, &[waits(1, 10, 9), waits(3, 14, 7), RankState::Runs]));
    }

    #[test]
    fn a_rank_whose_wait_something_else_may_end_is_not_deadlocked() {
        let may_end = |polls| {
            let found = PollState { state: 9, may_end_otherwise: true, ..PollState::default() };
            RankState::Waits(LongWait { number: 1, polls, found })
        };
        assert!(!is_hang(&[waits(1, 4, 9), may_end(4)], &[waits(1, 99, 9), may_end(99)]));
    }

    #[test]
    fn a_run_with_a_running_rank_or_only_finished_ones_is_not_deadlocked() {
        let with_one = |polls| [waits(1, polls, 9), RankState::Runs];
        assert!(!is_hang(&with_one(0), &with_one(100)));
        assert!(!is_hang(&[RankState::Finished; 2], &[RankState::Finished; 2]));
        assert!(!is_hang(&[RankState::Runs; 2], &[RankState::Runs; 2]));
    }

    #[test]
    fn bytes_written_and_not_read_are_in_flight() {
        let of = |polls, sent, received| {
            let found = PollState { state: 1, sent, received, ..PollState::default() };
            RankState::Waits(LongWait { number: 1, polls, found })
        };
        assert!(!is_hang(&[of(0, 50, 20), of(0, 20, 40)], &[of(9, 50, 20), of(9, 20, 40)]));
        assert!(is_hang(&[of(0, 50, 20), of(0, 20, 50)], &[of(9, 50, 20), of(9, 20, 50)]));
    }

    #[test]
    fn a_change_restarts_the_standstill_time() {
        let (mut standstill, now) = (Standstill::default(), Instant::now());
        let after = |tenths: u64| now + Duration::from_millis(100 * tenths);
        assert_eq!(standstill.note(now, &[waits(1, 1, 1)]), Duration::ZERO);
        assert_eq!(standstill.note(after(3), &[waits(1, 4, 1)]), Duration::from_millis(300));
        assert_eq!(standstill.note(after(5), &[waits(1, 5, 2)]), Duration::ZERO);
        assert_eq!(standstill.note(after(6), &[waits(1, 6, 2)]), Duration::from_millis(100));
        assert!(!standstill.is_for_ever(after(6), &[waits(1, 6, 2)]));
    }

    /// Ranks that pass a token on and wait in between, observed at random moments, stand still only once none has it. A
    /// rank acts in its polls only, as real ones do; it may report much later.
    #[test]
    fn no_order_of_polls_reports_a_deadlock_while_a_message_is_in_flight() {
        for seed in 1..300_u64 {
            let mut random = seed;
            let mut below = |limit: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) % limit
            };
            let ranks = 2 + below(4) as usize;
            let mut hops = below(30);
            let mut token = Some(below(ranks as u64) as usize);
            let mut reports = vec![(0_u64, 0_u64); ranks];
            let mut standstill = Standstill::default();
            let mut now = Instant::now();
            for _ in 0..2000 {
                now += Duration::from_millis(below(400));
                let rank = below(ranks as u64) as usize;
                let (polls, state) = &mut reports[rank];
                if token == Some(rank) {
                    *state += 1;
                    token = (hops > 0).then(|| below(ranks as u64) as usize);
                    hops = hops.saturating_sub(1);
                }
                *polls += 1;
                let seen: Vec<_> =
                    reports.iter().map(|&(polls, state)| waits(1, polls, state)).collect();
                standstill.note(now, &seen);
                assert!(token.is_none() || !standstill.is_for_ever(now, &seen), "seed {seed}");
                if token.is_none() && standstill.is_for_ever(now, &seen) {
                    break;
                }
            }
        }
    }
}
