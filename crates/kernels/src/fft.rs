//! Fast Fourier transforms of many short vectors at once: the block FFT.
//!
//! A library call for one transform of 8 points spends its time on everything but the 8 points. The block FFT (Games and
//! others, "Benchmarking methodology for real-time embedded scalable high performance computing", MITRE 1995, section
//! 3.2) carries every stage over many transforms, here one to each vector lane, so that short transforms run near
//! the rate of long ones.

#[cfg(target_arch = "x86_64")]
mod avx512_rows;
mod butterfly;
mod kernels;
mod tile;

use std::sync::Arc;

use num_complex::{Complex, Complex32};
use rustfft::{Fft, FftPlanner};

pub use kernels::Real;

use crate::error::check_length;
use crate::{Error, Instructions, Result, corner_turn};
use kernels::Kernels;
use tile::Job;

/// Nominal floating-point operations of one complex transform of `length` points: 5 N log2 N, whatever an algorithm
/// really needs (MITRE 1995, equation 3-1).
pub fn nominal_operations(length: usize) -> f64 {
    let n = length as f64;
    if length < 2 { 0.0 } else { 5.0 * n * n.log2() }
}

/// Checks a forward transform of `length` points against the definition, in double precision, for a few transforms of random
/// points made from `seed`: whatever computes them transforms a slice of whole transforms in place.
///
/// # Errors
/// Those of `transform`; [`Error::WrongResult`] if a result is further off than single precision explains.
pub fn check_forward(
    length: usize,
    seed: u64,
    mut transform: impl FnMut(&mut [Complex32]) -> Result<()>,
) -> Result<()> {
    let batch = (64 / length).max(2);
    let mut state = seed | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let input: Vec<Complex32> =
        (0..batch * length).map(|_| Complex32::new(next(), next())).collect();
    let mut found = input.clone();
    transform(&mut found)?;
    // A long transform is checked in a few of its points: the definition takes length operations for each.
    for (at, x) in found.iter().enumerate().step_by((batch * length).div_ceil(256)) {
        let (points, k) = (&input[at / length * length..][..length], at % length);
        let truth = by_definition(points, k);
        let difference = (Complex::new(f64::from(x.re), f64::from(x.im)) - truth).norm();
        // The points of a spectrum are about as large as the root of the length.
        if difference.is_nan() || difference > 1e-6 * (length as f64).sqrt() * 4.0 {
            let explanation = format!("point {k} of {length} is {x}, but must be {truth}");
            return Err(Error::WrongResult { benchmark: "fft", explanation });
        }
    }
    Ok(())
}

/// Point `k` of the discrete Fourier transform.
fn by_definition(points: &[Complex32], k: usize) -> Complex<f64> {
    let term = |(n, x): (usize, &Complex32)| {
        let turns = (n * k % points.len()) as f64 / points.len() as f64;
        Complex::new(f64::from(x.re), f64::from(x.im))
            * Complex::cis(-2.0 * std::f64::consts::PI * turns)
    };
    points.iter().enumerate().map(term).sum()
}

/// RustFFT behind the same call, to be compared with.
pub struct LibraryFft {
    length: usize,
    library: Library<f32>,
}

impl LibraryFft {
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
    pub fn transform(&mut self, data: &mut [Complex32]) -> Result<()> {
        if !data.len().is_multiple_of(self.length) {
            return Err(Error::BrokenTransform { length: self.length, found: data.len() });
        }
        self.library.transform(data);
        Ok(())
    }
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
/// lanes, up to 1024 where they are columns or are turned; all others, and what does not fill the lanes, go to RustFFT, one
/// transform after the other.
pub struct BlockFft<T: Real> {
    length: usize,
    instructions: Instructions,
    block: Option<Block<T>>,
    library: Library<T>,
    /// Room for a tile, or for [`turned_rows`].
    buffer: Vec<Complex<T>>,
}

struct Block<T> {
    kernels: Kernels<T>,
    rows_roots: Vec<Line>,
    roots: Vec<Line>,
    scratch: Vec<Line>,
}

struct Library<T> {
    plan: Arc<dyn Fft<T>>,
    scratch: Vec<Complex<T>>,
}

impl<T: Real> Library<T> {
    fn new(length: usize) -> Self {
        let plan = FftPlanner::new().plan_fft_forward(length);
        let needed = plan.get_inplace_scratch_len().max(plan.get_immutable_scratch_len());
        Library { plan, scratch: vec![Complex::new(T::zero(), T::zero()); needed] }
    }

