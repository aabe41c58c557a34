use super::*;
use random::SplitMix64;

pub(super) fn job(period_us: f64) -> Replayed {
    Replayed { period_us, waiting: 0, settling: 0 }
}

/// Ends of instances that take these times one after the other.
pub(super) fn ends(each: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let add = |at: &mut f64, took: f64| {
        *at += took;
        Some(*at)
    };
    each.into_iter().scan(0.0, add).collect()
}

#[test]
fn a_steady_machine_keeps_every_period_above_its_work_and_none_below() {
    let recording = Recording::new(&ends([10.0; 1000]), 10.0).unwrap();
    assert_eq!((recording.each_us(), recording.lost().len()), (10.0, 0));
    let missed = |period| recording.missed(job(period)).iter().filter(|missed| **missed).count();
    assert_eq!((missed(10.1), missed(25.0)), (0, 0));
    // At 9 us instance k ends 10 + 10 k after the beginning, is due at 9 + 9 k, and all are late.
    let late = recording.missed(job(9.0));
    assert!(late.iter().all(|missed| *missed) && late.len() > 900, "{}", late.len());
}

#[test]
fn a_pause_by_hand() {
    // Each takes 10 us; after a quarter of the recording one takes 10 + 95. The sixteenth part, 100 instances, is left
    // out, so the pause begins at 10 (400 - 100) + 5 = 3005 and ends at 3100.
    let each = (0..1600).map(|index| if index == 400 { 105.0 } else { 10.0 });
    let recording = Recording::new(&ends(each), 10.0).unwrap();
    let [lost] = &recording.lost()[..] else { panic!("{:?}", recording.lost()) };
    assert_eq!((lost.at_us, lost.length_us), (3005.0, 95.0));
    // At 20 us instance 150 begins at 3000, has done half when the pause begins, and ends at 3105, 85 late. Each
    // further one gains 10 us: instance 150 + j ends at 3105 + 10 j and is due at 3020 + 20 j. It is in time from j = 9
    // on (3195 and 3200), so 9 are missed.
    let missed = recording.missed(job(20.0));
    let which: Vec<usize> = (0..missed.len()).filter(|&index| missed[index]).collect();
    assert_eq!(which, (150..159).collect::<Vec<_>>());
    // With three more periods to wait only those are missed that end later than 80 us after they began: 3105 - 3000 and
    // 3115 - 3020 and 3125 - 3040; 3135 - 3060 is in time.
    let patient = recording.missed(Replayed { waiting: 3, ..job(20.0) });
    assert_eq!(patient.iter().filter(|missed| **missed).count(), 3);
    assert!(recording.without(&recording.lost()).missed(job(20.0)).iter().all(|missed| !missed));
    // The pause of 95 us is over within a period of 200.
    assert!(recording.missed(job(200.0)).iter().all(|missed| !missed));
}

#[test]
fn the_latency_of_a_chain_is_more_than_its_cycle_and_does_not_add_up() {
    // Three stages of 10 us: an instance every 10 us, each taking 30.
    let recording = Recording::new(&ends([10.0; 1000]), 30.0).unwrap();
    let missed = |period_us, waiting| {
        let missed = recording.missed(Replayed { waiting, ..job(period_us) });
        missed.iter().filter(|missed| **missed).count()
    };
    assert!(missed(29.0, 0) > 100);
    assert_eq!((missed(30.5, 0), missed(15.1, 1), missed(10.5, 2)), (0, 0, 0));
    assert!(missed(14.0, 1) > 100);
}

#[test]
fn skipping_over_what_is_alike_changes_nothing() {
    // The oracle searches the line from the beginning for each instance.
    let seed = 2050;
    let mut random = SplitMix64::new(seed);
    for round in 0..60 {
        let each: Vec<f64> = (0..800)
            .map(|_| {
                10.0 + random.uniform() * 2.0
                    + if random.uniform() < 0.02 { 300.0 * random.uniform() } else { 0.0 }
            })
            .collect();
        let recording = Recording::new(&ends(each), 10.0 + 20.0 * random.uniform()).unwrap();
        for period_us in [9.0, 11.0, 12.5, 17.0, 40.0, 333.0] {
            let waiting = round % 3;
            let mut oracle = Vec::new();
            let mut before = f64::NEG_INFINITY;
            loop {
                let start_us = oracle.len() as f64 * period_us;
                let Some(done) = recording.cursor().done(start_us) else { break };
                before = (done + recording.latency_us() / recording.each_us()).max(before + 1.0);
                let Some(end_us) = recording.cursor().when(before) else { break };
                oracle.push(end_us - start_us > period_us * (waiting + 1) as f64);
            }
            let found = recording.missed(Replayed { waiting, ..job(period_us) });
            let differ = found.iter().zip(&oracle).filter(|(a, b)| a != b).count();
            // A sum may equal the deadline itself. Then the order of the additions decides.
            assert!(
                found.len().abs_diff(oracle.len()) <= 1 && differ == 0,
                "seed {seed}, round {round}, {period_us}: {differ} differ"
            );
        }
    }
}

