//! MPI_Status of both ABIs.

use std::ffi::c_int;

use crate::convert::Convert;
use crate::numbers::{ErrorCode, RankNumber, TagNumber};

/// MPI_Status of this ABI.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    bytes_low: c_int,
    /// The higher bits of the number of bytes, and in the last bit 1 if the message was cancelled.
    bytes_high_and_cancelled: c_int,
    source: c_int,
    tag: c_int,
    error: c_int,
}

/// MPI_Status of the standard ABI, as `libmpi_abi.so.1` fills it in. src/status.rs of libmpi-abi has the same
/// definition.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StandardStatus {
    source: c_int,
    tag: c_int,
    error: c_int,
    cancelled: c_int,
    bytes: [c_int; 2],
    unused: [c_int; 2],
}

impl Convert for Status {
    type Foreign = Status;
    type Standard = StandardStatus;

    #[inline]
    fn inward(foreign: Status) -> StandardStatus {
        StandardStatus {
            source: RankNumber::inward(foreign.source),
            tag: TagNumber::inward(foreign.tag),
            error: ErrorCode::inward(foreign.error),
            cancelled: foreign.bytes_high_and_cancelled & 1,
            bytes: [foreign.bytes_low, foreign.bytes_high_and_cancelled >> 1],
            unused: [0; 2],
        }
    }

    #[inline]
    fn outward(standard: StandardStatus) -> Status {
        Status {
            bytes_low: standard.bytes[0],
            bytes_high_and_cancelled: standard.bytes[1] << 1 | standard.cancelled & 1,
            source: RankNumber::outward(standard.source),
            tag: TagNumber::outward(standard.tag),
            error: ErrorCode::outward(standard.error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_goes_and_comes_back() {
        // 5 GiB from ANY_SOURCE with ANY_TAG, truncated, cancelled: 5 GiB are 1 << 32 | 1 << 30.
        let there = StandardStatus {
            source: -1,
            tag: -2,
            error: 15,
            cancelled: 1,
            bytes: [1 << 30, 1],
            unused: [0; 2],
        };
        let here = Status::outward(there);
        let expected = Status {
            bytes_low: 1 << 30,
            bytes_high_and_cancelled: 3,
            source: -2,
            tag: -1,
            error: 14,
        };
        assert_eq!(here, expected);
        assert_eq!(Status::inward(here), there);
    }
}
