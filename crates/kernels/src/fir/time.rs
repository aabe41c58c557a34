//! The filter by its definition, with many points of the output at once.

use num_complex::Complex32;

use super::{check_output, check_taps};
use crate::dispatch::dispatched;
use crate::error::Result;
use crate::instructions::Instructions;
use crate::lanes::{Complexes, Vector};

/// Number of vectors of output points that one pass over the taps computes: with real and imaginary parts eight sums,
/// which hide the latency of the multiply-add.
const TOGETHER: usize = 4;
/// Number of points of the widest pass.
const PASS_MAX: usize = TOGETHER * 16;

/// A filter in the time domain.
pub struct TimeFir {
    taps: Vec<Complex32>,
    /// The input, with zeros before it for the first points and after it for the last pass.
    re: Vec<f32>,
    im: Vec<f32>,
    instructions: Instructions,
}

impl TimeFir {
    /// Creates a filter with these taps.
    ///
    /// # Errors
    /// [`Error::NoTaps`](crate::Error::NoTaps).
    pub fn new(taps: &[Complex32]) -> Result<Self> {
        Self::with_instructions(taps, Instructions::best())
    }

    /// As [`new`](Self::new), with vector instructions of the caller's choice.
    ///
    /// # Errors
    /// Also [`Error::NoInstructions`](crate::Error::NoInstructions).
    pub fn with_instructions(taps: &[Complex32], instructions: Instructions) -> Result<Self> {
        check_taps(taps)?;
        let instructions = crate::error::check_instructions(instructions)?;
        Ok(TimeFir { taps: taps.to_vec(), re: Vec::new(), im: Vec::new(), instructions })
    }

    /// Filters `input` into the first `output.len()` points.
    ///
    /// # Errors
    /// [`Error::WrongLength`](crate::Error::WrongLength) if there are not so many.
    pub fn filter(&mut self, input: &[Complex32], output: &mut [Complex32]) -> Result<()> {
        check_output(input.len(), self.taps.len(), output.len())?;
        let before = self.taps.len() - 1;
        let points = before + output.len().next_multiple_of(PASS_MAX).max(input.len());
        for (parts, part) in
            [(&mut self.re, (|x| x.re) as fn(&Complex32) -> f32), (&mut self.im, |x| x.im)]
        {
            parts.clear();
            parts.resize(before, 0.0);
            parts.extend(input.iter().map(part));
            parts.resize(points, 0.0);
        }
        let mut rest = [Complex32::default(); PASS_MAX];
        let whole = output.len() - output.len() % PASS_MAX;
        let (passes, end) = output.split_at_mut(whole);
        // SAFETY: the instructions were checked. Both parts have zeros for the points before, and extend to the end of
        // the last pass; `rest` takes the points that `output` has no room for.
        unsafe {
            run(self.instructions, &self.taps, &self.re, &self.im, passes);
            if !end.is_empty() {
                run(self.instructions, &self.taps, &self.re[whole..], &self.im[whole..], &mut rest);
            }
        }
        end.copy_from_slice(&rest[..end.len()]);
        Ok(())
    }
}

dispatched! {
    /// Computes `output`, whole passes of points, from the real and imaginary parts of the input.
    unsafe fn run(taps: &[Complex32], re: &[f32], im: &[f32], output: &mut [Complex32]) = passes
}

/// Computes the points of whole passes.
///
/// # Safety
/// The processor has the instructions; `output` is a multiple of [`PASS_MAX`] points, and `re` and `im` have `taps - 1`
/// numbers more than it has points.
#[inline(always)]
unsafe fn passes<V: Complexes + Vector<Element = f32>>(
    taps: &[Complex32],
    re: &[f32],
    im: &[f32],
    output: &mut [Complex32],
) {
    let before = taps.len() - 1;
    debug_assert!(re.len() >= before + output.len() && im.len() >= before + output.len());
    let pass = TOGETHER * V::COUNT;
    for (number, output) in output.chunks_exact_mut(pass).enumerate() {
        // SAFETY: a point `start + lane` of the output reads the numbers from it to `before` after it, which exist; an
        // interleaved pair of vectors is as long as the output's points.
        unsafe {
            let zero = V::splat(0.0);
            let (mut sums_re, mut sums_im) = ([zero; TOGETHER], [zero; TOGETHER]);
            let start = number * pass + before;
            for (k, tap) in taps.iter().enumerate() {
                let (tap_re, tap_im) = (V::splat(tap.re), V::splat(tap.im));
                let (re, im) = (re.as_ptr().add(start - k), im.as_ptr().add(start - k));
                for at in 0..TOGETHER {
                    let (x, y) = (V::load(re.add(at * V::COUNT)), V::load(im.add(at * V::COUNT)));
                    sums_re[at] = y.neg_mul_add(tap_im, x.mul_add(tap_re, sums_re[at]));
                    sums_im[at] = y.mul_add(tap_re, x.mul_add(tap_im, sums_im[at]));
                }
            }
            let to = output.as_mut_ptr().cast::<f32>();
            for at in 0..TOGETHER {
                let (low, high) = V::interleave_in_order(sums_re[at], sums_im[at]);
                low.store(to.add(2 * at * V::COUNT));
                high.store(to.add((2 * at + 1) * V::COUNT));
            }
        }
    }
}
