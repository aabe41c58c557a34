//! The traversal of a matrix in tiles of squares, and the squares themselves.

use std::ops::Range;

use crate::instructions::Instructions;
use crate::lanes::{Array, Vector};
use crate::prefetch::prefetch_line;

/// An out-of-place corner turn. Pitches count elements.
pub(super) struct BlockTurn<T> {
    pub(super) input: *const T,
    pub(super) output: *mut T,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) input_pitch: usize,
    pub(super) output_pitch: usize,
    /// True if the output may be written past the caches. The alignment must allow it as well.
    pub(super) streaming: bool,
}

/// Sides of a tile in squares, down the rows and across the columns of the input: for stores through the caches; for
/// stores past them, of a matrix that the last-level cache still holds; and of a matrix in memory. All shapes up to a
/// whole strip were tried. See docs/measurements.md#rows-and-corner-turns.
const STORED_TILE: (usize, usize) = (8, 8);
const STREAMED_TILE: (usize, usize) = (4, 2);
const LARGE_STREAMED_TILE: (usize, usize) = (8, 4);
/// Size of a matrix from which on, approximately, more of it is in memory than in the last-level cache.
const LARGE_BYTES: usize = 16 << 20;
const IN_PLACE_TILE: usize = 4;

/// The square transposes for one size of element and one instruction set.
#[derive(Clone, Copy)]
pub(super) struct Squares<T> {
    /// Number of elements on a side of the square.
    side: usize,
    /// Transposes one tile of whole squares: input, its pitch, output, its pitch, rows, columns.
    tile: unsafe fn(*const T, usize, *mut T, usize, usize, usize),
    /// As `tile`, past the caches; each row of a square must be aligned to its size.
    streamed: unsafe fn(*const T, usize, *mut T, usize, usize, usize),
    /// As `streamed`, and prefetches the tile to the right.
    streamed_ahead: unsafe fn(*const T, usize, *mut T, usize, usize, usize),
    /// Exchanges two squares of one matrix, each transposed; they may be the same.
    exchange: unsafe fn(*mut T, *mut T, usize),
}

/// Transposes every element of `turn`.
///
/// # Safety
/// The pointers are valid for the elements that rows, columns and pitches describe, do not overlap, and the processor
/// has the instructions of `squares`.
pub(super) unsafe fn turn<T: Copy>(squares: Squares<T>, turn: &BlockTurn<T>) {
    let side = squares.side;
    let line = side * size_of::<T>();
    // A square whose rows cross cache lines is much slower, so the traversal begins where cache lines begin.
    let head_rows = line_start(turn.output, turn.output_pitch, line).min(turn.rows);
    let head_columns = line_start(turn.input, turn.input_pitch, line).min(turn.columns);
    let rows = head_rows + (turn.rows - head_rows) / side * side;
    let columns = head_columns + (turn.columns - head_columns) / side * side;
    let aligned = turn.output.wrapping_add(head_rows).addr().is_multiple_of(line)
        && (turn.output_pitch * size_of::<T>()).is_multiple_of(line);
    let streaming = turn.streaming && aligned;
    let large = turn.rows * turn.columns * size_of::<T>() >= LARGE_BYTES;
    let (kernel, (tall, wide)) = match (streaming, large) {
        (false, _) => (squares.tile, STORED_TILE),
        (true, false) => (squares.streamed, STREAMED_TILE),
        (true, true) => (squares.streamed_ahead, LARGE_STREAMED_TILE),
    };
    let one = |row: usize, column: usize| {
        let (height, width) = ((tall * side).min(rows - row), (wide * side).min(columns - column));
        // SAFETY: the tile is inside both matrices, which the caller guarantees.
        unsafe {
            let input = turn.input.add(row * turn.input_pitch + column);
            let output = turn.output.add(column * turn.output_pitch + row);
            kernel(input, turn.input_pitch, output, turn.output_pitch, height, width);
        }
    };
    let down = || (head_rows..rows).step_by(tall * side);
    let across = || (head_columns..columns).step_by(wide * side);
    if streaming && large {
        // Along the rows of the input: few pages are in use at a time, and the next tile can be prefetched.
        down().for_each(|row| across().for_each(|column| one(row, column)));
    } else {
        across().for_each(|column| down().for_each(|row| one(row, column)));
    }
    if streaming {
        fence();
    }
    // SAFETY: the four ranges are inside both matrices.
    unsafe {
        turn_plainly(turn, 0..head_rows, 0..turn.columns);
        turn_plainly(turn, rows..turn.rows, 0..turn.columns);
        turn_plainly(turn, head_rows..rows, 0..head_columns);
        turn_plainly(turn, head_rows..rows, columns..turn.columns);
    }
}

