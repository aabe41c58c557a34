//! Choice of the algorithm of a collective over messages.
//!
//! The choice depends on facts that are equal at all members, never on measured times: runs are reproducible, and all
//! members choose the same algorithm.

use crate::{Algorithm, Blocks, Call, HostMap, THRESHOLDS};

/// Completion of a collective call after the check of its arguments.
///
/// Members make progress in a call that is not blocking only in calls of the library: fewer rounds mean fewer waits for
/// a member to make progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It runs to completion.
    Blocking,
    /// It is in progress, and a request completes it.
    Nonblocking,
    /// A request starts it, any number of times.
    Persistent,
}

/// Returns the algorithm for a call of `members` members, with units of `unit_bytes` bytes. If the hosts of members are
/// known, data cross between two hosts once, except for calls in the background, for which two levels would add rounds.
pub fn select(
    call: &Call,
    members: usize,
    unit_bytes: usize,
    manner: Manner,
    hosts: Option<&HostMap>,
) -> Algorithm {
    let in_levels = |hosts: &HostMap| hosts.has_levels() && call.fits_hosts(hosts);
    if manner == Manner::Blocking && hosts.is_some_and(in_levels) {
        return Algorithm::TwoLevel;
    }
    let is_long = |units: usize| units * unit_bytes >= THRESHOLDS.long_bytes;
    let are_few = members <= THRESHOLDS.linear_most_members;
    let between_hosts = hosts.is_some_and(|hosts| hosts.hosts() > 1);
    let at_once = manner != Manner::Blocking && are_few;
    let first_that_serves = |wanted: &[Algorithm]| {
        let serves = wanted.iter().copied().find(|&one| call.is_served_by(one));
        serves.expect("the last of the list serves every call")
    };
    match call {
        Call::Barrier => Algorithm::Dissemination,
        Call::Broadcast { length, .. } => {
            if !is_long(*length) || members <= THRESHOLDS.tree_most_members {
                Algorithm::Binomial
            } else if is_long(length.div_ceil(members)) {
                Algorithm::ScatterRing
            } else {
                Algorithm::ScatterBruck
            }
        }
        // A tree saves the root messages, but not bytes, and its inner members store and forward long blocks. If blocks
        // have arbitrary lengths, a member has only its own. If no host is known, messages may go to neighbours only.
        Call::Scatter { blocks, .. } | Call::Gather { blocks, .. }
            if between_hosts && blocks.are_equal() && is_long(blocks.longest()) && are_few =>
        {
            Algorithm::Linear
        }
        Call::Scatter { .. } | Call::Gather { .. } => {
            first_that_serves(&[Algorithm::Binomial, Algorithm::Linear])
        }
        Call::Allgather { .. } if at_once => Algorithm::Linear,
        Call::Allgather { blocks } if is_long(blocks.longest()) => Algorithm::Ring,
        Call::Allgather { .. } => first_that_serves(&[Algorithm::Bruck, Algorithm::Ring]),
        Call::AllToAll { input, .. } => {
            // If blocks have arbitrary lengths, each member has only its own, which must not decide the choice.
            let equal = call.is_served_by(Algorithm::Bruck).then_some(input);
            of_all_to_all(equal, unit_bytes, members, at_once)
        }
        Call::Reduce { length, .. } if is_long(*length) => Algorithm::Rabenseifner,
        Call::Reduce { .. } => Algorithm::Binomial,
        Call::Allreduce { length, .. } if is_long(*length) => Algorithm::Rabenseifner,
        Call::Allreduce { .. } => Algorithm::RecursiveDoubling,
        Call::ReduceScatter { blocks, .. } if is_long(blocks.total()) => {
            first_that_serves(&[Algorithm::RecursiveHalving, Algorithm::Pairwise])
        }
        Call::ReduceScatter { .. } => Algorithm::RecursiveDoubling,
        Call::Scan { .. } => Algorithm::RecursiveDoubling,
    }
}

