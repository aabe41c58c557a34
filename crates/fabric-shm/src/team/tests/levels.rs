//! Members that arrive in groups: three of them, of which two form a group.

use collectives::plan::Owners;

use super::*;
use crate::board::Levels;
use crate::team::levels::Arrivals;

/// Makes three members combine `BYTES` bytes, the last of each group and the last of all first.
fn combine_in_levels<const BYTES: usize>(member: &mut Member) {
    member.team.arrivals = Arrivals::InLevels(Levels::new(3, 2));
    member.reduce(1, BYTES, true, |plan| {
        (plan.owners, plan.group_ranks) = (Owners::Groups, Some(2));
    });
}

#[test]
fn released_members_read_the_combined_data_of_all() {
    // They sleep: loom would have to try every number of polls of two that wait for the third.
    check_ranks([None; 3], false, 2, combine_in_levels::<8>);
    check_ranks([None; 3], false, 2, combine_in_levels::<PIECE_BYTES>);
}
