//! The effect of an operation on a member's memory.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use endpoint::{AtomicElement, AtomicOperation, Element, Operation, Reduction};

/// Consecutive bytes of a member's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Offset from the beginning of its memory.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// The effect on the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The operand replaces them; not atomic.
    Replace,
    /// The bytes remain unchanged; not atomic.
    Nothing,
    /// [`Arithmetic::combine`] with this code computes the new values, element by element.
    Combine(u32),
    /// The operand's second half replaces them if they equal its first half. The code names their type.
    CompareAndSwap(u32),
}

/// An operation on a member's memory. The operand is laid out as the bytes of the stretches, one after the other, and
/// so is the fetched data.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// Effect on the bytes.
    pub action: Action,
    /// The bytes.
    pub stretches: &'a [Stretch],
    /// As many bytes; twice as many for [`Action::CompareAndSwap`], none for [`Action::Nothing`].
    pub operand: &'a [u8],
}

/// A face's functions on elements.
#[derive(Clone, Copy)]
pub struct Arithmetic {
    /// Computes `target` = `operand` op `target`, for as many elements, at any address.
    pub combine: fn(code: u32, operand: &[u8], target: &mut [u8]),
    /// Returns 4 or 8 if the elements are integers of that length, which processors update atomically, and otherwise 0.
    pub word_bytes: fn(code: u32) -> usize,
    /// Returns the type of the elements and the operation, if a network may execute it.
    pub atomic: fn(code: u32) -> Option<(AtomicElement, AtomicOperation)>,
}

impl Arithmetic {
    /// The functions for elements and operations of the contract, whose codes [`code`](Arithmetic::code) returns.
    pub const REDUCTIONS: Arithmetic = Arithmetic {
        combine: |code, operand, target| {
            // Invalid requests were refused before.
            let _ = reduction(code).map(|one| one.combine(target, operand));
        },
        word_bytes: |code| match reduction(code).map(|one| one.element) {
            Some(Element::I32) => 4,
            Some(Element::I64 | Element::U64) => 8,
            _ => 0,
        },
        atomic: |code| reduction(code).map(atomic),
    };

    /// Returns the code of a reduction.
    pub fn code(reduction: Reduction) -> u32 {
        let element = Element::ALL.iter().position(|&one| one == reduction.element);
        let operation = Operation::ALL.iter().position(|&one| one == reduction.operation);
        let number = |place: Option<usize>| place.expect("all of them are in the lists") as u32;
        number(element) << 8 | number(operation)
    }
}

fn reduction(code: u32) -> Option<Reduction> {
    let element = Element::ALL.get((code >> 8) as usize)?;
    let operation = Operation::ALL.get((code & 0xff) as usize)?;
    Some(Reduction::new(*element, *operation))
}

fn atomic(of: Reduction) -> (AtomicElement, AtomicOperation) {
    let element = match of.element {
        Element::U8 => AtomicElement::U8,
        Element::I32 => AtomicElement::I32,
        Element::I64 => AtomicElement::I64,
        Element::U64 => AtomicElement::U64,
        Element::F32 => AtomicElement::F32,
        Element::F64 => AtomicElement::F64,
    };
    let operation = match of.operation {
        Operation::Sum => AtomicOperation::Sum,
        Operation::Product => AtomicOperation::Product,
        Operation::Minimum => AtomicOperation::Minimum,
        Operation::Maximum => AtomicOperation::Maximum,
    };
    (element, operation)
}

impl Action {
    /// Returns whether operations with it are atomic with respect to each other, element by element.
    pub(super) fn is_atomic(self) -> bool {
        matches!(self, Action::Combine(_) | Action::CompareAndSwap(_))
    }

    /// Returns the length of the words that it updates, if a processor can update them atomically at this place.
    pub(super) fn word_bytes(self, arithmetic: &Arithmetic, at: NonNull<u8>) -> Option<usize> {
        let (Action::Combine(code) | Action::CompareAndSwap(code)) = self else { return None };
        let bytes = (arithmetic.word_bytes)(code);
        are_words(bytes, at).then_some(bytes)
    }

    /// Computes new values of bytes that nothing else accesses.
    pub(super) fn make(self, arithmetic: &Arithmetic, operand: &[u8], target: &mut [u8]) {
        match self {
            Action::Nothing => {}
            Action::Replace => target.copy_from_slice(operand),
            Action::Combine(code) => (arithmetic.combine)(code, operand, target),
            Action::CompareAndSwap(_) => swap(operand, target),
        }
    }

    /// Returns the length of the operand for `bytes` bytes.
    pub(super) fn operand_bytes(self, bytes: usize) -> usize {
        match self {
            Action::Nothing => 0,
            Action::Replace | Action::Combine(_) => bytes,
            Action::CompareAndSwap(_) => 2 * bytes,
        }
    }
}

/// Replaces bytes that equal the operand's first half by its second half.
#[inline(always)]
pub(super) fn swap(operand: &[u8], target: &mut [u8]) {
    let (compare, new) = operand.split_at(target.len());
    if target == compare {
        target.copy_from_slice(new);
    }
}

