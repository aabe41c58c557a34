//! The collective that each rank is in. Every call is numbered, and its number and call id are visible to all ranks. So
//! a waiting rank can find out that another is in a different call, instead of waiting for ever.

use collectives::plan::Collective;
use contract::{Error, Reduction, Result};

use super::Engine;

/// Number of its own calls that a rank keeps, to compare them with ranks that are behind it.
const REMEMBERED: usize = 64;

// Bits of a call id from the top: 4 of collective, 5 of reduction, 1 if it was started, 10 of root, 12 that depend on
// the length.
const LENGTH_BITS: u32 = 12;
const ROOT_BITS: u32 = 10;
const STARTED: u32 = 1 << (LENGTH_BITS + ROOT_BITS);
const REDUCTION_BITS: u32 = 5;
/// In place of the reduction, of which there are fewer.
const AT_THE_END: u32 = ((1 << REDUCTION_BITS) - 1) << (1 + ROOT_BITS + LENGTH_BITS);

/// Returns the call id: everything that all ranks must agree on in one call, in 32 bits.
#[inline]
pub(crate) fn call_id(
    collective: Collective,
    root: usize,
    reduction: Option<Reduction>,
    bytes: usize,
) -> u32 {
    let reduction = reduction.map_or(0, |one| 1 + one.element as u32 * 4 + one.operation as u32);
    // Small lengths are kept as they are, so that near ones differ; others are mixed.
    let length = (bytes ^ bytes.wrapping_mul(0x9e37_79b9) >> LENGTH_BITS) as u32;
    ((collective as u32 + 1) << REDUCTION_BITS | reduction) << (1 + ROOT_BITS + LENGTH_BITS)
        | (root as u32) << LENGTH_BITS
        | length & ((1 << LENGTH_BITS) - 1)
}

/// Returns the id of the same call as a started (non-blocking) one, which does not match a blocking one.
#[inline]
pub(crate) fn when_started(call_id: u32) -> u32 {
    call_id | STARTED
}

/// Returns the id of a barrier as the one at the end of a rank's part, which no program calls as a barrier.
#[inline]
pub(crate) fn at_the_end(call_id: u32) -> u32 {
    call_id | AT_THE_END
}

/// Returns the name of the collective of a call id.
fn name(call_id: u32) -> &'static str {
    // No call has number 0, which fresh memory holds.
    let index = ((call_id >> 28) as usize).wrapping_sub(1);
    Collective::ALL.get(index).map_or("no collective", |(_, name)| name)
}

/// Describes a call id in words.
pub(crate) fn describe(call_id: u32) -> String {
    if call_id & AT_THE_END == AT_THE_END {
        return "MPI_Finalize".into();
    }
    let name = name(call_id);
    let root = (call_id >> LENGTH_BITS) & ((1 << ROOT_BITS) - 1);
    let reduction = (call_id >> (1 + ROOT_BITS + LENGTH_BITS)) & ((1 << REDUCTION_BITS) - 1);
    let mut words = if call_id & STARTED == 0 { String::new() } else { "non-blocking ".into() };
    words += &name.replace('_', "-");
    if let Some(code) = reduction.checked_sub(1) {
        let element = contract::Element::ALL[code as usize / 4 % 6];
        let operation = contract::Operation::ALL[code as usize % 4];
        words += &format!(" ({})", Reduction::new(element, operation));
    }
    if ["broadcast", "scatter", "gather", "reduce"].contains(&name) {
        words += &format!(" with root {root}");
    }
    words
}

/// This rank's own calls.
pub(super) struct Calls {
    number: u32,
    /// Hash of all calls so far.
    history: u32,
    remembered: [u32; REMEMBERED],
}

impl Default for Calls {
    fn default() -> Self {
        Calls { number: 0, history: 0, remembered: [0; REMEMBERED] }
    }
}

impl Calls {
    /// Returns the id of call `number` if it is kept.
    fn of(&self, number: u32) -> Option<u32> {
        let age = self.number.wrapping_sub(number);
        (number != 0 && (age as usize) < REMEMBERED)
            .then(|| self.remembered[number as usize % REMEMBERED])
    }
}

