//! The corner turn compared with a plain double loop, for every size of element, shape and instruction set.

use std::fmt::Debug;

use kernels::{
    Complex32, Complex64, Error, Instructions, corner_turn, corner_turn_in_place,
    corner_turn_in_place_with, corner_turn_pitched, corner_turn_with,
};
use proptest::prelude::*;

fn available() -> impl Iterator<Item = Instructions> {
    Instructions::ALL.into_iter().filter(|set| set.is_available())
}

fn plainly<T: Copy>(input: &[T], rows: usize, columns: usize) -> Vec<T> {
    let mut output = input.to_vec();
    for row in 0..rows {
        for column in 0..columns {
            output[column * rows + row] = input[row * columns + column];
        }
    }
    output
}

/// Turns one matrix with every function, with memory around it that must not change.
fn check<T: Copy + PartialEq + Debug>(rows: usize, columns: usize, make: impl Fn(usize) -> T) {
    const MARGIN: usize = 3;
    let input: Vec<T> = (0..rows * columns).map(&make).collect();
    let expected = plainly(&input, rows, columns);
    let marker = make(usize::MAX);
    for set in available() {
        let mut room = vec![marker; rows * columns + 2 * MARGIN];
        let output = &mut room[MARGIN..][..rows * columns];
        corner_turn_with(set, &input, rows, columns, output).unwrap();
        assert!(output == expected, "{set}, {rows} x {columns}, {} bytes", size_of::<T>());
        assert!(room[..MARGIN].iter().all(|&at| at == marker));
        assert!(room[rows * columns + MARGIN..].iter().all(|&at| at == marker));
        if rows == columns {
            room[MARGIN..][..rows * rows].copy_from_slice(&input);
            let matrix = &mut room[MARGIN..][..rows * rows];
            corner_turn_in_place_with(set, matrix, rows).unwrap();
            assert!(matrix == expected, "{set}, {rows} in place, {} bytes", size_of::<T>());
            assert!(room[..MARGIN].iter().all(|&at| at == marker));
            assert!(room[rows * rows + MARGIN..].iter().all(|&at| at == marker));
        }
    }
}

fn check_every_element(rows: usize, columns: usize) {
    check(rows, columns, |at| at as u8);
    check(rows, columns, |at| at as u32);
    check(rows, columns, |at| at as u64);
    check(rows, columns, |at| [at as u32, 1, !at as u32]);
    check(rows, columns, |at| [at as u64, !at as u64]);
    check(rows, columns, |at| Complex32::new(at as u16 as f32, -(at as u8 as f32)));
    check(rows, columns, |at| Complex64::new(at as f64, -(at as f64)));
}

#[test]
fn every_small_shape_is_turned_rightly() {
    for rows in 0..20 {
        for columns in 0..20 {
            check_every_element(rows, columns);
        }
    }
}

#[test]
fn shapes_around_squares_and_tiles_are_turned_rightly() {
    for rows in [31, 32, 33, 63, 64, 65, 96] {
        for columns in [1, 16, 31, 32, 33, 64, 100] {
            check_every_element(rows, columns);
        }
    }
    check_every_element(512, 512);
}

#[test]
fn matrices_large_enough_to_be_written_past_the_caches_are_turned_rightly() {
    // 8 MiB and a little more, with aligned rows and unaligned ones.
    for (rows, columns) in [(1024, 1025), (1032, 1024), (1025, 1027)] {
        check(rows, columns, |at| at as u64);
        check(rows, columns, |at| [at as u64, 0]);
        check(2 * rows, columns, |at| at as u32);
    }
}

#[test]
fn bits_that_are_no_numbers_survive() {
    // A signalling NaN in each half: arithmetic would make it quiet, moving must not.
    check(40, 40, |at| 0x7f80_0001_7fa0_0001u64 ^ at as u64);
    check(40, 40, |at| 0x7f80_0001u32 ^ at as u32);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let mut output = [0u32; 5];
    let refused = corner_turn(&[0u32; 6], 2, 3, &mut output).unwrap_err();
    let said = "the output of a corner turn holds 5 elements where 6 are needed";
    assert_eq!(refused.to_string(), said);
    let refused = corner_turn(&[0u32; 5], 2, 3, &mut output).unwrap_err();
    assert!(matches!(refused, Error::WrongLength { expected: 6, found: 5, .. }));
    let huge = corner_turn(&[0u32; 5], usize::MAX, 3, &mut output).unwrap_err();
    assert!(matches!(huge, Error::WrongLength { expected: usize::MAX, .. }));
    assert!(corner_turn_in_place(&mut output, 2).is_err());
    assert!(corner_turn_in_place(&mut output, usize::MAX).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn turning_twice_gives_the_matrix_back(rows in 1usize..200, columns in 1usize..200) {
        for set in available() {
            let input: Vec<u64> = (0..rows * columns).map(|at| at as u64).collect();
            let (mut once, mut twice) = (input.clone(), input.clone());
            corner_turn_with(set, &input, rows, columns, &mut once).unwrap();
            corner_turn_with(set, &once, columns, rows, &mut twice).unwrap();
            prop_assert!(twice == input);
        }
    }
}

#[test]
fn a_part_of_a_matrix_turns_into_a_part_of_another_and_nothing_else_changes() {
    for (rows, columns) in [(1, 1), (3, 5), (8, 8), (16, 40), (33, 17)] {
        let (input_pitch, output_pitch) = (columns + 3, rows + 5);
        let input: Vec<u64> = (0..(rows * input_pitch) as u64).collect();
        let mut output = vec![u64::MAX; columns * output_pitch];
        // The part's last row ends before the pitch does.
        let (short_input, last) = (rows * input_pitch - 3, columns * output_pitch - 5);
        let input = &input[..short_input];
        corner_turn_pitched(input, (rows, columns), input_pitch, &mut output[..last], output_pitch)
            .unwrap();
        for (at, &found) in output.iter().enumerate() {
            let (column, row) = (at / output_pitch, at % output_pitch);
            let right = if row < rows { (row * input_pitch + column) as u64 } else { u64::MAX };
            assert_eq!(found, right, "{rows} x {columns}, element {at}");
        }
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let input = [0u32; 12];
    let mut output = [0u32; 12];
    let mut turn = |shape, input_pitch, output_pitch| {
        corner_turn_pitched(&input, shape, input_pitch, &mut output, output_pitch)
    };
    turn((3, 4), 4, 3).unwrap();
    for (shape, input_pitch, output_pitch) in
        [((3, 4), 3, 3), ((3, 4), 4, 2), ((3, 4), 5, 3), ((3, 4), 4, 4)]
    {
        assert!(matches!(turn(shape, input_pitch, output_pitch), Err(Error::WrongLength { .. })));
    }
}
