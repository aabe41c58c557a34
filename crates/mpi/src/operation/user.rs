//! Operations of programs.

use std::fmt;
use std::rc::Rc;

use crate::datatype::{Datatype, Element};
use crate::memory::Memory;

/// An operation of a program.
///
/// It must be associative: elements are combined in the order of the ranks, but in groups of any size.
pub trait UserOperation {
    /// Computes `inout` = `input` op `inout`, element by element. Both have as many elements of one datatype.
    fn apply(&self, input: &Memory, inout: &Memory);
}

/// An operation on packed elements.
struct OfBytes<F>(F);

impl<F: Fn(&[u8], &mut [u8], &Rc<Datatype>)> UserOperation for OfBytes<F> {
    fn apply(&self, input: &Memory, inout: &Memory) {
        let mut combined = inout.packed();
        (self.0)(&input.packed(), &mut combined, inout.of());
        inout.unpack_from(&combined);
    }
}

/// A program's operation, and whether it commutes.
pub(super) struct User {
    pub(super) function: Box<dyn UserOperation>,
    pub(super) commutes: bool,
}

impl User {
    pub(super) fn of_bytes(
        commutes: bool,
        function: impl Fn(&[u8], &mut [u8], &Rc<Datatype>) + 'static,
    ) -> Self {
        User { function: Box::new(OfBytes(function)), commutes }
    }

    pub(super) fn of_elements<T: Element>(
        commutes: bool,
        function: impl Fn(T, T) -> T + 'static,
    ) -> Self {
        User::of_bytes(commutes, move |input, inout, _| {
            let bytes = size_of::<T>();
            for (left, right) in input.chunks_exact(bytes).zip(inout.chunks_exact_mut(bytes)) {
                let result = function(T::from_bytes(left), T::from_bytes(right));
                result.to_bytes(right);
            }
        })
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("commutes", &self.commutes).finish_non_exhaustive()
    }
}
