//! The overview: a table of the headline numbers of a run, which fits a screen.

use analysis::limits::Shares;
use benchmark::{OVERVIEW, OverviewNumber, bound_rule};
use record::Run;

use super::entry::{Entry, UNCONVERGED, mark};
use super::tables::{entries, machine};
use super::{table, wrapped};
use crate::comparison::is_of_one_launch;
use crate::wording::{percent, quantity, range, ranks_of, whole_percent};

/// Share of the processors that others use from which the machine was busy.
const BUSY: f64 = 0.1;

/// Returns the overview of a run. `others` is the share of the processors that other programs used, if it is known.
pub(crate) fn overview(run: &Run, others: Option<f64>) -> String {
    let shares = Shares::of(run, bound_rule);
    let found = entries(run, &shares);
    let shown: Vec<Vec<String>> = OVERVIEW
        .iter()
        .flat_map(|number| {
            let is_it = |entry: &&Entry| number.is_in(entry.measurement);
            found.iter().filter(is_it).map(|entry| row(number, entry))
        })
        .collect();
    let mut text = others.filter(|&share| share > BUSY).map(busy).unwrap_or_default();
    text += &format!("{}\n\n", machine(run));
    let header = ["number", "", "median", "interval", "of limit", ""];
    let open = shown.iter().filter(|row| row.last().is_some_and(|mark| mark == UNCONVERGED));
    let open = open.count();
    let all = shown.len();
    text += &table(&header.map(String::from), 2, shown);
    text += &match open {
        0 if found.iter().all(|entry| entry.measurement.is_exact()) => {
            format!("all {all} are exact\n")
        }
        0 => format!("all {all} converged: intervals are within the precision\n"),
        _ => format!(
            "{} of {all} converged; {UNCONVERGED}: launches differ by more than the precision, {}\n",
            all - open,
            percent(run.header().precision)
        ),
    };
    if found.iter().any(|entry| is_of_one_launch(entry.measurement)) {
        text += "in one launch: another may differ by more than the intervals\n";
    }
    text
}

/// Returns a remark on other programs.
fn busy(share: f64) -> String {
    let text = format!(
        "The machine was busy: other programs used {} of its processors. Times are longer and vary more than on a quiet \
         machine; measure again before you rely on a number.",
        whole_percent(share)
    );
    wrapped(&text, "") + "\n"
}

fn row(number: &OverviewNumber, entry: &Entry) -> Vec<String> {
    let Entry { measurement, share } = entry;
    let summary = &measurement.summary;
    vec![
        number.words.into(),
        ranks_of(measurement),
        quantity(summary.median, &measurement.unit),
        match measurement.is_exact() {
            true => "exact".into(),
            false => range(summary.ci_low, summary.ci_high, &measurement.unit),
        },
        share.map_or_else(String::new, |share| percent(share.share)),
        mark(measurement).into(),
    ]
}
