//! Mistakes in the use of memory, and in the roots of collectives, in words.

use std::collections::BTreeMap;

use profile::{Finding, FindingKind, RankRecord, different_roots};

use super::model::FindingRow;
use super::places::Places;
use crate::wording::counted;

/// Returns the mistakes of all ranks, the most frequent first.
pub(super) fn rows(records: &[RankRecord], places: &Places) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for (index, record) in records.iter().enumerate() {
        for finding in &record.findings {
            let what = words(finding, &|site| places.get(index, site).to_string());
            rows.push(FindingRow { rank: record.rank, what, times: finding.times });
        }
    }
    rows.extend(roots(records, places));
    rows.sort_by_key(|row| std::cmp::Reverse(row.times));
    rows
}

/// Returns the calls with another root than a call of another rank in the same collective.
fn roots(records: &[RankRecord], places: &Places) -> Vec<FindingRow> {
    let mut found: BTreeMap<(usize, String), u64> = BTreeMap::new();
    let function = |record, site| places.get(record, site).function;
    for differing in different_roots(records, &function) {
        let of = |(record, event): (usize, usize)| {
            let event = &records[record].events[event];
            (records[record].rank, places.get(record, event.site), event.peer)
        };
        let ((other, place, root), (rank, own_place, own_root)) =
            (of(differing.one), of(differing.other));
        let what = format!(
            "{own_place} has rank {own_root} as its root, but in the same collective rank {other} calls {place} with \
             rank {root} as its root"
        );
        *found.entry((rank, what)).or_default() += 1;
    }
    found.into_iter().map(|((rank, what), times)| FindingRow { rank, what, times }).collect()
}

fn words(finding: &Finding, place: &dyn Fn(u16) -> String) -> String {
    let Finding { kind, site, other, bytes, .. } = *finding;
    let bytes = counted(bytes as usize, "byte");
    let (site, other) = (place(site), place(other));
    match kind {
        FindingKind::ReceivesOverlap => {
            format!("{site} receives into {bytes} that {other} receives into and has not ended")
        }
        FindingKind::ReceiveOverSend => {
            format!("{site} receives into {bytes} that {other} sends and has not ended")
        }
        FindingKind::SendOverReceive => {
            format!("{site} sends {bytes} that {other} receives into and has not ended")
        }
        FindingKind::SendChanged => {
            format!("the {bytes} that {other} sends were changed before {site} ended it")
        }
        FindingKind::ReceiveChanged => {
            format!(
                "the program wrote to the {bytes} that {other} receives into before {site} ended it"
            )
        }
        FindingKind::OwnOverlap => format!("{site} receives into {bytes} that it sends"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_names_both_calls() {
        let finding = |kind| Finding { kind, site: 1, other: 2, address: 0, bytes: 8, times: 1 };
        let told = |kind| words(&finding(kind), &|site| format!("place {site}"));
        assert_eq!(
            told(FindingKind::SendChanged),
            "the 8 bytes that place 2 sends were changed before place 1 ended it"
        );
        assert_eq!(
            told(FindingKind::ReceiveChanged),
            "the program wrote to the 8 bytes that place 2 receives into before place 1 ended it"
        );
        assert_eq!(told(FindingKind::OwnOverlap), "place 1 receives into 8 bytes that it sends");
        for kind in [
            FindingKind::ReceivesOverlap,
            FindingKind::ReceiveOverSend,
            FindingKind::SendOverReceive,
        ] {
            let words = told(kind);
            assert!(words.starts_with("place 1") && words.contains("place 2"), "{words}");
        }
    }
}
