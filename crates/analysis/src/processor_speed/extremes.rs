//! What a number would be at the freest and at the busiest moments of its run.

use record::{Better, Measurement};

use super::{Slope, Speed, are_of, mean};
use crate::statistics::{MedianInterval, Sample};

/// Share of the moments of a run that are freer than its freest ones, and of those that are busier than its busiest.
const EXTREME_SHARE: f64 = 0.01;

/// The processors of a run at its freest and at its busiest moments.
///
/// A run of seconds meets the neighbours of its seconds. They come and go within milliseconds, so it also sees moments
/// with others, but which share of a longer time is like which moment, it does not show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    speed: Speed,
    /// The slowdowns at the freest and the busiest moments.
    ends: [f64; 2],
}

impl Extremes {
    /// Returns the extremes of a run with these launches; `None` if operations were not timed.
    pub(crate) fn of<'a>(
        measurements: impl Iterator<Item = &'a Measurement> + Clone,
    ) -> Option<Extremes> {
        let speed = Speed::in_launches(measurements.clone())?;
        let of_launches = measurements.flat_map(|m| {
            let known = m.launch_operations_ns.iter().filter(|times| are_of(times, m.ranks));
            known.flat_map(move |times| speed.moments(times, m.ranks))
        });
        let mut moments: Vec<f64> = of_launches.collect();
        moments.sort_by(f64::total_cmp);
        let beyond = (EXTREME_SHARE * moments.len() as f64) as usize;
        let ends = [*moments.get(beyond)?, *moments.get(moments.len() - 1 - beyond)?];
        Some(Extremes { speed, ends })
    }

    /// Returns the interval of a number, wider by what the number would be if the processors had been as free, or as
    /// busy, all the time as at the extremes. The interval is unchanged if the number is neither a time nor a rate, or
    /// if the operations of a launch were not timed.
    ///
    /// The logarithm of the number grows with the slowdown by a slope around 1 ([`Slope`]).
    pub(crate) fn widen(&self, interval: MedianInterval, number: &Number) -> MedianInterval {
        let slowdowns = self.speed.of_launches(number.operations_ns, number.ranks);
        let is_known = slowdowns.len() == number.medians.len();
        let are_positive = number.medians.iter().all(|&median| median > 0.0);
        let sign = number.sign().filter(|_| is_known && are_positive);
        let (Some(sign), Ok(sample)) = (sign, Sample::new(number.medians)) else {
            return interval;
        };
        let middle = sample.median();
        let x_mean = mean(slowdowns.iter().copied());
        let logs = number.medians.iter().map(|median| sign * median.ln());
        let slope =
            Slope::of(&[slowdowns.into_iter().zip(logs).collect()]).map_or(1.0, |one| one.value);
        let [free, busy] = self.ends.map(|end| sign * slope * (end - x_mean));
        let factor = |end: f64, apart: f64| (end / middle).ln().hypot(apart).exp();
        MedianInterval {
            low: middle / factor(interval.low, free.min(busy).min(0.0)),
            high: middle * factor(interval.high, free.max(busy).max(0.0)),
            ..interval
        }
    }
}

/// A number with the launches that determine it.
pub(crate) struct Number<'a> {
    pub(crate) unit: &'a str,
    pub(crate) better: Better,
    pub(crate) ranks: usize,
    pub(crate) medians: &'a [f64],
    /// The times of an operation in each launch in nanoseconds, if they are known of each.
    pub(crate) operations_ns: &'a [Vec<f64>],
}