    fn transform(&mut self, data: &mut [Complex<T>]) {
        self.plan.process_with_scratch(data, &mut self.scratch);
    }
}

/// A cache line, for its alignment: a vector that crosses two lines is twice the work.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// The numbers, from the beginning of a line on.
fn in_lines<T: Real>(numbers: &[Complex<T>]) -> Vec<Line> {
    let mut lines = vec![Line([0; 64]); size_of_val(numbers).div_ceil(size_of::<Line>())];
    // SAFETY: the lines have room for all numbers, which are nothing but bits, and are better aligned.
    unsafe {
        let to = lines.as_mut_ptr().cast::<Complex<T>>();
        std::ptr::copy_nonoverlapping(numbers.as_ptr(), to, numbers.len());
    }
    lines
}

/// Rows that are transformed before they are turned together where no kernel does both: with fewer, each line of the
/// output is written in pieces; many more would not stay in the second-level cache.
fn turned_rows<T>(length: usize) -> usize {
    (STRIP_BYTES / (length * size_of::<Complex<T>>())).clamp(32, 128)
}

/// What leaves most of the second-level cache to the output.
const STRIP_BYTES: usize = 128 << 10;

/// From this length on RustFFT takes what does not fill the lanes: one transform alone keeps its vectors busy.
const SELF_SUFFICIENT: usize = 32;

/// From so many transforms in a tile on, what is left is better padded to a tile than transformed one by one.
const WIDE: usize = 4;

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
        let zero = Complex::new(T::zero(), T::zero());
        let block = T::kernels(length, instructions.checked()?).map(|kernels| {
            let bytes = kernels.lanes * length * size_of::<Complex<T>>();
            let scratch = vec![Line([0; 64]); bytes.div_ceil(size_of::<Line>())];
            let rows_roots = in_lines(&(kernels.rows_roots)(length));
            Block { kernels, rows_roots, roots: in_lines(&tile::roots::<T>(length)), scratch }
        });
        let library = Library::new(length);
        let rows = block.as_ref().map_or(0, |block| block.kernels.rows_per_tile);
        let rows = rows.max(turned_rows::<T>(length));
        Ok(BlockFft { length, instructions, block, library, buffer: vec![zero; rows * length] })
    }

    /// The points of one transform.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The instructions of the kernels.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Whether the length has kernels of its own, that is, does not always go to RustFFT.
    pub fn is_blocked(&self) -> bool {
        self.block.is_some()
    }

    /// Transforms `data`, any number of contiguous transforms one after the other, in place.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`] if `data` is not a whole number of transforms.
    pub fn transform(&mut self, data: &mut [Complex<T>]) -> Result<()> {
        if !data.len().is_multiple_of(self.length) {
            return Err(Error::BrokenTransform { length: self.length, found: data.len() });
        }
        let mut rest = data;
        if let Some(block) = self.block.as_mut().filter(|block| block.pays(self.length)) {
            let tile = block.kernels.rows_per_tile * self.length;
            let (tiles, after) = rest.split_at_mut(rest.len() / tile * tile);
            block.rows(self.length, tiles);
            rest = after;
            if self.length < SELF_SUFFICIENT && tile >= WIDE * self.length && 3 * rest.len() > tile
            {
                // What the buffer holds beyond the rest is transformed too, and never read.
                let padded = &mut self.buffer[..tile];
                padded[..rest.len()].copy_from_slice(rest);
                padded[rest.len()..].fill(Complex::new(T::zero(), T::zero()));
                block.rows(self.length, padded);
                rest.copy_from_slice(&padded[..rest.len()]);
                return Ok(());
            }
        }
        self.library.transform(rest);
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
    /// Fast where transforms are contiguous (stride 1) or side by side (distance 1). Of layouts without overlap it takes
    /// those in which one index runs through its whole range within one step of the other.
    ///
    /// # Errors
    /// [`Error::Overlap`] if it is not such a layout, [`Error::WrongLength`] if `data` ends before the last point.
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
        if let Some(block) = self.block.as_mut()
            && distance == 1
        {
            done = batch - batch % block.kernels.lanes;
            let job = Job {
                input: data.as_ptr().cast(),
                output: data.as_mut_ptr().cast(),
                tiles: done / block.kernels.lanes,
                input_pitch: 2 * stride,
                output_pitch: 2 * stride,
                roots: block.roots.as_ptr().cast(),
                scratch: block.scratch.as_mut_ptr().cast(),
            };
            // SAFETY: the layout was checked: `length` rows, `stride` apart, of at least `done` columns lie in `data`; the
            // block was made for instructions that the processor has, with scratch for a tile.
            unsafe { (block.kernels.columns)(&job) };
        }
        self.transform_scattered(data, layout, done);
        Ok(())
    }

    /// Transforms `input`, contiguous transforms, into `output` as columns: transform and corner turn in one, so that point k
    /// of transform t lies at `k * batch + t`.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`] if `input` is not a whole number of transforms, [`Error::WrongLength`] if `output` is not
    /// as long as `input`.
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
        let mut row_block = self.block.as_mut();
        let mut done = 0;
        if let Some(block) = row_block.take_if(|block| !block.turns_by_rows(self.length)) {
            done = block.turned(self.length, input, output);
        }
        while done < batch {
            let count = turned_rows::<T>(self.length).min(batch - done);
            let rows = &input[done * self.length..][..count * self.length];
            let buffer = &mut self.buffer[..rows.len()];
            if let Some(block) = &mut row_block {
                buffer.copy_from_slice(rows);
                block.rows(self.length, buffer);
            } else {
                let Library { plan, scratch } = &mut self.library;
                plan.process_immutable_with_scratch(rows, buffer, scratch);
            }
            corner_turn::turn_into_columns(self.instructions, buffer, count, output, batch, done);
            done += count;
        }
        Ok(())
    }

    /// Gathers rows into the buffer, transforms them there, and puts them back.
    fn transform_scattered(&mut self, data: &mut [Complex<T>], layout: Strided, done: usize) {
        let Strided { batch, stride, distance } = layout;
        let length = self.length;
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut first = done;
        while first < batch {
            let count = (buffer.len() / length).min(batch - first);
            let rows = &mut buffer[..count * length];
            let place = |at: usize| (first + at / length) * distance + at % length * stride;
            for (at, point) in rows.iter_mut().enumerate() {
                *point = data[place(at)];
            }
            self.library.transform(rows);
            for (at, point) in rows.iter().enumerate() {
                data[place(at)] = *point;
            }
            first += count;
        }
        self.buffer = buffer;
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

impl<T: Real> Block<T> {
    /// Whether rows are better off here than in RustFFT.
    fn pays(&self, length: usize) -> bool {
        length <= LONGEST_ROWS
    }

    /// Transforms whole tiles in place.
    fn rows(&mut self, length: usize, tiles: &mut [Complex<T>]) {
        let Kernels { lanes, rows, rows_per_tile, .. } = self.kernels;
        let count = tiles.len() / (rows_per_tile * length);
        assert_eq!(tiles.len(), count * rows_per_tile * length, "a tile is cut off");
        let at = tiles.as_mut_ptr().cast::<T>();
        // Rows of transforms shorter than half a vector are taken several at once.
        let pitch = 2 * length.max(lanes / 2);
        let job = Job {
            input: at.cast_const(),
            output: at,
            tiles: count,
            input_pitch: pitch,
            output_pitch: pitch,
            roots: self.rows_roots.as_ptr().cast(),
            scratch: self.scratch.as_mut_ptr().cast(),
        };
        // SAFETY: `tiles` holds exactly that many tiles, as was asserted; the block was made for instructions that the processor
        // has, with scratch for a tile; a complex number is two reals in a row.
        unsafe { rows(&job) };
    }

    /// Whether rows are better transformed by kernels of their own and then turned, [`turned_rows`] at a time, than by a tile
    /// that does both.
    fn turns_by_rows(&self, length: usize) -> bool {
        self.kernels.rows_per_tile == 1 && length >= SELF_SUFFICIENT
    }

    /// Transforms and turns as many rows as fill whole tiles; says how many.
    fn turned(&mut self, length: usize, input: &[Complex<T>], output: &mut [Complex<T>]) -> usize {
        let Some([stored, streamed]) = self.kernels.turned else { return 0 };
        assert_eq!(input.len(), output.len(), "input and output differ");
        let batch = input.len() / length;
        let lanes = self.kernels.lanes;
        let job = Job {
            input: input.as_ptr().cast::<T>(),
            output: output.as_mut_ptr().cast::<T>(),
            tiles: batch / lanes,
            input_pitch: 2 * length,
            output_pitch: 2 * batch,
            roots: self.roots.as_ptr().cast(),
            scratch: self.scratch.as_mut_ptr().cast(),
        };
        let vector = lanes * size_of::<T>();
        let aligned = job.output.addr().is_multiple_of(vector)
            && (job.output_pitch * size_of::<T>()).is_multiple_of(vector);
        let streaming = aligned && size_of_val(input) >= corner_turn::STREAMING_BYTES;
        // SAFETY: input and output hold `batch` transforms each, of which the tiles are no more; the block was made for
        // instructions that the processor has, with scratch for a tile; every row of a streamed output is aligned.
        unsafe { if streaming { streamed(&job) } else { stored(&job) } };
        corner_turn::fence();
        job.tiles * lanes
    }
}

/// The longest rows that run faster here than in RustFFT: from 256 points on a tile and its scratch no longer fit the
/// first-level cache together, and RustFFT keeps its lanes busy with one transform (78 and 82 GFLOP/s on a Zen 5).
const LONGEST_ROWS: usize = 128;

impl<T: Real> std::fmt::Debug for BlockFft<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if self.is_blocked() { self.instructions.name() } else { "RustFFT" };
        write!(f, "BlockFft({} points, {how})", self.length)
    }
}
