//! Work of ranks outside of the simulation, whose length is known only when it has ended.

use std::rc::Rc;

use contract::{Time, TimeSpan};

/// Executes work of ranks outside of the simulation, for example in processes that compute while the simulation
/// continues.
pub trait Outside {
    /// Returns the number of ranks that may work at once. If it is 0, each rank waits for its work where that begins.
    fn at_once(&self) -> usize;
    /// Returns the virtual time that a rank's work took, or None if it has not ended.
    fn ended(&self, rank: usize) -> Option<TimeSpan>;
    /// Returns the least virtual time that it takes, as far as is known now. Events until then may happen during the
    /// work.
    fn at_least(&self, rank: usize) -> TimeSpan;
    /// Sleeps until the work of one of `ranks` may have ended, or has continued for `span`.
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
    /// Moment before which the work does not end.
    earliest: Time,
}

/// Next event beside work outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// The next event.
    Event,
    /// The end of a rank's work: the rank, the beginning and the span.
    WorkEnd(usize, Time, TimeSpan),
}

impl OutsideWork {
    pub(crate) fn new(source: Rc<dyn Outside>) -> Self {
        OutsideWork { source, under_way: Vec::new() }
    }

    /// Returns whether a rank may begin to work beside others.
    pub(crate) fn can_begin(&self) -> bool {
        self.under_way.len() < self.source.at_once()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    pub(crate) fn begin(&mut self, rank: usize, now: Time) {
        self.under_way.push(Work { rank, begin: now, earliest: now });
    }

    /// Returns what happens next, if the next event is at `next`, and waits until that is certain. An event may happen
    /// only if no work can end before it, and if there is a place for the rank that may begin work because of it.
    pub(crate) fn next(&mut self, next: Option<Time>) -> NextStep {
        loop {
            let ended =
                |(index, work): (usize, &Work)| Some((index, self.source.ended(work.rank)?));
            if let Some((index, span)) = self.under_way.iter().enumerate().find_map(ended) {
                let work = self.under_way.remove(index);
                return NextStep::WorkEnd(work.rank, work.begin, span);
            }
            let Some(next) = next.filter(|_| self.can_begin()) else {
                self.wait(None);
                continue;
            };
            match self.until(next) {
                None => return NextStep::Event,
                Some(span) => self.wait(Some(span)),
            }
        }
    }

    fn wait(&self, span: Option<TimeSpan>) {
        let ranks: Vec<usize> = self.under_way.iter().map(|work| work.rank).collect();
        self.source.wait(&ranks, span);
    }

    /// Returns the moment before which none of the work can end, as far as is known now; None if no rank works.
    pub(crate) fn earliest(&self) -> Option<Time> {
        let at_least = |work: &Work| work.begin + self.source.at_least(work.rank);
        self.under_way.iter().map(|work| at_least(work).max(work.earliest)).min()
    }

    /// Returns how much longer some work must continue until nothing can end before `next`, or None if nothing can.
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

    /// Ranks whose work advances by a microsecond with each wait.
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

    /// The work of rank 0 takes 5 us from 10 us on. So an event at 13 us may happen once the work is known to have
    /// lasted 3 us, and an event at 16 us only after its end.
    #[test]
    fn an_event_waits_for_work_that_may_end_before_it() {
        let (steady, mut outside) = work(&[5]);
        outside.begin(0, at(10));
        assert_eq!(outside.next(Some(at(10))), NextStep::Event);
        assert_eq!(outside.next(Some(at(13))), NextStep::Event);
        assert_eq!(*steady.waits.borrow(), [Some(3), Some(2), Some(1)]);
        assert_eq!(outside.next(Some(at(16))), NextStep::WorkEnd(0, at(10), TimeSpan::from_us(5)));
        assert!(outside.is_empty());
    }

    /// Two ranks may work at once, and two do. So no event happens, however early, before one of them has ended.
    #[test]
    fn no_more_ranks_work_at_once_than_may() {
        let (steady, mut outside) = work(&[4, 2]);
        outside.begin(0, at(0));
        assert!(outside.can_begin());
        outside.begin(1, at(1));
        assert!(!outside.can_begin());
        assert_eq!(outside.next(Some(at(1))), NextStep::WorkEnd(1, at(1), TimeSpan::from_us(2)));
        assert_eq!(*steady.waits.borrow(), [None, None]);
        assert_eq!(outside.next(Some(at(2))), NextStep::Event);
        assert_eq!(outside.next(None), NextStep::WorkEnd(0, at(0), TimeSpan::from_us(4)));
    }
}
