//! The options of the real-time benchmarks: the period, or the search for it.

use std::str::FromStr;

use benchmark::{OsIsolation, RealTime};
use clap::Args;
use record::Required;

use super::{Seconds, Share};

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Periods (real-time benchmarks)")]
pub(crate) struct RealTimeArguments {
    /// Test this period and count the missed deadlines, instead of searching for the shortest period. The status is 1 if
    /// it is refused, and 3 if it is neither refused nor proven
    #[arg(long, value_name = "TIME")]
    pub(crate) period: Option<Seconds>,

    /// Require these of every instance, each of them optional: period=TIME (as --period), latency=TIME from the beginning
    /// of an instance to its result, jitter=TIME by which the time between two results differs from the period, and
    /// miss=SHARE of the instances that may miss any of them (as --miss-rate). The status is 0 if this is proven, 1 if it
    /// is refused, and 3 if neither; --resume continues a proof
    #[arg(long, value_name = "PART=VALUE,...", conflicts_with_all = ["period", "miss_rate"])]
    pub(crate) require: Option<Requirement>,

    /// The first period of the search [default: measured, by instances back to back]
    #[arg(long, value_name = "TIME", conflicts_with = "period")]
    pub(crate) guess: Option<Seconds>,

    /// The duration of each trial of a period [default: 1s, or the time needed to prove the miss rate, up to 10s, and 4
    /// times that if this proves too little]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Seconds>,

    /// The number of instances in each trial of a period, instead of --duration
    #[arg(long, value_name = "NUMBER", conflicts_with = "duration",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) instances: Option<u64>,

    /// The permitted share of missed deadlines; 0: none in a trial [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = miss_rate)]
    pub(crate) miss_rate: Option<Share>,

    /// The wanted width of the interval of periods, as a share of its lower end [default: 2%]
    #[arg(long, value_name = "SHARE", conflicts_with = "period")]
    pub(crate) width: Option<Share>,

    /// The time limit of a search, which then returns the interval proven so far [default: 30s,
    /// no limit on a simulated machine]
    #[arg(long, value_name = "TIME", conflicts_with = "period")]
    pub(crate) search_limit: Option<Seconds>,

    /// Confirm the period found by testing it, after the search, for this many times as long as a trial; if it does not
    /// hold, the search continues, at most for the same time again. 0: no confirmation [default: 10, within the time of
    /// the search; 0 on a simulated machine]
    #[arg(long, value_name = "TIMES", conflicts_with = "period",
        value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) confirm: Option<u32>,

    /// Repeat the search this many times, and print how many pairs of intervals overlap [default: 1]
    #[arg(long, value_name = "NUMBER", conflicts_with = "period",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) searches: Option<u32>,

    /// Isolate ranks from the operating system by any of lock (locked memory), pin (one processor for each rank), fifo
    /// (a fixed priority), or none; the result states what was granted [default: lock,pin]
    #[arg(long, value_name = "LIST")]
    pub(crate) hygiene: Option<Isolated>,

    /// Repeat the measurement without each part of --hygiene in turn
    #[arg(long)]
    pub(crate) ablate: bool,

    /// State which pauses of the machine prevent which shorter period; for searches with a time limit
    #[arg(long, conflicts_with = "period")]
    pub(crate) explain: bool,
}

/// The options of `hartstone`, `clock` and `wake-up`, which only `run` offers.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Periods (real-time benchmarks)")]
pub(crate) struct TaskArguments {
    /// Floating-point operations that each task of hartstone computes in each of its periods, at both ends
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) load: Option<u64>,

    /// The minimum length of a pause for `clock` [default: 20 readings of the clock, at least 2us; at most --limit]
    #[arg(long, value_name = "TIME")]
    pub(crate) threshold: Option<Seconds>,

    /// The longest permitted pause for `clock`: the status is 1 if one was longer
    #[arg(long, value_name = "TIME")]
    pub(crate) limit: Option<Seconds>,

    /// The time by which Linux may end each sleep of `wake-up` later, to wake up less often [default: the system's, 50us]
    #[arg(long, value_name = "TIME")]
    pub(crate) timer_slack: Option<Seconds>,

    /// Have the kernel's tracer osnoise name the causes of the pauses that `clock` finds; it takes root and Linux 6.3,
    /// and where it is refused the result says why, and causes are named by what Linux has counted
    #[arg(long)]
    pub(crate) osnoise: bool,
}

