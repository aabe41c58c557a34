//! Deadlines: the times at which each rank ended its part of each instance of a trial, and the pauses that interrupted
//! its work.

use contract::{Buffer, Rank, Result, Time, TimeSpan};
use record::{Broken, During};

use super::acceptance::Limits;
use super::constants::CONSTANTS;
use super::notes::{Interruption, LateEnd, keep_longest};
use super::trial::Trial;

/// One rank's part of a trial.
pub(crate) type Body<'a> = &'a mut dyn FnMut(&mut dyn Rank, &Trial, &mut Deadlines) -> Result<()>;

/// Shortest time of a repeated computation.
#[derive(Clone, Copy)]
pub(crate) struct UsualTime(TimeSpan);

impl Default for UsualTime {
    fn default() -> Self {
        UsualTime(TimeSpan::from_ps(u64::MAX))
    }
}

/// Records of one rank about a trial: the end of its part of each instance, and its pauses. Recording allocates
/// nothing.
pub(crate) struct Deadlines {
    trial: Trial,
    /// Time from the start of each instance to its last recorded end, less what is allowed.
    responses: Buffer,
    /// Time from the release of the work of each instance to its result.
    latencies: Buffer,
    /// Difference of that time from the one of the result before.
    jitters: Buffer,
    /// The latency of this rank's last result in this trial.
    before: Option<u64>,
    /// Number of the first results that have no jitter.
    filling: u64,
    limits: Limits,
    worst: Vec<LateEnd>,
    pauses: Vec<Interruption>,
    /// Time since which this rank has had nothing to do.
    free: Time,
    /// Time of the last poll for work, if the rank has done nothing else since.
    polled: Option<Time>,
    /// Permitted lateness of an instance.
    allowed: TimeSpan,
}

impl Deadlines {
    pub(crate) fn new(instances: u64) -> Result<Self> {
        let times = || Buffer::try_zeroed(instances as usize * size_of::<u64>());
        let trial = Trial { period: TimeSpan::ZERO, instances: 0, begin: Time::ZERO, number: 0 };
        let (worst, pauses) = (
            Vec::with_capacity(CONSTANTS.late_noted + 1),
            Vec::with_capacity(CONSTANTS.pauses_noted + 1),
        );
        Ok(Deadlines {
            trial,
            responses: times()?,
            latencies: times()?,
            jitters: times()?,
            before: None,
            filling: 0,
            limits: Limits::default(),
            worst,
            pauses,
            free: Time::ZERO,
            polled: None,
            allowed: TimeSpan::ZERO,
        })
    }

    /// Changes it so that it notes instances that exceed these limits.
    pub(super) fn within(self, limits: Limits) -> Self {
        Deadlines { limits, ..self }
    }

    /// Clears all records, and touches the memory that the trial will write.
    pub(crate) fn begin(&mut self, trial: Trial) {
        self.trial = trial;
        for times in [&mut self.responses, &mut self.latencies, &mut self.jitters] {
            times.fill(0);
        }
        (self.before, self.filling) = (None, 0);
        self.worst.clear();
        self.pauses.clear();
        (self.free, self.polled, self.allowed) = (Time::ZERO, None, TimeSpan::ZERO);
    }

    /// Permits every instance of this trial to end this much later than its deadline. A response is the time of an
    /// instance beyond that.
    pub(crate) fn allow(&mut self, later: TimeSpan) {
        self.allowed = later;
    }

    /// Judges no jitter of the first results of this trial, with which the job fills its buffers.
    pub(crate) fn fills(&mut self, results: u64) {
        self.filling = results;
    }

    /// Returns the permitted lateness of an instance.
    pub(crate) fn allowed(&self) -> TimeSpan {
        self.allowed
    }

    /// Waits until `instance` begins; returns at once if this rank is behind.
    #[inline]
    pub(crate) fn wait_for(&mut self, rank: &mut dyn Rank, instance: u64) {
        let start = self.trial.start(instance);
        rank.wait_until(start);
        if self.free < start {
            self.began(start, rank.now());
        }
    }

    /// Records that this rank had nothing to do before `due`, and continued at `now`. A long time between them is a
    /// pause.
    #[inline]
    pub(crate) fn began(&mut self, due: Time, now: Time) {
        let length = now.since(due);
        if length > CONSTANTS.pause_min {
            let during = During::Waiting;
            self.keep_pause(Interruption { at: due, length, during, stage: None });
        }
    }