#[test]
fn instances_may_take_what_the_first_of_their_trial_take_in_addition() {
    // Instances follow each other every 10 us, and a single one takes 30 us. The pause of 100 us is 8755 us after the
    // first sixteenth of the 2000 instances, and no trial begins within 90 us before it.
    let end = |instance: u32| f64::from(10 * instance + if instance > 1000 { 100 } else { 0 });
    let ends: Vec<f64> = (1..=2000).map(end).collect();
    let recording = Recording::new(&ends, 30.0).unwrap();
    let rate = |settling| recording.miss_rate(Replayed { settling, ..job(12.0) }, 0.95).unwrap();
    assert_eq!(rate(0).missed, rate(0).instances);
    // Instances 728 and 729 begin at 8736 and 8748 us, and end 100 us later than usual. 730 begins at 8760 us in the
    // pause and ends an instance's work after 729: 98 us later than usual. Each further one gains 2 us, so 730 to 772
    // are more than 12 us later: 45 in all.
    assert_eq!(rate(8).missed, 45);
}

#[test]
fn the_rate_is_the_mean_of_trials_whose_first_instances_met_a_pause_or_not() {
    // The recording lasts 1875 instances and a pause of 1 ms, 19 750 us, so trials begin every 823 us: one or two of
    // the 24 in the pause. They consider the rest of it usual, and miss fewer instances than the others.
    let end = |instance: u32| f64::from(10 * instance + if instance > 1000 { 1000 } else { 0 });
    let ends: Vec<f64> = (1..=2000).map(end).collect();
    let recording = Recording::new(&ends, 30.0).unwrap();
    let job = Replayed { settling: 8, ..job(12.0) };
    let responses = recording.responses(job, 0.0, REPLAY.instances_max);
    let of_most = miss_rate(&late(&responses, job, 30.0), 0.95);
    let all = recording.miss_rate(job, 0.95).unwrap();
    assert!(all.missed < of_most.missed && all.missed >= of_most.missed * 22 / 24, "{all:?}");
    assert!(all.min < of_most.min && all.max == of_most.max, "{all:?} {of_most:?}");
}

#[test]
fn a_job_that_falls_behind_may_miss_all_of_a_longer_trial() {
    let ends: Vec<f64> = (1..=2000).map(|instance| f64::from(10 * instance)).collect();
    let recording = Recording::new(&ends, 10.0).unwrap();
    // At 9 us each instance is 1 us later than the one before, so the ninth and all after it are missed.
    assert_eq!(recording.miss_rate(job(9.0), 0.95).unwrap().max, 1.0);
    assert!(recording.miss_rate(job(10.5), 0.95).unwrap().max < 0.1);
    // If the results of a chain may take as long as at first, its second half is missed.
    let all = recording.responses(job(9.0), 0.0, REPLAY.instances_max);
    let settling = all.len() - 1;
    let chain = recording.miss_rate(Replayed { settling, ..job(9.0) }, 0.95).unwrap();
    assert_eq!(chain.missed as usize, all.len() - all.len() / 2);
}

/// A machine that pauses at random moments, whether it works or not. It computes the time of `work_us` from `now_us`
/// on.
pub(super) struct Pausing {
    random: SplitMix64,
    mean_gap_us: f64,
    mean_us: f64,
    next_us: f64,
    until_us: f64,
}

impl Pausing {
    pub(super) fn new(seed: u64, mean_gap_us: f64, mean_us: f64) -> Pausing {
        let mut machine = Pausing {
            random: SplitMix64::new(seed),
            mean_gap_us,
            mean_us,
            next_us: 0.0,
            until_us: 0.0,
        };
        machine.next_us = machine.wait(mean_gap_us);
        machine
    }

    fn wait(&mut self, mean: f64) -> f64 {
        -mean * self.random.uniform().ln()
    }

    /// Returns the moment at which work that begins at `from_us` is done.
    fn done(&mut self, from_us: f64, work_us: f64) -> f64 {
        let (mut at, mut left) = (from_us.max(self.until_us.min(f64::MAX)), work_us);
        loop {
            while self.next_us <= at {
                let length = self.wait(self.mean_us);
                at = at.max(self.next_us + length);
                self.until_us = self.next_us + length;
                self.next_us = self.until_us + self.wait(self.mean_gap_us);
            }
            if at + left <= self.next_us {
                return at + left;
            }
            left -= self.next_us - at;
            at = self.next_us;
        }
    }
}

/// Returns the times from the start of each instance of a trial on such a machine to its end.
pub(super) fn responses(
    machine: &mut Pausing,
    period_us: f64,
    instances: usize,
    work_us: f64,
) -> Vec<f64> {
    let response = |end: &mut f64, instance| {
        let start = instance as f64 * period_us;
        *end = machine.done(start.max(*end), work_us);
        Some(*end - start)
    };
    (0..instances).scan(0.0, response).collect()
}

