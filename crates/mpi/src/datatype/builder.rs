//! The runs and bounds of a type under construction.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::kind::Kind;
use super::layout::{Construction, Datatype, Run};
use super::signature::TypedElement;
use crate::attribute::Attributes;
use crate::error::{Error, ErrorClass, Result};

/// Maximum number of runs of a type: with more the list alone takes gigabytes.
pub(super) const MOST_RUNS: i64 = 1 << 26;

/// The runs and bounds so far.
pub(super) struct Builder {
    runs: Vec<Run>,
    lower: i64,
    upper: i64,
    has_bounds: bool,
    alignment: i64,
    has_fixed_bounds: bool,
}

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            runs: vec![],
            lower: 0,
            upper: 0,
            has_bounds: false,
            alignment: 1,
            has_fixed_bounds: false,
        }
    }

    /// Creates a builder with one basic element.
    pub(super) fn basic(kind: Kind) -> Self {
        let runs = vec![Run { offset: 0, kind, count: 1 }];
        Builder { runs, upper: kind.bytes(), alignment: kind.alignment(), ..Builder::new() }
    }

    fn push(&mut self, run: Run) {
        if run.count == 0 {
            return;
        }
        if let Some(last) = self.runs.last_mut()
            && last.kind == run.kind
            && last.offset + last.bytes() == run.offset
        {
            last.count += run.count;
            return;
        }
        self.runs.push(run);
    }

    /// Adds `count` copies of `part`, the first at `offset`.
    pub(super) fn add(&mut self, offset: i64, count: i64, part: &Datatype) -> Result {
        if count == 0 {
            return Ok(());
        }
        // Refused before a list of gigabytes is created.
        if part.pieces(count) > MOST_RUNS - self.runs.len() as i64 {
            return Err(too_many_runs());
        }
        if part.is_one_run() {
            self.push(Run { offset, count: count * part.runs[0].count, ..part.runs[0] });
        } else {
            for index in 0..count {
                for run in &part.runs {
                    self.push(Run { offset: offset + index * part.extent + run.offset, ..*run });
                }
            }
        }
        self.alignment = self.alignment.max(part.alignment);
        let far = (count - 1) * part.extent;
        let lower = offset + part.lower + far.min(0);
        let upper = offset + part.lower + part.extent + far.max(0);
        self.widen(lower, upper, part);
        Ok(())
    }

    /// Extends the bounds by those of an added part. An empty part has none. Once one part has explicit bounds, only
    /// such bounds count (MPI 5, section 5.1.7).
    fn widen(&mut self, lower: i64, upper: i64, part: &Datatype) {
        if part.has_fixed_bounds == self.has_fixed_bounds {
            if part.runs.is_empty() && !part.has_fixed_bounds {
                return;
            }
            self.lower = if self.has_bounds { self.lower.min(lower) } else { lower };
            self.upper = if self.has_bounds { self.upper.max(upper) } else { upper };
        } else if part.has_fixed_bounds {
            (self.lower, self.upper, self.has_fixed_bounds) = (lower, upper, true);
        }
        self.has_bounds = true;
    }

    /// Extends the extent to the place of the next structure in C.
    pub(super) fn pad(&mut self) {
        if !self.has_fixed_bounds {
            let extent = self.upper - self.lower;
            self.upper =
                self.lower + (extent + self.alignment - 1) / self.alignment * self.alignment;
        }
    }

    pub(super) fn set_bounds(&mut self, lower: i64, extent: i64) {
        (self.lower, self.upper, self.has_fixed_bounds) = (lower, lower + extent, true);
    }

    pub(super) fn finish(self, made: Construction) -> Datatype {
        let size = self.runs.iter().map(Run::bytes).sum();
        let first = self.runs.iter().map(|run| run.offset).min().unwrap_or(0);
        let last = self.runs.iter().map(|run| run.offset + run.bytes()).max().unwrap_or(0);
        let extent = self.upper - self.lower;
        let kind = self.runs.first().map(|run| run.kind);
        Datatype {
            element: TypedElement::of(self.runs.iter().map(|run| (run.kind, run.count))),
            only_kind: kind.filter(|&kind| self.runs.iter().all(|run| run.kind == kind)),
            is_dense: self.runs.len() <= 1 && first == 0 && size == extent,
            runs: self.runs,
            size,
            lower: self.lower,
            extent,
            true_lower: first,
            true_extent: last - first,
            alignment: self.alignment,
            has_fixed_bounds: self.has_fixed_bounds,
            made,
            is_committed: Cell::new(false),
            name: RefCell::default(),
            attributes: Attributes::default(),
            number: Cell::new(0),
        }
    }

    pub(super) fn share(self, made: Construction) -> Rc<Datatype> {
        Rc::new(self.finish(made))
    }
}

#[cold]
pub(super) fn too_many_runs() -> Error {
    let what = format!("a datatype of more than {MOST_RUNS} separate pieces");
    Error::new(ErrorClass::NoMemory, what)
}
