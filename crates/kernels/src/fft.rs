//! Fast Fourier transforms of many short vectors at once: the block FFT.
//!
//! A library call for one transform of 8 points spends its time on everything but the 8 points. The block FFT (Games and
//! others, "Benchmarking methodology for real-time embedded scalable high performance computing", MITRE 1995, section
//! 3.2) carries every stage over many transforms, here one to each vector lane, so that short transforms run near
//! the rate of long ones.

mod butterfly;
mod kernels;
mod tile;

use std::sync::Arc;

use num_complex::Complex;
use rustfft::{Fft, FftPlanner};

pub use kernels::Real;

use crate::error::check_length;
use crate::{Error, Instructions, Result};
use kernels::Kernels;
use tile::Job;

/// Nominal floating-point operations of one complex transform of `length` points: 5 N log2 N, whatever an algorithm
/// really needs (MITRE 1995, equation 3-1).
pub fn nominal_operations(length: usize) -> f64 {
    let n = length as f64;
    if length < 2 { 0.0 } else { 5.0 * n * n.log2() }
}

/// Where the points of a batch of transforms lie in a slice: point n of transform t at `t * distance + n * stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// How many transforms.
    pub batch: usize,
    /// Elements from one point to the next.
    pub stride: usize,
    /// Elements from one transform to the next.
    pub distance: usize,
}

/// A plan for batches of forward transforms of one length.
///
/// Planning allocates; transforming never does. Lengths 2, 4, ..., 128 run as many transforms at once as vectors have
/// lanes; all others go to RustFFT, one transform after the other.
pub struct BlockFft<T: Real> {
    length: usize,
    instructions: Instructions,
    method: Method<T>,
    scratch: Vec<Complex<T>>,
}

enum Method<T: Real> {
    Block { kernels: Kernels<T>, roots: Vec<Complex<T>> },
    Library { plan: Arc<dyn Fft<T>>, library_scratch: Vec<Complex<T>> },
}

impl<T: Real> BlockFft<T> {
    /// Plans transforms of `length` points with the widest instructions of this processor.
    ///
    /// # Errors
    /// [`Error::EmptyTransform`] for a length of zero.
    pub fn new(length: usize) -> Result<Self> {
        BlockFft::with_instructions(length, Instructions::best())
    }

    /// As [`BlockFft::new`], with chosen instructions (which RustFFT chooses for itself).
    ///
    /// # Errors
    /// [`Error::NoInstructions`] if this processor lacks them.
    pub fn with_instructions(length: usize, instructions: Instructions) -> Result<Self> {
        if length == 0 {
            return Err(Error::EmptyTransform);
        }
        let method = match T::kernels(length, instructions.checked()?) {
            Some(kernels) => Method::Block { kernels, roots: tile::roots(length) },
            None => {
                let plan = FftPlanner::new().plan_fft_forward(length);
                let zero = Complex::new(T::zero(), T::zero());
                let library_scratch = vec![zero; plan.get_inplace_scratch_len()];
                Method::Library { plan, library_scratch }
            }
        };
        let zero = Complex::new(T::zero(), T::zero());
        let scratch = vec![zero; method.tile() * length];
        Ok(BlockFft { length, instructions, method, scratch })
    }

    /// The points of one transform.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The instructions of the kernels.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Whether the length has kernels of its own, that is, does not go to RustFFT.
    pub fn is_blocked(&self) -> bool {
        matches!(self.method, Method::Block { .. })
    }

    /// Transforms `data`, any number of contiguous transforms one after the other, in place.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`] if `data` is not a whole number of transforms.
    pub fn transform(&mut self, data: &mut [Complex<T>]) -> Result<()> {
        if !data.len().is_multiple_of(self.length) {
            return Err(Error::BrokenTransform { length: self.length, found: data.len() });
        }
        match &mut self.method {
            Method::Block { kernels, roots } => {
                let whole = data.len() - data.len() % (kernels.rows_per_tile * self.length);
                let (tiles, rest) = data.split_at_mut(whole);
                run_rows(kernels, roots, self.length, tiles);
                if !rest.is_empty() {
                    // What the scratch holds beyond the rest is transformed too, and never read.
                    self.scratch[..rest.len()].copy_from_slice(rest);
                    self.scratch[rest.len()..].fill(Complex::new(T::zero(), T::zero()));
                    run_rows(kernels, roots, self.length, &mut self.scratch);
                    rest.copy_from_slice(&self.scratch[..rest.len()]);
                }
            }
            Method::Library { plan, library_scratch } => {
                plan.process_with_scratch(data, library_scratch);
            }
        }
        Ok(())
    }

