//! The collective that each rank is in. Every call is numbered, and its number and call id are visible to all ranks. So
//! a waiting rank can find out that another is in a different call, instead of waiting for ever.

use collectives::CallId;
use contract::{Error, Result};

use engine::Messages;

use super::Rings;

/// Number of its own calls that a rank keeps, to compare them with ranks that are behind it.
const REMEMBERED: usize = 64;

/// Bits of the published number of a call; beside it are as many that depend on the length.
const NUMBER_BITS: u32 = 16;

/// This rank's own calls.
pub(super) struct Calls {
    number: u16,
    /// Hash of all calls so far.
    history: u32,
    remembered: [(CallId, u16); REMEMBERED],
}

impl Default for Calls {
    fn default() -> Self {
        Calls { number: 0, history: 0, remembered: [(CallId::NONE, 0); REMEMBERED] }
    }
}

impl Calls {
    /// Returns the id and the length code of call `number` if it is kept.
    fn of(&self, number: u16) -> Option<(CallId, u16)> {
        let age = self.number.wrapping_sub(number);
        (number != 0 && usize::from(age) < REMEMBERED)
            .then(|| self.remembered[usize::from(number) % REMEMBERED])
    }
}

/// Returns bits that depend on a length: short lengths as they are, so that near ones differ; others are mixed.
#[inline]
fn length_code(bytes: usize) -> u16 {
    const LONG: u16 = 1 << (NUMBER_BITS - 1);
    match u16::try_from(bytes) {
        Ok(bytes) if bytes < LONG => bytes,
        _ => LONG | (bytes.wrapping_mul(0x9e37_79b9) >> NUMBER_BITS) as u16,
    }
}

impl Rings {
    /// Begins a collective with data of this length.
    #[inline]
    pub(crate) fn enter(&mut self, call_id: CallId, bytes: usize) {
        let (calls, length) = (&mut self.calls, length_code(bytes));
        calls.number = calls.number.wrapping_add(1);
        let mixed = call_id.bits().wrapping_add((bytes as u32).wrapping_mul(0x9e37_79b9));
        calls.history = (calls.history ^ mixed).wrapping_mul(0x85eb_ca6b).rotate_left(13);
        calls.remembered[usize::from(calls.number) % REMEMBERED] = (call_id, length);
        let number = u32::from(calls.number) << NUMBER_BITS | u32::from(length);
        self.segment.block(self.me).call().publish(number, call_id.bits());
    }

    /// Begins a barrier. Returns its call id with a hash of all earlier calls. A rank that alone took itself for the
    /// root of a broadcast has waited for nobody, and the barrier detects that.
    #[inline]
    pub(crate) fn enter_barrier(&mut self, call_id: CallId) -> CallId {
        let own = call_id.after(self.calls.history);
        self.enter(own, 0);
        own
    }

    /// Compares the other ranks' calls with this rank's own.
    pub(super) fn check_calls(&mut self, messages: &mut Messages) -> Result<()> {
        for other in 0..self.ranks() {
            let (number, theirs) = self.segment.block(other).call().read();
            let theirs = (CallId::from_bits(theirs), number as u16);
            let Some(own) = self.calls.of((number >> NUMBER_BITS) as u16) else { continue };
            if own != theirs {
                let [me, other] = [self.me, other].map(|one| self.rank_at(one));
                let explanation = CallId::explain_difference((me, own.0), (other, theirs.0));
                let explanation = explanation.unwrap_or_else(|| {
                    format!("rank {me} and rank {other} call {} with unequal lengths", own.0)
                });
                return Err(self.fail(messages, Error::MismatchedCollective { explanation }));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_lengths_have_different_codes() {
        assert_eq!([length_code(0), length_code(32_767)], [0, 32_767]);
        for bytes in [32_768, 1 << 20, 1 << 33] {
            assert!(length_code(bytes) >= 1 << 15);
            assert_ne!(length_code(bytes), length_code(bytes + 8));
        }
    }

    #[test]
    fn the_last_64_calls_are_kept_also_when_their_numbers_wrap() {
        let mut calls = Calls { number: 3, ..Calls::default() };
        calls.remembered[65_535 % REMEMBERED] = (CallId::from_bits(7), 8);
        assert_eq!(calls.of(65_535), Some((CallId::from_bits(7), 8)));
        // Fresh memory holds number 0.
        assert_eq!(calls.of(0), None);
        assert_eq!((calls.of(4), calls.of(3 + 65_472)), (None, None));
    }
}
