//! The samples of a measurement, reduced for drawing: a histogram, and a trace over time that keeps the extremes.

use record::Measurement;
use serde::Serialize;

/// Maximum number of bins of a histogram. Few samples have fewer.
const BINS_MAX: usize = 40;
/// Maximum numbers of all traces of a report, so that a report stays below a megabyte.
const TRACE_NUMBERS_TOTAL: usize = 60_000;
/// Least and greatest numbers of one trace: enough to show something, and at most as many as a chart has columns of
/// pixels.
const TRACE_NUMBERS: std::ops::RangeInclusive<usize> = 24..=600;

/// The samples of one measurement, reduced.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Samples {
    pub(super) histogram: Histogram,
    pub(super) trace: Trace,
    pub(super) warm_up: Trace,
}

/// Counts of samples in equally wide bins between `low` and `high`, and outside of them.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Histogram {
    /// True if the bins are equally wide in the logarithm.
    pub(super) logarithmic: bool,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) counts: Vec<u64>,
    pub(super) below: u64,
    pub(super) above: u64,
}

/// Samples in the order in which they were taken. Each mark stands for `per_mark` successive samples and has the
/// smallest and the largest of them. With one sample for each mark `high` is empty.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Trace {
    pub(super) per_mark: usize,
    pub(super) low: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) high: Vec<f64>,
}

/// Returns the maximum numbers of a trace in a report with `traces` traces.
pub(super) fn numbers_per_trace(traces: usize) -> usize {
    (TRACE_NUMBERS_TOTAL / traces.max(1)).clamp(*TRACE_NUMBERS.start(), *TRACE_NUMBERS.end())
}

impl Samples {
    /// Returns the reduced samples, or `None` if the measurement has no samples, such as a rate that was computed from
    /// a time.
    pub(super) fn of(measurement: &Measurement, numbers: usize) -> Option<Samples> {
        let finite = |samples: &[f64]| -> Vec<f64> {
            samples.iter().copied().filter(|sample| sample.is_finite()).collect()
        };
        let samples = finite(&measurement.samples);
        let warm_up = finite(&measurement.warm_up_samples);
        (!samples.is_empty()).then(|| Samples {
            histogram: Histogram::of(&samples),
            trace: Trace::of(&samples, numbers),
            warm_up: Trace::of(&warm_up, numbers / 4),
        })
    }
}

/// Greatest share of the samples outside of the bins. A greater share could be a second mode of the distribution, which
/// must be visible.
const BEYOND_MAX: f64 = 0.05;

impl Histogram {
    /// Creates the histogram of samples. A few samples far from the others (outside of Tukey's outer fences) would push
    /// the others into one bin, so they are counted outside of the bins. If they are not few, all samples are in the
    /// bins, which may then be logarithmic.
    fn of(samples: &[f64]) -> Histogram {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
        let (fence_low, fence_high) = outer_fences(&sorted);
        let inside = |sample: &&f64| (fence_low..=fence_high).contains(*sample);
        let beyond = sorted.len() - sorted.iter().filter(inside).count();
        if beyond as f64 > BEYOND_MAX * sorted.len() as f64 {
            let logarithmic = least > 0.0 && most / least > 5.0;
            return Histogram::between(&sorted, least, most, logarithmic);
        }
        let low = *sorted.iter().find(inside).unwrap_or(&least);
        let high = *sorted.iter().rev().find(inside).unwrap_or(&most);
        Histogram::between(&sorted, low, high, false)
    }

    fn between(samples: &[f64], low: f64, high: f64, logarithmic: bool) -> Histogram {
        let bins = ((samples.len() as f64).sqrt() * 2.0).ceil() as usize;
        let bins = if low == high { 1 } else { bins.clamp(2, BINS_MAX) };
        let place = |value: f64| if logarithmic { value.ln() } else { value };
        let width = (place(high) - place(low)) / bins as f64;
        let mut counts = vec![0; bins];
        let (mut below, mut above) = (0, 0);
        for &sample in samples {
            let bin = if width > 0.0 { (place(sample) - place(low)) / width } else { 0.0 };
            match sample {
                _ if sample < low => below += 1,
                _ if sample > high => above += 1,
                _ => counts[(bin as usize).min(bins - 1)] += 1,
            }
        }
        Histogram {
            logarithmic,
            low: rounded(low, 6),
            high: rounded(high, 6),
            counts,
            below,
            above,
        }
    }
}