/// Measures that isolate ranks from the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Isolated(pub(crate) OsIsolation);

impl FromStr for Isolated {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut isolation = OsIsolation { lock: false, pin: false, fifo: false };
        for word in text.split(',').map(str::trim) {
            match word {
                "lock" => isolation.lock = true,
                "pin" => isolation.pin = true,
                "fifo" => isolation.fifo = true,
                "none" if text.trim() == "none" => {}
                _ => return Err(format!("'{word}' is none of lock, pin, fifo; or say none")),
            }
        }
        Ok(Isolated(isolation))
    }
}

/// What is required of every instance, and how often it may be missed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Requirement {
    period: Option<Seconds>,
    latency: Option<Seconds>,
    jitter: Option<Seconds>,
    miss: Option<Share>,
}

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut required = Requirement::default();
        for part in text.split(',').map(str::trim) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let is_new = match name.trim() {
                "period" => required.period.replace(value.parse()?).is_none(),
                "latency" => required.latency.replace(value.parse()?).is_none(),
                "jitter" => required.jitter.replace(value.parse()?).is_none(),
                "miss" => required.miss.replace(miss_rate(value)?).is_none(),
                _ => return Err(format!("'{part}' is none of {PARTS}")),
            };
            if !is_new {
                return Err(format!("'{name}' is given twice"));
            }
        }
        Ok(required)
    }
}

const PARTS: &str = "period=TIME, latency=TIME, jitter=TIME and miss=SHARE";

impl RealTimeArguments {
    /// Returns the option of a search that stands beside a period that is required.
    pub(crate) fn with_required_period(&self) -> Option<&'static str> {
        self.require.and_then(|required| required.period)?;
        let of_searches = [
            ("--guess", self.guess.is_some()),
            ("--width", self.width.is_some()),
            ("--search-limit", self.search_limit.is_some()),
            ("--confirm", self.confirm.is_some()),
            ("--searches", self.searches.is_some()),
            ("--explain", self.explain),
        ];
        of_searches.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// Returns these arguments, completed with those of `earlier`.
    pub(crate) fn or(self, earlier: RealTimeArguments) -> RealTimeArguments {
        RealTimeArguments {
            period: self.period.or(earlier.period),
            require: self.require.or(earlier.require),
            guess: self.guess.or(earlier.guess),
            duration: self.duration.or(earlier.duration),
            instances: self.instances.or(earlier.instances),
            miss_rate: self.miss_rate.or(earlier.miss_rate),
            width: self.width.or(earlier.width),
            search_limit: self.search_limit.or(earlier.search_limit),
            confirm: self.confirm.or(earlier.confirm),
            searches: self.searches.or(earlier.searches),
            hygiene: self.hygiene.or(earlier.hygiene),
            ablate: self.ablate || earlier.ablate,
            explain: self.explain || earlier.explain,
        }
    }