/// Returns the number of elements of each row before a multiple of `line` bytes, or zero if it differs between rows.
fn line_start<T>(start: *const T, pitch: usize, line: usize) -> usize {
    if !line.is_power_of_two() || !(pitch * size_of::<T>()).is_multiple_of(line) {
        return 0;
    }
    let elements = start.align_offset(line);
    if elements < line { elements } else { 0 }
}

/// Makes the streamed stores visible before any later one, as ordinary stores would be.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    }
}

/// Transposes element by element, along the shorter side first, because these are strips at the edges.
unsafe fn turn_plainly<T: Copy>(turn: &BlockTurn<T>, rows: Range<usize>, columns: Range<usize>) {
    let one = |row: usize, column: usize| {
        // SAFETY: the caller guarantees ranges inside the matrix.
        unsafe {
            let element = turn.input.add(row * turn.input_pitch + column).read();
            turn.output.add(column * turn.output_pitch + row).write(element);
        }
    };
    if rows.len() < columns.len() {
        for column in columns {
            rows.clone().for_each(|row| one(row, column));
        }
    } else {
        for row in rows {
            columns.clone().for_each(|column| one(row, column));
        }
    }
}

/// Transposes a square matrix in place.
///
/// # Safety
/// `matrix` is valid for `size * size` elements, and the processor has the instructions of `squares`.
pub(super) unsafe fn turn_in_place<T: Copy>(squares: Squares<T>, matrix: *mut T, size: usize) {
    let side = squares.side;
    let head = line_start(matrix, size, side * size_of::<T>()).min(size);
    let whole = head + (size - head) / side * side;
    let tile = IN_PLACE_TILE * side;
    for tile_row in (head..whole).step_by(tile) {
        for tile_column in (tile_row..whole).step_by(tile) {
            for row in (tile_row..whole.min(tile_row + tile)).step_by(side) {
                let first = tile_column.max(row);
                for column in (first..whole.min(tile_column + tile)).step_by(side) {
                    // SAFETY: both squares are inside the matrix.
                    unsafe {
                        let upper = matrix.add(row * size + column);
                        let lower = matrix.add(column * size + row);
                        (squares.exchange)(upper, lower, size);
                    }
                }
            }
        }
    }
    // SAFETY: the ranges are below the size.
    unsafe {
        swap_plainly(matrix, size, 0..head, 0..size);
        swap_plainly(matrix, size, whole..size, head..size);
    }
}

/// Swaps the strip `edge` of rows with the strip of the same columns, in the range `others`.
unsafe fn swap_plainly<T: Copy>(
    matrix: *mut T,
    size: usize,
    edge: Range<usize>,
    others: Range<usize>,
) {
    for other in others {
        // Two indices that are both in the strip would be swapped twice.
        let last = if edge.contains(&other) { other } else { edge.end };
        for at in edge.start..last {
            // SAFETY: both are below the size.
            unsafe { matrix.add(other * size + at).swap(matrix.add(at * size + other)) };
        }
    }
}

#[inline(always)]
unsafe fn tile<V: Vector, const STREAMED: bool, const AHEAD: bool>(
    input: *const V::Element,
    input_pitch: usize,
    output: *mut V::Element,
    output_pitch: usize,
    rows: usize,
    columns: usize,
) {
    // SAFETY: the caller guarantees the tile, of whole squares, in input and output.
    unsafe {
        if STREAMED {
            for row in (0..rows).step_by(V::COUNT) {
                for column in (0..columns).step_by(V::COUNT) {
                    let from = input.add(row * input_pitch + column);
                    let square = V::load_square(from, input_pitch);
                    if AHEAD {
                        prefetch_square::<V>(from.wrapping_add(columns), input_pitch);
                    }
                    let to = output.add(column * output_pitch + row);
                    V::stream_square(V::transpose(square), to, output_pitch);
                }
            }
        } else {
            // Caches are fast at stores in the order of addresses. Loads can be under way together.
            for column in (0..columns).step_by(V::COUNT) {
                for row in (0..rows).step_by(V::COUNT) {
                    let square = V::load_square(input.add(row * input_pitch + column), input_pitch);
                    let to = output.add(column * output_pitch + row);
                    V::store_square(V::transpose(square), to, output_pitch);
                }
            }
        }
    }
}

