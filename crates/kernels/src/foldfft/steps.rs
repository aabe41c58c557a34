//! The steps of a blocked foldfft before and after its transforms.

use num_complex::Complex32;

use crate::instructions::Instructions;
use crate::lanes::{Array, Complexes, Vector};

/// Folding and weighting of many instances in vector instructions.
pub(super) struct Steps {
    /// Each number of the window twice, for the real and the imaginary part.
    window: Vec<f32>,
    /// The weights, repeated until they fill two vectors.
    weights: Vec<Complex32>,
    fold: usize,
    kernels: Kernels,
}

#[derive(Clone, Copy)]
struct Kernels {
    lanes: usize,
    /// Weights and folds instances: input, window, reals of the input and of the output of one, instances, output.
    fold: unsafe fn(*const f32, *const f32, usize, usize, usize, *mut f32),
    /// Multiplies by weights: the data, its length in reals, the weights, their length in reals.
    weigh: unsafe fn(*mut f32, usize, *const f32, usize),
}

/// Maximum number of complex numbers in two vectors.
const TWO_VECTORS: usize = 16;

impl Steps {
    /// Creates steps with these weights for instructions that the processor has.
    pub(super) fn new(window: &[f32], weights: &[Complex32], instructions: Instructions) -> Self {
        let kernels = match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => avx512::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => avx2::KERNELS,
            _ => portable::KERNELS,
        };
        let fold = weights.len();
        Steps {
            window: window.iter().flat_map(|&w| [w, w]).collect(),
            weights: weights.iter().copied().cycle().take(fold.max(TWO_VECTORS)).collect(),
            fold,
            kernels,
        }
    }

    /// Weights and folds every instance of `input` into `output`.
    pub(super) fn fold(&self, input: &[Complex32], output: &mut [Complex32]) {
        let (points, fold) = (self.window.len() / 2, self.fold);
        let instances = input.len() / points;
        assert!(input.len() == instances * points && output.len() == instances * fold);
        if (2 * fold).is_multiple_of(self.kernels.lanes) {
            // SAFETY: input and output have that many instances, as was asserted; a folded instance is a whole number
            // of vectors; the steps were created for instructions that the processor has.
            unsafe {
                (self.kernels.fold)(
                    input.as_ptr().cast(),
                    self.window.as_ptr(),
                    2 * points,
                    2 * fold,
                    instances,
                    output.as_mut_ptr().cast(),
                )
            }
        } else {
            for (input, output) in input.chunks(points).zip(output.chunks_mut(fold)) {
                output.fill(Complex32::default());
                for (at, point) in input.iter().enumerate() {
                    output[at % fold] += point * self.window[2 * at];
                }
            }
        }
    }

    /// Weights every result in `data`, which begins with the first of an instance.
    pub(super) fn weigh(&self, data: &mut [Complex32]) {
        let whole = data.len() - data.len() % self.weights.len();
        let (tiles, rest) = data.split_at_mut(whole);
        // SAFETY: the data is a whole number of the weights, which are a whole number of pairs of vectors, because
        // their number is a power of two from 16 on; the steps were created for instructions that the processor has.
        unsafe {
            (self.kernels.weigh)(
                tiles.as_mut_ptr().cast(),
                2 * tiles.len(),
                self.weights.as_ptr().cast(),
                2 * self.weights.len(),
            )
        }
        for (point, weight) in rest.iter_mut().zip(&self.weights) {
            *point *= weight;
        }
    }
}

/// Folds four instances at a time, so that a vector of the window is loaded once for four.
#[inline(always)]
unsafe fn fold<V: Complexes<Element = f32>>(
    input: *const f32,
    window: *const f32,
    points: usize,
    fold: usize,
    instances: usize,
    output: *mut f32,
) {
    let fours = instances / 4 * 4;
    for first in (0..fours).step_by(4) {
        // SAFETY: the caller guarantees the instances; the group is below them.
        unsafe {
            fold_group::<V, 4>(
                input.add(first * points),
                window,
                points,
                fold,
                output.add(first * fold),
            );
        }
    }
    for first in fours..instances {
        // SAFETY: as above.
        unsafe {
            fold_group::<V, 1>(
                input.add(first * points),
                window,
                points,
                fold,
                output.add(first * fold),
            );
        }
    }
}

#[inline(always)]
unsafe fn fold_group<V: Complexes<Element = f32>, const G: usize>(
    input: *const f32,
    window: *const f32,
    points: usize,
    fold: usize,
    output: *mut f32,
) {
    for at in (0..fold).step_by(V::COUNT) {
        // SAFETY: the caller guarantees G instances of `points` numbers, and that `fold`, a whole number of vectors, is
        // a divisor of that; every offset stays below.
        unsafe {
            let weight = V::load(window.add(at));
            let mut sums = [weight; G];
            for i in 0..G {
                sums[i] = V::load(input.add(i * points + at)).mul(weight);
            }
            for segment in (fold..points).step_by(fold) {
                let weight = V::load(window.add(segment + at));
                for i in 0..G {
                    let point = V::load(input.add(i * points + segment + at));
                    sums[i] = point.mul_add(weight, sums[i]);
                }
            }
            for i in 0..G {
                sums[i].store(output.add(i * fold + at));
            }
        }
    }
}

#[inline(always)]
unsafe fn weigh<V: Complexes<Element = f32>>(
    data: *mut f32,
    length: usize,
    weights: *const f32,
    period: usize,
) {
    for at in (0..period).step_by(2 * V::COUNT) {
        // SAFETY: the caller guarantees `length` numbers, a whole number of periods, which are a whole number of pairs.
        unsafe {
            let low = V::load(weights.add(at));
            let (re, im) = V::deinterleave(low, V::load(weights.add(at + V::COUNT)));
            for start in (at..length).step_by(period) {
                let place = data.add(start);
                let (x, y) = V::deinterleave(V::load(place), V::load(place.add(V::COUNT)));
                let product_re = y.neg_mul_add(im, x.mul(re));
                let product_im = y.mul_add(re, x.mul(im));
                let (low, high) = V::interleave(product_re, product_im);
                low.store(place);
                high.store(place.add(V::COUNT));
            }
        }
    }
}

macro_rules! compile {
    ($(#[$feature:meta])* $name:ident: $lanes:ty) => {
        mod $name {
            use super::*;

            $(#[$feature])*
            unsafe fn fold(
                input: *const f32,
                window: *const f32,
                points: usize,
                fold: usize,
                instances: usize,
                output: *mut f32,
            ) {
                // SAFETY: the caller guarantees the arguments and the instructions.
                unsafe { super::fold::<$lanes>(input, window, points, fold, instances, output) }
            }

            $(#[$feature])*
            unsafe fn weigh(data: *mut f32, length: usize, weights: *const f32, period: usize) {
                // SAFETY: the caller guarantees the arguments and the instructions.
                unsafe { super::weigh::<$lanes>(data, length, weights, period) }
            }

            pub(super) const KERNELS: Kernels =
                Kernels { lanes: <$lanes>::COUNT, fold, weigh };
        }
    };
}

compile!(portable: Array<f32, 8>);
#[cfg(target_arch = "x86_64")]
compile!(#[target_feature(enable = "avx2,fma")] avx2: crate::lanes::avx2::F32x8);
#[cfg(target_arch = "x86_64")]
compile!(#[target_feature(enable = "avx512f,avx2,fma")] avx512: crate::lanes::avx512::F32x16);
