//! The work that was done until each moment of a run.

use crate::constants::REPLAY;

/// A recording that is too short to predict from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort {
    /// Number of its instances.
    pub instances: usize,
}

impl std::fmt::Display for TooShort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TooShort { instances } = self;
        write!(
            f,
            "{instances} recorded instances are too few to predict from: it takes {}",
            REPLAY.recorded_min
        )
    }
}

impl std::error::Error for TooShort {}

/// Work that was done at an even rate, and the time that was lost in its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    /// Time of the work, in microseconds.
    pub(super) us: f64,
    /// Number of instances.
    pub(super) instances: f64,
    /// Lost time, in microseconds.
    pub(super) lost_us: f64,
}

/// A run back to back, as the work that was done until each moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    stretches: Vec<Stretch>,
    /// Moments in microseconds, with the instances done until then; both rise.
    knots: Vec<(f64, f64)>,
    each_us: f64,
    latency_us: f64,
}

/// Time that was lost in one piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// Index of the stretch of the recording.
    pub(super) place: usize,
    /// Its beginning, in microseconds since the recording began.
    pub at_us: f64,
    /// Its length, in microseconds.
    pub length_us: f64,
}

impl Recording {
    /// Creates a recording from the moments, in microseconds since the first began, at which consecutive instances
    /// ended on their last rank, and from the time of a single instance.
    ///
    /// # Errors
    /// [`TooShort`].
    pub fn new(ends_us: &[f64], latency_us: f64) -> Result<Recording, TooShort> {
        let mut last = 0.0;
        // An instance may end before one that began earlier; the work is done when both have ended.
        let each: Vec<f64> = ends_us
            .iter()
            .map(|&end| {
                let took = (end - last).max(0.0);
                last += took;
                took
            })
            .collect();
        if each.len() < REPLAY.recorded_min || last <= 0.0 {
            return Err(TooShort { instances: each.len() });
        }
        let each_us = usual(&each);
        let lost_from = lost_from(&each, each_us);
        // The first instances fill the chain, so their times are not representative.
        let stretches = joined(&each[each.len() / 16..], each_us, lost_from);
        Ok(Recording::of(stretches, each_us, latency_us.max(each_us)))
    }

    pub(super) fn of(stretches: Vec<Stretch>, each_us: f64, latency_us: f64) -> Recording {
        let (mut us, mut done) = (0.0, 0.0);
        let mut knots = vec![(us, done)];
        let mut add = |more_us: f64, instances: f64| {
            (us, done) = (us + more_us, done + instances);
            knots.push((us, done));
        };
        for stretch in &stretches {
            // The lost time is in the middle of the work.
            let parts = if stretch.lost_us > 0.0 { 2.0 } else { 1.0 };
            add(stretch.us / parts, stretch.instances / parts);
            if stretch.lost_us > 0.0 {
                add(stretch.lost_us, 0.0);
                add(stretch.us / parts, stretch.instances / parts);
            }
        }
        Recording { stretches, knots, each_us, latency_us }
    }

    /// Returns the usual time of an instance after the one before, in microseconds.
    pub fn each_us(&self) -> f64 {
        self.each_us
    }

    /// Returns the time of a single instance, in microseconds.
    pub fn latency_us(&self) -> f64 {
        self.latency_us
    }

    /// How long the recording is, in microseconds.
    pub fn length_us(&self) -> f64 {
        self.knots[self.knots.len() - 1].0
    }

    /// Returns the number of its instances.
    pub fn instances(&self) -> f64 {
        self.knots[self.knots.len() - 1].1
    }

    /// The share of the recording that was lost.
    pub fn lost_share(&self) -> f64 {
        self.stretches.iter().map(|stretch| stretch.lost_us).sum::<f64>() / self.length_us()
    }

    /// All times that were lost, in order.
    pub fn lost(&self) -> Vec<Lost> {
        let mut us = 0.0;
        let mut lost = Vec::new();
        for (place, stretch) in self.stretches.iter().enumerate() {
            if stretch.lost_us > 0.0 {
                lost.push(Lost { place, at_us: us + stretch.us / 2.0, length_us: stretch.lost_us });
            }
            us += stretch.us + stretch.lost_us;
        }
        lost
    }

