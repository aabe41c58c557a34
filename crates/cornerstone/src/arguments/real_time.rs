//! What the real-time benchmarks take: which period, or how to search for it.

use benchmark::RealTime;
use clap::Args;

use super::{Seconds, Share};

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Periods (real-time benchmarks)")]
pub(crate) struct RealTimeArguments {
    /// Keep up this period and count the missed deadlines, instead of searching for the shortest
    #[arg(long, value_name = "TIME")]
    pub(crate) period: Option<Seconds>,

    /// Where the search begins [default: measured, by instances back to back]
    #[arg(long, value_name = "TIME", conflicts_with = "period")]
    pub(crate) guess: Option<Seconds>,

    /// How long each trial of a period lasts [default: 1s, or what it takes to show the miss rate, up to 10s]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Seconds>,

    /// How many instances each trial of a period has, whatever time they take
    #[arg(long, value_name = "NUMBER", conflicts_with = "duration",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) instances: Option<u64>,

    /// The share of instances that may miss a deadline [default: 1%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) miss_rate: Option<Share>,

    /// How narrow the interval of periods is to be, as a share of its lower end [default: 2%]
    #[arg(long, value_name = "SHARE", conflicts_with = "period")]
    pub(crate) width: Option<Share>,

    /// How often each end of the interval is tried before it is believed [default: 3; 1 in the quick suite]
    #[arg(long, value_name = "NUMBER", conflicts_with = "period",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeats: Option<u32>,
}

impl RealTimeArguments {
    /// These arguments, with those of `earlier` where they say nothing.
    pub(crate) fn or(self, earlier: RealTimeArguments) -> RealTimeArguments {
        RealTimeArguments {
            period: self.period.or(earlier.period),
            guess: self.guess.or(earlier.guess),
            duration: self.duration.or(earlier.duration),
            instances: self.instances.or(earlier.instances),
            miss_rate: self.miss_rate.or(earlier.miss_rate),
            width: self.width.or(earlier.width),
            repeats: self.repeats.or(earlier.repeats),
        }
    }

    /// As settings, with `defaults` where they say nothing.
    pub(crate) fn settings(&self, defaults: RealTime) -> RealTime {
        let seconds = |given: Option<Seconds>| given.map(|Seconds(s)| s);
        let share = |given: Option<Share>, default| given.map_or(default, |Share(share)| share);
        RealTime {
            period_s: seconds(self.period).or(defaults.period_s),
            guess_s: seconds(self.guess).or(defaults.guess_s),
            duration_s: seconds(self.duration).or(defaults.duration_s),
            instances: self.instances.or(defaults.instances),
            miss_rate: share(self.miss_rate, defaults.miss_rate),
            width: share(self.width, defaults.width),
            repeats: self.repeats.unwrap_or(defaults.repeats),
        }
    }
}
