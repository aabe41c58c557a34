//! The walk over a matrix in tiles of squares, and the squares themselves.

use crate::Instructions;
use crate::lanes::{Array, Vector};

/// An out-of-place corner turn. Pitches count elements.
pub(super) struct Turn<T> {
    pub(super) input: *const T,
    pub(super) output: *mut T,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) input_pitch: usize,
    pub(super) output_pitch: usize,
    /// Whether to write past the caches where the alignment allows it.
    pub(super) streaming: bool,
}

/// Elements on either side of a tile, in which rows of input and of output are used up before the walk goes on: a tile of
/// 8-byte elements touches 64 pages of a large matrix, fewer than any translation buffer of the first level holds.
const TILE: usize = 32;

/// The square transposes for one size of element and one instruction set.
#[derive(Clone, Copy)]
pub(super) struct Squares<T> {
    /// Elements on a side of the square.
    side: usize,
    /// Transposes one tile of whole squares: input, its pitch, output, its pitch, rows, columns.
    tile: unsafe fn(*const T, usize, *mut T, usize, usize, usize),
    /// The same past the caches; each row of a square must be aligned to its size.
    streamed: unsafe fn(*const T, usize, *mut T, usize, usize, usize),
    /// Exchanges two squares of one matrix, each transposed; they may be the same.
    exchange: unsafe fn(*mut T, *mut T, usize),
}

/// Transposes every element of `turn`.
///
/// # Safety
/// The pointers are good for the elements that rows, columns and pitches say, do not overlap, and the processor has the
/// instructions of `squares`.
pub(super) unsafe fn turn<T: Copy>(squares: Squares<T>, turn: &Turn<T>) {
    let side = squares.side;
    let (head, streaming) = alignment_head(turn, side);
    let rows = head + (turn.rows - head) / side * side;
    let columns = turn.columns / side * side;
    let kernel = if streaming { squares.streamed } else { squares.tile };
    for row in (head..rows).step_by(TILE) {
        for column in (0..columns).step_by(TILE) {
            let (height, width) = (TILE.min(rows - row), TILE.min(columns - column));
            // SAFETY: the tile lies inside both matrices, which the caller vouches for.
            unsafe {
                let input = turn.input.add(row * turn.input_pitch + column);
                let output = turn.output.add(column * turn.output_pitch + row);
                kernel(input, turn.input_pitch, output, turn.output_pitch, height, width);
            }
        }
    }
    if streaming {
        fence();
    }
    // SAFETY: the three ranges lie inside both matrices.
    unsafe {
        turn_plainly(turn, 0..head, 0..turn.columns);
        turn_plainly(turn, head..rows, columns..turn.columns);
        turn_plainly(turn, rows..turn.rows, 0..turn.columns);
    }
}

/// How many rows to do plainly before each row of a square is aligned in the output, and whether it then is.
fn alignment_head<T>(turn: &Turn<T>, side: usize) -> (usize, bool) {
    let line = side * size_of::<T>();
    let aligned_pitch = (turn.output_pitch * size_of::<T>()).is_multiple_of(line);
    if !turn.streaming || !line.is_power_of_two() || !aligned_pitch {
        return (0, false);
    }
    let short = turn.output.align_offset(line);
    if short < turn.rows { (short, true) } else { (0, false) }
}

/// Makes the streamed stores visible before any later one, as ordinary stores would be.
fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    }
}

/// Element by element.
unsafe fn turn_plainly<T: Copy>(
    turn: &Turn<T>,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
) {
    for row in rows {
        for column in columns.clone() {
            // SAFETY: the caller keeps row and column inside the matrix.
            unsafe {
                let element = turn.input.add(row * turn.input_pitch + column).read();
                turn.output.add(column * turn.output_pitch + row).write(element);
            }
        }
    }
}

