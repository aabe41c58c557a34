//! Call ids: what all members of a collective call must agree on, in one word that they compare.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Algorithm, Collective, Manner};

/// Everything on which the members of a call must agree, except its length: the collective with its form, the manner of
/// the call, the root, the operation of a reduction with the type of its elements, and the algorithm of messages.
///
/// Of a root that the bits do not hold, the lower ones are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallId(u32);

/// A call as its members compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedCall {
    /// Its id.
    pub id: CallId,
    /// Length of all data, or of one block if each member has its own; 0 if members may have different lengths.
    pub bytes: usize,
}

/// The form of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All blocks have the same length.
    EqualBlocks,
    /// Each block has a length of its own.
    UnequalBlocks,
    /// Each block has a datatype of its own.
    UnequalTypes,
    /// Each member exchanges data with its neighbours only.
    Neighbours,
}

/// What a library calls that consists of collectives and has a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryCall {
    /// The barrier at the end of a process's part.
    Finalize,
    /// Duplication of a communicator.
    Duplicate,
    /// Split of a communicator.
    Split,
    /// Creation of a communicator from a group.
    Create,
    /// Merge of the two groups of an intercommunicator.
    Merge,
    /// Creation of a communicator with a graph.
    Graph,
    /// Creation of a window.
    Window,
    /// An operation on a file.
    File,
}

/// The operation of a reduction and the type of its elements, as members compare them: numbers of words in
/// tables of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReductionId {
    operation: u32,
    element: u32,
}

/// Words for operations; number 0 stands for none.
const OPERATIONS: [&str; 16] = [
    "",
    "sum",
    "product",
    "minimum",
    "maximum",
    "bitwise and",
    "bitwise or",
    "bitwise exclusive or",
    "logical and",
    "logical or",
    "logical exclusive or",
    "minimum with its place",
    "maximum with its place",
    "replacement",
    "no operation",
    "the program's operation",
];

/// Words for the types of elements. Number 0 stands for a type that is not compared.
const ELEMENTS: [&str; 16] = [
    "elements",
    "bytes",
    "32-bit integers",
    "64-bit integers",
    "unsigned 64-bit integers",
    "single-precision numbers",
    "double-precision numbers",
    "8-bit integers",
    "16-bit integers",
    "unsigned 16-bit integers",
    "unsigned 32-bit integers",
    "extended-precision numbers",
    "single-precision complex numbers",
    "double-precision complex numbers",
    "extended-precision complex numbers",
    "truth values",
];

/// Words for the calls of [`LibraryCall`], by their numbers.
const LIBRARY_CALLS: [&str; 8] = [
    "MPI_Finalize",
    "duplication of a communicator",
    "split of a communicator",
    "creation of a communicator",
    "merge of two groups",
    "creation of a graph",
    "creation of a window",
    "operation on a file",
];

// Bits from the top: 6 of kind, 2 of manner, 4 of operation, 4 of element, 4 of algorithm, 12 of root. A barrier's may
// have a history in place of operation, element and root. The kind of a collective is its number from 1 on and two
// bits of form; the kinds of the library's calls follow. Fresh memory of zeros is no call.
const ROOT_BITS: u32 = 12;
const ALGORITHM_SHIFT: u32 = ROOT_BITS;
const ELEMENT_SHIFT: u32 = ALGORITHM_SHIFT + 4;
const OPERATION_SHIFT: u32 = ELEMENT_SHIFT + 4;
const MANNER_SHIFT: u32 = OPERATION_SHIFT + 4;
const KIND_SHIFT: u32 = MANNER_SHIFT + 2;
const FIRST_LIBRARY_CALL: u32 = 48;

// Bits of the short form from the top: 5 of collective and algorithm, 5 of reduction, 10 of root.
const SHORT_ROOT_BITS: u32 = 10;
const SHORT_REDUCTION_BITS: u32 = 5;
/// Number of operations in the short form: those of which every fabric knows.
const SHORT_OPERATIONS: u32 = 4;

/// Number of the low bits in which [`CallId::for_tag`] mixes all but the kind.
const MIXED_BITS: u32 = 5;

/// Returns each collective with each of its algorithms.
fn choices() -> impl Iterator<Item = (Collective, Algorithm)> {
    Collective::ALL.into_iter().flat_map(|(collective, _)| {
        collective.algorithms().iter().map(move |&algorithm| (collective, algorithm))
    })
}

impl CallId {
    /// No call: the content of fresh memory.
    pub const NONE: CallId = CallId(0);

    /// Returns the id of a blocking call with equal blocks and without a root.
    #[inline(always)]
    pub const fn of(collective: Collective) -> Self {
        CallId(((collective as u32 + 1) << 2) << KIND_SHIFT)
    }

