//! The filter as a product of spectra, in overlapping pieces that stay in cache.

use num_complex::Complex32;

use super::{check_output, check_taps};
use crate::error::{Result, check_whole};
use crate::fft::{BlockFft, nominal_operations};

/// Circular convolution of rows of one length with one filter.
pub struct Convolution {
    fft: BlockFft,
    /// Conjugated spectrum of the filter, divided by the length.
    spectrum: Vec<Complex32>,
}

impl Convolution {
    /// Creates a convolution of rows of `points` points with `taps`. Taps beyond the length wrap around.
    ///
    /// # Errors
    /// [`Error::NoTaps`](crate::Error::NoTaps) and [`Error::EmptyTransform`](crate::Error::EmptyTransform).
    pub fn new(taps: &[Complex32], points: usize) -> Result<Self> {
        check_taps(taps)?;
        let mut fft = BlockFft::new(points)?;
        let mut spectrum = vec![Complex32::default(); points];
        taps.iter().enumerate().for_each(|(k, tap)| spectrum[k % points] += tap);
        fft.transform(&mut spectrum)?;
        spectrum.iter_mut().for_each(|point| *point = point.conj() / points as f32);
        Ok(Convolution { fft, spectrum })
    }

    /// Convolves each row of `rows`.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`](crate::Error::BrokenTransform) if they are not whole rows.
    pub fn apply(&mut self, rows: &mut [Complex32]) -> Result<()> {
        check_whole(self.spectrum.len(), rows.len())?;
        self.fft.transform(rows)?;
        // The inverse transform is the forward one between two conjugations.
        for row in rows.chunks_exact_mut(self.spectrum.len()) {
            row.iter_mut().zip(&self.spectrum).for_each(|(x, h)| *x = x.conj() * h);
        }
        self.fft.transform(rows)?;
        rows.iter_mut().for_each(|x| *x = x.conj());
        Ok(())
    }
}

/// A filter in the frequency domain, for rows of one length. A row is cut into pieces that overlap by one point less
/// than the filter has taps (overlap-save). All pieces are transformed together.
pub struct FrequencyFir {
    taps: usize,
    /// Number of points of a piece. The last `piece - taps + 1` are new.
    piece: usize,
    pieces: Convolution,
    room: Vec<Complex32>,
}

impl FrequencyFir {
    /// Creates a filter with `taps`, with the best pieces for rows of `points` points.
    ///
    /// # Errors
    /// [`Error::NoTaps`](crate::Error::NoTaps).
    pub fn new(taps: &[Complex32], points: usize) -> Result<Self> {
        check_taps(taps)?;
        let piece = best_piece(taps.len(), points + taps.len() - 1);
        let pieces = Convolution::new(taps, piece)?;
        Ok(FrequencyFir { taps: taps.len(), piece, pieces, room: Vec::new() })
    }

    /// Filters `input` into the first `output.len()` points.
    ///
    /// # Errors
    /// [`Error::WrongLength`](crate::Error::WrongLength) if there are not so many.
    pub fn filter(&mut self, input: &[Complex32], output: &mut [Complex32]) -> Result<()> {
        check_output(input.len(), self.taps, output.len())?;
        let (before, new) = (self.taps - 1, self.piece - self.taps + 1);
        let count = output.len().div_ceil(new);
        self.room.clear();
        self.room.resize(count * self.piece, Complex32::default());
        for (number, piece) in self.room.chunks_exact_mut(self.piece).enumerate() {
            // The piece's first point is this one of the input, or is before it.
            let begin = number * new;
            let (skip, first) = (before.saturating_sub(begin), begin.saturating_sub(before));
            let there = input.get(first..).unwrap_or_default();
            let count = there.len().min(piece.len() - skip);
            piece[skip..][..count].copy_from_slice(&there[..count]);
        }
        self.pieces.apply(&mut self.room)?;
        for (output, piece) in output.chunks_mut(new).zip(self.room.chunks_exact(self.piece)) {
            output.copy_from_slice(&piece[before..][..output.len()]);
        }
        Ok(())
    }
}

/// Returns the power of two with the fewest operations for `outputs` points.
fn best_piece(taps: usize, outputs: usize) -> usize {
    let cost = |piece: usize| {
        let pieces = outputs.div_ceil(piece - taps + 1) as f64;
        pieces * (2.0 * nominal_operations(piece) + 8.0 * piece as f64)
    };
    let shortest = (2 * taps).next_power_of_two();
    let longest = (outputs + taps).next_power_of_two().max(shortest);
    let all = std::iter::successors(Some(shortest), |piece| Some(2 * piece));
    let all = all.take_while(|&piece| piece <= longest);
    all.min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_long_beside_the_filter_and_short_beside_the_row() {
        // 128 taps over 4223 points: pieces of 1024 compute 897 new points, five of them 5 x 110592 = 552960
        // operations; of 512 compute 385, 11 x 50176 = 551936; of 2048 1921, 3 x 241664.
        assert_eq!(best_piece(128, 4223), 512);
        assert_eq!(best_piece(1, 1), 2);
    }
}