/// Transposes a square matrix in place.
///
/// # Safety
/// `matrix` is good for `size * size` elements, and the processor has the instructions of `squares`.
pub(super) unsafe fn turn_in_place<T: Copy>(squares: Squares<T>, matrix: *mut T, size: usize) {
    let side = squares.side;
    let whole = size / side * side;
    for tile_row in (0..whole).step_by(TILE) {
        for tile_column in (tile_row..whole).step_by(TILE) {
            for row in (tile_row..whole.min(tile_row + TILE)).step_by(side) {
                let first = tile_column.max(row);
                for column in (first..whole.min(tile_column + TILE)).step_by(side) {
                    // SAFETY: both squares lie inside the matrix.
                    unsafe {
                        let upper = matrix.add(row * size + column);
                        let lower = matrix.add(column * size + row);
                        (squares.exchange)(upper, lower, size);
                    }
                }
            }
        }
    }
    for row in 0..size {
        for column in whole.max(row + 1)..size {
            // SAFETY: row and column are below the size.
            unsafe { matrix.add(row * size + column).swap(matrix.add(column * size + row)) };
        }
    }
}

#[inline(always)]
unsafe fn tile<V: Vector, const STREAMED: bool>(
    input: *const V::Element,
    input_pitch: usize,
    output: *mut V::Element,
    output_pitch: usize,
    rows: usize,
    columns: usize,
) {
    for column in (0..columns).step_by(V::COUNT) {
        for row in (0..rows).step_by(V::COUNT) {
            // SAFETY: the caller vouches for the tile, of whole squares, in input and output.
            unsafe {
                let square = V::load_square(input.add(row * input_pitch + column), input_pitch);
                let turned = V::transpose(square);
                let to = output.add(column * output_pitch + row);
                for (line, vector) in turned.as_ref().iter().enumerate() {
                    if STREAMED {
                        vector.stream(to.add(line * output_pitch));
                    } else {
                        vector.store(to.add(line * output_pitch));
                    }
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn exchange<V: Vector>(upper: *mut V::Element, lower: *mut V::Element, pitch: usize) {
    // SAFETY: the caller vouches for both squares; both are read before either is written.
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

macro_rules! compile {
    ($(#[$feature:meta])* $name:ident<$vector:ty>) => {
        fn $name<T: Copy>() -> Squares<T> {
            $(#[$feature])*
            unsafe fn stored<T: Copy>(
                input: *const T,
                input_pitch: usize,
                output: *mut T,
                output_pitch: usize,
                rows: usize,
                columns: usize,
            ) {
                let (input, output) = (input.cast(), output.cast());
                // SAFETY: the caller vouches for tile and instructions; T is as large as the vector's element.
                unsafe { tile::<$vector, false>(input, input_pitch, output, output_pitch, rows, columns) }
            }

            $(#[$feature])*
            unsafe fn streamed<T: Copy>(
                input: *const T,
                input_pitch: usize,
                output: *mut T,
                output_pitch: usize,
                rows: usize,
                columns: usize,
            ) {
                let (input, output) = (input.cast(), output.cast());
                // SAFETY: as above, and the caller vouches for the alignment.
                unsafe { tile::<$vector, true>(input, input_pitch, output, output_pitch, rows, columns) }
            }

            $(#[$feature])*
            unsafe fn exchanged<T: Copy>(upper: *mut T, lower: *mut T, pitch: usize) {
                // SAFETY: the caller vouches for squares and instructions; T is as large as the vector's element.
                unsafe { exchange::<$vector>(upper.cast(), lower.cast(), pitch) }
            }

            assert_eq!(size_of::<T>(), size_of::<<$vector as Vector>::Element>());
            Squares {
                side: <$vector>::COUNT,
                tile: stored::<T>,
                streamed: streamed::<T>,
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

/// The squares for elements like `T`. The processor must have the instructions when they are used.
pub(super) fn kernels<T: Copy>(instructions: Instructions) -> Squares<T> {
    #[cfg(target_arch = "x86_64")]
    if let Some(squares) = x86::squares(instructions) {
        return squares;
    }
    let _ = instructions;
    portable()
}
