//! Forest Baskett's puzzle: a box of 5 x 5 x 5 is packed with 18 bricks of four classes, by search.
//!
//! The box is in a space of 8 x 8 x 8 cells in which all other cells are filled from the start, so that a brick that
//! extends beyond the box does not fit. A search always fills the first free cell. It ends after 2005 trials, with
//! subscripts as with pointers.

use std::hint::black_box;

use super::check::check;
use crate::error::Result;

const SIDE: usize = 8;
const CELLS: usize = SIDE * SIDE * SIDE;
const SHAPES: usize = 13;
const FIRST_CELL: usize = cell(1, 1, 1);
const TRIALS: u64 = 2005;

const fn cell(x: usize, y: usize, z: usize) -> usize {
    x + SIDE * (y + SIDE * z)
}

/// Extents of the 13 orientations of bricks, and the class of the brick.
const EXTENTS: [([usize; 3], usize); SHAPES] = [
    ([4, 2, 1], 0),
    ([2, 1, 4], 0),
    ([1, 4, 2], 0),
    ([2, 4, 1], 0),
    ([4, 1, 2], 0),
    ([1, 2, 4], 0),
    ([3, 1, 1], 1),
    ([1, 3, 1], 1),
    ([1, 1, 3], 1),
    ([2, 2, 1], 2),
    ([2, 1, 2], 2),
    ([1, 2, 2], 2),
    ([2, 2, 2], 3),
];

/// Number of bricks of each class: 13 x 8 + 3 x 3 + 4 + 8 = 125 cells.
const BRICKS: [u32; 4] = [13, 3, 1, 1];

/// The box, the remaining bricks, and their shapes.
pub(super) struct Puzzle {
    filled: [bool; CELLS],
    left: [u32; 4],
    shapes: [[bool; CELLS]; SHAPES],
    /// The last cell of each shape.
    last: [usize; SHAPES],
    class: [usize; SHAPES],
    trials: u64,
}

impl Puzzle {
    fn new() -> Self {
        let mut puzzle = Puzzle {
            filled: [true; CELLS],
            left: BRICKS,
            shapes: [[false; CELLS]; SHAPES],
            last: [0; SHAPES],
            class: [0; SHAPES],
            trials: 0,
        };
        fill(&mut puzzle.filled, FIRST_CELL, [5, 5, 5], false);
        for (shape, (extent, class)) in EXTENTS.into_iter().enumerate() {
            fill(&mut puzzle.shapes[shape], 0, extent, true);
            puzzle.last[shape] = cell(extent[0] - 1, extent[1] - 1, extent[2] - 1);
            puzzle.class[shape] = class;
        }
        puzzle
    }
}

fn fill(cells: &mut [bool; CELLS], first: usize, [x, y, z]: [usize; 3], value: bool) {
    for at in 0..x * y * z {
        cells[first + cell(at % x, at / x % y, at / (x * y))] = value;
    }
}

/// Solves the puzzle by `search` and returns the number of trials.
pub(super) fn run(search: fn(&mut Puzzle, usize) -> bool) -> Result<u64> {
    let mut puzzle = black_box(Puzzle::new());
    // As in the original, the first brick is placed before the search begins.
    let next = place(&mut puzzle, 0, FIRST_CELL).unwrap_or(0);
    let solved = search(&mut puzzle, next);
    check("puzzle", "whether it is solved", true, solved)?;
    check("puzzle", "whether the box is full", true, puzzle.filled.iter().all(|&cell| cell))?;
    check("puzzle", "the number of trials", TRIALS, puzzle.trials)?;
    Ok(puzzle.trials)
}

/// Counts one trial more: the original searches the full box once before it detects that it is full.
fn count_full_box(puzzle: &mut Puzzle) {
    puzzle.trials += 1;
}

/// Searches from the first free cell on, by subscripts.
#[inline(never)]
pub(super) fn search_by_subscript(puzzle: &mut Puzzle, at: usize) -> bool {
    puzzle.trials += 1;
    for shape in 0..SHAPES {
        if puzzle.left[puzzle.class[shape]] == 0 || !fits(puzzle, shape, at) {
            continue;
        }
        match place(puzzle, shape, at) {
            None => {
                count_full_box(puzzle);
                return true;
            }
            Some(next) if search_by_subscript(puzzle, next) => return true,
            Some(_) => remove(puzzle, shape, at),
        }
    }
    false
}

