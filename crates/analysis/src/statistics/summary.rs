//! The summary of a sample.

use record::{Outliers, Summary};

use super::median_interval::median_interval;
use super::sample::Sample;

/// Returns the summary of a sample, with an interval of the median at the requested `confidence` (between 0 and 1), in
/// the sample's own unit. Quantiles are those of [`Sample::quantile`]; no sample is omitted.
pub fn summarise(sample: &Sample, confidence: f64) -> Summary {
    let interval = median_interval(sample, confidence);
    Summary {
        median: sample.median(),
        ci_low: interval.low,
        ci_high: interval.high,
        ci_confidence: interval.confidence,
        mean: sample.mean(),
        min: sample.min(),
        p99: sample.quantile(0.99),
        p999: sample.quantile(0.999),
        max: sample.max(),
        n: sample.len() as u64,
        outliers: outliers(sample),
    }
}

/// Counts the values beyond Tukey's fences (*Exploratory Data Analysis*, 1977): 1.5 (mild) and 3 (severe) interquartile
/// ranges beyond the quartiles, which are those of [`Sample::quantile`]. A value on a fence is within.
pub fn outliers(sample: &Sample) -> Outliers {
    let (q1, q3) = (sample.quantile(0.25), sample.quantile(0.75));
    let range = q3 - q1;
    let sorted = sample.sorted();
    let below = |fence: f64| sorted.partition_point(|&value| value < fence) as u64;
    let above =
        |fence: f64| (sorted.len() - sorted.partition_point(|&value| value <= fence)) as u64;
    let (low_severe, high_severe) = (below(q1 - 3.0 * range), above(q3 + 3.0 * range));
    Outliers {
        low_severe,
        low_mild: below(q1 - 1.5 * range) - low_severe,
        high_mild: above(q3 + 1.5 * range) - high_severe,
        high_severe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_counted_on_both_sides_and_by_severity() {
        // 21 values: 2 low, 17 from 100 to 116, 2 high. h = 20 / 4 = 5: the sixth smallest is 103, the sixteenth 113.
        // The range is 10, the fences are 88 and 73, 128 and 143.
        let mut values: Vec<f64> = (100..117).map(f64::from).collect();
        values.extend([72.0, 80.0, 128.5, 500.0]);
        let found = outliers(&Sample::new(values).unwrap());
        assert_eq!(found, Outliers { low_severe: 1, low_mild: 1, high_mild: 1, high_severe: 1 });
    }

    #[test]
    fn a_value_on_a_fence_is_no_outlier() {
        // h = 1 and 3 of 0..4: the quartiles are 1 and 3, the upper fences 6 and 9.
        let at_mild = Sample::new([0.0, 1.0, 2.0, 3.0, 6.0]).unwrap();
        assert_eq!(outliers(&at_mild), Outliers::default());
        let at_severe = Sample::new([0.0, 1.0, 2.0, 3.0, 9.0]).unwrap();
        assert_eq!(outliers(&at_severe), Outliers { high_mild: 1, ..Outliers::default() });
        let beyond = Sample::new([0.0, 1.0, 2.0, 3.0, 9.1]).unwrap();
        assert_eq!(outliers(&beyond), Outliers { high_severe: 1, ..Outliers::default() });
    }

    #[test]
    fn a_constant_sample_has_no_outliers_and_one_value_is_a_summary() {
        assert_eq!(outliers(&Sample::new(vec![3.0; 50]).unwrap()), Outliers::default());
        let summary = summarise(&Sample::new([3.0]).unwrap(), 0.95);
        assert_eq!((summary.ci_low, summary.median, summary.ci_high), (3.0, 3.0, 3.0));
        assert_eq!((summary.ci_confidence, summary.n), (0.0, 1));
    }

    #[test]
    fn a_summary_of_eleven_values_by_hand() {
        // 1..10 and 45: the median is the sixth, the interval the second and the tenth (1 - 24/2048), the mean 100/11;
        // p99 at position 9.9: 10 + 0.9 * 35 = 41.5; p99.9 at 9.99: 10 + 0.99 * 35 = 44.65. Quartiles at 2.5 and 7.5:
        // 3.5 and 8.5; the fences above are 16 and 23.5.
        let mut values: Vec<f64> = (1..=10).map(f64::from).collect();
        values.insert(3, 45.0);
        let summary = summarise(&Sample::new(values).unwrap(), 0.95);
        assert_eq!((summary.median, summary.ci_low, summary.ci_high), (6.0, 2.0, 10.0));
        assert!((summary.mean - 100.0 / 11.0).abs() < 1e-12);
        assert!((summary.p99 - 41.5).abs() < 1e-9 && (summary.p999 - 44.65).abs() < 1e-9);
        assert_eq!((summary.min, summary.max, summary.n), (1.0, 45.0, 11));
        assert_eq!(summary.outliers, Outliers { high_severe: 1, ..Outliers::default() });
    }
}
