//! Assigns ranks to the source, the stages and the sink of a chain.

/// The ranks that a part of a chain requires.
pub(super) enum WantedRanks {
    /// This number of ranks, shared with no other part.
    Own(usize),
    /// These, even if other parts use them.
    On(Vec<usize>),
}

/// Returns the ranks of each part. Parts without named ranks receive the unused ones, in the order of the flow. If a
/// rank is left without work, the error names it.
pub(super) fn placed(wanted: Vec<WantedRanks>) -> Result<Vec<Vec<usize>>, String> {
    let named = |rank: &usize| {
        wanted.iter().any(|part| matches!(part, WantedRanks::On(ranks) if ranks.contains(rank)))
    };
    let free: Vec<usize> = {
        let own = |part: &WantedRanks| if let WantedRanks::Own(count) = part { *count } else { 0 };
        (0..).filter(|rank| !named(rank)).take(wanted.iter().map(own).sum()).collect()
    };
    let mut free = free.into_iter();
    let ranks = |part: WantedRanks| match part {
        WantedRanks::Own(count) => free.by_ref().take(count).collect(),
        WantedRanks::On(ranks) => ranks,
    };
    let placed: Vec<Vec<usize>> = wanted.into_iter().map(ranks).collect();
    let has_work = |rank: &usize| placed.iter().any(|ranks| ranks.contains(rank));
    let last = placed.iter().flatten().copied().max().unwrap_or(0);
    match (0..last).find(|rank| !has_work(rank)) {
        None => Ok(placed),
        Some(rank) => Err(format!(
            "no part of the chain is on rank {rank}, though there is a rank {last}; number the ranks in `on` without a gap"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_their_own_are_numbered_along_the_flow_around_those_that_are_named() {
        let wanted = vec![
            WantedRanks::Own(1),
            WantedRanks::On(vec![1, 2]),
            WantedRanks::Own(2),
            WantedRanks::On(vec![1]),
        ];
        assert_eq!(placed(wanted).unwrap(), [vec![0], vec![1, 2], vec![3, 4], vec![1]]);
    }

    #[test]
    fn a_rank_without_work_is_told() {
        let wanted = vec![WantedRanks::On(vec![0]), WantedRanks::On(vec![2])];
        assert!(placed(wanted).unwrap_err().contains("no part of the chain is on rank 1"));
    }
}
