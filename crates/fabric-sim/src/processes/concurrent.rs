//! Ranks whose processes compute while the simulation continues. The length of such computing is known only when it has
//! ended.

use std::sync::Arc;

use contract::{Time, TimeSpan};

use super::Processes;
use super::clocks::Clocks;

/// The ranks that compute while the simulation continues, for the agenda.
pub(crate) struct ConcurrentComputing {
    clocks: Clocks,
    under_way: UnderWay,
}

/// The end of a rank's computing: the rank, the beginning and the length.
pub(crate) type ComputingEnd = (usize, Time, TimeSpan);

struct UnderWay {
    /// Number of ranks that may compute at once. If it is 0, each rank computes while the simulation waits.
    at_once: usize,
    all: Vec<Interval>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    rank: usize,
    begin: Time,
    /// Moment before which the computing does not end.
    earliest: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The next event of the simulation may happen.
    Event,
    /// The computing of a rank has ended.
    End(ComputingEnd),
    /// The next step is certain when some computing has ended, or all has continued for this time.
    Wait(Option<TimeSpan>),
}

impl ConcurrentComputing {
    pub(crate) fn new(processes: Arc<Processes>, ranks: usize) -> Self {
        let clocks = Clocks::new(processes, ranks);
        let under_way = UnderWay { at_once: clocks.at_once(), all: Vec::new() };
        ConcurrentComputing { clocks, under_way }
    }

    /// Returns whether a rank may begin to compute beside others.
    pub(crate) fn can_begin(&self) -> bool {
        self.under_way.can_begin()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.all.is_empty()
    }

    pub(crate) fn begin(&mut self, rank: usize, now: Time) {
        self.under_way.begin(rank, now);
    }

    /// Waits until it is certain what happens next, if the next event is at `next`: returns computing that has ended, or
    /// `None` if it is the event.
    pub(crate) fn next_end(&mut self, next: Option<Time>) -> Option<ComputingEnd> {
        let clocks = &self.clocks;
        loop {
            match self.under_way.step(next, |rank| clocks.ended(rank), |rank| clocks.at_least(rank))
            {
                Step::Event => return None,
                Step::End(end) => return Some(end),
                Step::Wait(span) => {
                    let ranks: Vec<usize> = self.under_way.all.iter().map(|one| one.rank).collect();
                    clocks.wait(&ranks, span);
                }
            }
        }
    }

    /// Returns the moment before which none of the computing can end, as far as is known now; None if no rank computes.
    pub(crate) fn earliest(&self) -> Option<Time> {
        let at_least = |one: &Interval| one.begin + self.clocks.at_least(one.rank);
        self.under_way.all.iter().map(|one| at_least(one).max(one.earliest)).min()
    }
}

impl UnderWay {
    fn can_begin(&self) -> bool {
        self.all.len() < self.at_once
    }

    fn begin(&mut self, rank: usize, now: Time) {
        self.all.push(Interval { rank, begin: now, earliest: now });
    }

    /// Returns the next step, if the next event is at `next`, by the lengths of computing that has ended, and the least
    /// length of the other. An event may happen only if no computing can end before it, and if there is a place for the
    /// rank that may begin to compute because of it.
    fn step(
        &mut self,
        next: Option<Time>,
        ended: impl Fn(usize) -> Option<TimeSpan>,
        at_least: impl Fn(usize) -> TimeSpan,
    ) -> Step {
        let ended = |(index, one): (usize, &Interval)| Some((index, ended(one.rank)?));
        if let Some((index, span)) = self.all.iter().enumerate().find_map(ended) {
            let Interval { rank, begin, .. } = self.all.remove(index);
            return Step::End((rank, begin, span));
        }
        let Some(next) = next.filter(|_| self.can_begin()) else { return Step::Wait(None) };
        for one in self.all.iter_mut().filter(|one| one.earliest < next) {
            one.earliest = one.begin + at_least(one.rank);
        }
        match self.all.iter().map(|one| one.earliest).min() {
            Some(earliest) if earliest < next => Step::Wait(Some(next.since(earliest))),
            _ => Step::Event,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + TimeSpan::from_us(us)
    }

    /// Returns the next step, if the ranks have lengths, and all computing has lasted for `now_us` so far.
    fn step(ranks: &mut UnderWay, lengths_us: &[u64], now_us: u64, next_us: Option<u64>) -> Step {
        let ended = |rank: usize| {
            let us = lengths_us[rank];
            (us <= now_us).then(|| TimeSpan::from_us(us))
        };
        ranks.step(next_us.map(at), ended, |_| TimeSpan::from_us(now_us))
    }

    fn wait(us: u64) -> Step {
        Step::Wait(Some(TimeSpan::from_us(us)))
    }

    /// Rank 0 computes for 5 us from 10 us on. So an event at 13 us may happen once the computing is known to have lasted
    /// 3 us, and an event at 16 us only after its end.
    #[test]
    fn an_event_waits_for_computing_that_may_end_before_it() {
        let mut ranks = UnderWay { at_once: 2, all: Vec::new() };
        ranks.begin(0, at(10));
        let mut next = |now_us, next_us| step(&mut ranks, &[5], now_us, Some(next_us));
        assert_eq!(next(0, 10), Step::Event);
        assert_eq!([0, 1, 2].map(|now_us| next(now_us, 13)), [3, 2, 1].map(wait));
        assert_eq!(next(3, 13), Step::Event);
        assert_eq!([3, 4].map(|now_us| next(now_us, 16)), [3, 2].map(wait));
        assert_eq!(next(5, 16), Step::End((0, at(10), TimeSpan::from_us(5))));
        assert!(ranks.all.is_empty());
    }

    /// Two ranks may compute at once, and two do. So no event happens, however early, before one of them has ended.
    #[test]
    fn no_more_ranks_compute_at_once_than_may() {
        let mut ranks = UnderWay { at_once: 2, all: Vec::new() };
        ranks.begin(0, at(0));
        assert!(ranks.can_begin());
        ranks.begin(1, at(1));
        assert!(!ranks.can_begin());
        let mut next = |now_us, next_us| step(&mut ranks, &[4, 2], now_us, next_us);
        assert_eq!([0, 1].map(|now_us| next(now_us, Some(1))), [Step::Wait(None); 2]);
        assert_eq!(next(2, Some(1)), Step::End((1, at(1), TimeSpan::from_us(2))));
        assert_eq!(next(2, Some(2)), Step::Event);
        assert_eq!(next(2, None), Step::Wait(None));
        assert_eq!(next(4, None), Step::End((0, at(0), TimeSpan::from_us(4))));
    }
}
