//! Operations of all ranks.

pub(in crate::programs) mod all_to_all;
pub(in crate::programs) mod allgather;
pub(in crate::programs) mod allgather_in_place;
pub(in crate::programs) mod allreduce;
pub(in crate::programs) mod barrier;
pub(in crate::programs) mod broadcast;
pub(in crate::programs) mod gather;
pub(in crate::programs) mod gather_broadcast;
pub(in crate::programs) mod node_broadcast;
pub(in crate::programs) mod reduce;
pub(in crate::programs) mod reduce_scatter;
pub(in crate::programs) mod ring_broadcast;
pub(in crate::programs) mod scan;
pub(in crate::programs) mod scatter;

use crate::case::{Case, Scope, each_block_size, each_size};

/// Length of the double-precision numbers that reductions add.
pub(in crate::programs) const NUMBER_BYTES: u64 = size_of::<f64>() as u64;

/// Returns a measurement for each message size, rounded up to whole double-precision numbers.
pub(in crate::programs) fn each_size_in_numbers(scope: &Scope) -> Vec<Case> {
    in_numbers(each_size(scope))
}

/// As [`each_size_in_numbers`], for each size of a rank's block.
pub(in crate::programs) fn each_block_size_in_numbers(scope: &Scope) -> Vec<Case> {
    in_numbers(each_block_size(scope))
}

fn in_numbers(mut cases: Vec<Case>) -> Vec<Case> {
    for case in &mut cases {
        case.size_bytes = case.size_bytes.next_multiple_of(NUMBER_BYTES);
    }
    cases.dedup();
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_reductions_are_whole_numbers_once() {
        let sizes = Some("0,1,7,8,9".parse().unwrap());
        let settings = crate::Settings::default();
        let scope = Scope { ranks: 2, sizes: sizes.as_ref(), settings: &settings };
        let cases = each_size_in_numbers(&scope);
        assert_eq!(cases.iter().map(|case| case.size_bytes).collect::<Vec<_>>(), [0, 8, 16]);
    }
}
pub(in crate::programs) mod unicast_broadcast;
