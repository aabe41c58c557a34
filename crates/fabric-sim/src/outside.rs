//! Work of ranks that is done outside of the simulation, and whose length is known only when it is over.

use std::rc::Rc;

use contract::{Time, TimeSpan};

/// Who works outside for the ranks: processes, for example, that compute while the simulation goes on.
pub trait Outside {
    /// How many ranks may work at once; with none, all work is waited for where it begins.
    fn at_once(&self) -> usize;
    /// How long a rank's work takes in virtual time, once it is over.
    fn ended(&self, rank: usize) -> Option<TimeSpan>;
    /// How long it takes at least, as far as is known now. Events until then may happen while the work goes on.
    fn at_least(&self, rank: usize) -> TimeSpan;
    /// Sleeps until the work of one of `ranks` may be over, or have gone on for `span`.
    fn wait(&self, ranks: &[usize], span: Option<TimeSpan>);
}

/// The ranks that work outside, for the agenda.
pub(crate) struct OutsideWork {
    source: Rc<dyn Outside>,
    under_way: Vec<Work>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Work {
    rank: usize,
    begin: Time,
    /// It does not end before this moment.
    earliest: Time,
}

/// What may happen next beside work outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// The next event.
    Event,
    /// The end of a rank's work, which began at a moment and took a span.
    End(usize, Time, TimeSpan),
}

impl OutsideWork {
    pub(crate) fn new(source: Rc<dyn Outside>) -> Self {
        OutsideWork { source, under_way: Vec::new() }
    }

    /// Whether a rank may begin to work beside others.
    pub(crate) fn takes(&self) -> bool {
        self.under_way.len() < self.source.at_once()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    pub(crate) fn begin(&mut self, rank: usize, now: Time) {
        self.under_way.push(Work { rank, begin: now, earliest: now });
    }

    /// What happens next, if the next event is at `next`. It waits until that is certain. An event happens only when no
    /// work can end before it, and when there is a place for the rank that it may let work.
    pub(crate) fn next(&mut self, next: Option<Time>) -> Beside {
        loop {
            let ended =
                |(index, work): (usize, &Work)| Some((index, self.source.ended(work.rank)?));
            if let Some((index, span)) = self.under_way.iter().enumerate().find_map(ended) {
                let work = self.under_way.remove(index);
                return Beside::End(work.rank, work.begin, span);
            }
            let Some(next) = next.filter(|_| self.takes()) else {
                self.wait(None);
                continue;
            };
            match self.until(next) {
                None => return Beside::Event,
                Some(span) => self.wait(Some(span)),
            }
        }
    }

    fn wait(&self, span: Option<TimeSpan>) {
        let ranks: Vec<usize> = self.under_way.iter().map(|work| work.rank).collect();
        self.source.wait(&ranks, span);
    }

    /// The moment before which none of the work can end, as far as is known now; none if no rank works.
    pub(crate) fn earliest(&self) -> Option<Time> {
        let at_least = |work: &Work| work.begin + self.source.at_least(work.rank);
        self.under_way.iter().map(|work| at_least(work).max(work.earliest)).min()
    }

    /// How much longer some work has to go on until nothing can end before `next`.
    fn until(&mut self, next: Time) -> Option<TimeSpan> {
        for work in self.under_way.iter_mut().filter(|work| work.earliest < next) {
            work.earliest = work.begin + self.source.at_least(work.rank);
        }
        let earliest = self.under_way.iter().map(|work| work.earliest).min()?;
        (earliest < next).then(|| next.since(earliest))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// Ranks whose work goes on by a microsecond with each wait.
    struct Steady {
        lengths_us: Vec<u64>,
        now_us: Cell<u64>,
        waits: RefCell<Vec<Option<u64>>>,
    }

    impl Outside for Steady {
        fn at_once(&self) -> usize {
            2
        }

        fn ended(&self, rank: usize) -> Option<TimeSpan> {
            let length = self.lengths_us[rank];
            (length <= self.now_us.get()).then(|| TimeSpan::from_us(length))
        }

        fn at_least(&self, _rank: usize) -> TimeSpan {
            TimeSpan::from_us(self.now_us.get())
        }

        fn wait(&self, _: &[usize], span: Option<TimeSpan>) {
            self.waits.borrow_mut().push(span.map(|span| span.as_us() as u64));
            self.now_us.set(self.now_us.get() + 1);
        }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + TimeSpan::from_us(us)
    }

    fn work(lengths_us: &[u64]) -> (Rc<Steady>, OutsideWork) {
        let (now_us, waits) = Default::default();
        let steady = Rc::new(Steady { lengths_us: lengths_us.to_vec(), now_us, waits });
        (steady.clone(), OutsideWork::new(steady))
    }

    /// The work of rank 0 takes 5 us from 10 us on, so what happens until 13 us may do so once it is known to have gone
    /// on for 3 us, and what happens at 16 us only after its end.
    #[test]
    fn an_event_waits_for_work_that_may_end_before_it() {
        let (steady, mut outside) = work(&[5]);
        outside.begin(0, at(10));
        assert_eq!(outside.next(Some(at(10))), Beside::Event);
        assert_eq!(outside.next(Some(at(13))), Beside::Event);
        assert_eq!(*steady.waits.borrow(), [Some(3), Some(2), Some(1)]);
        assert_eq!(outside.next(Some(at(16))), Beside::End(0, at(10), TimeSpan::from_us(5)));
        assert!(outside.is_empty());
    }

    /// Two are as many as may work at once: no event happens, however early, before one of them has ended.
    #[test]
    fn no_more_ranks_work_at_once_than_may() {
        let (steady, mut outside) = work(&[4, 2]);
        outside.begin(0, at(0));
        assert!(outside.takes());
        outside.begin(1, at(1));
        assert!(!outside.takes());
        assert_eq!(outside.next(Some(at(1))), Beside::End(1, at(1), TimeSpan::from_us(2)));
        assert_eq!(*steady.waits.borrow(), [None, None]);
        assert_eq!(outside.next(Some(at(2))), Beside::Event);
        assert_eq!(outside.next(None), Beside::End(0, at(0), TimeSpan::from_us(4)));
    }
}