/// Returns the algorithm of an all-to-all. `equal` are a member's blocks, if those of all members are equal.
fn of_all_to_all(
    equal: Option<&Blocks>,
    unit_bytes: usize,
    members: usize,
    at_once: bool,
) -> Algorithm {
    let is_short = |blocks: &Blocks| blocks.longest() * unit_bytes <= THRESHOLDS.bruck_most_bytes;
    let fits = |blocks: &Blocks| blocks.total() * unit_bytes <= THRESHOLDS.one_round_most_bytes;
    if equal.is_some_and(is_short) && members >= THRESHOLDS.bruck_least_members {
        Algorithm::Bruck
    } else if at_once || members <= THRESHOLDS.linear_most_members && equal.is_none_or(fits) {
        Algorithm::Linear
    } else {
        Algorithm::Pairwise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;

    /// Returns the choice for units of one byte.
    fn chosen(call: Call, members: usize, manner: Manner) -> Algorithm {
        select(&call, members, 1, manner, None)
    }

    #[test]
    fn every_threshold_separates_the_documented_lengths() {
        use Algorithm::*;
        use Manner::*;
        let broadcast = |length| Call::Broadcast { root: 0, length };
        assert_eq!(chosen(broadcast(16383), 8, Blocking), Binomial);
        assert_eq!(chosen(broadcast(16384), 8, Blocking), ScatterBruck);
        assert_eq!(chosen(broadcast(16384), 4, Blocking), Binomial);
        // 131065 bytes in 8 blocks: 16383.1 each, in whole bytes 16384.
        assert_eq!(chosen(broadcast(131064), 8, Blocking), ScatterBruck);
        assert_eq!(chosen(broadcast(131065), 8, Blocking), ScatterRing);
        let equal = |each| Call::Allgather { blocks: Blocks::equal(8, each) };
        assert_eq!(chosen(equal(16383), 8, Blocking), Bruck);
        assert_eq!(chosen(equal(16384), 8, Blocking), Ring);
        assert_eq!(chosen(equal(8), 8, Nonblocking), Linear);
        assert_eq!(
            chosen(Call::Allgather { blocks: Blocks::equal(65, 8) }, 65, Nonblocking),
            Bruck
        );
        let listed = Call::Allgather { blocks: Blocks::of_lengths([1, 2, 3]) };
        assert_eq!(chosen(listed, 3, Blocking), Ring);
    }

    #[test]
    fn all_to_alls_and_blocks_of_arbitrary_lengths_have_their_thresholds() {
        use Algorithm::*;
        use Manner::*;
        let all = |each, members| {
            let blocks = Blocks::equal(members, each);
            Call::AllToAll { input: blocks.clone(), output: blocks }
        };
        assert_eq!(chosen(all(256, 8), 8, Blocking), Bruck);
        assert_eq!(chosen(all(257, 8), 8, Blocking), Linear);
        assert_eq!(chosen(all(256, 7), 7, Blocking), Linear);
        // 8 blocks of 512 KiB are 4 MiB.
        assert_eq!(chosen(all(512 << 10, 8), 8, Blocking), Linear);
        assert_eq!(chosen(all((512 << 10) + 1, 8), 8, Blocking), Pairwise);
        assert_eq!(chosen(all((512 << 10) + 1, 8), 8, Nonblocking), Linear);
        assert_eq!(chosen(all(257, 65), 65, Blocking), Pairwise);
        let listed = Blocks::of_lengths([1, 2, 3]);
        let unequal = Call::AllToAll { input: listed.clone(), output: listed };
        assert_eq!(chosen(unequal.clone(), 3, Blocking), Linear);
        assert_eq!(chosen(unequal, 65, Blocking), Pairwise);
    }

    #[test]
    fn reductions_and_hosts_have_their_thresholds() {
        use Algorithm::*;
        use Manner::*;
        let broadcast = |length| Call::Broadcast { root: 0, length };
        let equal = |each| Call::Allgather { blocks: Blocks::equal(8, each) };
        // 2048 elements of 8 bytes.
        let reduce = |length| Call::Allreduce { length, order: Order::Ranks };
        assert_eq!(select(&reduce(2047), 3, 8, Blocking, None), RecursiveDoubling);
        assert_eq!(select(&reduce(2048), 3, 8, Blocking, None), Rabenseifner);
        let hosts = |list: [usize; 3]| HostMap::new(list);
        let on = |call: &Call, map: &HostMap, manner| select(call, 3, 8, manner, Some(map));
        assert_eq!(on(&reduce(2048), &hosts([0, 0, 1]), Blocking), TwoLevel);
        assert_eq!(on(&reduce(2048), &hosts([0, 0, 1]), Nonblocking), Rabenseifner);
        assert_eq!(on(&reduce(2048), &hosts([0, 1, 0]), Blocking), Rabenseifner);
        assert_eq!(on(&broadcast(8), &hosts([0, 1, 0]), Blocking), TwoLevel);
        assert_eq!(on(&broadcast(8), &hosts([0, 1, 2]), Blocking), Binomial);
        assert_eq!(on(&equal(8), &hosts([0, 0, 1]), Blocking), Bruck);
        let scatter = Call::Scatter { root: 0, blocks: Blocks::of_lengths([3]) };
        assert_eq!(chosen(scatter, 3, Blocking), Linear);
        let gather = |each, members: usize, hosts: usize| {
            let call = Call::Gather { root: 0, blocks: Blocks::equal(members, each) };
            let hosts = HostMap::new((0..members).map(|member| member % hosts));
            select(&call, members, 1, Blocking, Some(&hosts))
        };
        assert_eq!(gather(16383, 64, 2), Binomial);
        assert_eq!(gather(16384, 64, 2), Linear);
        assert_eq!(gather(16384, 64, 1), Binomial);
        assert_eq!(gather(16384, 65, 2), Binomial);
        let reduce_scatter = |total: usize, order| {
            let call = Call::ReduceScatter { blocks: Blocks::equal(4, total / 4), order };
            chosen(call, 4, Blocking)
        };
        assert_eq!(reduce_scatter(16380, Order::Any), RecursiveDoubling);
        assert_eq!(reduce_scatter(16384, Order::Any), RecursiveHalving);
        assert_eq!(reduce_scatter(16384, Order::Ranks), Pairwise);
    }
}
