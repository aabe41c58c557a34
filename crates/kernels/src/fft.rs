//! Fast Fourier transforms of many short vectors at once, in single precision: the block FFT.
//!
//! A library call for one transform of 8 points spends most of its time on overhead. The block FFT (Games and others,
//! "Benchmarking methodology for real-time embedded scalable high performance computing", MITRE 1995, section 3.2)
//! executes every stage for many transforms, here one in each vector lane, so that short transforms run near the rate
//! of long ones.

#[cfg(target_arch = "x86_64")]
mod avx512_rows;
mod block;
mod butterfly;
mod check;
mod kernels;
mod library;
#[cfg(target_arch = "x86_64")]
mod long_rows;
mod out_of_place;
mod scalar;
mod tile;

use num_complex::Complex32;

pub use check::check_forward;
pub use library::LibraryFft;

use crate::corner_turn;
use crate::error::{Error, Result};
use crate::error::{check_instructions, check_length, check_whole};
use crate::instructions::Instructions;
use block::{Block, SELF_SUFFICIENT};
use library::Library;

/// Returns the nominal number of floating-point operations of one complex transform of `length` points: 5 N log2 N,
/// regardless of the algorithm (MITRE 1995, equation 3-1).
pub fn nominal_operations(length: usize) -> f64 {
    let n = length as f64;
    if length < 2 { 0.0 } else { 5.0 * n * n.log2() }
}

/// The positions of the points of a batch of transforms in a slice: point n of transform t at `t * distance + n *
/// stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Number of transforms.
    pub batch: usize,
    /// Number of elements from one point to the next.
    pub stride: usize,
    /// Number of elements from one transform to the next.
    pub distance: usize,
}

/// A plan for batches of forward transforms of one length.
///
/// Planning allocates; transforming never does. Lengths 2, 4, ..., 128 run as many transforms at once as vectors have
/// lanes, up to 1024 if they are columns or are turned; with AVX-512 and in single precision, rows of 256, 512, ...,
/// 8192 points have kernels too. All other lengths, and the transforms that do not fill the lanes, use RustFFT, one
/// transform after the other.
pub struct BlockFft {
    length: usize,
    instructions: Instructions,
    block: Option<Block>,
    library: Library<f32>,
    /// Room for a tile, or for [`turned_rows`].
    buffer: Vec<Complex32>,
}

/// Returns the number of rows that are transformed before they are turned together, if no kernel does both. With fewer,
/// each cache line of the output is written in pieces. Many more would not stay in the second-level cache.
fn turned_rows(length: usize) -> usize {
    (STRIP_BYTES / (length * size_of::<Complex32>())).clamp(32, 128)
}

/// Length of a strip that leaves most of the second-level cache to the output.
const STRIP_BYTES: usize = 128 << 10;

/// Number of transforms in a tile from which on the remaining ones are better padded to a tile than transformed one by
/// one.
const WIDE: usize = 4;

