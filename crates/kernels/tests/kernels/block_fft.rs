//! The block FFT compared with the definition of the transform, for every length, batch, layout and instruction set.

use crate::common::{Noise, oracle, relative_rms_error, widen};
use kernels::fft::{BlockFft, LibraryFft, Strided, nominal_operations};
use kernels::{Complex, Complex32, Complex64, Error, Instructions};
use proptest::prelude::*;

const BLOCKED: [usize; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Lengths with row kernels for AVX-512 in single precision.
const LONG: [usize; 6] = [256, 512, 1024, 2048, 4096, 8192];

fn available() -> impl Iterator<Item = Instructions> {
    Instructions::ALL.into_iter().filter(|set| set.is_available())
}

/// Returns the tolerance. Rounding errors add up like a random walk over the log2 N stages of a transform. The error of
/// a stage, an addition after a multiplication by a root, is well under one and a half roundings (`unit`), even in an
/// unlucky short transform.
fn tolerance(length: usize, unit: f64) -> f64 {
    1.5 * unit * (length as f64).log2().max(1.0).sqrt()
}

fn assert_close(found: &[Complex32], input: &[Complex32], length: usize, what: &str) {
    for (t, (found, input)) in found.chunks(length).zip(input.chunks(length)).enumerate() {
        let error = relative_rms_error(&widen(found), &oracle(&widen(input)));
        let most = tolerance(length, f64::from(f32::EPSILON) / 2.0);
        assert!(error <= most, "{what}: transform {t} is {error:.2e} off, more than {most:.2e}");
    }
}

#[test]
fn every_blocked_length_is_right_in_batches_around_a_tile() {
    for set in available() {
        for length in BLOCKED {
            let mut fft = BlockFft::with_instructions(length, set).unwrap();
            assert!(fft.is_blocked());
            for batch in [1, 2, 3, 7, 15, 16, 17, 33, 64, 131] {
                let input = Noise::new(batch as u64).singles(batch * length);
                let mut data = input.clone();
                fft.transform(&mut data).unwrap();
                let what = format!("{set}, {batch} transforms of {length} points");
                assert_close(&data, &input, length, &what);
            }
        }
    }
}

#[test]
fn long_rows_are_right_alone_and_in_batches_however_they_are_asked_for() {
    for length in LONG {
        let batch = 3;
        let input = Noise::new(length as u64).singles(batch * length);
        let truth: Vec<_> = input.chunks(length).map(|row| oracle(&widen(row))).collect();
        let most = tolerance(length, f64::from(f32::EPSILON) / 2.0);
        for set in available() {
            let mut fft = BlockFft::with_instructions(length, set).unwrap();
            let what = format!("{set}, {length} points");
            let mut rows = input.clone();
            fft.transform(&mut rows).unwrap();
            for (found, truth) in rows.chunks(length).zip(&truth) {
                assert!(relative_rms_error(&widen(found), truth) <= most, "{what}");
            }
            let mut alone = input[length..][..length].to_vec();
            fft.transform(&mut alone).unwrap();
            assert_eq!(rows[length..][..length], alone, "{what}");
            let mut columns: Vec<Complex32> =
                (0..batch * length).map(|at| input[at % batch * length + at / batch]).collect();
            fft.transform_columns(&mut columns, batch).unwrap();
            for (t, truth) in truth.iter().enumerate() {
                let found: Vec<_> = columns.iter().skip(t).step_by(batch).copied().collect();
                assert!(relative_rms_error(&widen(&found), truth) <= most, "{what}, columns");
            }
        }
    }
}

#[test]
fn an_impulse_at_any_point_of_a_long_row_becomes_its_wave() {
    for set in available() {
        for length in LONG {
            let mut fft = BlockFft::with_instructions(length, set).unwrap();
            for at in [0, 1, 15, 16, 17, length / 16, length / 2 + 3, length - 1] {
                let mut data = vec![Complex32::new(0.0, 0.0); length];
                data[at] = Complex32::new(1.0, 0.0);
                fft.transform(&mut data).unwrap();
                for (k, found) in data.iter().enumerate() {
                    let turns = (at * k % length) as f64 / length as f64;
                    let wave = Complex64::cis(-2.0 * std::f64::consts::PI * turns);
                    let error = (Complex64::new(found.re.into(), found.im.into()) - wave).norm();
                    // Three factors, each rounded and multiplied with roundings.
                    assert!(error <= 6.0 * f64::from(f32::EPSILON), "{set}, {length}, {at}, {k}");
                }
            }
        }
    }
}

#[test]
fn lengths_without_kernels_are_right_too() {
    for length in [1, 3, 5, 6, 7, 12, 48, 100, 127, 129, 1000, 1536] {
        let mut fft = BlockFft::new(length).unwrap();
        assert!(!fft.is_blocked());
        let input = Noise::new(length as u64).singles(3 * length);
        let mut data = input.clone();
        fft.transform(&mut data).unwrap();
        // RustFFT's algorithms for other lengths are a little less exact.
        for (found, input) in data.chunks(length).zip(input.chunks(length)) {
            let error = relative_rms_error(&widen(found), &oracle(&widen(input)));
            assert!(error <= 3.0 * tolerance(length, f64::from(f32::EPSILON) / 2.0));
        }
    }
}

#[test]
fn double_precision_is_right() {
    for length in [2, 3, 8, 31, 60, 128, 1024] {
        let rows: Vec<Complex64> = Noise::new(5).doubles(3 * length);
        let mut data = rows.clone();
        LibraryFft::<f64>::new(length).unwrap().transform(&mut data).unwrap();
        // The oracle rounds too, once for each of its additions.
        let unit = f64::EPSILON / 2.0;
        let most = 3.0 * tolerance(length, unit) + unit * (length as f64).sqrt();
        for (found, row) in data.chunks(length).zip(rows.chunks(length)) {
            assert!(relative_rms_error(found, &oracle(row)) <= most, "{length} points");
        }
    }
}

#[test]
fn a_turned_transform_is_the_transform_and_then_the_corner_turn() {
    for set in available() {
        for length in BLOCKED.into_iter().chain([1, 6, 2048]) {
            for batch in [1, 4, 8, 16, 19, 48, 67] {
                let mut fft = BlockFft::with_instructions(length, set).unwrap();
                let input = Noise::new(7).singles(batch * length);
                let mut rows = input.clone();
                fft.transform(&mut rows).unwrap();
                let mut turned = vec![Complex32::new(f32::NAN, 1.0); batch * length];
                fft.transform_turned(&input, &mut turned).unwrap();
                for t in 0..batch {
                    for k in 0..length {
                        let (a, b) = (rows[t * length + k], turned[k * batch + t]);
                        let near = (a - b).norm() <= 1e-5 * (length as f32).sqrt();
                        assert!(near, "{set}, {batch} x {length}: {a} and {b} at ({t}, {k})");
                    }
                }
            }
        }
    }
}

#[test]
fn a_transform_into_other_memory_is_the_transform_and_leaves_its_input() {
    for set in available() {
        for length in BLOCKED.into_iter().chain([1, 6, 2048, 4096, 8192]) {
            for batch in [0, 1, 4, 16, 19, 37] {
                let mut fft = BlockFft::with_instructions(length, set).unwrap();
                let input = Noise::new(13).singles(batch * length);
                let (kept, mut rows) = (input.clone(), input.clone());
                fft.transform(&mut rows).unwrap();
                let mut output = vec![Complex32::new(f32::NAN, 1.0); batch * length];
                fft.transform_into(&input, &mut output).unwrap();
                assert_eq!(input, kept, "{set}, {batch} x {length}");
                let near = |(a, b): (&Complex32, &Complex32)| {
                    (a - b).norm() <= 1e-5 * (length as f32).sqrt()
                };
                assert!(rows.iter().zip(&output).all(near), "{set}, {batch} x {length}");
            }
        }
    }
}

#[test]
fn rows_of_which_strips_lie_elsewhere_are_transformed_as_if_they_did_not() {
    for set in available() {
        for length in BLOCKED.into_iter().chain([1, 6, 2048, 8192]) {
            for (count, batch) in
                [(1, 3), (2, 0), (2, 1), (2, 17), (3, 2), (4, 5), (16, 3), (32, 2)]
            {
                if !length.is_multiple_of(count) {
                    continue;
                }
                let mut fft = BlockFft::with_instructions(length, set).unwrap();
                let input = Noise::new(17 + length as u64).singles(batch * length);
                let mut whole = input.clone();
                fft.transform(&mut whole).unwrap();
                let width = length / count;
                // Every strip, every second one, none. The rows do not contain the points of the separate strips.
                for (step, first) in [(1, 0), (2, 0), (2, 1), (1, count)] {
                    let is_away = |at: usize| at >= first && (at - first).is_multiple_of(step);
                    let mut rows = input.clone();
                    let mut away = vec![Vec::new(); count];
                    for row in rows.chunks_exact_mut(length) {
                        for (at, points) in row.chunks_exact_mut(width).enumerate() {
                            if is_away(at) {
                                away[at].extend_from_slice(points);
                                points.fill(Complex32::new(f32::NAN, 1.0));
                            }
                        }
                    }
                    let strip = |(at, points)| is_away(at).then_some(points);
                    let strips = away.iter().map(Vec::as_slice).enumerate().map(strip);
                    fft.transform_joined(&mut rows, &strips.collect::<Vec<_>>()).unwrap();
                    let what = format!("{set}, {batch} x {length}, {count} strips from {first}");
                    let near = |(a, b): (&Complex32, &Complex32)| {
                        (a - b).norm() <= 1e-5 * (length as f32).sqrt()
                    };
                    assert!(rows.iter().zip(&whole).all(near), "{what}");
                }
            }
        }
    }
}

#[test]
fn one_plan_leaves_nothing_behind_for_the_next_call() {
    for set in available() {
        for length in BLOCKED.into_iter().chain([2048, 4096, 8192]) {
            let mut fft = BlockFft::with_instructions(length, set).unwrap();
            let input = Noise::new(11).singles(5 * length);
            let mut clean = input.clone();
            fft.transform(&mut clean).unwrap();
            let mut poison = vec![Complex32::new(f32::NAN, f32::INFINITY); 37 * length];
            fft.transform(&mut poison).unwrap();
            let mut again = input.clone();
            fft.transform(&mut again).unwrap();
            assert_eq!(clean, again, "{set}, {length} points");
        }
    }
}

#[test]
fn a_transform_that_is_not_finite_does_not_touch_its_neighbours() {
    for set in available() {
        for length in BLOCKED {
            let mut fft = BlockFft::with_instructions(length, set).unwrap();
            let mut data = Noise::new(3).singles(32 * length);
            let mut clean = data.clone();
            data[9 * length + length / 2] = Complex32::new(f32::INFINITY, f32::NAN);
            fft.transform(&mut data).unwrap();
            fft.transform(&mut clean).unwrap();
            for t in (0..32).filter(|&t| t != 9) {
                let range = t * length..(t + 1) * length;
                assert_eq!(data[range.clone()], clean[range], "{set}, {length}: transform {t}");
            }
            assert!(data[9 * length..10 * length].iter().all(|c| !c.is_finite()));
        }
    }
}

#[test]
fn denormals_come_through_with_their_few_digits() {
    for set in available() {
        for length in BLOCKED {
            let tiny = f32::from_bits(1 << 12);
            let mut data = vec![Complex32::new(0.0, 0.0); 20 * length];
            data.iter_mut().step_by(length).for_each(|c| c.re = tiny);
            BlockFft::with_instructions(length, set).unwrap().transform(&mut data).unwrap();
            // An impulse has a flat spectrum, exactly: only zeros are added to it.
            for c in &data {
                assert!((c.re - tiny).abs() <= 4.0 * f32::from_bits(1), "{set}, {length}: {c}");
            }
        }
    }
}

#[test]
fn unaligned_data_is_as_good_as_aligned() {
    for set in available() {
        for length in BLOCKED.into_iter().chain([2048, 4096, 8192]) {
            let mut fft = BlockFft::with_instructions(length, set).unwrap();
            let input = Noise::new(13).singles(40 * length);
            let mut plain = input.clone();
            fft.transform(&mut plain).unwrap();
            for shift in 1..8 {
                let mut room = vec![Complex32::new(7.0, 7.0); shift + 40 * length + 1];
                room[shift..][..40 * length].copy_from_slice(&input);
                fft.transform(&mut room[shift..][..40 * length]).unwrap();
                assert_eq!(room[shift..][..40 * length], plain, "{set}, {length}, shift {shift}");
                assert_eq!(room[shift - 1], Complex32::new(7.0, 7.0));
                assert_eq!(room[shift + 40 * length], Complex32::new(7.0, 7.0));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_layout_gives_the_same_as_contiguous_and_touches_nothing_else(
        seed: u64,
        set in 0usize..3,
        log in 0u32..11,
        batch in 1usize..40,
        gap in 0usize..5,
        columns: bool,
    ) {
        let set = Instructions::ALL[set];
        prop_assume!(set.is_available());
        let length = 1 << log;
        let layout = if columns {
            Strided { batch, stride: batch + gap, distance: 1 }
        } else {
            Strided { batch, stride: 1 + gap, distance: length * (1 + gap) + gap }
        };
        let mut fft = BlockFft::with_instructions(length, set).unwrap();
        let contiguous = Noise::new(seed).singles(batch * length);
        let place = |t: usize, n: usize| t * layout.distance + n * layout.stride;
        let marker = Complex32::new(-1e9, 1e9);
        let mut data = vec![marker; place(batch - 1, length - 1) + 4];
        for (at, &point) in contiguous.iter().enumerate() {
            data[place(at / length, at % length)] = point;
        }
        fft.transform_strided(&mut data, layout).unwrap();
        let mut found = Vec::new();
        for at in 0..batch * length {
            found.push(std::mem::replace(&mut data[place(at / length, at % length)], marker));
        }
        assert_close(&found, &contiguous, length, &format!("{set}, {layout:?}, {length} points"));
        prop_assert!(data.iter().all(|&c| c == marker));
    }
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(BlockFft::new(0).unwrap_err(), Error::EmptyTransform);
    let mut fft = BlockFft::new(8).unwrap();
    let mut data = vec![Complex::new(0.0f32, 0.0); 20];
    let broken = fft.transform(&mut data).unwrap_err();
    assert_eq!(broken.to_string(), "20 elements are not a whole number of transforms of 8 points");
    let layout = Strided { batch: 3, stride: 1, distance: 7 };
    assert!(matches!(fft.transform_strided(&mut data, layout), Err(Error::Overlap { .. })));
    let layout = Strided { batch: 3, stride: 2, distance: 16 };
    let short = fft.transform_strided(&mut data, layout).unwrap_err();
    assert!(matches!(short, Error::WrongLength { expected: 47, found: 20, .. }), "{short}");
    let layout = Strided { batch: 3, stride: usize::MAX, distance: 1 };
    assert!(matches!(fft.transform_strided(&mut data, layout), Err(Error::Overlap { .. })));
    assert!(matches!(fft.transform_columns(&mut data, 3), Err(Error::WrongLength { .. })));
    let (input, mut output) = (data[..16].to_vec(), vec![data[0]; 8]);
    assert!(matches!(fft.transform_turned(&input, &mut output), Err(Error::WrongLength { .. })));
    assert!(matches!(fft.transform_into(&input, &mut output), Err(Error::WrongLength { .. })));
    let (three, short) = ([None; 3], [None, Some(&input[..12])]);
    let uneven = fft.transform_joined(&mut output, &three).unwrap_err();
    let text = "the whole of a joined transform's strips holds 6 elements where 8 are needed";
    assert_eq!(uneven.to_string(), text);
    let cut_off = fft.transform_joined(&mut data[..16], &short).unwrap_err();
    assert!(matches!(cut_off, Error::WrongLength { expected: 8, found: 12, .. }), "{cut_off}");
}

#[test]
fn no_transforms_at_all_are_no_error() {
    let mut fft = BlockFft::new(16).unwrap();
    fft.transform(&mut []).unwrap();
    fft.transform_columns(&mut [], 0).unwrap();
    fft.transform_turned(&[], &mut []).unwrap();
}

#[test]
fn nominal_operations_are_those_of_the_paper() {
    // 5 x 8 x 3 and 5 x 1024 x 10.
    assert_eq!(nominal_operations(8), 120.0);
    assert_eq!(nominal_operations(1024), 51_200.0);
    assert_eq!(nominal_operations(1), 0.0);
}
