//! What the ranks of a run were doing when it ended before they did.

use profile::{Kind, RankRecord, State};

use super::places::Places;
use crate::wording::quantity;

/// Returns a line for each state: what the launcher knows of it, and the loops of polls that records show.
pub(super) fn lines(records: &[RankRecord], places: &Places, state: &[String]) -> Vec<String> {
    let polls = records.iter().enumerate().filter_map(|(index, record)| {
        let last = record.events.last()?;
        let polls = record.state == State::Running && last.kind == Kind::Polls;
        polls.then(|| {
            let span = quantity(record.clock.span_s(last.end - last.begin), "s");
            let place = places.get(index, last.site);
            format!("rank {} polled in {place} for the last {span}, in vain", record.rank)
        })
    });
    state.iter().map(|line| line.trim_start().to_owned()).chain(polls).collect()
}