/// Returns the share of missed instances in such a trial.
pub(super) fn tried(machine: &mut Pausing, period_us: f64, instances: usize, work_us: f64) -> f64 {
    let responses = responses(machine, period_us, instances, work_us);
    responses.iter().filter(|us| **us > period_us).count() as f64 / instances as f64
}

#[test]
fn what_is_predicted_holds_trials_of_ten_times_the_length() {
    // Work of 20 us; pauses of 500 us on average, one in 25 ms. A recording of about a second, and trials ten times as
    // long.
    let (mut inside, mut all) = (0, 0);
    for seed in 0..25 {
        let mut machine = Pausing::new(seed, 25_000.0, 500.0);
        let each = ends_on(&mut machine, 50_000, 20.0);
        let recording = Recording::new(&each, 20.0).unwrap();
        for period_us in [25.0, 40.0, 100.0, 400.0, 1500.0] {
            let Some(rate) = recording.miss_rate(job(period_us), 0.975) else { continue };
            let mut other = Pausing::new(seed + 1000, 25_000.0, 500.0);
            let truth = tried(&mut other, period_us, (1e7 / period_us) as usize, 20.0);
            all += 1;
            inside += usize::from((rate.min..=rate.max).contains(&truth));
        }
    }
    // 95 of 100 are required; a correct bound of 125 trials is above 0.95 n - 3 sqrt(0.05 0.95 n) = 111.
    assert!(all == 125 && inside >= 111, "{inside} of {all}");
}

fn ends_on(machine: &mut Pausing, instances: usize, work_us: f64) -> Vec<f64> {
    let next = |at: &mut f64, _| {
        *at = machine.done(*at, work_us);
        Some(*at)
    };
    (0..instances).scan(0.0, next).collect()
}

#[test]
fn the_shortest_period_of_a_curve_and_what_would_make_it_shorter() {
    let mut machine = Pausing::new(3, 25_000.0, 500.0);
    let each = ends_on(&mut machine, 50_000, 20.0);
    let recording = Recording::new(&each, 20.0).unwrap();
    let curve = recording.curve(job(1.0), 0.95);
    let found = shortest(&curve, 0.01, |rate| rate.missed as f64 / rate.instances as f64).unwrap();
    // 2 % of the time is lost, so periods far shorter than the pauses miss 2 % or more.
    assert!(found > 300.0, "{found}");
    let kinds = lost_kinds(&recording);
    let gone = kinds.iter().fold(recording.clone(), |rest, _| rest.without(&rest.lost()));
    let quiet = shortest(&gone.curve(job(1.0), 0.95), 0.01, |rate| rate.max).unwrap();
    // A step of the curve is 9 %.
    assert!((20.0..22.0).contains(&quiet), "{quiet}");
    assert!(kinds.iter().all(|kind| kind.without.lost().len() < recording.lost().len()));
    let share: f64 = kinds.iter().map(|kind| kind.share).sum();
    assert!((0.01..0.04).contains(&share), "{share}");
}

#[test]
fn recordings_that_are_too_short_say_how_many_instances_it_takes() {
    let words = Recording::new(&ends([10.0; 63]), 10.0).unwrap_err().to_string();
    assert_eq!(words, "63 recorded instances are too few to predict from: it takes 64");
    assert!(Recording::new(&[], 10.0).is_err());
    assert!(Recording::new(&[0.0; 100], 10.0).is_err());
    // A period of which the recording contains fewer than 32 has no rate.
    let recording = Recording::new(&ends([10.0; 100]), 10.0).unwrap();
    assert!(recording.miss_rate(job(100.0), 0.95).is_none());
}

#[test]
fn instances_that_end_two_at_a_time_lose_nothing() {
    let each = (0..1000).map(|index| if index % 2 == 0 { 20.0 } else { 0.0 });
    let recording = Recording::new(&ends(each), 40.0).unwrap();
    assert_eq!((recording.each_us(), recording.lost().len()), (10.0, 0));
}

#[test]
fn pauses_of_one_period_at_two_moments_are_one_kind() {
    // Work of 20 us. One processor pauses for 500 us from 3 ms on in each 20, the other for as long from 12 ms on.
    let mut at_us = 0.0;
    let end = |_| {
        let in_period = |us: f64| us % 20_000.0;
        let before = in_period(at_us);
        at_us += 20.0;
        let begins = |first_us: f64| before < first_us && before + 20.0 >= first_us;
        if begins(3000.0) || begins(12_000.0) {
            at_us += 500.0;
        }
        at_us
    };
    let ends: Vec<f64> = (0..50_000).map(end).collect();
    let kinds = lost_kinds(&Recording::new(&ends, 20.0).unwrap());
    // 1000 us of 20 000 are lost.
    let [both] = &kinds[..] else { panic!("{} kinds", kinds.len()) };
    assert!((both.share - 0.05).abs() < 0.002, "{}", both.share);
    assert!(both.kind.regular && both.without.lost().is_empty(), "{:?}", both.kind);
}
