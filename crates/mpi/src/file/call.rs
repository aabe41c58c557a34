//! A call that moves data, with checked arguments.

use std::rc::Rc;

use super::tile::DataRange;
use super::view::View;
use crate::error::{Error, ErrorClass, Result, ensure};

/// A range of the data that a view shows.
pub(super) struct Call {
    pub(super) view: Rc<View>,
    pub(super) range: DataRange,
}

/// Memory for data that are read, or data that are written.
pub(super) enum Buffer<'a> {
    In(&'a mut [u8]),
    Out(&'a [u8]),
}

impl Call {
    /// Creates a call on `bytes` bytes from an etype of a view on.
    pub(super) fn new(view: Rc<View>, start: i64, bytes: i64) -> Result<Self> {
        ensure!(start >= 0, ErrorClass::Argument, "an offset of {start}");
        let from = start.checked_mul(view.etype_bytes());
        let from = from.filter(|from| from.checked_add(bytes).is_some());
        let far = || Error::new(ErrorClass::Argument, format!("an offset of {start}"));
        Ok(Call { range: DataRange { from: from.ok_or_else(far)?, bytes }, view })
    }

    /// Creates a call without data.
    pub(super) fn of_nothing(view: Rc<View>) -> Self {
        Call { view, range: DataRange { from: 0, bytes: 0 } }
    }
}