    /// Records a poll for work at `now`. A long time since the previous poll is a pause.
    #[inline]
    pub(crate) fn polled(&mut self, now: Time) {
        if let Some(before) = self.polled.replace(now) {
            self.began(before, now);
        }
    }

    /// Records that this rank does something other than polling.
    #[inline]
    pub(crate) fn note_work(&mut self) {
        self.polled = None;
    }

    /// Notes that a repeated computation for `stage` took from `begin` to `end`. It contains a pause if it took much
    /// longer than usual.
    #[inline]
    pub(crate) fn computed(
        &mut self,
        usual: &mut UsualTime,
        stage: u64,
        (begin, end): (Time, Time),
    ) {
        let took = end.since(begin);
        let more = TimeSpan::from_ps(took.as_ps().saturating_sub(usual.0.as_ps()));
        // A long computation may take half as long again for other reasons, such as cold caches.
        if more > CONSTANTS.pause_min && more.times(2) > usual.0 {
            let (during, stage) = (During::Computing, Some(stage));
            self.keep_pause(Interruption { at: begin, length: more, during, stage });
        }
        usual.0 = usual.0.min(took);
    }

    /// Records that this rank's part of `instance` ended at `at`, which is its result; `stage` is the number of the
    /// part, if there are several. A rank without a part in an instance records nothing.
    #[inline]
    pub(crate) fn ended(&mut self, instance: u64, stage: u64, at: Time) {
        self.delivered((instance, instance), stage, at);
        self.judged(instance, stage, at);
    }

    /// Records that the result of work that was `released` at the start of an instance, and is due at the end of another
    /// one, came at `at`. Each rank delivers the results of one part.
    #[inline]
    pub(crate) fn delivered(&mut self, (released, due): (u64, u64), stage: u64, at: Time) {
        let latency = at.since(self.trial.start(released)).as_ps();
        let before = self.before.replace(latency).filter(|_| released >= self.filling);
        let jitter = before.map_or(0, |before| before.abs_diff(latency));
        let kept = &mut self.latencies.elements_mut::<u64>()[due as usize];
        *kept = latency.max(*kept);
        let kept = &mut self.jitters.elements_mut::<u64>()[due as usize];
        *kept = jitter.max(*kept);
        let Limits { latency_ps, jitter_ps } = self.limits;
        for (broken, time, limit) in
            [(Broken::Latency, latency, latency_ps), (Broken::Jitter, jitter, jitter_ps)]
        {
            if time > limit {
                let late = TimeSpan::from_ps(time - limit);
                self.keep(LateEnd { late, broken, instance: due, stage, at });
            }
        }
    }

    /// Records that `stage` of `instance` ended at `at`, which is not a result. A job that may take several periods is
    /// recorded in the instance at whose end it is due.
    #[inline]
    pub(crate) fn judged(&mut self, instance: u64, stage: u64, at: Time) {
        let trial = &self.trial;
        let response = at.since(trial.start(instance)).as_ps();
        let response = response.saturating_sub(self.allowed.as_ps());
        let kept = &mut self.responses.elements_mut::<u64>()[instance as usize];
        *kept = response.max(*kept);
        self.free = at;
        if response > trial.period.as_ps() {
            let late = TimeSpan::from_ps(response - trial.period.as_ps());
            self.keep(LateEnd { late, broken: Broken::Deadline, instance, stage, at });
        }
    }

    fn keep(&mut self, late: LateEnd) {
        keep_longest(&mut self.worst, CONSTANTS.late_noted, late, |late| late.late);
    }

    #[cold]
    fn keep_pause(&mut self, pause: Interruption) {
        keep_longest(&mut self.pauses, CONSTANTS.pauses_noted, pause, |pause| pause.length);
    }

    /// Returns the responses, latencies and jitters of the trial, as bytes to be reduced.
    pub(super) fn times(&self) -> [&[u8]; 3] {
        let bytes = self.trial.instances as usize * size_of::<u64>();
        [&self.responses, &self.latencies, &self.jitters].map(|times| &times[..bytes])
    }

    pub(super) fn worst(&self) -> &[LateEnd] {
        &self.worst
    }

    pub(super) fn pauses(&self) -> &[Interruption] {
        &self.pauses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + TimeSpan::from_us(us)
    }