    /// As [`of`](CallId::of), with a root.
    #[inline(always)]
    pub const fn rooted(collective: Collective, root: usize) -> Self {
        CallId(CallId::of(collective).0 | root as u32 & ((1 << ROOT_BITS) - 1))
    }

    /// Returns the id of a blocking call of the library.
    #[inline(always)]
    pub const fn of_library(call: LibraryCall) -> Self {
        CallId((FIRST_LIBRARY_CALL + call as u32) << KIND_SHIFT)
    }

    /// Returns the id of the call in a form.
    #[inline(always)]
    pub const fn in_form(self, form: Form) -> Self {
        CallId(self.0 | (form as u32) << KIND_SHIFT)
    }

    /// Returns the id of the call in a manner: blocking and non-blocking calls do not match.
    #[inline(always)]
    pub const fn in_manner(self, manner: Manner) -> Self {
        CallId(self.0 | (manner as u32) << MANNER_SHIFT)
    }

    /// Returns the id of the call with a reduction.
    #[inline(always)]
    pub const fn combining(self, ReductionId { operation, element }: ReductionId) -> Self {
        CallId(self.0 | operation << OPERATION_SHIFT | element << ELEMENT_SHIFT)
    }

    /// Returns the id of the call with an algorithm: members that disagree about lengths may select different ones, and
    /// would wait for each other.
    #[inline(always)]
    pub const fn by(self, algorithm: Algorithm) -> Self {
        CallId(self.0 | (algorithm as u32 + 1) << ALGORITHM_SHIFT)
    }

    /// Returns the id of a barrier with bits of a hash of all earlier calls, so that members compare these, too.
    #[inline]
    pub const fn after(self, history: u32) -> Self {
        CallId(self.0 | history & ((1 << MANNER_SHIFT) - 1)).without_algorithm()
    }

    /// Returns the id as a number, which is not 0.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the id with this number. Every number is an id, as another process may have sent it.
    #[inline(always)]
    pub const fn from_bits(bits: u32) -> Self {
        CallId(bits)
    }

    const fn field(self, shift: u32, bits: u32) -> usize {
        (self.0 >> shift) as usize & ((1 << bits) - 1)
    }

    /// Returns the collective, or `None` for a call of the library and for no call.
    pub fn collective(self) -> Option<Collective> {
        let number = self.field(KIND_SHIFT + 2, 4).checked_sub(1)?;
        Collective::ALL.get(number).map(|&(collective, _)| collective)
    }

    fn is_barrier(self) -> bool {
        self.collective() == Some(Collective::Barrier)
    }

    /// Returns whether a library calls it by itself in a call of the program that has another name.
    pub fn is_of_library(self) -> bool {
        self.0 >> KIND_SHIFT >= FIRST_LIBRARY_CALL
    }

    /// Returns the root, if the call has one.
    pub fn root(self) -> Option<usize> {
        self.collective()?.has_root().then(|| self.field(0, ROOT_BITS))
    }

    fn algorithm(self) -> Option<Algorithm> {
        let number = self.field(ALGORITHM_SHIFT, 4).checked_sub(1)?;
        Algorithm::ALL.get(number).map(|&(algorithm, _)| algorithm)
    }

    /// Returns the operation and the type of the elements: numbers 0 if it combines nothing.
    pub fn reduction(self) -> ReductionId {
        let combines = self.collective().is_some_and(Collective::combines);
        let field = |shift| if combines { self.field(shift, 4) } else { 0 };
        ReductionId::new(field(OPERATION_SHIFT), field(ELEMENT_SHIFT))
    }

