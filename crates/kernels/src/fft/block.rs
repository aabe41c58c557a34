//! The kernels of one length with their tables and their scratch.

use num_complex::Complex32;

use super::kernels::Kernels;
#[cfg(target_arch = "x86_64")]
use super::long_rows::{PARTS, Parts};
use super::tile::{self, Job};
use crate::corner_turn;

/// Length from which on RustFFT transforms what does not fill the lanes: one transform alone uses its vectors fully.
pub(super) const SELF_SUFFICIENT: usize = 32;

/// Length from which on tiles transform and turn rows at least as fast as kernels for rows do, strip by strip. See
/// docs/measurements.md#rows-and-corner-turns.
const TURNED_BY_TILES: usize = 256;

pub(super) struct Block {
    kernels: Kernels,
    rows_roots: Vec<CacheLine>,
    roots: Vec<CacheLine>,
    scratch: Vec<CacheLine>,
}

/// A cache line, for its alignment: a vector that crosses two lines costs twice as much.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

/// Returns the numbers, starting at the beginning of a line.
fn in_lines(numbers: &[Complex32]) -> Vec<CacheLine> {
    let mut lines = vec![CacheLine([0; 64]); size_of_val(numbers).div_ceil(size_of::<CacheLine>())];
    // SAFETY: the lines have room for all numbers, which are plain data, and are better aligned.
    unsafe {
        let to = lines.as_mut_ptr().cast::<Complex32>();
        std::ptr::copy_nonoverlapping(numbers.as_ptr(), to, numbers.len());
    }
    lines
}

impl Block {
    pub(super) fn new(kernels: Kernels, length: usize) -> Self {
        // One row fills the lanes if there are no tiles.
        let rows = if kernels.columns.is_some() { kernels.lanes } else { 1 };
        let bytes = rows * length * size_of::<Complex32>();
        let scratch = vec![CacheLine([0; 64]); bytes.div_ceil(size_of::<CacheLine>())];
        let rows_roots = in_lines(&(kernels.rows_roots)(length));
        Block { kernels, rows_roots, roots: in_lines(&tile::roots::<f32>(length)), scratch }
    }

    /// Returns the number of transforms in a tile of rows.
    pub(super) fn rows_per_tile(&self) -> usize {
        self.kernels.rows_per_tile
    }

    /// Returns whether rows have kernels here. From 256 points on a tile of rows and its scratch do not fit the
    /// first-level cache together, so only kernels that process one row at a time are useful (see
    /// [`super::long_rows`]).
    pub(super) fn has_rows(&self) -> bool {
        self.kernels.rows.is_some()
    }

    /// Transforms whole tiles in place.
    pub(super) fn rows(&mut self, length: usize, tiles: &mut [Complex32]) {
        let at = tiles.as_mut_ptr();
        // SAFETY: input and output are one slice of whole tiles.
        unsafe { self.rows_between(length, at.cast_const(), at, tiles.len()) };
    }

    /// Transforms whole tiles of `input` into `output`.
    pub(super) fn rows_into(
        &mut self,
        length: usize,
        input: &[Complex32],
        output: &mut [Complex32],
    ) {
        assert_eq!(input.len(), output.len(), "input and output differ");
        // SAFETY: both slices contain the points, as was asserted.
        unsafe { self.rows_between(length, input.as_ptr(), output.as_mut_ptr(), input.len()) };
    }

