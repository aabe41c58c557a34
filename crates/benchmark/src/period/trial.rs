//! One trial: a period kept up for a number of instances, and what each rank notes of it.

use contract::{Buffer, Result, Time, TimeSpan};

/// What a benchmark is asked to keep up: `instances` instances of a periodic job, the first of which begins at `begin`.
///
/// Every instance has its place in time whatever happened before: it begins at [`start`](Trial::start), or as soon
/// after that as the rank is free, and must end by [`deadline`](Trial::deadline).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// The period. Zero asks for instances back to back, to see how fast they can go: every start is then `begin`.
    pub(crate) period: TimeSpan,
    /// How many instances; instances are counted from 0.
    pub(crate) instances: u64,
    /// When the first one begins, on the clock that all ranks share.
    pub(crate) begin: Time,
    /// Different in each trial of a search: what random choices of a trial are drawn from, besides the run's seed.
    pub(crate) number: u64,
}

impl Trial {
    /// When `instance` begins.
    #[inline]
    pub(crate) fn start(&self, instance: u64) -> Time {
        self.begin + self.period.times(instance)
    }

    /// When `instance` must have ended: when the next one begins.
    #[inline]
    pub(crate) fn deadline(&self, instance: u64) -> Time {
        self.start(instance + 1)
    }
}

/// How many of the latest ends a rank keeps.
pub(super) const WORST_KEPT: usize = 8;

/// An end that came after its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late {
    pub(super) late: TimeSpan,
    pub(super) instance: u64,
    pub(super) stage: u64,
    pub(super) at: Time,
}

/// What one rank notes of a trial: when its part of each instance ended. Noting allocates nothing.
pub(crate) struct Deadlines {
    trial: Trial,
    /// For each instance the time from its start to the last end that was noted.
    responses: Buffer,
    worst: Vec<Late>,
}

impl Deadlines {
    pub(crate) fn new(instances: u64) -> Result<Self> {
        let responses = Buffer::try_zeroed(instances as usize * size_of::<u64>())?;
        let trial = Trial { period: TimeSpan::ZERO, instances: 0, begin: Time::ZERO, number: 0 };
        Ok(Deadlines { trial, responses, worst: Vec::with_capacity(WORST_KEPT + 1) })
    }

    /// Forgets everything, and touches the memory that the trial will write.
    pub(crate) fn begin(&mut self, trial: Trial) {
        self.trial = trial;
        self.responses.fill(0);
        self.worst.clear();
    }

    /// Notes that this rank's part of `instance` ended at `at`; `stage` says which part, where there are several. A
    /// job that may take several periods is noted in the instance at whose end it is due. A rank that has no part in an
    /// instance notes nothing.
    #[inline]
    pub(crate) fn ended(&mut self, instance: u64, stage: u64, at: Time) {
        let trial = &self.trial;
        let response = at.since(trial.start(instance)).as_ps();
        let kept = &mut self.responses.elements_mut::<u64>()[instance as usize];
        *kept = response.max(*kept);
        if response > trial.period.as_ps() {
            let late = at.since(trial.deadline(instance));
            self.keep(Late { late, instance, stage, at });
        }
    }

    fn keep(&mut self, late: Late) {
        if self.worst.len() == WORST_KEPT && self.worst.iter().all(|kept| kept.late >= late.late) {
            return;
        }
        let place = self.worst.partition_point(|kept| kept.late >= late.late);
        self.worst.insert(place, late);
        self.worst.truncate(WORST_KEPT);
    }

    /// The responses of the trial, as bytes to be reduced.
    pub(super) fn responses(&self) -> &[u8] {
        &self.responses[..self.trial.instances as usize * size_of::<u64>()]
    }

    pub(super) fn worst(&self) -> &[Late] {
        &self.worst
    }
}

impl Late {
    pub(super) const WORDS: usize = 4;

    pub(super) fn to_words(self) -> [u64; Late::WORDS] {
        [self.late.as_ps(), self.instance, self.stage, self.at.as_ps()]
    }

    pub(super) fn from_words(words: [u64; Late::WORDS]) -> Self {
        let [late, instance, stage, at] = words;
        Late { late: TimeSpan::from_ps(late), instance, stage, at: Time::from_ps(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + TimeSpan::from_us(us)
    }

    fn noted(ends: &[(u64, u64, u64)]) -> Deadlines {
        let mut deadlines = Deadlines::new(64).unwrap();
        let period = TimeSpan::from_us(10);
        deadlines.begin(Trial { period, instances: 64, begin: us(100), number: 0 });
        ends.iter().for_each(|&(instance, stage, at)| deadlines.ended(instance, stage, us(at)));
        deadlines
    }

    #[test]
    fn a_late_instance_does_not_move_the_next_one() {
        // Instance 0 is due at 110 and ends at 125; instance 1, due at 120, ends at 118 and is in time.
        let deadlines = noted(&[(0, 0, 125), (1, 0, 118)]);
        let late = TimeSpan::from_us(15);
        assert_eq!(deadlines.worst(), [Late { late, instance: 0, stage: 0, at: us(125) }]);
    }

    #[test]
    fn the_last_end_of_an_instance_counts_and_its_deadline_is_still_in_time() {
        let deadlines = noted(&[(2, 0, 124), (2, 1, 130), (2, 2, 121)]);
        // Instance 2 begins at 120 and is due at 130.
        let responses = deadlines.responses.elements::<u64>();
        assert_eq!(responses[2], TimeSpan::from_us(10).as_ps());
        assert_eq!(deadlines.worst(), []);
    }

    #[test]
    fn the_latest_ends_are_kept_in_order() {
        // Instance k begins at 100 + 10 k, is due at 110 + 10 k and comes (7 k) mod 64 + 1 µs late: a permutation.
        let ends: Vec<_> = (0..64).map(|k| (k, 0, 110 + 10 * k + 7 * k % 64 + 1)).collect();
        let deadlines = noted(&ends);
        let late: Vec<f64> = deadlines.worst().iter().map(|late| late.late.as_us()).collect();
        assert_eq!(late, [64.0, 63.0, 62.0, 61.0, 60.0, 59.0, 58.0, 57.0]);
    }

    #[test]
    fn a_late_end_survives_the_wire() {
        let late = Late { late: TimeSpan::from_us(3), instance: 5, stage: 2, at: us(77) };
        assert_eq!(Late::from_words(late.to_words()), late);
    }
}
