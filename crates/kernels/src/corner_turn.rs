//! The corner turn: a matrix transpose in memory.
//!
//! A plain double loop touches a new cache line, and in a large matrix a new page, with every element of one of the two
//! matrices. Here squares of one cache line by one cache line are transposed in registers. They are processed in tiles
//! that stay within the reach of the translation buffer. A matrix larger than the caches is written past them, which
//! avoids reading lines that are about to be overwritten.

mod blocks;

use crate::error::Result;
use crate::error::{check_instructions, check_length};
use crate::instructions::Instructions;
pub(crate) use blocks::fence;
use blocks::{BlockTurn, kernels};

/// Transposes `input`, `rows` by `columns` elements row by row, into `output`, `columns` by `rows`.
///
/// Elements of 4, 8 and 16 bytes use vector instructions; others are moved one by one, in the same tiles.
///
/// # Errors
/// [`crate::Error::WrongLength`] if either slice does not have exactly `rows * columns` elements.
pub fn corner_turn<T: Copy>(
    input: &[T],
    rows: usize,
    columns: usize,
    output: &mut [T],
) -> Result<()> {
    corner_turn_with(Instructions::best(), input, rows, columns, output)
}

/// As [`corner_turn`], with chosen instructions.
///
/// # Errors
/// Also [`crate::Error::NoInstructions`] if this processor lacks them.
pub fn corner_turn_with<T: Copy>(
    instructions: Instructions,
    input: &[T],
    rows: usize,
    columns: usize,
    output: &mut [T],
) -> Result<()> {
    let instructions = check_instructions(instructions)?;
    let elements = rows.saturating_mul(columns);
    check_length("the input of a corner turn", elements, input.len())?;
    check_length("the output of a corner turn", elements, output.len())?;
    let turn = BlockTurn {
        input: input.as_ptr(),
        output: output.as_mut_ptr(),
        rows,
        columns,
        input_pitch: columns,
        output_pitch: rows,
        streaming: size_of_val(input) >= STREAMING_BYTES,
    };
    // SAFETY: both slices have rows * columns elements, as was checked, and cannot overlap; the instructions were
    // checked.
    unsafe { blocks::turn(kernels::<T>(instructions), &turn) };
    Ok(())
}

/// Transposes a part of one matrix into a part of another.
///
/// `input` begins with the part's first element: `rows` rows of `columns` elements, a row `input_pitch` elements after
/// the one before. `output` begins with the place of that element: `columns` rows of `rows` elements, `output_pitch`
/// elements apart.
///
/// # Errors
/// [`crate::Error::WrongLength`] if either slice ends before its part does, or if a pitch is less than the length of
/// its rows.
pub fn corner_turn_pitched<T: Copy>(
    input: &[T],
    (rows, columns): (usize, usize),
    input_pitch: usize,
    output: &mut [T],
    output_pitch: usize,
) -> Result<()> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let extent = |count: usize, pitch: usize, length: usize| {
        (count - 1).saturating_mul(pitch).saturating_add(length)
    };
    check_room("the pitch of a corner turn's input", columns, input_pitch)?;
    check_room("the pitch of a corner turn's output", rows, output_pitch)?;
    check_room("the input of a corner turn", extent(rows, input_pitch, columns), input.len())?;
    check_room("the output of a corner turn", extent(columns, output_pitch, rows), output.len())?;
    let turn = BlockTurn {
        input: input.as_ptr(),
        output: output.as_mut_ptr(),
        rows,
        columns,
        input_pitch,
        output_pitch,
        streaming: rows * columns * size_of::<T>() >= STREAMING_BYTES,
    };
    // SAFETY: both slices contain their parts, as was checked, and cannot overlap; this processor has the instructions
    // `best`.
    unsafe { blocks::turn(kernels::<T>(Instructions::best()), &turn) };
    Ok(())
}

fn check_room(what: &'static str, needed: usize, there: usize) -> Result<()> {
    if needed <= there { Ok(()) } else { check_length(what, needed, there) }
}

/// Transposes `matrix`, `size` by `size` elements, in place.
///
/// # Errors
/// [`crate::Error::WrongLength`] if `matrix` does not have exactly `size * size` elements.
pub fn corner_turn_in_place<T: Copy>(matrix: &mut [T], size: usize) -> Result<()> {
    corner_turn_in_place_with(Instructions::best(), matrix, size)
}

/// As [`corner_turn_in_place`], with chosen instructions.
///
/// # Errors
/// Also [`crate::Error::NoInstructions`] if this processor lacks them.
pub fn corner_turn_in_place_with<T: Copy>(
    instructions: Instructions,
    matrix: &mut [T],
    size: usize,
) -> Result<()> {
    let instructions = check_instructions(instructions)?;
    check_length("the matrix of a corner turn", size.saturating_mul(size), matrix.len())?;
    // SAFETY: the slice has size * size elements, as was checked; the instructions were checked.
    unsafe { blocks::turn_in_place(kernels::<T>(instructions), matrix.as_mut_ptr(), size) };
    Ok(())
}

/// Transposes `input`, `rows` rows, into columns `first` and following of the matrix `output`, whose rows have `pitch`
/// elements.
///
/// # Panics
/// If the input is not that many rows, or the columns are not in the output: callers have checked their arguments.
pub(crate) fn turn_into_columns<T: Copy>(
    instructions: Instructions,
    input: &[T],
    rows: usize,
    output: &mut [T],
    pitch: usize,
    first: usize,
) {
    let columns = input.len() / rows;
    assert!(
        rows * columns == input.len() && first + rows <= pitch && output.len() == columns * pitch
    );
    let turn = BlockTurn {
        input: input.as_ptr(),
        output: output[first..].as_mut_ptr(),
        rows,
        columns,
        input_pitch: columns,
        output_pitch: pitch,
        streaming: size_of_val(output) >= STREAMING_BYTES,
    };
    let squares = kernels::<T>(check_instructions(instructions).unwrap_or(Instructions::Portable));
    // SAFETY: `columns` rows of the output contain the requested columns, as was asserted, and cannot overlap the
    // input; the instructions were checked.
    unsafe { blocks::turn(squares, &turn) };
}

/// Size of one matrix from which on the output is written past the caches. It is about the size at which the two
/// matrices no longer fit the second-level cache, where a store through it first reads the line that it will overwrite.
pub(crate) const STREAMING_BYTES: usize = 1 << 20;