    /// Returns the settings of these arguments, completed with `defaults`.
    pub(crate) fn settings(&self, defaults: RealTime) -> RealTime {
        let seconds = |given: Option<Seconds>| given.map(|Seconds(s)| s);
        let share = |given: Option<Share>, default| given.map_or(default, |Share(share)| share);
        let required = self.require.unwrap_or_default();
        let us = |given: Option<Seconds>| seconds(given).map(|s| 1e6 * s);
        RealTime {
            period_s: seconds(self.period.or(required.period)).or(defaults.period_s),
            required: self.require.map(|required| Required {
                latency_us: us(required.latency),
                jitter_us: us(required.jitter),
            }),
            guess_s: seconds(self.guess).or(defaults.guess_s),
            duration_s: seconds(self.duration).or(defaults.duration_s),
            instances: self.instances.or(defaults.instances),
            miss_rate: share(self.miss_rate.or(required.miss), defaults.miss_rate),
            width: share(self.width, defaults.width),
            search_limit_s: seconds(self.search_limit).or(defaults.search_limit_s),
            confirm: self.confirm.or(defaults.confirm),
            searches: self.searches.unwrap_or(defaults.searches),
            os_isolation: self
                .hygiene
                .map_or(defaults.os_isolation, |Isolated(isolation)| isolation),
            ablate: self.ablate || defaults.ablate,
            explain: self.explain || defaults.explain,
            ..defaults
        }
    }
}

impl TaskArguments {
    /// Returns these arguments, completed with those of `earlier` that a results file may set.
    pub(crate) fn or(self, earlier: TaskArguments) -> TaskArguments {
        TaskArguments {
            load: self.load.or(earlier.load),
            threshold: self.threshold.or(earlier.threshold),
            limit: self.limit.or(earlier.limit),
            timer_slack: self.timer_slack.or(earlier.timer_slack),
            ..self
        }
    }

    /// Returns `settings` with these arguments.
    pub(crate) fn put_into(&self, settings: RealTime) -> RealTime {
        RealTime {
            load: self.load.or(settings.load),
            threshold_s: self.threshold.map(|Seconds(s)| s).or(settings.threshold_s),
            timer_slack_s: self.timer_slack.map(|Seconds(s)| s).or(settings.timer_slack_s),
            trace_pauses: self.osnoise || settings.trace_pauses,
            pause_limit_s: self.limit.map(|Seconds(s)| s).or(settings.pause_limit_s),
            ..settings
        }
    }
}

/// Reads a share that may be 0. It is represented by a rate so low that no trial permits a miss.
fn miss_rate(text: &str) -> Result<Share, String> {
    match text.trim().trim_end_matches('%').parse() {
        Ok(0.0) => Ok(Share(RealTime::NONE_MISSED)),
        _ => match text.parse()? {
            Share(share) if share < RealTime::MISS_RATE_MIN => Err(format!(
                "'{text}' takes more instances than a run can judge; {:e} is the least",
                RealTime::MISS_RATE_MIN
            )),
            share => Ok(share),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_has_each_part_once_and_no_other() {
        let read = |text: &str| text.parse::<Requirement>();
        let (period, miss) = (Some(Seconds(0.02)), Some(Share(1e-6)));
        let whole = Requirement { period, miss, ..Requirement::default() };
        assert_eq!(read("period=20ms, miss=1e-6"), Ok(whole));
        let latency = Some(Seconds(0.06));
        assert_eq!(read("latency=60ms"), Ok(Requirement { latency, ..Requirement::default() }));
        for (wrong, why) in [
            ("", "period=TIME"),
            ("latency", "not a time"),
            ("rate=5%", "'rate=5%' is none of"),
            ("jitter=1ms,jitter=2ms", "'jitter' is given twice"),
            ("miss=1e-12", "1e-7 is the least"),
        ] {
            assert!(read(wrong).unwrap_err().contains(why), "{wrong}: {:?}", read(wrong));
        }
    }

    #[test]
    fn hygiene_is_a_list_of_its_parts_or_none() {
        let read = |text: &str| text.parse::<Isolated>().map(|Isolated(isolation)| isolation);
        assert_eq!(read("pin"), Ok(OsIsolation { lock: false, pin: true, fifo: false }));
        assert_eq!(read("lock, fifo"), Ok(OsIsolation { lock: true, pin: false, fifo: true }));
        assert_eq!(read("none"), Ok(OsIsolation { lock: false, pin: false, fifo: false }));
        assert!(read("lock,none").is_err() && read("").unwrap_err().contains("lock, pin, fifo"));
    }
}
