//! The cost of a chain's communication in words.

use record::{Measurement, Summary};

use super::numbers::quantity;

/// Returns the cost of a chain's communication, from the metrics that `get` finds: back to back compared with the
/// functions alone, and in the period. The result is clauses for a sentence, or `None` if nothing was timed back to
/// back.
pub(crate) fn chain_cost<'a>(get: impl Fn(&str) -> Option<&'a Measurement>) -> Option<Vec<String>> {
    let (whole, computing) = (get("back-to-back")?, get("busiest-processor")?);
    let mut clauses = vec![format!(
        "back to back {} a matrix; the functions alone take the busiest processor {}",
        median(whole),
        median(computing),
    )];
    if let Some(ratio) = get("back-to-back-per-computing") {
        clauses.push(format!("the chain {:.2} times that{}", ratio.summary.median, turns(ratio)));
    }
    if let Some(hidden) = get("hidden") {
        clauses.push(format!(
            "{:.0} % of the communication is hidden (alone it takes {} a matrix)",
            hidden.summary.median,
            get("messages-only").map_or_else(String::new, median)
        ));
    }
    let mut at_period: Vec<String> = Vec::new();
    if let Some(ratio) = get("period-per-computing") {
        at_period.push(format!("the period is {:.2} times the computing", ratio.summary.median));
    }
    for (metric, word) in [("rate", "moves"), ("nominal-rate", "computes")] {
        at_period.extend(get(metric).map(|rate| format!("it {word} {}", median(rate))));
    }
    if !at_period.is_empty() {
        clauses.push(at_period.join("; "));
    }
    Some(clauses)
}

/// Returns the interval of a ratio's middle turn, or nothing if there was one turn.
fn turns(ratio: &Measurement) -> String {
    match ratio.summary {
        Summary { n: 0 | 1, .. } => String::new(),
        Summary { n, ci_low, ci_high, .. } => {
            format!(" ({ci_low:.2} .. {ci_high:.2}, median of {n} turns)")
        }
    }
}

fn median(measurement: &Measurement) -> String {
    quantity(measurement.summary.median, &measurement.unit)
}