    /// Transforms `rows`, with the given strips of columns in other memory. Returns false, without any change, if no
    /// kernel does that. Lengths were checked: all strips have the same width and the same number of rows.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn rows_joined(
        &mut self,
        length: usize,
        rows: &mut [Complex32],
        strips: &[Option<&[Complex32]>],
    ) -> bool {
        let Some(kernel) = self.kernels.rows_in_parts else { return false };
        if strips.is_empty() || !PARTS.is_multiple_of(strips.len()) {
            return false;
        }
        let tiles = rows.len() / length;
        let (part, strip) = (length / PARTS, length / strips.len());
        let output = rows.as_mut_ptr().cast::<f32>();
        let mut parts = Parts { start: [output.cast_const(); PARTS], step: [2 * length; PARTS] };
        for at in 0..PARTS {
            let (which, within) = (part * at / strip, part * at % strip);
            (parts.start[at], parts.step[at]) = match strips[which] {
                Some(separate) => {
                    assert_eq!(separate.len(), tiles * strip, "a strip is cut off");
                    (separate.as_ptr().cast::<f32>().wrapping_add(2 * within), 2 * strip)
                }
                None => (output.cast_const().wrapping_add(2 * part * at), 2 * length),
            };
        }
        let job = Job {
            input: output.cast_const(),
            output,
            tiles,
            input_pitch: 2 * length,
            output_pitch: 2 * length,
            roots: self.rows_roots.as_ptr().cast(),
            scratch: self.scratch.as_mut_ptr().cast(),
        };
        // SAFETY: each part is `part` points at the same place of every row: of a strip that has as many rows, as was
        // asserted, or of the output itself. The strips are borrowed beside the output, so they do not overlap it.
        unsafe { kernel(&job, &parts) };
        true
    }

    /// As above, if no processor has such kernels.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn rows_joined(
        &mut self,
        _: usize,
        _: &mut [Complex32],
        _: &[Option<&[Complex32]>],
    ) -> bool {
        false
    }

    /// Transforms whole tiles.
    ///
    /// # Safety
    /// Input and output are valid for `points` points, and are either the same or do not overlap.
    unsafe fn rows_between(
        &mut self,
        length: usize,
        input: *const Complex32,
        output: *mut Complex32,
        points: usize,
    ) {
        let Kernels { lanes, rows, rows_per_tile, .. } = self.kernels;
        let rows = rows.expect("the caller asked whether rows have kernels");
        let tiles = points / (rows_per_tile * length);
        assert_eq!(points, tiles * rows_per_tile * length, "a tile is cut off");
        // Rows of transforms shorter than half a vector are processed several at once.
        let pitch = 2 * length.max(lanes / 2);
        let job = Job {
            input: input.cast::<f32>(),
            output: output.cast::<f32>(),
            tiles,
            input_pitch: pitch,
            output_pitch: pitch,
            roots: self.rows_roots.as_ptr().cast(),
            scratch: self.scratch.as_mut_ptr().cast(),
        };
        // SAFETY: the caller guarantees exactly that many tiles, as was asserted; the block was created for
        // instructions that the processor has, with scratch for a tile; a complex number is two reals in a row.
        unsafe { rows(&job) };
    }

    /// Transforms as many of `batch` columns as fill whole tiles, in place. Returns their number.
    ///
    /// # Safety
    /// `data` contains as many rows as a transform has points, `pitch` apart, of `batch` columns each.
    pub(super) unsafe fn columns(
        &mut self,
        data: &mut [Complex32],
        batch: usize,
        pitch: usize,
    ) -> usize {
        let Some(columns) = self.kernels.columns else { return 0 };
        let tiles = batch / self.kernels.lanes;
        let job = Job {
            input: data.as_ptr().cast(),
            output: data.as_mut_ptr().cast(),
            tiles,
            input_pitch: 2 * pitch,
            output_pitch: 2 * pitch,
            roots: self.roots.as_ptr().cast(),
            scratch: self.scratch.as_mut_ptr().cast(),
        };
        // SAFETY: the caller guarantees the columns, and the tiles are no more; the block was created for instructions
        // that the processor has, with scratch for a tile.
        unsafe { columns(&job) };
        tiles * self.kernels.lanes
    }

    /// Returns whether rows are better transformed by kernels of their own and then turned, [`super::turned_rows`] at a
    /// time, than by a tile that does both.
    pub(super) fn turns_by_rows(&self, length: usize) -> bool {
        let tiles_are_slower = (SELF_SUFFICIENT..TURNED_BY_TILES).contains(&length);
        self.kernels.rows_per_tile == 1 && (tiles_are_slower || self.kernels.turned.is_none())
    }

    /// Transforms and turns as many rows as fill whole tiles. Returns their number.
    pub(super) fn turned(
        &mut self,
        length: usize,
        input: &[Complex32],
        output: &mut [Complex32],
    ) -> usize {
        let Some([stored, streamed]) = self.kernels.turned else { return 0 };
        assert_eq!(input.len(), output.len(), "input and output differ");
        let batch = input.len() / length;
        let lanes = self.kernels.lanes;
        let job = Job {
            input: input.as_ptr().cast::<f32>(),
            output: output.as_mut_ptr().cast::<f32>(),
            tiles: batch / lanes,
            input_pitch: 2 * length,
            output_pitch: 2 * batch,
            roots: self.roots.as_ptr().cast(),
            scratch: self.scratch.as_mut_ptr().cast(),
        };
        let vector = lanes * size_of::<f32>();
        let aligned = job.output.addr().is_multiple_of(vector)
            && (job.output_pitch * size_of::<f32>()).is_multiple_of(vector);
        let streaming = aligned && size_of_val(input) >= corner_turn::STREAMING_BYTES;
        // SAFETY: input and output have `batch` transforms each, and the tiles are no more; the block was created for
        // instructions that the processor has, with scratch for a tile; every row of a streamed output is aligned.
        unsafe { if streaming { streamed(&job) } else { stored(&job) } };
        corner_turn::fence();
        job.tiles * lanes
    }
}
