//! Filters, factorisation and detection compared with slow, obvious forms in double precision, with every set of
//! instructions.

use crate::common::{Noise, relative_rms_error, widen};
use kernels::cfar::Cfar;
use kernels::fir::{Convolution, FrequencyFir, TimeFir};
use kernels::qr::{self, Qr};
use kernels::{Complex32, Complex64, Error, Instructions};

fn available() -> impl Iterator<Item = Instructions> {
    Instructions::ALL.into_iter().filter(|set| set.is_available())
}

/// Computes the filter by its definition.
fn filtered(taps: &[Complex64], input: &[Complex64]) -> Vec<Complex64> {
    let count = input.len() + taps.len() - 1;
    let point = |i: usize| -> Complex64 {
        let reached = (0..taps.len()).filter(|&k| k <= i && i - k < input.len());
        reached.map(|k| taps[k] * input[i - k]).sum()
    };
    (0..count).map(point).collect()
}

#[test]
fn both_filters_make_what_the_definition_makes() {
    let shapes =
        [(1, 1), (1, 5), (5, 1), (3, 64), (64, 64), (12, 1024), (128, 700), (33, 65), (7, 130)];
    for (seed, (taps, points)) in (1..).zip(shapes) {
        let mut noise = Noise::new(seed);
        let (taps, input) = (noise.singles(taps), noise.singles(points));
        let right = filtered(&widen(&taps), &widen(&input));
        let close = |found: &[Complex32], what: &str| {
            let off = relative_rms_error(&widen(found), &right[..found.len()]);
            assert!(off < 1e-6, "{what}, {} taps, {points} points: {off}", taps.len());
        };
        for count in [1, points, right.len()] {
            let mut found = vec![Complex32::default(); count];
            for instructions in available() {
                found.fill(Complex32::new(f32::NAN, 0.0));
                let mut filter = TimeFir::with_instructions(&taps, instructions).unwrap();
                // At the second call the filter's memory is not zero.
                filter.filter(&input, &mut found).unwrap();
                filter.filter(&input, &mut found).unwrap();
                if count > 1 {
                    close(&found, instructions.name());
                }
            }
            let mut filter = FrequencyFir::new(&taps, points).unwrap();
            filter.filter(&input, &mut found).unwrap();
            filter.filter(&input, &mut found).unwrap();
            if count > 1 {
                close(&found, "by transforms");
            }
        }
    }
}

#[test]
fn a_convolution_goes_round() {
    for (seed, (taps, points)) in (1..).zip([(1, 1), (3, 8), (8, 8), (11, 8), (40, 100)]) {
        let mut noise = Noise::new(seed);
        let (taps, rows) = (noise.singles(taps), noise.singles(3 * points));
        let (wide_taps, wide) = (widen(&taps), widen(&rows));
        let point = |row: usize, i: usize| -> Complex64 {
            let back = |k: usize| (i + points * taps.len() - k) % points;
            (0..taps.len()).map(|k| wide_taps[k] * wide[row * points + back(k)]).sum()
        };
        let right: Vec<_> = (0..3 * points).map(|at| point(at / points, at % points)).collect();
        let mut found = rows.clone();
        Convolution::new(&taps, points).unwrap().apply(&mut found).unwrap();
        let off = relative_rms_error(&widen(&found), &right);
        assert!(off < 1e-6, "{} taps, {points} points: {off}", taps.len());
    }
}

#[test]
fn the_factors_are_unitary_and_triangular_and_make_the_matrix() {
    let shapes = [(1, 1), (2, 1), (5, 5), (17, 4), (16, 16), (33, 18), (60, 20), (150, 150)];
    for (seed, (rows, columns)) in (1..).zip(shapes) {
        let matrix = Noise::new(seed).singles(rows * columns);
        for instructions in available() {
            let what = format!("seed {seed}, {rows} x {columns}, {instructions}");
            let mut qr = Qr::with_instructions(rows, columns, instructions).unwrap();
            let mut unitary = vec![Complex32::default(); rows * rows];
            for _ in 0..2 {
                qr.factor(&matrix).unwrap();
                qr.unitary(&mut unitary).unwrap();
            }
            let q = widen(&unitary);
            let r: Vec<Complex64> = (0..columns * columns)
                .map(|at| widen(&[qr.triangle(at / columns, at % columns)])[0])
                .collect();
            let product = |row: usize, column: usize| -> Complex64 {
                (0..=column).map(|at| q[at * rows + row] * r[at * columns + column]).sum()
            };
            let made: Vec<_> =
                (0..rows * columns).map(|at| product(at / columns, at % columns)).collect();
            let off = relative_rms_error(&made, &widen(&matrix));
            assert!(off < 3e-6, "{what}: Q R is off by {off}");
            let dot = |a: usize, b: usize| -> Complex64 {
                (0..rows).map(|row| q[a * rows + row].conj() * q[b * rows + row]).sum()
            };
            for a in 0..rows {
                for b in a..rows.min(a + 20) {
                    let right = if a == b { 1.0 } else { 0.0 };
                    let found = dot(a, b);
                    assert!((found - right).norm() < 1e-5, "{what}: columns {a} and {b}: {found}");
                }
            }
        }
    }
}

