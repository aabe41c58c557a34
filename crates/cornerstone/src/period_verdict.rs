//! Whether the periods of a run are what was asked for.

use record::{Measurement, Run, SearchEnd};

use crate::failure::Failure;
use crate::wording::{counted, late, outcome, ranks};

/// Verdict on a given period, or on a search for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The given period is sustained, with the wanted miss rate proven; or the search found a period, which is proven if
    /// something is required of it.
    Holds,
    /// The given period is neither refused nor proven, or the search found none.
    Undecided,
    /// The given period is refused, or so are all periods.
    Refused,
}

/// Checks that every given period is proven to be sustained, and that every search found a period.
///
/// # Errors
/// The first period that is refused; if there is none, the first that is undecided.
pub(crate) fn held(run: &Run) -> Result<(), Failure> {
    held_among(run.measurements.iter())
}

/// As [`held`], for the periods of which something is required (`--require`).
pub(crate) fn requirements_held(run: &Run) -> Result<(), Failure> {
    let is_required =
        |one: &&Measurement| one.search.as_ref().is_some_and(|search| search.required.is_some());
    held_among(run.measurements.iter().filter(is_required))
}

fn held_among<'a>(all: impl Iterator<Item = &'a Measurement> + Clone) -> Result<(), Failure> {
    let with = |wanted: Verdict| -> Vec<&Measurement> {
        all.clone().filter(|one| verdict(one) == Some(wanted)).collect()
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
    let is_required = search.required.is_some();
    let all_are_refused = is_required && search.end == SearchEnd::NeverSustained;
    Some(match (search.shortest_sustained_us, search.longest_refused_us) {
        (Some(_), _) if search.proven || !(is_given || is_required) => Verdict::Holds,
        (None, Some(_)) if is_given || all_are_refused => Verdict::Refused,
        _ => Verdict::Undecided,
    })
}

/// Returns the result of the first of several measurements in a sentence, with the latest instance of a refused period.
fn sentence(first: &Measurement, all: usize, verdict: &str) -> String {
    let is_refused = self::verdict(first) == Some(Verdict::Refused);
    let search = first.search.as_ref();
    let sentences = search.map(outcome).into_iter().flatten();
    let latest = search.and_then(|search| search.worst.first()).filter(|_| is_refused);
    let sentences: Vec<String> = sentences.chain(latest.map(late)).collect();
    let more = match all {
        1 => String::new(),
        _ => format!("; {} {verdict} in all", counted(all, "period")),
    };
    format!("{}, {}: {}{more}", first.benchmark, ranks(first.ranks), sentences.join("; "))
}