/// Returns the fences three interquartile ranges beyond the quartiles. The range counts as at least 1 % of the median,
/// because a coarse clock can make it zero.
fn outer_fences(sorted: &[f64]) -> (f64, f64) {
    let quantile = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let range = (quantile(0.75) - quantile(0.25)).max(quantile(0.5).abs() * 0.01);
    (quantile(0.25) - 3.0 * range, quantile(0.75) + 3.0 * range)
}

impl Trace {
    fn of(samples: &[f64], numbers: usize) -> Trace {
        if samples.len() <= numbers {
            let low = samples.iter().map(|&sample| rounded(sample, 4)).collect();
            return Trace { per_mark: 1, low, high: Vec::new() };
        }
        let per_mark = samples.len().div_ceil((numbers / 2).max(1));
        let extreme = |start: f64, pick: fn(f64, f64) -> f64| -> Vec<f64> {
            let marks = samples.chunks(per_mark);
            marks.map(|mark| rounded(mark.iter().copied().fold(start, pick), 4)).collect()
        };
        Trace {
            per_mark,
            low: extreme(f64::INFINITY, f64::min),
            high: extreme(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Returns the value rounded to `digits` significant digits, so that its text is short.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_some_bin() {
        let samples: Vec<f64> = (0..1000).map(|i| 1.0 + f64::from(i % 7)).collect();
        let histogram = Histogram::of(&samples);
        assert_eq!(histogram.counts.iter().sum::<u64>(), 1000);
        assert_eq!((histogram.low, histogram.high), (1.0, 7.0));
        assert_eq!(histogram.counts.len(), BINS_MAX);
    }

    #[test]
    fn a_few_samples_far_off_are_counted_beside_the_bins() {
        let mut samples: Vec<f64> = (0..98).map(|i| 10.0 + f64::from(i % 5)).collect();
        samples.extend([1000.0, 0.001]);
        let histogram = Histogram::of(&samples);
        assert_eq!((histogram.below, histogram.above), (1, 1));
        assert_eq!((histogram.low, histogram.high), (10.0, 14.0));
        assert_eq!(histogram.counts.iter().sum::<u64>(), 98);
    }

    #[test]
    fn a_second_hump_stays_in_the_bins() {
        let mut samples = vec![1.0; 80];
        samples.extend([100.0; 20]);
        let histogram = Histogram::of(&samples);
        assert!(histogram.logarithmic);
        assert_eq!((histogram.counts[0], *histogram.counts.last().unwrap()), (80, 20));
    }

    #[test]
    fn equal_samples_fill_one_bin() {
        assert_eq!(Histogram::of(&[2.5; 30]).counts, [30]);
    }

    #[test]
    fn a_zero_sample_keeps_the_bins_linear() {
        assert!(!Histogram::of(&[0.0, 1.0, 1000.0]).logarithmic);
    }

    #[test]
    fn a_thinned_trace_keeps_the_extremes_of_its_neighbours() {
        let mut samples = vec![1.0; 1000];
        samples[513] = 77.0;
        samples[700] = 0.25;
        let trace = Trace::of(&samples, 100);
        assert_eq!((trace.per_mark, trace.low.len(), trace.high.len()), (20, 50, 50));
        assert_eq!((trace.high[25], trace.low[35]), (77.0, 0.25));
        assert_eq!(trace.high.iter().filter(|&&high| high > 1.0).count(), 1);
    }

    #[test]
    fn a_short_trace_is_kept_whole() {
        let trace = Trace::of(&[3.0, 1.0, 2.0], 100);
        assert_eq!(trace, Trace { per_mark: 1, low: vec![3.0, 1.0, 2.0], high: vec![] });
    }

    #[test]
    fn traces_share_a_budget() {
        assert_eq!(numbers_per_trace(0), 600);
        assert_eq!(numbers_per_trace(500), 120);
        assert_eq!(numbers_per_trace(100_000), 24);
    }

    #[test]
    fn rounding_keeps_significant_digits() {
        assert_eq!(rounded(12345.678, 4), 12350.0);
        assert_eq!(rounded(0.000123456, 4), 0.0001235);
    }
}
