//! The agreement of several searches for the same period: the number of pairs of overlapping intervals, and the number
//! of confirmed periods.

use record::{Measurement, ParameterValue, Parameters, PeriodSearch};

use crate::wording::{holds, quantity};

/// Parameter that numbers the searches.
const SEARCH: &str = "search";

/// Returns a line for each measurement with several searches. Empty if there is none.
pub(super) fn agreement<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> String {
    let mut groups: Vec<(String, Vec<&PeriodSearch>)> = Vec::new();
    for measurement in measurements {
        let (Some(name), Some(search)) = (name(measurement), &measurement.search) else { continue };
        match groups.iter_mut().find(|(its_name, _)| *its_name == name) {
            Some((_, searches)) => searches.push(search),
            None => groups.push((name, vec![search])),
        }
    }
    groups.retain(|(_, searches)| searches.len() > 1);
    groups.iter().map(|(name, searches)| line(name, searches)).collect()
}

/// Returns the name that several searches have in common, or `None` for a measurement that was not repeated.
fn name(measurement: &Measurement) -> Option<String> {
    let mut parameters: Parameters = measurement.parameters.clone();
    let ParameterValue::Number(_) = parameters.remove(SEARCH)? else { return None };
    let shown = parameters.iter().map(|(name, value)| format!(" {name}={value}"));
    Some(format!("{}{}", measurement.benchmark, shown.collect::<String>()))
}

fn line(name: &str, searches: &[&PeriodSearch]) -> String {
    let intervals: Vec<(f64, f64)> = searches.iter().map(|search| interval(search)).collect();
    let (overlapping, pairs) = overlaps(&intervals);
    let low = intervals.iter().map(|interval| interval.0).fold(f64::INFINITY, f64::min);
    let high = intervals.iter().map(|interval| interval.1).fold(0.0, f64::max);
    let mut text = format!(
        "{name}: {overlapping} of {pairs} pairs of {} searches overlap; all lie between {} and {}\n",
        searches.len(),
        quantity(low, "us"),
        if high.is_finite() { quantity(high, "us") } else { "no sustained period".into() }
    );
    if let Some(held) = held(searches) {
        text += &format!("  {held}\n");
    }
    text + "\n"
}

/// Returns the number of confirmed periods, or `None` without confirmation.
fn held(searches: &[&PeriodSearch]) -> Option<String> {
    let held = |search: &&&PeriodSearch| {
        search.confirmation.as_ref().is_some_and(|again| holds(again, search))
    };
    let failed: usize = searches.iter().map(|search| search.unconfirmed.len()).sum();
    let is_requested =
        |search: &&PeriodSearch| search.confirm_times > 0 || search.confirmation.is_some();
    searches.iter().any(is_requested).then(|| {
        format!(
            "{} of {} searches ended with a confirmed period; {failed} other periods failed the confirmation",
            searches.iter().filter(held).count(),
            searches.len()
        )
    })
}

/// Returns the interval of a search. It begins at 0 if no period was refused, and has no end if none was sustained.
fn interval(search: &PeriodSearch) -> (f64, f64) {
    let low = search.longest_refused_us.unwrap_or(0.0);
    (low, search.shortest_sustained_us.unwrap_or(f64::INFINITY))
}

fn overlaps(intervals: &[(f64, f64)]) -> (usize, usize) {
    let mut overlapping = 0;
    for (index, a) in intervals.iter().enumerate() {
        overlapping += intervals[..index].iter().filter(|b| a.0 <= b.1 && b.0 <= a.1).count();
    }
    (overlapping, intervals.len() * intervals.len().saturating_sub(1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_intervals_are_counted() {
        // The first overlaps the second, the second touches the third, and the fourth overlaps only the open interval.
        let intervals = [(1.0, 2.0), (1.5, 3.0), (3.0, 4.0), (5.0, 6.0), (0.5, f64::INFINITY)];
        assert_eq!(overlaps(&intervals), (6, 10));
        assert_eq!(overlaps(&intervals[..1]), (0, 0));
    }
}
