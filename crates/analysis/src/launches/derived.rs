//! Numbers that were computed from another number of the same measurement, as a rate is from a time.
//!
//! Both have launches of their own. The median of an even number of launches lies between two of them, so the median of
//! rates is not the inverse of the median of times. The derived number follows from the other one, so that a row is of
//! one set of samples.

use std::collections::BTreeMap;

use record::Measurement;

use super::case;
use crate::constants::CONSTANTS;
use crate::statistics::Sample;

/// Computes the derived numbers of pooled measurements from those that they follow from.
pub(super) fn derive(measurements: &mut [Measurement]) {
    let mut cases: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, m) in measurements.iter().enumerate().filter(|(_, m)| m.launch_medians.len() > 1) {
        cases.entry(case(m)).or_default().push(index);
    }
    for numbers in cases.into_values() {
        let (sources, derived): (Vec<usize>, Vec<usize>) =
            numbers.into_iter().partition(|&index| !measurements[index].samples.is_empty());
        for index in derived {
            let derived = &measurements[index];
            let sources = sources.iter().map(|&source| &measurements[source]);
            let mut of =
                sources.filter(|one| one.launch_medians.len() == derived.launch_medians.len());
            let found = of.find_map(|one| {
                let product = product(one, derived)?;
                let s = &one.summary;
                Some([s.median, s.ci_high, s.ci_low].map(|value| product / value))
            });
            if let Some([median, low, high]) = found {
                let summary = &mut measurements[index].summary;
                (summary.median, summary.ci_low, summary.ci_high) = (median, low, high);
                (summary.p99, summary.p999) = (summary.p99.max(median), summary.p999.max(median));
            }
        }
    }
}

/// Returns the product of both numbers, if it is the same in all launches.
fn product(one: &Measurement, derived: &Measurement) -> Option<f64> {
    let pairs = one.launch_medians.iter().zip(&derived.launch_medians);
    let products = Sample::new(pairs.map(|(a, b)| a * b).collect::<Vec<f64>>()).ok()?;
    let product = products.median();
    let is_same = |other: f64| (other / product - 1.0).abs() < CONSTANTS.products_differ_by;
    (product > 0.0 && is_same(products.min()) && is_same(products.max())).then_some(product)
}