    /// Returns the recording as it would be if these times had not been lost.
    pub fn without(&self, gone: &[Lost]) -> Recording {
        let mut stretches = self.stretches.clone();
        gone.iter().for_each(|lost| stretches[lost.place].lost_us = 0.0);
        Recording::of(stretches, self.each_us, self.latency_us)
    }

    /// A place on the line, at its beginning.
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { knots: &self.knots, at: 0 }
    }
}

/// A place on the line that advances with rising arguments.
pub(super) struct Cursor<'a> {
    knots: &'a [(f64, f64)],
    /// Index of the knot before the place, never the last one.
    at: usize,
}

impl Cursor<'_> {
    /// Returns the work that is done at a moment; `None` after the end.
    pub(super) fn done(&mut self, us: f64) -> Option<f64> {
        while self.knots.get(self.at + 1)?.0 <= us {
            self.at += 1;
        }
        let (from_us, done) = self.knots[self.at];
        Some(done + (us - from_us) * self.rate())
    }

    /// Returns the moment at which this work is done; `None` if it never is.
    pub(super) fn when(&mut self, done: f64) -> Option<f64> {
        while self.knots.get(self.at + 1)?.1 < done {
            self.at += 1;
        }
        let (from_us, before) = self.knots[self.at];
        Some(if self.rate() == 0.0 {
            from_us
        } else {
            from_us + (done - before).max(0.0) / self.rate()
        })
    }

    /// Returns the instances per microsecond here.
    pub(super) fn rate(&self) -> f64 {
        match self.knots.get(self.at + 1) {
            Some(next) => (next.1 - self.knots[self.at].1) / (next.0 - self.knots[self.at].0),
            None => 0.0,
        }
    }

    /// Returns the moment until which this rate lasts.
    pub(super) fn steady_until_us(&self) -> f64 {
        self.knots.get(self.at + 1).map_or(0.0, |next| next.0)
    }
}

/// Returns the usual time of an instance: the median over windows, because a chain may deliver two at once and then
/// none.
fn usual(each: &[f64]) -> f64 {
    let windows = each
        .chunks_exact(REPLAY.usual_window)
        .map(|window| window.iter().sum::<f64>() / REPLAY.usual_window as f64);
    middle(windows.collect(), 0.5)
}

/// Returns the time from which an instance counts as interrupted: half as long again as usual, and more than those that
/// wait for a partner.
fn lost_from(each: &[f64], usual_us: f64) -> f64 {
    (1.5 * usual_us).max(1.2 * middle(each.to_vec(), 0.75)).max(usual_us + REPLAY.lost_min_us)
}

pub(super) fn middle(mut values: Vec<f64>, quantile: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * quantile) as usize]
}

/// Returns the stretches of instances that took these times.
fn joined(each: &[f64], usual_us: f64, lost_from: f64) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    // True if the last stretch is of usual instances, so that another may join it.
    let mut is_open = false;
    // Several instances that ended at one moment form one stretch with the next.
    let mut at_once = 0.0;
    for &us in each {
        if us == 0.0 {
            at_once += 1.0;
            continue;
        }
        let instances = 1.0 + at_once;
        at_once = 0.0;
        let is_lost = us > lost_from * instances;
        let is_usual = instances == 1.0 && (us / usual_us - 1.0).abs() <= REPLAY.joined_differ_by;
        match all.last_mut() {
            Some(last) if is_usual && is_open && last.instances < REPLAY.joined_max => {
                last.us += us;
                last.instances += 1.0;
            }
            _ if is_lost => {
                let work_us = usual_us * instances;
                all.push(Stretch { us: work_us, instances, lost_us: us - work_us });
            }
            _ => all.push(Stretch { us, instances, lost_us: 0.0 }),
        }
        is_open = is_usual;
    }
    all
}
