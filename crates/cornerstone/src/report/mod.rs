//! The report: one HTML file that needs no network, made from results files alone.
//!
//! What can be said in words or tables is HTML, written here, and reads without a script; charts are data, which the
//! page's own script draws with uPlot. Everything in a results file is untrusted text: it enters the page through
//! maud's escaping or through [`page::data_script`], and the page's content policy admits no other script.

mod chart;
mod comparing;
mod elements;
mod environment;
mod figures;
mod findings;
mod fits;
mod grouping;
mod jitter;
mod lateness;
mod limits;
mod material;
mod numbers;
mod page;
mod pattern;
mod pauses;
mod remarks;
mod samples;
mod sections;
mod shares;
mod strips;
mod summary;

use contract::record::Run;

/// What a report's head names as its maker: a file that says so may be replaced by another report.
pub(crate) const GENERATOR: &str = concat!("Cornerstone ", env!("CARGO_PKG_VERSION"));

/// The report of one run, or of several side by side, as one HTML document.
///
/// No runs at all give a page that says so.
pub fn render(runs: &[Run]) -> String {
    page::render(runs)
}