#[inline(never)]
fn fits(puzzle: &Puzzle, shape: usize, at: usize) -> bool {
    for offset in 0..=puzzle.last[shape] {
        if puzzle.shapes[shape][offset] && puzzle.filled[at + offset] {
            return false;
        }
    }
    true
}

/// Places a brick. Returns the first cell that is still free.
#[inline(never)]
fn place(puzzle: &mut Puzzle, shape: usize, at: usize) -> Option<usize> {
    for offset in 0..=puzzle.last[shape] {
        if puzzle.shapes[shape][offset] {
            puzzle.filled[at + offset] = true;
        }
    }
    puzzle.left[puzzle.class[shape]] -= 1;
    (at..CELLS).find(|&cell| !puzzle.filled[cell])
}

#[inline(never)]
fn remove(puzzle: &mut Puzzle, shape: usize, at: usize) {
    for offset in 0..=puzzle.last[shape] {
        if puzzle.shapes[shape][offset] {
            puzzle.filled[at + offset] = false;
        }
    }
    puzzle.left[puzzle.class[shape]] += 1;
}

/// Searches from the first free cell on, by pointers to cells and shapes.
pub(super) fn search_by_pointer(puzzle: &mut Puzzle, at: usize) -> bool {
    let puzzle: *mut Puzzle = puzzle;
    // SAFETY: every pointer is derived from `puzzle` and is only followed to its cells: `at` is one of the box, the
    // check of a shape ends at the first filled cell, and the box is surrounded by filled cells on every side.
    unsafe { search_from(puzzle, (&raw mut (*puzzle).filled).cast::<bool>().add(at)) }
}

/// As [`search_by_pointer`].
///
/// # Safety
/// `at` points to a cell of the box of `puzzle`.
#[inline(never)]
unsafe fn search_from(puzzle: *mut Puzzle, at: *mut bool) -> bool {
    // SAFETY: the caller guarantees both; see [`search_by_pointer`].
    unsafe {
        (*puzzle).trials += 1;
        let mut shape = (&raw mut (*puzzle).shapes).cast::<[bool; CELLS]>();
        let mut last = (&raw const (*puzzle).last).cast::<usize>();
        let mut class = (&raw const (*puzzle).class).cast::<usize>();
        let end = shape.add(SHAPES);
        while shape < end {
            let left = (&raw mut (*puzzle).left).cast::<u32>().add(*class);
            if *left != 0 && fits_at(shape.cast(), *last, at) {
                set_at(shape.cast(), *last, at, true);
                *left -= 1;
                match free_from(puzzle, at) {
                    None => {
                        count_full_box(&mut *puzzle);
                        return true;
                    }
                    Some(next) if search_from(puzzle, next) => return true,
                    Some(_) => {
                        set_at(shape.cast(), *last, at, false);
                        *left += 1;
                    }
                }
            }
            shape = shape.add(1);
            last = last.add(1);
            class = class.add(1);
        }
        false
    }
}

/// Returns whether a shape fits.
///
/// # Safety
/// `shape` is valid for one more than `last` cells, and `at` for as many, or up to a filled one that the shape would
/// fill.
#[inline(never)]
unsafe fn fits_at(mut shape: *const bool, last: usize, mut at: *const bool) -> bool {
    // SAFETY: the caller guarantees the cells.
    unsafe {
        let end = shape.add(last);
        while shape <= end {
            if *shape && *at {
                return false;
            }
            shape = shape.add(1);
            at = at.add(1);
        }
    }
    true
}

/// Sets the cells of a shape.
///
/// # Safety
/// `shape` and `at` are valid for one more than `last` cells.
#[inline(never)]
unsafe fn set_at(mut shape: *const bool, last: usize, mut at: *mut bool, value: bool) {
    // SAFETY: the caller guarantees the cells.
    unsafe {
        let end = shape.add(last);
        while shape <= end {
            if *shape {
                *at = value;
            }
            shape = shape.add(1);
            at = at.add(1);
        }
    }
}

/// Returns the first free cell.
///
/// # Safety
/// `at` points to a cell of `puzzle`.
#[inline(never)]
unsafe fn free_from(puzzle: *mut Puzzle, mut at: *mut bool) -> Option<*mut bool> {
    // SAFETY: the caller guarantees the cell; the search ends at the last.
    unsafe {
        let end = (&raw mut (*puzzle).filled).cast::<bool>().add(CELLS);
        while at < end {
            if !*at {
                return Some(at);
            }
            at = at.add(1);
        }
    }
    None
}
