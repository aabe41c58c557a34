//! The foldfft in its three variants compared with its definition.

use crate::common::{Noise, oracle, relative_rms_error, widen};
use kernels::foldfft::{FoldFft, TYPICAL_SIZES, Variant, foldfft_operations};
use kernels::{Complex32, Complex64, Error, Instructions};

/// Computes a foldfft by the definition, in double precision.
fn definition(x: &[Complex32], window: &[f32], weights: &[Complex32]) -> Vec<Complex64> {
    let fold = weights.len();
    let mut folded = vec![Complex64::new(0.0, 0.0); fold];
    for (at, (point, weight)) in widen(x).iter().zip(window).enumerate() {
        folded[at % fold] += point * f64::from(*weight);
    }
    oracle(&folded).iter().zip(widen(weights)).map(|(y, w)| y * w).collect()
}

#[test]
fn every_way_and_instruction_set_agrees_with_the_definition() {
    let sizes = TYPICAL_SIZES.into_iter().chain([(12, 4), (6, 2), (5, 1), (24, 8), (2048, 2048)]);
    for (points, fold) in sizes {
        let mut noise = Noise::new(points as u64);
        let window: Vec<f32> = (0..points).map(|_| noise.real() as f32).collect();
        let weights = noise.singles(fold);
        for batch in [0, 1, 5, 16, 37, 130] {
            if batch * fold > 9000 {
                continue;
            }
            let input = noise.singles(batch * points);
            for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
                for variant in Variant::ALL {
                    let mut plan =
                        FoldFft::with_instructions(window.clone(), weights.clone(), variant, set)
                            .unwrap();
                    let mut output = vec![Complex32::new(f32::NAN, f32::NAN); batch * fold];
                    plan.compute(&input, &mut output).unwrap();
                    for (found, x) in output.chunks(fold).zip(input.chunks(points)) {
                        let error =
                            relative_rms_error(&widen(found), &definition(x, &window, &weights));
                        // Ten units in the last place: the plain transform multiplies at every stage.
                        assert!(error < 6e-7, "{set}, {variant:?}, ({points}, {fold}): {error:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn operations_are_counted_as_in_the_paper() {
    // 2 x 64 + 2 x 56 + 5 x 8 x 3 + 6 x 8.
    assert_eq!(foldfft_operations(64, 8), 408.0);
    // 2 x 16 + 0 + 5 x 16 x 4 + 6 x 16.
    assert_eq!(foldfft_operations(16, 16), 448.0);
}

#[test]
fn nonsense_is_refused_by_name() {
    let weights = |fold| vec![Complex32::new(1.0, 0.0); fold];
    let refused = |points: usize, fold: usize| {
        FoldFft::new(vec![1.0; points], weights(fold), Variant::Blocked).err().unwrap()
    };
    assert_eq!(refused(64, 0), Error::EmptyTransform);
    assert_eq!(refused(0, 8), Error::EmptyTransform);
    assert_eq!(refused(60, 8), Error::UnevenFold { points: 60, fold: 8 });
    assert_eq!(refused(60, 6), Error::UnevenFold { points: 60, fold: 6 });
    let mut plan = FoldFft::new(vec![1.0; 16], weights(8), Variant::Plain).unwrap();
    let mut output = weights(8);
    assert!(matches!(plan.compute(&weights(17), &mut output), Err(Error::BrokenTransform { .. })));
    assert!(matches!(plan.compute(&weights(32), &mut output), Err(Error::WrongLength { .. })));
}