/// Prefetches the cache lines of a square. They need not exist.
#[inline(always)]
fn prefetch_square<V: Vector>(from: *const V::Element, pitch: usize) {
    for row in 0..V::COUNT {
        prefetch_line(from.wrapping_add(row * pitch));
    }
}

#[inline(always)]
unsafe fn exchange<V: Vector>(upper: *mut V::Element, lower: *mut V::Element, pitch: usize) {
    // SAFETY: the caller guarantees both squares; both are read before either is written.
    unsafe {
        let from_upper = V::transpose(V::load_square(upper, pitch));
        let from_lower = V::transpose(V::load_square(lower, pitch));
        for (row, vector) in from_upper.as_ref().iter().enumerate() {
            vector.store(lower.add(row * pitch));
        }
        for (row, vector) in from_lower.as_ref().iter().enumerate() {
            vector.store(upper.add(row * pitch));
        }
    }
}

/// Defines a function that transposes a tile, compiled for the instructions of `$feature`: with streaming stores or
/// not, and with prefetching or not.
macro_rules! tile {
    ($(#[$feature:meta])* $name:ident<$vector:ty, $streaming:literal, $ahead:literal>) => {
        $(#[$feature])*
        unsafe fn $name<T: Copy>(
            input: *const T,
            input_pitch: usize,
            output: *mut T,
            output_pitch: usize,
            rows: usize,
            columns: usize,
        ) {
            let (input, output) = (input.cast(), output.cast());
            // SAFETY: the caller guarantees tile, instructions and, for streaming, the alignment; T is as large as the
            // vector's element.
            unsafe {
                tile::<$vector, $streaming, $ahead>(
                    input,
                    input_pitch,
                    output,
                    output_pitch,
                    rows,
                    columns,
                )
            }
        }
    };
}

macro_rules! compile {
    ($(#[$feature:meta])* $name:ident<$vector:ty>) => {
        fn $name<T: Copy>() -> Squares<T> {
            tile!($(#[$feature])* stored<$vector, false, false>);
            tile!($(#[$feature])* streamed<$vector, true, false>);
            tile!($(#[$feature])* streamed_ahead<$vector, true, true>);

            $(#[$feature])*
            unsafe fn exchanged<T: Copy>(upper: *mut T, lower: *mut T, pitch: usize) {
                // SAFETY: the caller guarantees squares and instructions; T is as large as the vector's element.
                unsafe { exchange::<$vector>(upper.cast(), lower.cast(), pitch) }
            }

            assert_eq!(size_of::<T>(), size_of::<<$vector as Vector>::Element>());
            Squares {
                side: <$vector>::COUNT,
                tile: stored::<T>,
                streamed: streamed::<T>,
                streamed_ahead: streamed_ahead::<T>,
                exchange: exchanged::<T>,
            }
        }
    };
}

compile!(portable<Array<T, 4>>);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::lanes::{avx2, avx512};

    compile!(#[target_feature(enable = "avx2,fma")] avx2_4<avx2::F32x8>);
    compile!(#[target_feature(enable = "avx2,fma")] avx2_8<avx2::F64x4>);
    compile!(#[target_feature(enable = "avx2,fma")] avx2_16<avx2::Wide2>);
    compile!(#[target_feature(enable = "avx512f,avx2,fma")] avx512_4<avx512::F32x16>);
    compile!(#[target_feature(enable = "avx512f,avx2,fma")] avx512_8<avx512::F64x8>);
    compile!(#[target_feature(enable = "avx512f,avx2,fma")] avx512_16<avx512::Wide4>);

    pub(super) fn squares<T: Copy>(instructions: Instructions) -> Option<Squares<T>> {
        match (instructions, size_of::<T>()) {
            (Instructions::Avx2, 4) => Some(avx2_4()),
            (Instructions::Avx2, 8) => Some(avx2_8()),
            (Instructions::Avx2, 16) => Some(avx2_16()),
            (Instructions::Avx512, 4) => Some(avx512_4()),
            (Instructions::Avx512, 8) => Some(avx512_8()),
            (Instructions::Avx512, 16) => Some(avx512_16()),
            _ => None,
        }
    }
}

/// Returns the squares for elements like `T`. The processor must have the instructions when they are used.
pub(super) fn kernels<T: Copy>(instructions: Instructions) -> Squares<T> {
    #[cfg(target_arch = "x86_64")]
    if let Some(squares) = x86::squares(instructions) {
        return squares;
    }
    let _ = instructions;
    portable()
}
