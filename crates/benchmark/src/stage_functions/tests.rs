//! Tests every function against its direct form, for random rows.

use std::collections::BTreeMap;

use kernels::{Complex32, Complex64};

use super::*;
use random::mix;

fn function(name: &str, numbers: &[(&str, usize)]) -> Function {
    let numbers = numbers.iter().map(|(name, number)| ((*name).to_owned(), *number));
    Function::new(name, numbers.collect()).unwrap()
}

/// Returns `count` elements with both parts within 1.
fn noise(seed: u64, count: usize) -> Vec<Complex32> {
    let part = |at: u64| (mix(seed ^ mix(at)) >> 40) as f32 / (1 << 23) as f32 - 1.0;
    (0..count as u64).map(|at| Complex32::new(part(2 * at), part(2 * at + 1))).collect()
}

/// Returns the output of a prepared function for rows.
fn applied(function: &Function, rows: &[Complex32], columns: usize) -> Vec<Complex32> {
    match function.kind().prepare(function, columns).unwrap() {
        Prepared::InPlace(mut prepared) => {
            let mut output = rows.to_vec();
            prepared.apply(&mut output).unwrap();
            let mut copied = vec![Complex32::default(); rows.len()];
            prepared.apply_into(rows, &mut copied).unwrap();
            assert_eq!(output, copied, "{function:?}");
            output
        }
        Prepared::OutOfPlace(mut prepared) => {
            let count = rows.len() / columns * function.columns(columns).unwrap();
            let mut output = vec![Complex32::default(); count];
            prepared.apply(rows, &mut output).unwrap();
            output
        }
    }
}

#[test]
fn every_function_makes_what_its_direct_form_makes() {
    let cases = [
        (function("fft", &[]), 24),
        (function("weight", &[]), 17),
        (function("inner-product", &[("antennas", 4)]), 20),
        (function("convolution", &[("taps", 5)]), 33),
        (function("tdfir", &[("taps", 7)]), 100),
        (function("fdfir", &[("taps", 16)]), 100),
        (function("fdfir", &[("taps", 1)]), 1),
        (function("qr-weights", &[("antennas", 5), ("beam", 2)]), 60),
        (function("qr-weights", &[("antennas", 6)]), 6),
        (function("beamforming", &[("antennas", 4), ("beams", 3), ("beam", 1)]), 12),
        (function("cfar", &[("guard", 2), ("cells", 3)]), 31),
        (function("cfar", &[]), 40),
        (function("magnitude", &[]), 9),
    ];
    let tested: std::collections::BTreeSet<_> = cases.iter().map(|(one, _)| one.name()).collect();
    assert_eq!(tested.len(), ALL.len() - 1, "all but the corner turn, which stages do");
    for seed in 1..=20 {
        for (function, columns) in &cases {
            let rows = noise(seed, 3 * columns);
            let widened: Vec<_> =
                rows.iter().map(|x| Complex64::new(x.re.into(), x.im.into())).collect();
            let right = function.kind().directly(function, &widened, *columns);
            let found = applied(function, &rows, *columns);
            assert_eq!(found.len(), right.len(), "{function:?}");
            assert_eq!(found.len(), 3 * function.columns(*columns).unwrap());
            let mean = right.iter().map(|x| x.norm_sqr()).sum::<f64>() / right.len() as f64;
            for (at, (found, right)) in found.iter().zip(&right).enumerate() {
                let off = (Complex64::new(found.re.into(), found.im.into()) - right).norm();
                let allowed = 2e-6 * f64::from(function.kind().error_factor());
                let allowed = allowed * (mean.sqrt() + right.norm());
                assert!(off <= allowed, "seed {seed}, {function:?}, {at}: {found} and not {right}");
            }
        }
    }
}

#[test]
fn adaptive_weights_let_the_look_through_and_null_the_rest() {
    // 64 snapshots of a wave along beam 3.4 of 8, a thousand times as strong as the noise. The weights are for beam 1.
    let function = function("qr-weights", &[("antennas", 8), ("beam", 1)]);
    let jammer = snapshots::steering(8, 3.4);
    let rows: Vec<Complex32> = noise(5, 64 * 8)
        .iter()
        .zip(jammer.iter().cycle())
        .map(|(x, j)| x + Complex32::new(j.re as f32, j.im as f32) * 1000.0)
        .collect();
    let found = applied(&function, &rows, rows.len());
    let gain = |wave: &[Complex64]| -> f64 {
        let products = found.iter().zip(wave);
        products
            .map(|(w, x)| Complex64::new(w.re.into(), -f64::from(w.im)) * x)
            .sum::<Complex64>()
            .norm()
    };
    let beam = gain(&snapshots::steering(8, 1.0));
    assert!((beam - 1.0).abs() < 1e-3, "{beam}");
    // The loading is 1/100 of the mean diagonal, the jammer 8 times it, so the gain is reduced to at most 1 / (1 + 8 /
    // 0.01).
    assert!(gain(&jammer) < 1.0 / 801.0, "{}", gain(&jammer));
    assert_eq!(&found[8..], &rows[..]);
}

#[test]
fn zeros_stay_zeros() {
    let cases = [
        (function("qr-weights", &[("antennas", 4)]), 12),
        (function("cfar", &[("guard", 0)]), 12),
        (function("inner-product", &[("antennas", 4)]), 12),
    ];
    for (function, columns) in cases {
        let zeros = vec![Complex32::default(); columns];
        let found = applied(&function, &zeros, columns);
        // The weights of zero rows are the steering or zero, and no NaN in either case.
        assert!(found.iter().all(|x| x.norm().is_finite()), "{function:?}: {found:?}");
    }
}

#[test]
fn what_cannot_be_is_told() {
    let new = |name: &str, numbers: &[(&str, usize)]| {
        let numbers: BTreeMap<_, _> =
            numbers.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
        Function::new(name, numbers)
    };
    assert!(new("turn", &[]).unwrap_err().contains("there is no function `turn`; there are `fft`"));
    let missing = new("tdfir", &[]).unwrap_err();
    assert!(missing.contains("`tdfir` needs `taps`"), "{missing}");
    assert!(
        new("tdfir", &[("taps", 0)]).unwrap_err().contains("`taps` of `tdfir` is 0; it must be 1")
    );
    assert!(
        new("fft", &[("taps", 3)])
            .unwrap_err()
            .contains("`fft` has no parameter `taps`; it has none")
    );
    let wrong = |name: &str, numbers: &[(&str, usize)], columns: usize| {
        function(name, numbers).columns(columns).unwrap_err()
    };
    assert!(
        wrong("tdfir", &[("taps", 9)], 8).contains("9 taps, more than its rows have elements (8)")
    );
    assert!(
        wrong("inner-product", &[("antennas", 3)], 8)
            .contains("a row of 8 elements is no whole number")
    );
    assert!(wrong("inner-product", &[("antennas", 8)], 8).contains("needs weights and a snapshot"));
    assert!(wrong("qr-weights", &[("antennas", 4), ("beam", 4)], 8).contains("looks along beam 4"));
    assert!(wrong("beamforming", &[("antennas", 4), ("beams", 5)], 8).contains("beam 4"));
    assert!(wrong("cfar", &[], 17).contains("rows of 17 elements have no others"));
}