impl Number<'_> {
    /// Returns the sign of the slope: 1 for a time, -1 for a rate.
    fn sign(&self) -> Option<f64> {
        match self.better {
            Better::Lower if ["s", "ms", "us", "ns"].contains(&self.unit) => Some(1.0),
            Better::Higher if self.unit.ends_with("/s") => Some(-1.0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use random::SplitMix64;
    use record::{Repetition, Run};

    use super::*;
    use crate::launches::{interval_of_launches, pooled};
    use crate::records::{measurement, run};

    /// Returns a launch of one rank with this median, whose operations were slower by these logarithms.
    fn launch(number: u32, median: f64, slowdowns: &[f64]) -> Measurement {
        let operations_ns: Vec<f64> =
            slowdowns.iter().map(|slowdown| 0.1 * slowdown.exp()).collect();
        let launch_operations_ns = vec![operations_ns.clone()];
        let turns = vec![Repetition { samples: 1, clock_share: 0.0, line_us: None, operations_ns }];
        let one = measurement("x", 8, &[median]);
        Measurement { launch: number, ranks: 1, turns, launch_operations_ns, ..one }
    }

    fn point(at: f64) -> MedianInterval {
        MedianInterval { low: at, high: at, confidence: 0.95 }
    }

    /// Returns the interval of a number whose own interval is its median.
    fn widened(launches: &[Measurement], unit: &str, better: Better) -> [f64; 2] {
        let medians: Vec<f64> = launches.iter().map(|m| m.summary.median).collect();
        let operations_ns: Vec<Vec<f64>> =
            launches.iter().flat_map(|m| m.launch_operations_ns.clone()).collect();
        let (medians, operations_ns) = (&medians[..], &operations_ns[..]);
        let number = Number { unit, better, ranks: 1, medians, operations_ns };
        let middle = Sample::new(medians).unwrap().median();
        let wide = Extremes::of(launches.iter()).unwrap().widen(point(middle), &number);
        assert_eq!(wide.confidence, 0.95);
        [wide.low, wide.high]
    }

    fn are_near(found: [f64; 2], by_hand: [f64; 2]) -> bool {
        found.iter().zip(by_hand).all(|(found, by_hand)| (found / by_hand - 1.0).abs() < 1e-9)
    }

    #[test]
    fn an_interval_reaches_from_free_to_busy_processors_by_hand() {
        // The medians grow as the slowdowns do, so the slope is 1: the interval reaches from the median on free
        // processors to that of the greatest slowdown.
        let grown = |x: f64| 100.0 * x.exp();
        let slowdowns: [&[f64]; 3] = [&[0.0], &[0.1, 0.1], &[0.22, 0.18]];
        let launches: Vec<Measurement> = (0..)
            .zip(slowdowns)
            .map(|(number, all)| launch(number, grown(mean(all.iter().copied())), all))
            .collect();
        assert!(are_near(widened(&launches, "us", Better::Lower), [100.0, grown(0.22)]));
        // As rates: 1/100 of a unit at best.
        let mut rates = launches.clone();
        rates.iter_mut().for_each(|m| m.summary.median = 1.0 / m.summary.median);
        let of_rates = widened(&rates, "MB/s", Better::Higher);
        assert!(are_near(of_rates, [1.0 / grown(0.22), 0.01]), "{of_rates:?}");
        // A share does not depend on the speed of processors, and neither does what is not timed.
        let middle = grown(0.1);
        assert_eq!(widened(&launches, "%", Better::Lower), [middle; 2]);
        let medians = &[1.0, middle][..];
        let unknown =
            Number { unit: "us", better: Better::Lower, ranks: 1, medians, operations_ns: &[] };
        let extremes = Extremes::of(launches.iter()).unwrap();
        assert_eq!(extremes.widen(point(middle), &unknown), point(middle));
        // A launch without a logarithm.
        let mut with_zero = launches.clone();
        with_zero[0].summary.median = 0.0;
        assert_eq!(widened(&with_zero, "us", Better::Lower), [middle; 2]);
        assert!(Extremes::of([measurement("x", 8, &[1.0])].iter()).is_none());
    }

    /// Returns a run of ten launches of a number that takes `slope` times as much longer as operations do, while other
    /// guests use the core for `share` of the time.
    fn run_beside(random: &mut SplitMix64, share: f64, slope: f64) -> Run {
        const MOMENTS: usize = 40;
        let mut all = Vec::new();
        for number in 0..10 {
            let mut slowdown = |_| if random.uniform() < share { 0.22 } else { 0.0 };
            let slowdowns: Vec<f64> = (0..MOMENTS).map(&mut slowdown).collect();
            let median = (slope * mean(slowdowns.iter().copied()) + 0.01 * random.normal()).exp();
            all.push(launch(number, median, &slowdowns));
        }
        pooled(run(all))
    }

    /// Other guests come and go by the minute, so a run meets one share of them, and the machine all shares.
    #[test]
    fn intervals_cover_the_median_of_runs_with_other_neighbours() {
        const RUNS: usize = 200;
        for (seed, slope) in [(2501, 0.6), (2502, 1.0), (2503, 1.7)] {
            let mut random = SplitMix64::new(seed);
            let runs: Vec<Measurement> = (0..RUNS)
                .map(|_| {
                    let share = 0.02 + 0.96 * random.uniform();
                    run_beside(&mut random, share, slope).measurements.remove(0)
                })
                .collect();
            let mut launches: Vec<f64> =
                runs.iter().flat_map(|m| m.launch_medians.iter().copied()).collect();
            launches.sort_by(f64::total_cmp);
            let middle = launches[launches.len() / 2];
            let count = |holds: &dyn Fn(&Measurement) -> bool| {
                runs.iter().filter(|m| holds(m)).count() as f64 / RUNS as f64
            };
            let wide = count(&|m| (m.summary.ci_low..=m.summary.ci_high).contains(&middle));
            let own = count(&|m| {
                let own = interval_of_launches(&m.launch_medians, 0.95, 1.0).unwrap();
                (own.low..=own.high).contains(&middle)
            });
            assert!(wide >= 0.92 && own <= 0.4, "seed {seed}: {wide} and {own}");
        }
    }
}