    fn noted(ends: &[(u64, u64, u64)]) -> Deadlines {
        let limits = Limits { latency_ps: 1_000_000_000, ..Limits::default() };
        let mut deadlines = Deadlines::new(64).unwrap().within(limits);
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
        assert_eq!(
            deadlines.worst(),
            [LateEnd { late, broken: Broken::Deadline, instance: 0, stage: 0, at: us(125) }]
        );
    }

    #[test]
    fn what_is_allowed_is_not_late_and_what_is_more_is_late_by_that() {
        let mut deadlines = noted(&[]);
        deadlines.allow(TimeSpan::from_us(20));
        // Instance 0 is due at 110, and may end at 130.
        deadlines.ended(0, 0, us(130));
        assert_eq!(deadlines.worst(), []);
        deadlines.ended(0, 0, us(133));
        assert_eq!(deadlines.worst()[0].late, TimeSpan::from_us(3));
    }

    #[test]
    fn a_result_has_a_latency_from_its_release_and_a_jitter_from_the_one_before() {
        let mut deadlines = noted(&[(0, 0, 105), (1, 0, 118)]);
        // Released with instance 0, due in instance 3, and 30 us after 100: 22 more than the result before.
        deadlines.delivered((0, 3), 1, us(130));
        let times = |buffer: &Buffer| buffer.elements::<u64>()[..4].to_vec();
        assert_eq!(times(&deadlines.latencies), [5_000_000, 8_000_000, 0, 30_000_000]);
        assert_eq!(times(&deadlines.jitters), [0, 3_000_000, 0, 22_000_000]);
        assert_eq!(deadlines.worst(), [], "1 ms is allowed");
        deadlines.fills(6);
        deadlines.delivered((5, 5), 0, us(250));
        assert_eq!(deadlines.jitters.elements::<u64>()[5], 0);
        deadlines.delivered((4, 4), 1, us(1143));
        let late = TimeSpan::from_us(3);
        let at = us(1143);
        let broken = Broken::Latency;
        assert_eq!(deadlines.worst(), [LateEnd { late, broken, instance: 4, stage: 1, at }]);
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
        // Instance k begins at 100 + 10 k, is due at 110 + 10 k and is (7 k) mod 64 + 1 µs late: a permutation.
        let ends: Vec<_> = (0..64).map(|k| (k, 0, 110 + 10 * k + 7 * k % 64 + 1)).collect();
        let deadlines = noted(&ends);
        let late: Vec<f64> = deadlines.worst().iter().map(|late| late.late.as_us()).collect();
        assert_eq!(late, [64.0, 63.0, 62.0, 61.0, 60.0, 59.0, 58.0, 57.0]);
    }

    #[test]
    fn computing_that_takes_much_longer_than_else_is_a_pause() {
        let mut deadlines = noted(&[]);
        let mut usual = UsualTime::default();
        // The first time is no pause, even if it is long. 100 µs are usual; 149 are within the tolerance, 400 are 300
        // too many.
        for (begin, took) in [(0, 900), (1000, 100), (2000, 149), (3000, 400), (4000, 100)] {
            deadlines.computed(&mut usual, 2, (us(begin), us(begin + took)));
        }
        let (length, during) = (TimeSpan::from_us(300), During::Computing);
        let stage = Some(2);
        assert_eq!(deadlines.pauses(), [Interruption { at: us(3000), length, during, stage }]);
    }

    #[test]
    fn a_rank_that_has_nothing_to_do_and_begins_late_paused_and_one_that_is_behind_did_not() {
        conformance::reference::run(1, |rank| {
            let mut deadlines = Deadlines::new(4).unwrap();
            let period = TimeSpan::from_us(10);
            let begin = rank.now() + TimeSpan::from_us(1000);
            deadlines.begin(Trial { period, instances: 4, begin, number: 0 });
            // Nothing to do until 60 µs after the beginning, when the first instance begins.
            deadlines.began(begin, begin + TimeSpan::from_us(60));
            assert_eq!(deadlines.pauses().len(), 1);
            // Busy until after the second has begun.
            deadlines.ended(0, 0, begin + TimeSpan::from_us(5000));
            rank.wait_until(begin + TimeSpan::from_us(5000));
            deadlines.wait_for(rank, 1);
            assert_eq!(deadlines.pauses().len(), 1);
            Ok(())
        })
        .unwrap();
    }
}