impl BlockFft {
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
        let kernels = kernels::kernels(length, check_instructions(instructions)?);
        let block = kernels.map(|kernels| Block::new(kernels, length));
        let library = Library::new(length);
        let rows = block.as_ref().map_or(0, |block| block.rows_per_tile());
        let rows = rows.max(turned_rows(length));
        Ok(BlockFft {
            length,
            instructions,
            block,
            library,
            buffer: vec![Complex32::ZERO; rows * length],
        })
    }

    /// Returns the number of points of one transform.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the instructions of the kernels.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Returns whether the length has its own kernels, so that not all its transforms use RustFFT.
    pub fn is_blocked(&self) -> bool {
        self.block.is_some()
    }

    /// Transforms `data`, any number of contiguous transforms one after the other, in place.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`] if `data` is not a whole number of transforms.
    pub fn transform(&mut self, data: &mut [Complex32]) -> Result<()> {
        check_whole(self.length, data.len())?;
        let mut rest = data;
        if let Some(block) = self.block.as_mut().filter(|block| block.has_rows()) {
            let tile = block.rows_per_tile() * self.length;
            let (tiles, after) = rest.split_at_mut(rest.len() / tile * tile);
            block.rows(self.length, tiles);
            rest = after;
            if self.length < SELF_SUFFICIENT && tile >= WIDE * self.length && 3 * rest.len() > tile
            {
                // The points of the buffer behind the remaining transforms are transformed too, and never read.
                let padded = &mut self.buffer[..tile];
                padded[..rest.len()].copy_from_slice(rest);
                padded[rest.len()..].fill(Complex32::ZERO);
                block.rows(self.length, padded);
                rest.copy_from_slice(&padded[..rest.len()]);
                return Ok(());
            }
        }
        self.library.transform(rest);
        Ok(())
    }

    /// Transforms every column of `matrix`, in place. The points of a column are `columns` elements apart.
    ///
    /// # Errors
    /// [`Error::WrongLength`] if `matrix` has not exactly as many rows as a transform has points.
    pub fn transform_columns(&mut self, matrix: &mut [Complex32], columns: usize) -> Result<()> {
        check_length("the matrix of columns", self.length * columns, matrix.len())?;
        self.transform_strided(matrix, Strided { batch: columns, stride: columns, distance: 1 })
    }

    /// Transforms a batch in `data` with the given `layout`, in place. Elements between its points are not changed.
    ///
    /// Fast if transforms are contiguous (stride 1) or side by side (distance 1). Of layouts without overlap it accepts
    /// those in which one index runs through its whole range within one step of the other.
    ///
    /// # Errors
    /// [`Error::Overlap`] if it is not such a layout, [`Error::WrongLength`] if `data` ends before the last point.
    pub fn transform_strided(&mut self, data: &mut [Complex32], layout: Strided) -> Result<()> {
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
            // SAFETY: the layout was checked: `data` contains `length` rows, `stride` apart, of `batch` columns.
            done = unsafe { block.columns(data, batch, stride) };
        }
        self.transform_scattered(data, layout, done);
        Ok(())
    }

    /// Transforms `input`, contiguous transforms, into `output` as columns: transform and corner turn in one, so that
    /// point k of transform t is at `k * batch + t`.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`] if `input` is not a whole number of transforms, [`Error::WrongLength`] if `output` is
    /// not as long as `input`.
    pub fn transform_turned(
        &mut self,
        input: &[Complex32],
        output: &mut [Complex32],
    ) -> Result<()> {
        check_whole(self.length, input.len())?;
        check_length("the output of a turned transform", input.len(), output.len())?;
        let batch = input.len() / self.length;
        let mut row_block = self.block.as_mut();
        let mut done = 0;
        if let Some(block) = row_block.take_if(|block| !block.turns_by_rows(self.length)) {
            done = block.turned(self.length, input, output);
        }
        while done < batch {
            let count = turned_rows(self.length).min(batch - done);
            let rows = &input[done * self.length..][..count * self.length];
            let buffer = &mut self.buffer[..rows.len()];
            if let Some(block) = &mut row_block {
                block.rows_into(self.length, rows, buffer);
            } else {
                let Library { plan, scratch } = &mut self.library;
                plan.process_immutable_with_scratch(rows, buffer, scratch);
            }
            corner_turn::turn_into_columns(self.instructions, buffer, count, output, batch, done);
            done += count;
        }
        Ok(())
    }

    /// Gathers rows into the buffer, transforms them there, and writes them back.
    fn transform_scattered(&mut self, data: &mut [Complex32], layout: Strided, done: usize) {
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
        // They do not overlap if one index runs through its whole range within one step of the other.
        let is_disjoint = (length == 1 || stride > 0)
            && (batch == 1 || distance > 0)
            && (batch == 1 || length == 1 || distance > points || stride > transforms);
        if !is_disjoint {
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

impl std::fmt::Debug for BlockFft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if self.is_blocked() { self.instructions.name() } else { "RustFFT" };
        write!(f, "BlockFft({} points, {how})", self.length)
    }
}