    /// Returns the name of the collective, in words.
    pub fn name(self) -> &'static str {
        let Some(collective) = self.collective() else {
            let number = (self.0 >> KIND_SHIFT).checked_sub(FIRST_LIBRARY_CALL);
            let name = number.and_then(|number| LIBRARY_CALLS.get(number as usize));
            return name.copied().unwrap_or("no collective");
        };
        match (collective, self.field(KIND_SHIFT, 2)) {
            (Collective::Gather, 1) => "gather of unequal blocks",
            (Collective::Scatter, 1) => "scatter of unequal blocks",
            (Collective::Allgather, 1) => "allgather of unequal blocks",
            (Collective::Allgather, 3) => "neighbourhood allgather",
            (Collective::AllToAll, 1) => "all-to-all of unequal blocks",
            (Collective::AllToAll, 2) => "all-to-all of unequal types",
            (Collective::AllToAll, 3) => "neighbourhood all-to-all",
            (Collective::ReduceScatter, 0) => "reduce-scatter of equal blocks",
            _ => collective.words(),
        }
    }

    /// Returns how two members' calls differ, in a sentence, or `None` if they are the same.
    pub fn explain_difference(
        (me, own): (usize, CallId),
        (other, theirs): (usize, CallId),
    ) -> Option<String> {
        if own == theirs {
            return None;
        }
        let differ_in_history = own.is_barrier() && (own.0 ^ theirs.0) >> MANNER_SHIFT == 0;
        let differ_in_algorithm = own.without_algorithm() == theirs.without_algorithm();
        Some(if differ_in_history {
            format!("rank {me} and rank {other} come to a barrier after different calls or lengths")
        } else if differ_in_algorithm {
            format!("rank {me} is in {own:?}, rank {other} in {theirs:?}")
        } else {
            format!("rank {me} is in {own}, rank {other} in {theirs}")
        })
    }

    /// Returns all but the algorithm.
    const fn without_algorithm(self) -> Self {
        CallId(self.0 & !(0xf << ALGORITHM_SHIFT))
    }

    /// Returns 11 bits for the tags of the call's messages. Calls that differ in their collective, or in one other
    /// property alone, have different bits, except those whose roots have the same lower bits. With 17 further bits,
    /// tags are in the range of every MPI: below 2^28 - 2^20.
    pub const fn for_tag(self) -> u32 {
        let reduction = (5 * self.field(OPERATION_SHIFT, 4)) ^ (11 * self.field(ELEMENT_SHIFT, 4));
        let mixed = self.field(0, MIXED_BITS) ^ (self.field(MANNER_SHIFT, 2) << 3) ^ reduction;
        self.0 >> KIND_SHIFT << MIXED_BITS | mixed as u32 & ((1 << MIXED_BITS) - 1)
    }

    /// Returns the id of a blocking call by an algorithm in 20 bits.
    ///
    /// # Panics
    /// If it has no algorithm, or a reduction that not every fabric knows.
    pub fn to_short(self) -> u32 {
        let choice = self.collective().zip(self.algorithm());
        let place = choice.and_then(|choice| choices().position(|one| one == choice));
        let place = place.expect("a collective is made by an algorithm of its own") as u32;
        let ReductionId { operation, element } = self.reduction();
        let words = OPERATIONS[operation as usize];
        assert!(operation <= SHORT_OPERATIONS, "the {words} has no short form");
        let reduction = element * SHORT_OPERATIONS + operation;
        let root = self.field(0, SHORT_ROOT_BITS) as u32;
        (place << SHORT_REDUCTION_BITS | reduction) << SHORT_ROOT_BITS | root
    }

    /// Returns the id with this short form, or `None` if there is none.
    pub fn from_short(bits: u32) -> Option<Self> {
        let root = bits as usize & ((1 << SHORT_ROOT_BITS) - 1);
        let reduction = (bits >> SHORT_ROOT_BITS) & ((1 << SHORT_REDUCTION_BITS) - 1);
        let place = bits >> (SHORT_ROOT_BITS + SHORT_REDUCTION_BITS);
        let (collective, algorithm) = choices().nth(place as usize)?;
        let id = CallId::rooted(collective, root).by(algorithm);
        Some(match reduction.checked_sub(1) {
            Some(code) => id.combining(ReductionId {
                operation: 1 + code % SHORT_OPERATIONS,
                element: code / SHORT_OPERATIONS,
            }),
            None => id,
        })
    }
}

impl fmt::Display for CallId {
    /// Writes words for all but the algorithm.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let manner = ["", "non-blocking ", "persistent ", ""][self.field(MANNER_SHIFT, 2)];
        write!(f, "{manner}{}", self.name())?;
        let reduction = self.reduction();
        if reduction.operation != 0 {
            write!(f, " ({reduction})")?;
        }
        self.root().map_or(Ok(()), |root| write!(f, " with root {root}"))
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.algorithm().map_or(String::new(), |one| format!(" by {}", one.name()));
        write!(f, "{self}{by}")
    }
}

impl fmt::Display for ReductionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operation, element) = (self.operation as usize, self.element as usize);
        write!(f, "{} of {}", OPERATIONS[operation], ELEMENTS[element])
    }
}

impl From<CallId> for AgreedCall {
    /// Returns a call whose length is not compared.
    fn from(id: CallId) -> Self {
        AgreedCall { id, bytes: 0 }
    }
}

impl ReductionId {
    /// Returns the id of a reduction by the operation and on the elements of these numbers, which are below 16.
    #[inline(always)]
    pub const fn new(operation: usize, element: usize) -> Self {
        ReductionId { operation: operation as u32 & 0xf, element: element as u32 & 0xf }
    }

    /// Returns the number of the operation, from 1 on.
    #[inline(always)]
    pub const fn operation(self) -> usize {
        self.operation as usize
    }

    /// Returns the number of the type of the elements, or 0 for one that is not compared.
    #[inline(always)]
    pub const fn element(self) -> usize {
        self.element as usize
    }
}

#[cfg(test)]
mod tests;
