//! Mistakes in the use of memory, in words.

use profile::{Finding, FindingKind, RankRecord};

use super::model::FindingRow;
use super::places::Places;
use crate::mistakes::Mistake;
use crate::wording::counted;

/// Returns rows of mistakes of single ranks, the most frequent first.
pub(super) fn rows(mistakes: &[Mistake]) -> Vec<FindingRow> {
    let row = |one: &Mistake| FindingRow {
        rank: one.ranks[0],
        what: one.message.clone(),
        times: one.times,
    };
    let mut rows: Vec<FindingRow> = mistakes.iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.times));
    rows
}

/// Returns the mistakes that each rank has recorded.
pub(super) fn found(records: &[RankRecord], places: &Places) -> Vec<Mistake> {
    let mut all = Vec::new();
    for (index, record) in records.iter().enumerate() {
        for finding in &record.findings {
            let message = words(finding, &|site| places.get(index, site).to_string());
            let side = |site| places.get(index, site).side(record.rank);
            let mut sides = vec![side(finding.site), side(finding.other)];
            sides.dedup();
            all.push(Mistake::recorded(record.rank, message, sides, finding.times));
        }
    }
    all
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
        FindingKind::ReceiveFreed => {
            format!(
                "{site} frees the request of {other}, of which nothing tells any more when its {bytes} are there"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_names_both_calls() {
        let finding = |kind| Finding { kind, site: 1, other: 2, address: 0, bytes: 8, times: 1 };
        let words_of = |kind| words(&finding(kind), &|site| format!("place {site}"));
        assert_eq!(
            words_of(FindingKind::SendChanged),
            "the 8 bytes that place 2 sends were changed before place 1 ended it"
        );
        assert_eq!(
            words_of(FindingKind::ReceiveChanged),
            "the program wrote to the 8 bytes that place 2 receives into before place 1 ended it"
        );
        assert_eq!(
            words_of(FindingKind::OwnOverlap),
            "place 1 receives into 8 bytes that it sends"
        );
        for kind in [
            FindingKind::ReceivesOverlap,
            FindingKind::ReceiveOverSend,
            FindingKind::SendOverReceive,
        ] {
            let words = words_of(kind);
            assert!(words.starts_with("place 1") && words.contains("place 2"), "{words}");
        }
    }
}
