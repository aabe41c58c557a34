//! The check of the lengths of a call before any message is sent.

use collectives::Collective;

use crate::{Error, Result};

/// Fails unless `buffer`, with the name `what`, is `expected_bytes` long.
pub(super) fn expect_bytes(
    collective: Collective,
    what: &str,
    expected_bytes: usize,
    buffer: &[u8],
) -> Result<()> {
    let (collective, what, found_bytes) = (collective.words().into(), what.into(), buffer.len());
    match found_bytes == expected_bytes {
        true => Ok(()),
        false => Err(Error::UnequalCounts { collective, what, expected_bytes, found_bytes }),
    }
}

/// Fails unless `buffer` has a whole number of `unit_bytes`.
pub(super) fn expect_multiple(
    collective: Collective,
    what: &str,
    unit_bytes: usize,
    buffer: &[u8],
) -> Result<()> {
    let broken = buffer.len() % unit_bytes;
    expect_bytes(collective, what, buffer.len() - broken, buffer)
}