#[test]
fn normal_equations_are_solved() {
    let (rows, columns) = (40, 7);
    let matrix = Noise::new(3).singles(rows * columns);
    let right = Noise::new(4).singles(columns);
    let mut qr = Qr::new(rows, columns).unwrap();
    qr.factor(&matrix).unwrap();
    let mut found = right.clone();
    qr.solve_normal(&mut found).unwrap();
    let (a, x) = (widen(&matrix), widen(&found));
    let times = |row: usize| -> Complex64 {
        (0..columns).map(|column| a[row * columns + column] * x[column]).sum()
    };
    let back = |column: usize| -> Complex64 {
        (0..rows).map(|row| a[row * columns + column].conj() * times(row)).sum()
    };
    let back: Vec<_> = (0..columns).map(back).collect();
    assert!(relative_rms_error(&back, &widen(&right)) < 1e-5, "{back:?}");
    // A matrix of zeros has no solution, and the result contains no NaN.
    qr.factor(&vec![Complex32::default(); rows * columns]).unwrap();
    qr.solve_normal(&mut found).unwrap();
    assert!(found.iter().all(|x| x.norm() == 0.0), "{found:?}");
}

#[test]
fn operations_of_the_factorisation_are_those_of_the_hpec_challenge() {
    // The challenge's kernel description has 397, 30.5 and 45 MFLOP. 16 x 500 (50000 - 5000) + 16 (2500000 - 166666.67)
    // = 360000000 + 37333333.
    assert_eq!(qr::operations(500, 100).round(), 397_333_333.0);
    assert_eq!(qr::operations(180, 60), 30_528_000.0);
    assert_eq!(qr::operations(150, 150), 45_000_000.0);
}

#[test]
fn detection_compares_with_the_neighbours_that_there_are() {
    for (seed, (count, guard, cells)) in (1..).zip([
        (1, 0, 1),
        (5, 1, 1),
        (64, 4, 5),
        (40, 8, 10),
        (300, 16, 20),
        (9, 3, 100),
        (50, 0, 7),
    ]) {
        let mut noise = Noise::new(seed);
        let mut cfar = Cfar::new(guard, cells);
        for _ in 0..3 {
            let row = noise.singles(count);
            let wide = widen(&row);
            let mut found = vec![f32::NAN; count];
            cfar.ratios(&row, &mut found).unwrap();
            for (i, found) in found.iter().enumerate() {
                let near =
                    (0..count).filter(|j| (guard + 1..=guard + cells).contains(&j.abs_diff(i)));
                let powers: Vec<f64> = near.map(|j| wide[j].norm_sqr()).collect();
                let sum: f64 = powers.iter().sum();
                let right =
                    if sum > 0.0 { wide[i].norm_sqr() * powers.len() as f64 / sum } else { 0.0 };
                let off = (f64::from(*found) - right).abs();
                assert!(off <= 1e-5 * right, "seed {seed}, cell {i}: {found} and not {right}");
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(TimeFir::new(&[]).err(), Some(Error::NoTaps));
    assert_eq!(FrequencyFir::new(&[], 4).err(), Some(Error::NoTaps));
    assert_eq!(Qr::new(3, 4).err(), Some(Error::WideMatrix { rows: 3, columns: 4 }));
    assert!(Qr::new(3, 0).is_err());
    let one = [Complex32::new(1.0, 0.0)];
    let too_long = TimeFir::new(&one).unwrap().filter(&one, &mut [Complex32::default(); 2]);
    assert!(
        matches!(too_long, Err(Error::WrongLength { expected: 1, found: 2, .. })),
        "{too_long:?}"
    );
    assert!(Qr::new(2, 1).unwrap().factor(&one).is_err());
    assert!(Cfar::new(1, 1).ratios(&one, &mut []).is_err());
}
