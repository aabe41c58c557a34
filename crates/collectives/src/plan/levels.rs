//! Levels: number of members of a large context that arrive together.

use super::THRESHOLDS;

/// Returns the number of members of each group if this number of ranks arrives in groups; `None` if they are few enough
/// to poll each other.
///
/// The number is the least power of two for which there are at most as many groups as members in a group: the cache
/// lines that a member reads grow with the square root of the number of members.
#[inline]
pub fn group_ranks(ranks: usize) -> Option<usize> {
    (ranks > THRESHOLDS.one_level_most_ranks).then(|| least_square_side(ranks))
}

#[cold]
fn least_square_side(ranks: usize) -> usize {
    let mut side = 1;
    while side * side < ranks {
        side *= 2;
    }
    side
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_at_most_as_many_as_a_group_has_members() {
        // 8 x 8 = 64, 16 x 16 = 256, 32 x 32 = 1024.
        let expected = [
            (2, None),
            (32, None),
            (33, Some(8)),
            (64, Some(8)),
            (65, Some(16)),
            (128, Some(16)),
            (256, Some(16)),
            (257, Some(32)),
            (1024, Some(32)),
        ];
        assert_eq!(expected.map(|(ranks, _)| (ranks, group_ranks(ranks))), expected);
    }
}
