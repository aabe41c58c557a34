//! The parts of ranks in collectives.

use std::collections::{BTreeMap, HashMap};

use crate::event::{Event, Kind};
use crate::record::RankRecord;

/// A rank's part in a collective: its record, the event with which it arrived, and the event in which it may have
/// waited.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) record: usize,
    pub(crate) came: usize,
    pub(crate) waited: Option<usize>,
}

/// Returns the collectives for which the parts of all members are known.
pub(crate) fn collectives(records: &[RankRecord]) -> Vec<Vec<Part>> {
    let communicators = records.iter().flat_map(|noted| &noted.communicators);
    let sizes: HashMap<u64, u64> = communicators.map(|one| (one.number, one.size)).collect();
    let mut all = collective_parts(records);
    let whole = |(number, _): &(u64, u64), parts: &Vec<Part>| {
        sizes.get(number).is_some_and(|&size| parts.len() as u64 == size)
    };
    all.retain(|key, parts| whole(key, parts));
    all.into_values().collect()
}

/// Returns the known parts of each collective, by its communicator and its number there.
fn collective_parts(records: &[RankRecord]) -> BTreeMap<(u64, u64), Vec<Part>> {
    let mut all: BTreeMap<(u64, u64), Vec<Part>> = BTreeMap::new();
    for (record, noted) in records.iter().enumerate() {
        let number = |event: &Event| {
            let communicator = noted.communicators.get(usize::from(event.communicator))?;
            Some((communicator.number, event.posted))
        };
        for (index, event) in noted.events.iter().enumerate() {
            let Some(key) = number(event) else { continue };
            match event.kind {
                Kind::Collective => {
                    let part = Part { record, came: index, waited: Some(index) };
                    all.entry(key).or_default().push(part);
                }
                Kind::CollectiveStarted => {
                    all.entry(key).or_default().push(Part { record, came: index, waited: None });
                }
                Kind::CollectiveEnded => {
                    let parts = all.get_mut(&key).into_iter().flatten();
                    parts.filter(|part| part.record == record).for_each(|part| {
                        part.waited = Some(index);
                    });
                }
                _ => {}
            }
        }
    }
    all
}
