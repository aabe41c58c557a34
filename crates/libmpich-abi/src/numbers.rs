//! Integers with special values: ranks, tags, error codes, modes.

use std::ffi::c_int;

use crate::convert::Convert;
use crate::values;

/// The special values of a kind: here, and in the standard ABI. Other values are the same in both.
type Pairs = [(c_int, c_int)];

// Not inlined: the search would be repeated in hundreds of functions.
#[inline(never)]
fn inward(pairs: &Pairs, foreign: c_int) -> c_int {
    pairs.iter().find(|pair| pair.0 == foreign).map_or(foreign, |pair| pair.1)
}

#[inline(never)]
fn outward(pairs: &Pairs, standard: c_int) -> c_int {
    pairs.iter().find(|pair| pair.1 == standard).map_or(standard, |pair| pair.0)
}

macro_rules! number {
    ($name:ident, $pairs:expr) => {
        number!($name, |foreign| inward($pairs, foreign), |standard| outward($pairs, standard));
    };
    ($name:ident, $inward:expr, $outward:expr) => {
        pub(crate) struct $name;

        impl Convert for $name {
            type Foreign = c_int;
            type Standard = c_int;

            #[inline]
            fn inward(foreign: c_int) -> c_int {
                let inward: fn(c_int) -> c_int = $inward;
                inward(foreign)
            }

            #[inline]
            fn outward(standard: c_int) -> c_int {
                let outward: fn(c_int) -> c_int = $outward;
                outward(standard)
            }
        }
    };
}

number!(RankNumber, rank_inward, rank_outward);
number!(TagNumber, values::TAG_NUMBER);
number!(ErrorCode, error_inward, error_outward);
number!(FileMode, |mode| bits(mode, values::FILE_MODE.iter().copied()), |mode| bits(
    mode,
    turned(values::FILE_MODE)
));
number!(Assertion, |mode| bits(mode, values::ASSERTION.iter().copied()), |mode| bits(
    mode,
    turned(values::ASSERTION)
));
number!(ThreadLevel, values::THREAD_LEVEL);
number!(ArrayOrder, values::ARRAY_ORDER);
number!(Distribution, values::DISTRIBUTION);
number!(Combiner, values::COMBINER);
number!(TypeClass, values::TYPE_CLASS);
number!(Comparison, values::COMPARISON);
number!(TopologyKind, values::TOPOLOGY_KIND);
number!(SplitKind, values::SPLIT_KIND);
number!(LockKind, values::LOCK_KIND);
number!(WindowFlavor, values::WINDOW_FLAVOR);
number!(WindowModel, values::WINDOW_MODEL);
number!(SeekStart, values::SEEK_START);
number!(KeyValue, values::KEY_VALUE);
number!(Verbosity, values::VERBOSITY);
number!(BoundObject, values::BOUND_OBJECT);
number!(VariableScope, values::VARIABLE_SCOPE);
number!(VariableClass, values::VARIABLE_CLASS);

#[inline]
fn rank_inward(foreign: c_int) -> c_int {
    if foreign >= 0 { foreign } else { inward(values::RANK_NUMBER, foreign) }
}

#[inline]
fn rank_outward(standard: c_int) -> c_int {
    if standard >= 0 { standard } else { outward(values::RANK_NUMBER, standard) }
}

/// Last code of MPI itself, here and there. The codes that programs add follow it in both ABIs.
const LAST: (c_int, c_int) = (0x3fff_ffff, 0x3fff);

fn error_inward(foreign: c_int) -> c_int {
    match foreign {
        0 => 0,
        code if code >= LAST.0 => code - LAST.0 + LAST.1,
        code => inward(values::ERROR_CODE, code),
    }
}

#[inline]
fn error_outward(standard: c_int) -> c_int {
    match standard {
        0 => 0,
        code if code >= LAST.1 => code.saturating_add(LAST.0 - LAST.1),
        code => outward(values::ERROR_CODE, code),
    }
}

fn turned(pairs: &Pairs) -> impl Iterator<Item = (c_int, c_int)> {
    pairs.iter().map(|pair| (pair.1, pair.0))
}

/// Converts the single bits of a set. Unknown bits become one that is unknown there, too.
fn bits(set: c_int, pairs: impl Iterator<Item = (c_int, c_int)>) -> c_int {
    const UNKNOWN: c_int = 1 << 20;
    let (mut left, mut made) = (set, 0);
    for (from, to) in pairs.filter(|pair| set & pair.0 != 0) {
        left &= !from;
        made |= to;
    }
    if left == 0 { made } else { made | UNKNOWN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_ranks_and_tags_change_their_values_and_others_stay() {
        // Here ANY_SOURCE is -2, PROC_NULL -1, ROOT -3; there -1, -3, -4.
        assert_eq!([-2, -1, -3, 0, 7].map(RankNumber::inward), [-1, -3, -4, 0, 7]);
        assert_eq!([-1, -3, -4, 0, -32766].map(RankNumber::outward), [-2, -1, -3, 0, -32766]);
        assert_eq!(
            (TagNumber::inward(-1), TagNumber::outward(-2), TagNumber::inward(9)),
            (-2, -1, 9)
        );
    }

    #[test]
    fn error_codes_of_mpi_are_renumbered_and_those_of_programs_shifted() {
        // MPI_ERR_TRUNCATE is 14 here and 15 there.
        assert_eq!((ErrorCode::outward(15), ErrorCode::inward(14)), (14, 15));
        assert_eq!((ErrorCode::outward(0), ErrorCode::inward(0)), (0, 0));
        assert_eq!(ErrorCode::outward(0x3fff), 0x3fff_ffff);
        assert_eq!(ErrorCode::outward(0x4001), 0x4000_0001);
        assert_eq!(ErrorCode::inward(0x4000_0001), 0x4001);
    }

    #[test]
    fn modes_are_sets_of_bits() {
        // Here CREATE is 1 and RDWR 8; there 2 and 32.
        assert_eq!((FileMode::inward(1 | 8), FileMode::outward(2 | 32)), (2 | 32, 1 | 8));
        assert_eq!(FileMode::inward(1 << 11), 1 << 20, "a bit that means nothing is not lost");
        assert_eq!(FileMode::inward(0), 0);
        // Here NOSTORE is 2048, there 8192.
        assert_eq!(Assertion::inward(2048), 8192);
    }
}