impl Engine {
    /// Begins a collective.
    #[inline]
    pub(crate) fn enter(&mut self, call_id: u32) {
        let calls = &mut self.calls;
        calls.number = calls.number.wrapping_add(1);
        calls.history = (calls.history ^ call_id).wrapping_mul(0x85eb_ca6b).rotate_left(13);
        calls.remembered[calls.number as usize % REMEMBERED] = call_id;
        self.segment.block(self.me).call().publish(calls.number, call_id);
    }

    /// Begins a barrier. Its call id so far holds no root and length; returns its call id with a hash of all earlier
    /// calls. A rank that alone took itself for the root of a broadcast has waited for nobody, and the barrier detects
    /// that.
    #[inline]
    pub(crate) fn enter_barrier(&mut self, call_id: u32) -> u32 {
        let own = call_id | self.calls.history & ((1 << (ROOT_BITS + LENGTH_BITS)) - 1);
        self.enter(own);
        own
    }

    /// Compares the other ranks' calls with this rank's own.
    pub(super) fn check_calls(&mut self) -> Result<()> {
        for rank in 0..self.size() {
            let (number, theirs) = self.segment.block(rank).call().read();
            let Some(own) = self.calls.of(number) else { continue };
            if own != theirs {
                let [me, other] = [self.me, rank].map(|one| self.name_of(one));
                let error = mismatch(me, own, other, theirs);
                return Err(self.fail(error));
            }
        }
        Ok(())
    }
}

/// Returns the error that names the ranks and their calls.
pub(crate) fn mismatch(rank: usize, own: u32, other: usize, theirs: u32) -> Error {
    let (own, theirs) = (describe(own), describe(theirs));
    let explanation = if own == theirs && own.ends_with("barrier") {
        format!("rank {rank} and rank {other} come to a barrier after different calls or lengths")
    } else if own == theirs {
        format!("rank {rank} and rank {other} call {own} with unequal lengths")
    } else {
        format!("rank {rank} is in {own}, rank {other} in {theirs}")
    };
    Error::MismatchedCollective { explanation }
}

/// Returns whether two calls differ at most in their length.
pub(crate) fn differ_in_length_only(one: u32, other: u32) -> bool {
    one >> LENGTH_BITS == other >> LENGTH_BITS
}

/// Returns the error of two calls that differ in nothing but their length.
pub(crate) fn unequal_lengths(
    own: u32,
    expected_bytes: usize,
    other: usize,
    theirs: u32,
    found_bytes: usize,
) -> Option<Error> {
    let same = differ_in_length_only(own, theirs) && expected_bytes != found_bytes;
    let what = format!("the data of rank {other}");
    same.then_some(Error::UnequalCounts {
        collective: name(own),
        what,
        expected_bytes,
        found_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_id_shows_the_difference_between_calls() {
        let of = |root, bytes| call_id(Collective::Reduce, root, Some(Reduction::SUM_F64), bytes);
        assert_eq!(
            describe(of(1023, 8)),
            "reduce (sum of double-precision numbers) with root 1023"
        );
        assert_ne!(of(0, 80), of(0, 88));
        assert_ne!(of(0, 8), of(1, 8));
        assert_ne!(of(0, 8), call_id(Collective::Allreduce, 0, Some(Reduction::SUM_F64), 8));
        let all_to_all = call_id(Collective::AllToAll, 0, None, 7);
        assert_eq!(describe(all_to_all), "all-to-all");
        assert_eq!(describe(when_started(all_to_all)), "non-blocking all-to-all");
        assert_eq!(
            describe(when_started(of(5, 8))),
            "non-blocking reduce (sum of double-precision numbers) with root 5"
        );
        let barrier = call_id(Collective::Barrier, 0, None, 0);
        assert_eq!(
            (&*describe(barrier), &*describe(at_the_end(barrier))),
            ("barrier", "MPI_Finalize")
        );
        assert!(!differ_in_length_only(of(0, 8), when_started(of(0, 8))));
    }
}
