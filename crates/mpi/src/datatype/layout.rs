//! The layout of a datatype, and its queries.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use super::kind::Kind;
use super::signature::{Signature, TypedElement};
use crate::attribute::Attributes;

/// Consecutive equal elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offset from the address of the call, in bytes.
    pub offset: i64,
    /// Kind of the elements.
    pub kind: Kind,
    /// Number of elements.
    pub count: i64,
}

impl Run {
    /// Returns their total length.
    #[inline]
    pub fn bytes(&self) -> i64 {
        self.count * self.kind.bytes()
    }
}

/// The unit of places and strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Extents of the datatype that is combined.
    Elements,
    /// Bytes.
    Bytes,
}

/// The dimension of an array that varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last, as in C and Rust.
    RowMajor,
    /// The first, as in Fortran.
    ColumnMajor,
}

/// The distribution of one dimension of an array over processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Not distributed: one process has the whole dimension. MPI permits an argument without a meaning.
    None(Option<i64>),
    /// A block for each process, of this length; without one, as equal as possible.
    Block(Option<i64>),
    /// Blocks of this length in turn; of one element if no length is given.
    Cyclic(Option<i64>),
}

/// The distribution of an array over a grid of processes; each list has an entry for each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Number of processes.
    pub size: i64,
    /// The process whose part the type describes.
    pub rank: i64,
    /// Lengths of the whole array.
    pub lengths: Vec<i64>,
    /// Distribution of each dimension.
    pub distributions: Vec<Distribution>,
    /// Number of processes along each dimension.
    pub processes: Vec<i64>,
    /// Order of the array; the grid of processes is always in that of C.
    pub order: Order,
}

/// The construction of a datatype.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The arguments of the constructors of the same names, which say what they mean.
pub enum Construction {
    Basic(Kind),
    /// A value and an index, as `Predefined::MinimumAt` and `MaximumAt` combine them.
    Pair(Kind, Kind),
    Duplicate(Rc<Datatype>),
    Contiguous {
        count: i64,
        of: Rc<Datatype>,
    },
    Vector {
        count: i64,
        length: i64,
        stride: i64,
        unit: Unit,
        of: Rc<Datatype>,
    },
    Indexed {
        lengths: Vec<i64>,
        places: Vec<i64>,
        unit: Unit,
        of: Rc<Datatype>,
    },
    IndexedBlock {
        length: i64,
        places: Vec<i64>,
        unit: Unit,
        of: Rc<Datatype>,
    },
    Structure {
        lengths: Vec<i64>,
        places: Vec<i64>,
        of: Vec<Rc<Datatype>>,
    },
    Subarray {
        sizes: Vec<i64>,
        parts: Vec<i64>,
        starts: Vec<i64>,
        order: Order,
        of: Rc<Datatype>,
    },
    Distributed {
        spread: Spread,
        of: Rc<Datatype>,
    },
    Resized {
        lower: i64,
        extent: i64,
        of: Rc<Datatype>,
    },
    FortranReal {
        digits: Option<i32>,
        range: Option<i32>,
    },
    FortranComplex {
        digits: Option<i32>,
        range: Option<i32>,
    },
    FortranInteger {
        range: Option<i32>,
    },
}

/// The bytes of memory that form an element. All lengths are in bytes.
///
/// Types are shared, `Rc<Datatype>`, and only their name, their attributes and their commitment ever change.
pub struct Datatype {
    pub(super) runs: Vec<Run>,
    /// Computed in advance, since each reduction needs it.
    pub(super) only_kind: Option<Kind>,
    pub(super) element: TypedElement,
    pub(super) size: i64,
    pub(super) lower: i64,
    pub(super) extent: i64,
    pub(super) true_lower: i64,
    pub(super) true_extent: i64,
    pub(super) alignment: i64,
    /// True if its bounds are explicit, so that nothing pads them.
    pub(super) has_fixed_bounds: bool,
    pub(super) is_dense: bool,
    pub(super) made: Construction,
    pub(super) is_committed: Cell<bool>,
    pub(super) name: RefCell<String>,
    pub(super) attributes: Attributes,
    pub(super) number: Cell<usize>,
}

impl Datatype {
    /// Returns the length of the data in one element.
    #[inline(always)]
    pub fn size(&self) -> i64 {
        self.size
    }

    /// Returns the offset of an element's beginning from the address of a call.
    #[inline]
    pub fn lower(&self) -> i64 {
        self.lower
    }

