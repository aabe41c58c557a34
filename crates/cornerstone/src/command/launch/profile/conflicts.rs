//! Accesses to windows that nothing orders, in words.

use profile::{Conflict, RankRecord};

use super::places::Places;
use crate::mistakes::Mistake;
use crate::wording::counted;

/// Returns the mistakes, each by the rank of its first call.
pub(super) fn found(
    conflicts: &[Conflict],
    records: &[RankRecord],
    places: &Places,
) -> Vec<Mistake> {
    let rank = |record: usize| records[record].rank;
    let place = |record: usize, site| (rank(record), places.get(record, site).to_string());
    let side = |one: &profile::Side| places.get(one.record, one.site).side(rank(one.record));
    let mistake = |one: &Conflict| {
        let sides = one.sides.iter().map(side).collect();
        Mistake::recorded(rank(one.sides[0].record), words(one, &place), sides, one.times)
    };
    conflicts.iter().map(mistake).collect()
}

/// Returns the words for a conflict. `place` returns the rank of a record, and the place of a call of it.
fn words(conflict: &Conflict, place: &dyn Fn(usize, u16) -> (usize, String)) -> String {
    let Conflict { sides: [first, second], target, bytes, .. } = *conflict;
    let does = |writes: bool| if writes { "writes" } else { "reads" };
    let bytes = counted(bytes as usize, "byte");
    let side = |side: profile::Side| {
        let (rank, call) = place(side.record, side.site);
        (rank, if side.is_store { format!("a store before {call}") } else { call })
    };
    let ((rank, own), (other, theirs)) = (side(first), side(second));
    let who = if rank == other { "the same rank".into() } else { format!("rank {other}") };
    format!(
        "{own} {} {bytes} in the window of rank {target} that {theirs} of {who} {}, and nothing orders the two",
        does(first.writes),
        does(second.writes)
    )
}

#[cfg(test)]
mod tests {
    use profile::Side;

    use super::*;

    #[test]
    fn both_calls_are_named_with_what_they_do() {
        let side = |record, writes| Side { record, site: 5, writes, is_store: false };
        let sides = [side(0, true), side(2, false)];
        let conflict = Conflict { sides, target: 1, bytes: 4, times: 1 };
        let place = |record: usize, site: u16| (record + 10, format!("call {site}"));
        assert_eq!(
            words(&conflict, &place),
            "call 5 writes 4 bytes in the window of rank 1 that call 5 of rank 12 reads, and nothing orders the two"
        );
        let conflict = Conflict { sides: [side(1, true), side(1, false)], ..conflict };
        assert!(words(&conflict, &place).contains("call 5 of the same rank reads"));
        let store = Side { is_store: true, ..side(1, true) };
        let conflict = Conflict { sides: [side(0, false), store], ..conflict };
        assert!(words(&conflict, &place).contains("a store before call 5 of rank 11 writes"));
    }
}
