//! Whether the periods of a run are what was asked for.

use record::{Measurement, Run, SearchEnd};

use crate::failure::Failure;
use crate::wording::{counted, outcome, ranks};

/// Verdict on a given period, or on a search for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The given period is sustained, with the wanted miss rate proven; or the search found a period.
    Holds,
    /// The given period is neither refused nor proven, or the search found none.
    Undecided,
    /// The given period is not sustained.
    Refused,
}

/// Checks that every given period is proven to be sustained, and that every search found a period.
///
/// # Errors
/// The first period that is refused; if there is none, the first that is undecided.
pub(crate) fn held(run: &Run) -> Result<(), Failure> {
    let with = |wanted: Verdict| -> Vec<&Measurement> {
        run.measurements.iter().filter(|one| verdict(one) == Some(wanted)).collect()
    };
    let (refused, undecided) = (with(Verdict::Refused), with(Verdict::Undecided));
    match (&refused[..], &undecided[..]) {
        ([], []) => Ok(()),
        ([first, ..], _) => Err(Failure::failed(sentence(first, refused.len(), "refused"))),
        ([], [first, ..]) => Err(Failure::undecided(sentence(first, undecided.len(), "undecided"))),
    }
}

/// Returns the verdict on a measurement of a period, or `None` for another measurement. What is measured without a part
/// of the isolation only shows the value of that part.
fn verdict(measurement: &Measurement) -> Option<Verdict> {
    let search = measurement.search.as_ref()?;
    if measurement.parameters.contains_key(benchmark::WITHOUT) {
        return None;
    }
    let is_given = search.end == SearchEnd::OnePeriod;
    Some(match (search.shortest_sustained_us, search.longest_refused_us) {
        (Some(_), _) if search.proven || !is_given => Verdict::Holds,
        (None, Some(_)) if is_given => Verdict::Refused,
        _ => Verdict::Undecided,
    })
}

/// Returns the result of the first of several measurements in a sentence.
fn sentence(first: &Measurement, all: usize, verdict: &str) -> String {
    let sentences = first.search.as_ref().map(outcome).unwrap_or_default();
    let more = match all {
        1 => String::new(),
        _ => format!("; {} {verdict} in all", counted(all, "period")),
    };
    format!("{}, {}: {}{more}", first.benchmark, ranks(first.ranks), sentences.join("; "))
}
