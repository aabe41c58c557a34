//! What a datatype is, and what can be asked of it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use super::kind::Kind;
use crate::attribute::Attributes;

/// Equal elements, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// From the address that a call is given, in bytes.
    pub offset: i64,
    /// What the elements are.
    pub kind: Kind,
    /// How many there are.
    pub count: i64,
}

impl Run {
    /// Returns the length of all of them.
    #[inline]
    pub fn bytes(&self) -> i64 {
        self.count * self.kind.bytes()
    }
}

/// Whether places and strides count elements or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Extents of the datatype that is combined.
    Elements,
    /// Bytes.
    Bytes,
}

/// Which dimension of an array runs fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last, as in C and Rust.
    RowMajor,
    /// The first, as in Fortran.
    ColumnMajor,
}

/// How one dimension of an array is distributed over processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Not at all: one process has the whole dimension. MPI lets programs give an argument that means nothing.
    None(Option<i64>),
    /// A block for each process, of this length; without one, as equal as can be.
    Block(Option<i64>),
    /// Blocks of this length dealt out in turn; of one element, if nothing is said.
    Cyclic(Option<i64>),
}

/// How a distributed array lies on a grid of processes; each list has an entry for each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// How many processes there are.
    pub size: i64,
    /// Which of them it is whose part the type describes.
    pub rank: i64,
    /// The lengths of the whole array.
    pub lengths: Vec<i64>,
    /// How each dimension is distributed.
    pub distributions: Vec<Distribution>,
    /// Over how many processes.
    pub processes: Vec<i64>,
    /// The order of the array; the grid of processes is always in that of C.
    pub order: Order,
}

/// How a datatype was made.
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

/// Which bytes of memory an element is made of. All lengths are in bytes.
///
/// Types are shared, `Rc<Datatype>`, and never change but for their name, their attributes and whether they are
/// committed.
pub struct Datatype {
    pub(super) runs: Vec<Run>,
    /// Known beforehand, since each reduction asks for it.
    pub(super) only_kind: Option<Kind>,
    pub(super) size: i64,
    pub(super) lower: i64,
    pub(super) extent: i64,
    pub(super) true_lower: i64,
    pub(super) true_extent: i64,
    pub(super) alignment: i64,
    /// True if its bounds were set by hand, so that nothing pads them.
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

    /// Returns where an element begins, from the address that a call is given.
    #[inline]
    pub fn lower(&self) -> i64 {
        self.lower
    }

    /// From one element to the next in an array.
    #[inline]
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Returns where the data of an element begin.
    #[inline]
    pub fn true_lower(&self) -> i64 {
        self.true_lower
    }

    /// From where the data of an element begin to where they end.
    #[inline]
    pub fn true_extent(&self) -> i64 {
        self.true_extent
    }

    /// Returns whether an array of them is nothing but data, without a gap, from the address on.
    #[inline(always)]
    pub fn is_dense(&self) -> bool {
        self.is_dense
    }

    /// Returns what an element is made of, in the order in which it travels.
    #[inline]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns how it was made.
    pub fn made(&self) -> &Construction {
        &self.made
    }

    /// Returns whether messages may be made of it.
    #[inline(always)]
    pub fn is_committed(&self) -> bool {
        self.is_committed.get()
    }

    /// Lets messages be made of it.
    pub fn commit(&self) {
        self.is_committed.set(true);
    }

    /// Its name; of predefined types and new ones it is empty.
    pub fn name(&self) -> String {
        self.name.borrow().clone()
    }

    /// Gives it a name.
    pub fn set_name(&self, name: impl Into<String>) {
        *self.name.borrow_mut() = name.into();
    }

    /// Returns what programs have hung on it.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns a number that whoever stands between this crate and another language may keep with it. Nothing here
    /// looks at it.
    pub fn number(&self) -> usize {
        self.number.get()
    }

    /// Sets that number.
    pub fn set_number(&self, number: usize) {
        self.number.set(number);
    }

    /// Returns the only kind of element, if there is but one.
    #[inline]
    pub fn only_kind(&self) -> Option<Kind> {
        self.only_kind
    }

    /// Returns the value and the index of the pairs that it is made of, if it is made of nothing else.
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

    /// Returns how many runs `count` of them are.
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

    /// Returns how many basic elements `bytes` bytes of such data hold; none if they end inside of one.
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

    /// Returns how many bytes so many basic elements are.
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
