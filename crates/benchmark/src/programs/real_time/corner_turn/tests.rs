//! Tests corner turns on the reference fabric.

use conformance::reference;

use super::*;
use crate::settings::{CornerTurn, Settings};
use crate::sizes::Sizes;

fn turned<T: matrix::MatrixElement + Sync + Send>(
    (rows, columns): (usize, usize),
    ranks: usize,
    design: Design,
    turns: u64,
) -> std::result::Result<(), (usize, Error)> {
    let matrix = Matrix::<T>::new(rows, columns, ranks, 99).unwrap();
    let schedule = design.schedule(ranks).unwrap();
    reference::run(ranks, |rank| {
        let mut part = MatrixPart::new(&matrix, &schedule, rank.rank())?;
        part.begin(rank)?;
        for _ in 0..turns {
            part.turn(rank)?;
        }
        rank.barrier()?;
        part.finish(rank)
    })
}

#[test]
fn every_element_arrives_in_its_place_whatever_its_size_and_the_order_of_blocks() {
    for turns in [1, 2, 3] {
        turned::<u32>((8, 12), 4, Design::Recursive, turns).unwrap();
        turned::<u64>((64, 32), 8, Design::Balanced, turns).unwrap();
        turned::<u128>((6, 18), 6, Design::Balanced, turns).unwrap();
        turned::<u64>((2, 2), 2, Design::Recursive, turns).unwrap();
        // Blocks of 4 KiB, which wait for their receives.
        turned::<u64>((64, 128), 4, Design::Balanced, turns).unwrap();
    }
}

/// Tests the check itself, with elements counted by hand: rank 1 of 2 has columns 2 and 3 of the 2 x 4 matrix.
#[test]
fn the_check_knows_which_column_goes_where_and_sees_a_swap() {
    let matrix = Matrix::<u64>::new(2, 4, 2, 5).unwrap();
    let element =
        |row: usize, column: usize| matrix.rows_of(row, 0).unwrap().elements::<u64>()[column];
    let mut turned = contract::Buffer::zeroed(32);
    let right = [element(0, 2), element(1, 2), element(0, 3), element(1, 3)];
    turned.elements_mut::<u64>().copy_from_slice(&right);
    assert_eq!(matrix.check(&turned, 1, 0), Ok(()));
    // The expected result of the next turn differs everywhere.
    assert!(matrix.check(&turned, 1, 1).unwrap_err().to_string().contains("row 0, column 2"));
    turned.elements_mut::<u64>().swap(1, 2);
    assert!(matrix.check(&turned, 1, 0).unwrap_err().to_string().contains("row 1, column 2"));
}

#[test]
fn a_matrix_that_the_ranks_cannot_share_is_refused_with_the_way_out() {
    let error = Matrix::<u64>::new(512, 511, 4, 1).unwrap_err().to_string();
    assert!(error.contains("512 x 511") && error.contains("that 4 divides"), "{error}");
}

fn sizes_of(ranks: usize, settings: &Settings) -> Vec<u64> {
    let scope = Scope { ranks, sizes: settings.sizes.as_ref(), settings };
    cases(&scope).iter().map(|case| case.size_bytes).collect()
}

#[test]
fn messages_are_those_of_table_6_1_and_halve_as_ranks_double() {
    let settings = Settings::default();
    let sizes: Vec<u64> = [2, 4, 8, 16].into_iter().flat_map(|n| sizes_of(n, &settings)).collect();
    assert_eq!(sizes, [512 << 10, 256 << 10, 128 << 10, 64 << 10]);
    // 6 does not divide 512, but 516 rows by 1524 columns: 86 x 254 elements of 8 bytes.
    assert_eq!(sizes_of(6, &settings), [86 * 254 * 8]);
}

#[test]
fn a_wanted_size_is_that_of_the_messages() {
    let sizes: Sizes = "24,4KiB".parse().unwrap();
    let settings = Settings { sizes: Some(sizes), ..Settings::default() };
    assert_eq!(sizes_of(4, &settings), [24, 4096]);
    let corner_turn =
        CornerTurn { matrix: Some((16, 32)), element_bytes: 4, ..CornerTurn::default() };
    let settings = Settings { corner_turn, ..Settings::default() };
    assert_eq!(sizes_of(4, &settings), [4 * 8 * 4]);
}
