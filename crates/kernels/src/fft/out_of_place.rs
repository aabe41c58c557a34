//! Transforms of rows that are, as a whole or in strips of columns, in other memory than the result, often in another
//! core's cache.

use num_complex::Complex32;

use super::BlockFft;
use super::library::Library;
use crate::error::Result;
use crate::error::{check_length, check_whole};
use crate::prefetch::prefetch_all;

/// Number of bytes, approximately, that are prefetched and copied at once, if no kernel reads the other memory itself.
/// More than a core can have under way would stall it, and more than fits the first-level cache would be evicted before
/// it is needed. See docs/measurements.md#rows-and-corner-turns.
const GROUP_BYTES: usize = 4 << 10;
/// Number of short rows that are transformed at a time.
const SHORT_ROWS: usize = 16;

impl BlockFft {
    /// Transforms `input`, any number of contiguous transforms one after the other, into `output`. It reads each point
    /// once and prefetches the next ones, so `input` need not be in this core's caches.
    ///
    /// # Errors
    /// [`crate::Error::BrokenTransform`] if `input` is not a whole number of transforms, [`crate::Error::WrongLength`]
    /// if `output` is not as long as `input`.
    pub fn transform_into(&mut self, input: &[Complex32], output: &mut [Complex32]) -> Result<()> {
        check_whole(self.length, input.len())?;
        check_length("the output of a transform", input.len(), output.len())?;
        if let Some(block) = &mut self.block
            && block.rows_joined(self.length, output, &[Some(input)])
        {
            return Ok(());
        }
        let group = self.group();
        let groups = input.chunks(group).zip(output.chunks_mut(group));
        for (at, (input_group, output)) in groups.enumerate() {
            prefetch_all(next(input, at, group));
            self.group_into(input_group, output);
        }
        Ok(())
    }

    /// Transforms `rows`, any number of contiguous transforms with some points in other memory. `strips` divides the
    /// columns into strips of the same width. A given strip has its points, row after row, and those in `rows` are not
    /// read. Nothing is copied if rows have kernels of 256 points or more.
    ///
    /// # Errors
    /// [`crate::Error::BrokenTransform`] if `rows` is not a whole number of transforms, [`crate::Error::WrongLength`]
    /// if the strips do not make up a row, or one has a different number of rows.
    pub fn transform_joined(
        &mut self,
        rows: &mut [Complex32],
        strips: &[Option<&[Complex32]>],
    ) -> Result<()> {
        let length = self.length;
        check_whole(length, rows.len())?;
        let count = strips.len().max(1);
        let width = length / count;
        check_length("the whole of a joined transform's strips", length, width * count)?;
        for strip in strips.iter().flatten() {
            let needed = rows.len() / length * width;
            check_length("a strip of a joined transform", needed, strip.len())?;
        }
        if let Some(block) = &mut self.block
            && block.rows_joined(length, rows, strips)
        {
            return Ok(());
        }
        let group = self.group();
        for at in 0..rows.len().div_ceil(group) {
            prefetch_all(next(rows, at, group));
            let end = rows.len().min((at + 1) * group);
            let rows = &mut rows[at * group..end];
            let strips = strips.iter().enumerate();
            for (which, strip) in strips.filter_map(|(which, strip)| Some((which, (*strip)?))) {
                let group = group / count;
                prefetch_all(next(strip, at, group));
                let places = rows.chunks_exact_mut(length).map(|row| &mut row[which * width..]);
                let points = strip[at * group..].chunks_exact(width);
                places.zip(points).for_each(|(to, from)| to[..width].copy_from_slice(from));
            }
            self.transform(rows)?;
        }
        Ok(())
    }

    /// Returns the number of points processed at once: whole rows.
    fn group(&self) -> usize {
        let rows = match GROUP_BYTES / (self.length * size_of::<Complex32>()) {
            0 | 1 => 1,
            several => several.next_multiple_of(SHORT_ROWS),
        };
        rows * self.length
    }

    fn group_into(&mut self, input: &[Complex32], output: &mut [Complex32]) {
        let mut done = 0;
        if let Some(block) = self.block.as_mut().filter(|block| block.has_rows()) {
            let tile = block.rows_per_tile() * self.length;
            done = input.len() / tile * tile;
            block.rows_into(self.length, &input[..done], &mut output[..done]);
        }
        if done < input.len() {
            let Library { plan, scratch } = &mut self.library;
            plan.process_immutable_with_scratch(&input[done..], &mut output[done..], scratch);
        }
    }
}

/// Returns the points after group `at` of `points`: as many as the group has, or the remaining ones.
fn next<T>(points: &[T], at: usize, group: usize) -> &[T] {
    let from = points.len().min((at + 1) * group);
    &points[from..points.len().min(from + group)]
}
