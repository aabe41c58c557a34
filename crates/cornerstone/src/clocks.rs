//! Detects clocks that jump during a launch: reads the system's clocks at its beginning and its end, between which they
//! must advance equally.

use record::Measurement;
use rustix::time::{ClockId, clock_gettime};

use crate::wording::quantity;

/// Largest difference between two clocks that is no jump. They are read one after the other, by a process that may be
/// interrupted.
const BETWEEN_READINGS_S: f64 = 0.1;
/// Largest share by which the system lets a clock run faster or slower while it adjusts it.
const ADJUSTED_BY: f64 = 1e-3;
/// Shortest median at which a sample of no time shows a clock that went back. It is longer than the step of any clock.
const LONGER_THAN_A_STEP_US: f64 = 100.0;
/// Group of the periodic benchmarks. They compare the clocks of two ranks, so their times may be 0.
const OF_TWO_CLOCKS: &str = "real-time";

/// Readings of the system's clocks at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clocks {
    /// Clock that never goes back, in seconds.
    monotonic_s: f64,
    /// As `monotonic_s`, but including the time in which the machine was suspended.
    since_boot_s: f64,
    /// Time of day, in seconds since 1970.
    of_day_s: f64,
    /// Name of the counter that the kernel reads.
    source: String,
}

impl Clocks {
    pub(crate) fn read() -> Clocks {
        const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        Clocks {
            monotonic_s: seconds(ClockId::Monotonic),
            since_boot_s: seconds(ClockId::Boottime),
            of_day_s: seconds(ClockId::Realtime),
            // Without the file the source is unknown at both readings, so no change is reported.
            source: std::fs::read_to_string(SOURCE).unwrap_or_default().trim().into(),
        }
    }

    /// Returns the time between two readings, in seconds.
    pub(crate) fn passed_s(&self, later: &Clocks) -> f64 {
        later.monotonic_s - self.monotonic_s
    }

    /// Returns the jumps of the clocks until a later reading. Empty if there was none.
    pub(crate) fn jumps(&self, later: &Clocks) -> Vec<String> {
        let passed = self.passed_s(later);
        let since_boot = later.since_boot_s - self.since_boot_s;
        let of_day = later.of_day_s - self.of_day_s;
        let may_differ = BETWEEN_READINGS_S + ADJUSTED_BY * since_boot.abs();
        let mut jumps = Vec::new();
        let time = |seconds: f64| quantity(seconds.abs(), "s");
        if passed < 0.0 {
            jumps.push(format!("the system's monotonic clock went back by {}", time(passed)));
        }
        if since_boot - passed > may_differ {
            jumps.push(format!("the machine was suspended for {}", time(since_boot - passed)));
        }
        if (of_day - since_boot).abs() > may_differ {
            let direction = if of_day > since_boot { "forward" } else { "back" };
            let by = time(of_day - since_boot);
            jumps.push(format!("the time of day was set {direction} by {by}"));
        }
        if self.source != later.source {
            let (from, to) = (&self.source, &later.source);
            jumps.push(format!(
                "the kernel changed its clock source from {from} to {to}: it no longer trusts that counter"
            ));
        }
        jumps
    }
}

/// Returns the reason why the samples of a measurement cannot be right, or `None` if they can: no sample may be longer
/// than the launch, and none may take no time if the others are long.
pub(crate) fn impossible(measurement: &Measurement, launch_s: f64) -> Option<String> {
    // Metrics other than times are differences, which may be zero.
    if measurement.unit != "us"
        || measurement.metric != "time"
        || measurement.group == OF_TWO_CLOCKS
    {
        return None;
    }
    let samples = || measurement.samples.iter().copied();
    let longest_us = samples().fold(0.0, f64::max);
    let none = samples().filter(|&us| us == 0.0).count();
    let what = if longest_us > 1e6 * (launch_s.max(0.0) + BETWEEN_READINGS_S) {
        let (sample, launch) = (quantity(longest_us, "us"), quantity(launch_s, "s"));
        format!("a sample of {sample} in a launch of {launch}: the ranks' clock jumped forward")
    } else if none > 0 && measurement.summary.median > LONGER_THAN_A_STEP_US {
        format!("samples that took no time: {none}: the ranks' clock went back")
    } else {
        return None;
    };
    Some(format!("{} of {} bytes: {what}", measurement.benchmark, measurement.size_bytes))
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use record::{Better, Summary};

    use super::*;

    fn reading(monotonic_s: f64, since_boot_s: f64, of_day_s: f64) -> Clocks {
        Clocks { monotonic_s, since_boot_s, of_day_s, source: "tsc".into() }
    }

    #[test]
    fn clocks_that_move_alike_are_no_jump_and_others_are_named() {
        let begin = reading(100.0, 150.0, 1e9);
        let jumps = |later: Clocks| begin.jumps(&later).join("; ");
        // Ten seconds later. The time of day was adjusted by 5 ms in between.
        assert_eq!(jumps(reading(110.0, 160.0, 1e9 + 10.005)), "");
        assert_eq!(
            jumps(reading(99.0, 149.0, 1e9 - 1.0)),
            "the system's monotonic clock went back by 1.00 s"
        );
        assert_eq!(
            jumps(reading(110.0, 460.0, 1e9 + 310.0)),
            "the machine was suspended for 300 s"
        );
        assert_eq!(
            jumps(reading(110.0, 160.0, 1e9 - 50.0)),
            "the time of day was set back by 60.0 s"
        );
        let distrusted = Clocks { source: "hpet".into(), ..begin.clone() };
        assert!(jumps(distrusted).contains("from tsc to hpet"));
        assert_eq!(Clocks::read().jumps(&Clocks::read()), [""; 0]);
    }

    fn of(samples: &[f64], median: f64) -> Measurement {
        let sample = analysis::statistics::Sample::new(samples).unwrap();
        let summary = Summary { median, ..analysis::statistics::summarise(&sample, 0.95) };
        Measurement {
            benchmark: "barrier".into(),
            samples: samples.into(),
            ..Measurement::new("time", "us", Better::Lower, summary)
        }
    }

    #[test]
    fn samples_that_a_launch_cannot_hold_are_named() {
        assert_eq!(impossible(&of(&[200.0, 300.0], 250.0), 2.0), None);
        let forward = impossible(&of(&[200.0, 3e6], 250.0), 2.0).unwrap();
        assert!(forward.contains("a sample of 3.00 s in a launch of 2.00 s"), "{forward}");
        let back = impossible(&of(&[0.0, 300.0], 250.0), 2.0).unwrap();
        assert!(back.contains("barrier") && back.contains("went back"), "{back}");
        // A coarse clock measures short times as 0.
        assert_eq!(impossible(&of(&[0.0, 1.0], 0.5), 2.0), None);
        let latency = Measurement { group: "real-time".into(), ..of(&[0.0, 300.0], 250.0) };
        assert_eq!(impossible(&latency, 2.0), None);
    }
}