    /// Transforms every column of `matrix`, of which the points lie `columns` elements apart, in place.
    ///
    /// # Errors
    /// [`Error::WrongLength`] if `matrix` has not exactly as many rows as a transform has points.
    pub fn transform_columns(&mut self, matrix: &mut [Complex<T>], columns: usize) -> Result<()> {
        check_length("the matrix of columns", self.length * columns, matrix.len())?;
        self.transform_strided(matrix, Strided { batch: columns, stride: columns, distance: 1 })
    }

    /// Transforms a batch that lies in `data` as `layout` says, in place. Elements between its points stay as they are.
    ///
    /// Fast where transforms are contiguous (stride 1) or side by side (distance 1).
    ///
    /// # Errors
    /// [`Error::Overlap`] if two points would share an element, [`Error::WrongLength`] if `data` ends before the last point.
    pub fn transform_strided(&mut self, data: &mut [Complex<T>], layout: Strided) -> Result<()> {
        let Strided { batch, stride, distance } = layout;
        if batch == 0 {
            return Ok(());
        }
        self.check_layout(data.len(), layout)?;
        if stride == 1 && distance == self.length {
            return self.transform(&mut data[..batch * self.length]);
        }
        let mut done = 0;
        if let Method::Block { kernels, roots } = &self.method
            && distance == 1
        {
            done = batch - batch % kernels.lanes;
            let job = Job {
                input: data.as_ptr().cast(),
                output: data.as_mut_ptr().cast(),
                tiles: done / kernels.lanes,
                input_pitch: 2 * stride,
                output_pitch: 2 * stride,
                roots: roots.as_ptr(),
            };
            // SAFETY: the layout was checked: `length` rows, `stride` apart, of at least `done` columns lie in `data`, and
            // the plan was made for instructions that the processor has.
            unsafe { (kernels.columns)(&job) };
        }
        self.transform_scattered(data, layout, done);
        Ok(())
    }

    /// Transforms `input`, contiguous transforms, into `output` as columns: transform and corner turn in one, so that point k of
    /// transform t lies at `k * batch + t`.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`] if `input` is not a whole number of transforms, [`Error::WrongLength`] if `output` is not as
    /// long as `input`.
    pub fn transform_turned(
        &mut self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
    ) -> Result<()> {
        if !input.len().is_multiple_of(self.length) {
            return Err(Error::BrokenTransform { length: self.length, found: input.len() });
        }
        check_length("the output of a turned transform", input.len(), output.len())?;
        let batch = input.len() / self.length;
        let done = self.turn_whole_tiles(input, output, batch);
        let tile = self.method.tile();
        let mut at = done;
        while at < batch {
            let count = tile.min(batch - at);
            self.turn_through_scratch(input, output, batch, at, count);
            at += count;
        }
        Ok(())
    }

    /// As many transforms as fill whole tiles; says how many.
    fn turn_whole_tiles(
        &mut self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
        batch: usize,
    ) -> usize {
        let Method::Block { kernels, roots } = &self.method else { return 0 };
        let Some(turned) = kernels.turned else { return 0 };
        let job = Job {
            input: input.as_ptr().cast(),
            output: output.as_mut_ptr().cast(),
            tiles: batch / kernels.lanes,
            input_pitch: 2 * self.length,
            output_pitch: 2 * batch,
            roots: roots.as_ptr(),
        };
        // SAFETY: input and output hold `batch` transforms each, as was checked, of which the tiles are no more; the plan was
        // made for instructions that the processor has.
        unsafe { turned(&job) };
        job.tiles * kernels.lanes
    }

