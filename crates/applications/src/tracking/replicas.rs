//! Replicas of a part of the grid, and their correlation with a frame.

use std::ops::Range;

use kernels::{Complex32, Complex64};

use super::array::{FREQUENCIES_HZ, HYDROPHONES, HydrophoneArray, SPECTRUM};

/// Number of places that are correlated together. Their sums stay in registers and the first-level cache.
const TOGETHER: usize = 64;

/// Number of operations of the correlation of one place: a complex multiply-add is 8, and the power of a sum 4.
pub(super) const OPERATIONS_PER_PLACE: u64 = 8 * SPECTRUM as u64 + 4 * FREQUENCIES_HZ.len() as u64;

/// The replicas of successive places, in blocks. A block has the real and imaginary parts of every element for all its
/// places.
pub(super) struct Replicas {
    places: Range<usize>,
    blocks: Vec<[[f32; TOGETHER]; 2 * SPECTRUM]>,
}

impl Replicas {
    /// Computes the replicas of these places.
    pub(super) fn new(hydrophones: &HydrophoneArray, places: Range<usize>) -> Self {
        let mut blocks = vec![[[0.0; TOGETHER]; 2 * SPECTRUM]; places.len().div_ceil(TOGETHER)];
        for (at, place) in places.clone().enumerate() {
            let (block, lane) = (&mut blocks[at / TOGETHER], at % TOGETHER);
            for (element, x) in hydrophones.spectrum(place).into_iter().enumerate() {
                block[2 * element][lane] = x.re as f32;
                block[2 * element + 1][lane] = x.im as f32;
            }
        }
        Replicas { places, blocks }
    }

    /// Returns the place with the best correlation with `frame`, and its power: the sum over the frequencies of the
    /// squared size of the inner product. Returns `None` if there are no places.
    pub(super) fn best(&self, frame: &[Complex32]) -> Option<(usize, f32)> {
        let mut best = None;
        for (number, block) in self.blocks.iter().enumerate() {
            let first = self.places.start + number * TOGETHER;
            let powers = powers(block, frame);
            for (place, power) in (first..self.places.end).zip(powers) {
                if best.is_none_or(|(_, most)| power > most) {
                    best = Some((place, power));
                }
            }
        }
        best
    }
}

fn powers(block: &[[f32; TOGETHER]; 2 * SPECTRUM], frame: &[Complex32]) -> [f32; TOGETHER] {
    let mut powers = [0.0; TOGETHER];
    let (elements, _) = block.as_chunks::<2>();
    for (elements, measured) in elements.chunks(HYDROPHONES).zip(frame.chunks(HYDROPHONES)) {
        let (mut re, mut im) = ([0.0; TOGETHER], [0.0; TOGETHER]);
        for ([x, y], d) in elements.iter().zip(measured) {
            for lane in 0..TOGETHER {
                re[lane] += x[lane] * d.re + y[lane] * d.im;
                im[lane] += x[lane] * d.im - y[lane] * d.re;
            }
        }
        (0..TOGETHER).for_each(|lane| powers[lane] += re[lane] * re[lane] + im[lane] * im[lane]);
    }
    powers
}

/// Returns the power of one place by definition, in double precision.
pub(super) fn power(hydrophones: &HydrophoneArray, place: usize, frame: &[Complex32]) -> f64 {
    let widen = |x: &Complex32| Complex64::new(x.re.into(), x.im.into());
    let spectrum = hydrophones.spectrum(place);
    let pairs = spectrum.chunks(HYDROPHONES).zip(frame.chunks(HYDROPHONES));
    let product = |(replica, frame): (&[Complex64], &[Complex32])| -> Complex64 {
        replica.iter().zip(frame).map(|(w, d)| w.conj() * widen(d)).sum()
    };
    pairs.map(|pair| product(pair).norm_sqr()).sum()
}

#[cfg(test)]
mod tests {
    use super::super::array::Grid;
    use super::*;

    #[test]
    fn the_best_place_is_that_of_the_direct_powers() {
        let grid = Grid { ranges: 5, depths: 4, bearings: 7 };
        let hydrophones = HydrophoneArray::new(grid);
        let whole = Replicas::new(&hydrophones, 0..grid.places());
        let parts = [0..50, 50..50, 50..140].map(|part| Replicas::new(&hydrophones, part));
        for place in (0..grid.places()).step_by(13) {
            let narrow = |x: &Complex64| Complex32::new(x.re as f32, x.im as f32);
            let frame: Vec<_> = hydrophones.spectrum(place).iter().map(narrow).collect();
            let (found, found_power) = whole.best(&frame).unwrap();
            // A spectrum of size 1 at each frequency has the correlation 1 with itself.
            assert_eq!(found, place);
            assert!((found_power - FREQUENCIES_HZ.len() as f32).abs() < 1e-4, "{found_power}");
            let direct = |place: usize| power(&hydrophones, place, &frame);
            let best = (0..grid.places()).max_by(|&a, &b| direct(a).total_cmp(&direct(b)));
            assert_eq!(best, Some(place));
            let of_parts = parts.iter().filter_map(|part| part.best(&frame));
            let of_parts = of_parts.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            assert_eq!(of_parts, (found, found_power));
        }
    }
}