/// Returns whether a processor can atomically update words of `word_bytes` bytes (0 for none) at this place.
#[inline(always)]
pub(super) fn are_words(word_bytes: usize, at: NonNull<u8>) -> bool {
    word_bytes != 0 && at.as_ptr().addr() & (word_bytes - 1) == 0
}

/// Updates words, each by one atomic operation. The old words go to `fetched`. Each word has the same share of the
/// operand.
///
/// # Safety
/// The `bytes` bytes at the address are words, which are only accessed by atomics meanwhile.
#[inline(always)]
pub(super) unsafe fn update_words(
    (at, bytes, word_bytes): (NonNull<u8>, usize, usize),
    operand: &[u8],
    mut fetched: Option<&mut [u8]>,
    make: impl Fn(&[u8], &mut [u8]),
) {
    let is_one = bytes == word_bytes;
    let each = if is_one { operand.len() } else { operand.len() / (bytes / word_bytes) };
    for (index, operand) in operand.chunks_exact(each).enumerate().take(bytes / word_bytes) {
        let place = index * word_bytes..(index + 1) * word_bytes;
        let make = |target: &mut [u8]| make(operand, target);
        let mut before = [0; 8];
        // SAFETY: the place is one of the words, and aligned: `Action::word_bytes` has checked.
        unsafe {
            let word = at.add(place.start).as_ptr();
            if word_bytes == 4 {
                let old = update_word_of_4(AtomicU32::from_ptr(word.cast()), make);
                before[..4].copy_from_slice(&old.to_ne_bytes());
            } else {
                let old = update_word_of_8(AtomicU64::from_ptr(word.cast()), make);
                before.copy_from_slice(&old.to_ne_bytes());
            }
        }
        if let Some(fetched) = &mut fetched {
            fetched[place].copy_from_slice(&before[..word_bytes]);
        }
    }
}

macro_rules! update_word {
    ($name:ident, $atomic:ty, $word:ty) => {
        /// Updates a word. The operation is the partner of all others on this word, in one order that all members see.
        #[inline(always)]
        fn $name(word: &$atomic, make: impl Fn(&mut [u8])) -> $word {
            let mut seen = word.load(Ordering::Relaxed);
            loop {
                let mut new = seen.to_ne_bytes();
                make(&mut new);
                let new = <$word>::from_ne_bytes(new);
                if let Err(now) =
                    word.compare_exchange_weak(seen, new, Ordering::AcqRel, Ordering::Acquire)
                {
                    seen = now;
                } else {
                    return seen;
                }
            }
        }
    };
}

update_word!(update_word_of_4, AtomicU32, u32);
update_word!(update_word_of_8, AtomicU64, u64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds words of four bytes.
    const SUMS: Arithmetic = Arithmetic {
        combine: |_, operand, target| {
            for (left, right) in operand.chunks(4).zip(target.chunks_mut(4)) {
                let word = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().unwrap());
                right.copy_from_slice(&word(left).wrapping_add(word(right)).to_ne_bytes());
            }
        },
        word_bytes: |_| 4,
        atomic: |_| None,
    };

    #[test]
    fn words_are_updated_and_fetched_by_one_step_each() {
        let mut words = [5_u32, u32::MAX];
        let at = NonNull::new(words.as_mut_ptr()).unwrap().cast();
        let mut fetched = [0; 8];
        let operand: Vec<u8> = [1_u32, 2].iter().flat_map(|word| word.to_ne_bytes()).collect();
        // SAFETY: two words, which nothing else uses.
        unsafe {
            update_words((at, 8, 4), &operand, Some(&mut fetched), |operand, target| {
                Action::Combine(0).make(&SUMS, operand, target);
            });
        }
        assert_eq!(words, [6, 1]);
        assert_eq!(fetched[..4], 5_u32.to_ne_bytes());
        let (swap, operand) = (Action::CompareAndSwap(0), [6_u32, 9].map(u32::to_ne_bytes));
        for expected in [9, 9] {
            // SAFETY: as above.
            unsafe {
                update_words((at, 4, 4), operand.as_flattened(), None, |operand, target| {
                    swap.make(&SUMS, operand, target);
                });
            }
            assert_eq!(words, [expected, 1]);
        }
    }

    #[test]
    fn only_aligned_words_are_for_processors() {
        let at = |address: usize| NonNull::new(address as *mut u8).unwrap();
        assert_eq!(Action::Combine(0).word_bytes(&SUMS, at(8)), Some(4));
        assert_eq!(Action::Combine(0).word_bytes(&SUMS, at(10)), None);
        assert_eq!(Action::Replace.word_bytes(&SUMS, at(8)), None);
    }

    #[test]
    fn bytes_are_swapped_only_if_they_are_as_expected() {
        let mut target = [1, 2];
        let swap = Action::CompareAndSwap(0);
        swap.make(&SUMS, &[1, 3, 7, 7], &mut target);
        assert_eq!(target, [1, 2]);
        swap.make(&SUMS, &[1, 2, 7, 8], &mut target);
        assert_eq!((target, swap.operand_bytes(2)), ([7, 8], 4));
    }
}