    /// Transforms `count` rows from row `at` on, no more than a tile, in the scratch, and turns the scratch.
    fn turn_through_scratch(
        &mut self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
        batch: usize,
        at: usize,
        count: usize,
    ) {
        let length = self.length;
        self.scratch[..count * length].copy_from_slice(&input[at * length..][..count * length]);
        self.transform_scratch(count);
        for k in 0..length {
            let row = &mut output[k * batch + at..][..count];
            for (t, point) in row.iter_mut().enumerate() {
                *point = self.scratch[t * length + k];
            }
        }
    }

    /// Gathers a tile at a time into the scratch, transforms it there, and puts it back.
    fn transform_scattered(&mut self, data: &mut [Complex<T>], layout: Strided, done: usize) {
        let Strided { batch, stride, distance } = layout;
        let length = self.length;
        let tile = self.method.tile();
        let mut first = done;
        while first < batch {
            let count = tile.min(batch - first);
            for t in 0..count {
                for n in 0..length {
                    self.scratch[t * length + n] = data[(first + t) * distance + n * stride];
                }
            }
            self.transform_scratch(count);
            for t in 0..count {
                for n in 0..length {
                    data[(first + t) * distance + n * stride] = self.scratch[t * length + n];
                }
            }
            first += count;
        }
    }

    /// Transforms the first `count` rows of the scratch.
    fn transform_scratch(&mut self, count: usize) {
        match &mut self.method {
            Method::Block { kernels, roots } => {
                self.scratch[count * self.length..].fill(Complex::new(T::zero(), T::zero()));
                run_rows(kernels, roots, self.length, &mut self.scratch);
            }
            Method::Library { plan, library_scratch } => {
                let rows = &mut self.scratch[..count * self.length];
                plan.process_with_scratch(rows, library_scratch);
            }
        }
    }

    fn check_layout(&self, elements: usize, layout: Strided) -> Result<()> {
        let Strided { batch, stride, distance } = layout;
        let length = self.length;
        let overlap = Error::Overlap { length, batch, stride, distance };
        let extent = |step: usize, count: usize| step.checked_mul(count - 1);
        let (Some(points), Some(transforms)) = (extent(stride, length), extent(distance, batch))
        else {
            return Err(overlap);
        };
        // Apart if one index runs through its whole range within one step of the other.
        let apart = (length == 1 || stride > 0)
            && (batch == 1 || distance > 0)
            && (batch == 1 || length == 1 || distance > points || stride > transforms);
        if !apart {
            return Err(overlap);
        }
        let last = points.checked_add(transforms).ok_or(overlap)?;
        if last >= elements {
            let what = "the data of a strided transform";
            return Err(Error::WrongLength {
                what,
                expected: last.saturating_add(1),
                found: elements,
            });
        }
        Ok(())
    }
}

/// Transforms whole tiles in place.
fn run_rows<T: Real>(
    kernels: &Kernels<T>,
    roots: &[Complex<T>],
    length: usize,
    tiles: &mut [Complex<T>],
) {
    // Rows of transforms shorter than half a vector are taken several at once.
    let row = length.max(kernels.lanes / 2);
    let count = tiles.len() / (kernels.lanes * row);
    assert_eq!(tiles.len(), count * kernels.lanes * row, "a tile is cut off");
    let at = tiles.as_mut_ptr().cast::<T>();
    let job = Job {
        input: at.cast_const(),
        output: at,
        tiles: count,
        input_pitch: 2 * row,
        output_pitch: 2 * row,
        roots: roots.as_ptr(),
    };
    // SAFETY: `tiles` holds exactly that many tiles, as was asserted, and the plan was made for instructions that the
    // processor has; a complex number is two reals in a row.
    unsafe { (kernels.rows)(&job) };
}

impl<T: Real> Method<T> {
    /// How many transforms the scratch holds.
    fn tile(&self) -> usize {
        match self {
            Method::Block { kernels, .. } => kernels.rows_per_tile,
            Method::Library { .. } => 16,
        }
    }
}

impl<T: Real> std::fmt::Debug for BlockFft<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if self.is_blocked() { self.instructions.name() } else { "RustFFT" };
        write!(f, "BlockFft({} points, {how})", self.length)
    }
}
