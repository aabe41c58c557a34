//! RustFFT: for lengths without kernels, for transforms that do not fill the lanes, for double precision, and for
//! comparison.

use std::sync::Arc;

use num_complex::Complex;
use rustfft::Fft;

use super::scalar::Scalar;
use crate::error::check_whole;
use crate::error::{Error, Result};

/// RustFFT with the interface of [`super::BlockFft`], in single or double precision.
pub struct LibraryFft<T: Scalar = f32> {
    length: usize,
    library: Library<T>,
}

impl<T: Scalar> LibraryFft<T> {
    /// Plans forward transforms of `length` points.
    ///
    /// # Errors
    /// [`Error::EmptyTransform`] for a length of zero.
    pub fn new(length: usize) -> Result<Self> {
        if length == 0 {
            return Err(Error::EmptyTransform);
        }
        Ok(LibraryFft { length, library: Library::new(length) })
    }

    /// Transforms `data`, any number of contiguous transforms one after the other, in place.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`] if `data` is not a whole number of transforms.
    pub fn transform(&mut self, data: &mut [Complex<T>]) -> Result<()> {
        check_whole(self.length, data.len())?;
        self.library.transform(data);
        Ok(())
    }
}

pub(super) struct Library<T> {
    pub(super) plan: Arc<dyn Fft<T>>,
    pub(super) scratch: Vec<Complex<T>>,
}

impl<T: Scalar> Library<T> {
    pub(super) fn new(length: usize) -> Self {
        let plan = T::plan_forward(length);
        let needed = plan.get_inplace_scratch_len().max(plan.get_immutable_scratch_len());
        Library { plan, scratch: vec![Complex::new(T::zero(), T::zero()); needed] }
    }

    pub(super) fn transform(&mut self, data: &mut [Complex<T>]) {
        self.plan.process_with_scratch(data, &mut self.scratch);
    }
}
