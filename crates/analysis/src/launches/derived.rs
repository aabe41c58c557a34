//! Numbers that were computed from another number of the same measurement, as a rate is from a time.
//!
//! Both have launches of their own. The median of an even number of launches lies between two of them, so the median of
//! rates is not the inverse of the median of times. The derived number follows from the other one, so that a row is of
//! one set of samples.

use record::Measurement;

use crate::statistics::Sample;

/// Largest relative difference between the products of both medians in the launches. Medians between two samples are not
/// quite inverse to each other.
const PRODUCTS_DIFFER_BY: f64 = 0.01;

/// Computes the derived numbers of pooled measurements from those that they follow from.
pub(super) fn derive(measurements: &mut [Measurement]) {
    for index in 0..measurements.len() {
        let derived = &measurements[index];
        if !derived.samples.is_empty() || derived.launch_medians.len() < 2 {
            continue;
        }
        let source = measurements.iter().filter(|one| is_source(one, derived));
        let found = source.map(|one| (one, product(one, derived))).find_map(|(one, product)| {
            let of = |value: f64| product.map(|product| product / value);
            let s = &one.summary;
            Some((of(s.median)?, of(s.ci_high)?, of(s.ci_low)?))
        });
        if let Some((median, low, high)) = found {
            let summary = &mut measurements[index].summary;
            (summary.median, summary.ci_low, summary.ci_high) = (median, low, high);
            (summary.p99, summary.p999) = (summary.p99.max(median), summary.p999.max(median));
        }
    }
}

fn is_source(one: &Measurement, derived: &Measurement) -> bool {
    !one.samples.is_empty()
        && one.fabric == derived.fabric
        && one.launch_medians.len() == derived.launch_medians.len()
        && one.key() == derived.key()
}

/// Returns the product of both numbers, if it is the same in all launches.
fn product(one: &Measurement, derived: &Measurement) -> Option<f64> {
    let pairs = one.launch_medians.iter().zip(&derived.launch_medians);
    let products = Sample::new(pairs.map(|(a, b)| a * b).collect::<Vec<f64>>()).ok()?;
    let product = products.median();
    let is_same = |other: f64| (other / product - 1.0).abs() < PRODUCTS_DIFFER_BY;
    (product > 0.0 && is_same(products.min()) && is_same(products.max())).then_some(product)
}
