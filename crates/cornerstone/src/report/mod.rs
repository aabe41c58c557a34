//! The report: one HTML file that needs no network, made from results files only.
//!
//! Text and tables are HTML, which is written here and needs no script. Charts are data, which the script of the page
//! draws with uPlot. Everything in a results file is untrusted text. It enters the page only through maud's escaping or
//! through `page::data_script`, and the page's content policy admits no other script.

mod chart;
mod comparing;
mod efficiency;
mod elements;
mod environment;
mod figures;
mod findings;
mod fits;
mod forecast;
mod grouping;
mod history;
mod jitter;
mod lateness;
mod limits;
mod locality;
mod material;
mod numbers;
mod page;
mod pair_map;
mod pattern;
mod pauses;
mod remarks;
mod samples;
mod sections;
mod shares;
mod strips;
mod summary;

use record::Run;

/// Generator in the head of a report. A file with this generator may be replaced by another report.
pub(crate) const GENERATOR: &str = concat!("Cornerstone ", env!("CARGO_PKG_VERSION"));

/// Returns the remarks that a reader of this run needs before quoting a number, the most important first: a sentence
/// each, and its worst case if it has one.
pub(crate) fn stands_out(run: &Run) -> Vec<(String, Option<String>)> {
    let runs = std::slice::from_ref(run);
    let found = findings::findings(runs, &grouping::benchmarks(runs));
    found
        .into_iter()
        .map(|finding| (finding.title, finding.examples.into_iter().next().map(|case| case.text)))
        .collect()
}

/// Renders the page of a history.
pub(crate) fn render_history(series: &[analysis::history::Series]) -> String {
    history::render(series)
}

/// Renders the report of one run, or of several side by side, as one HTML document.
///
/// Without runs the page states that there are none.
pub fn render(runs: &[Run]) -> String {
    page::render(runs)
}

/// Returns a whole document in the style of reports.
pub(crate) fn document(title: &str, contents: &maud::Markup, main: &maud::Markup) -> String {
    page::document(title, contents, main)
}