    /// Returns the distance between elements of an array.
    #[inline]
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Returns the offset of the data of an element.
    #[inline]
    pub fn true_lower(&self) -> i64 {
        self.true_lower
    }

    /// Returns the distance from the beginning to the end of an element's data.
    #[inline]
    pub fn true_extent(&self) -> i64 {
        self.true_extent
    }

    /// Returns whether an array of them is contiguous data from the address on.
    #[inline(always)]
    pub fn is_dense(&self) -> bool {
        self.is_dense
    }

    /// Returns the runs of an element in the order in which they are transferred.
    #[inline]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns its construction.
    pub fn made(&self) -> &Construction {
        &self.made
    }

    /// Returns whether it is committed, so that messages may use it.
    #[inline(always)]
    pub fn is_committed(&self) -> bool {
        self.is_committed.get()
    }

    /// Commits it, so that messages may use it.
    pub fn commit(&self) {
        self.is_committed.set(true);
    }

    /// Returns its name, which is empty for predefined and new types.
    pub fn name(&self) -> String {
        self.name.borrow().clone()
    }

    /// Sets its name.
    pub fn set_name(&self, name: impl Into<String>) {
        *self.name.borrow_mut() = name.into();
    }

    /// Returns the attributes that programs have attached to it.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns a number that the interface to another language may keep with it. Nothing in this crate uses it.
    pub fn number(&self) -> usize {
        self.number.get()
    }

    /// Sets that number.
    pub fn set_number(&self, number: usize) {
        self.number.set(number);
    }

    /// Returns the kind of its elements if all have the same.
    #[inline]
    pub fn only_kind(&self) -> Option<Kind> {
        self.only_kind
    }

    /// Returns the signature of `count` elements.
    #[inline]
    pub fn signature(&self, count: i64) -> Signature {
        self.element.signature(count)
    }

    /// Returns the class of its elements, for [`Signature::of_received`].
    #[inline]
    pub fn class(&self) -> u8 {
        self.element.class()
    }

    /// Returns the signature of the first bytes of an array of them.
    #[inline]
    pub(crate) fn signature_of_bytes(&self, bytes: usize) -> Signature {
        self.element.signature_of_bytes(self.size as usize, bytes)
    }

    /// Returns the kinds of value and index if it consists of such pairs only.
    pub(crate) fn only_pair(&self) -> Option<(Kind, Kind)> {
        use Construction as How;
        match &self.made {
            How::Pair(value, index) => Some((*value, *index)),
            How::Duplicate(of)
            | How::Contiguous { of, .. }
            | How::Vector { of, .. }
            | How::Indexed { of, .. }
            | How::IndexedBlock { of, .. }
            | How::Subarray { of, .. }
            | How::Distributed { of, .. }
            | How::Resized { of, .. } => of.only_pair(),
            How::Structure { of, .. } => {
                let first = of.first()?.only_pair()?;
                of.iter().all(|one| one.only_pair() == Some(first)).then_some(first)
            }
            _ => None,
        }
    }

    /// Returns the number of runs of `count` elements.
    pub(super) fn pieces(&self, count: i64) -> i64 {
        if self.is_one_run() { 1 } else { count.saturating_mul(self.runs.len() as i64) }
    }

    /// Returns whether an array of them is one run.
    pub(super) fn is_one_run(&self) -> bool {
        self.is_dense && self.runs.len() == 1
    }

    fn elements_in_one(&self) -> i64 {
        self.runs.iter().map(|run| run.count).sum()
    }

    /// Returns the number of basic elements in `bytes` bytes of such data, or `None` if they end inside of one.
    pub fn elements_in(&self, bytes: i64) -> Option<i64> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let mut elements = bytes / self.size * self.elements_in_one();
        let mut left = bytes % self.size;
        for run in &self.runs {
            let here = left.min(run.bytes());
            if here % run.kind.bytes() != 0 {
                return None;
            }
            elements += here / run.kind.bytes();
            left -= here;
        }
        Some(elements)
    }

    /// Returns the length in bytes of this number of basic elements.
    pub fn bytes_of_elements(&self, elements: i64) -> i64 {
        let each = self.elements_in_one();
        if each == 0 {
            return 0;
        }
        let mut bytes = elements / each * self.size;
        let mut left = elements % each;
        for run in &self.runs {
            let here = left.min(run.count);
            bytes += here * run.kind.bytes();
            left -= here;
        }
        bytes
    }
}

impl fmt::Debug for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Datatype")
            .field("runs", &self.runs)
            .field("lower", &self.lower)
            .field("extent", &self.extent)
            .finish_non_exhaustive()
    }
}
