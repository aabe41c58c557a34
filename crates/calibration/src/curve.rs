//! A cost as a function of the length: exact at the measured lengths, with straight lines between them.

use crate::times::BySize;

/// Straight pieces. Each begins at a length, and has the cost of that length and of each further byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) from_bytes: u64,
    pub(crate) us: f64,
    pub(crate) us_per_byte: f64,
}

impl Curve {
    /// Returns the curve through these points. At each of `breaks` (ascending) the cost may jump: no line crosses it,
    /// and the lines on either side are extended to it. Lengths below the shortest cost as much as the shortest; the
    /// last line has no end. If the next point costs less, the cost stays constant up to that point, because no byte
    /// has a negative cost.
    pub(crate) fn through(points_us: &BySize, breaks: &[u64]) -> Curve {
        let mut pieces = Vec::new();
        let starts = std::iter::once(0).chain(breaks.iter().copied());
        let ends = breaks.iter().copied().chain(std::iter::once(u64::MAX));
        for (start, end) in starts.zip(ends).filter(|(start, end)| start < end) {
            let points: Vec<(u64, f64)> =
                points_us.range(start..end).map(|(&bytes, &us)| (bytes, us)).collect();
            section(start, &points, &mut pieces);
        }
        Curve { pieces }
    }

    /// Returns the cost of a length; 0 if there are no points.
    pub(crate) fn of(&self, bytes: u64) -> f64 {
        let piece = self.pieces.iter().rev().find(|piece| piece.from_bytes <= bytes);
        piece.map_or(0.0, |piece| piece.us + piece.us_per_byte * (bytes - piece.from_bytes) as f64)
    }

    /// Returns the curve with every cost multiplied by `factor`.
    pub(crate) fn scaled(&self, factor: f64) -> Curve {
        let scaled = |piece: &Piece| Piece {
            us: factor * piece.us,
            us_per_byte: factor * piece.us_per_byte,
            ..*piece
        };
        Curve { pieces: self.pieces.iter().map(scaled).collect() }
    }
}

/// Appends the pieces from `start` on, through points that all lie at or after it.
fn section(start: u64, points: &[(u64, f64)], pieces: &mut Vec<Piece>) {
    let Some(&(first, first_us)) = points.first() else { return };
    // A single length beyond a break gives a cost per byte and no slope.
    let alone = if start > 0 { first_us / first as f64 } else { 0.0 };
    let mut us_per_byte = alone;
    let slope =
        |from: (u64, f64), to: (u64, f64)| ((to.1 - from.1) / (to.0 - from.0) as f64).max(0.0);
    if first > start {
        let before = match points {
            [from, to, ..] if start > 0 => slope(*from, *to),
            _ => alone,
        };
        let us = (first_us - before * (first - start) as f64).max(0.0);
        let us_per_byte = (first_us - us) / (first - start) as f64;
        pieces.push(Piece { from_bytes: start, us, us_per_byte });
    }
    for (index, &(from_bytes, us)) in points.iter().enumerate() {
        if let Some(&next) = points.get(index + 1) {
            us_per_byte = slope((from_bytes, us), next);
        }
        pieces.push(Piece { from_bytes, us, us_per_byte });
    }
}

/// Returns these times with further points between them, from the first of `breaks` (ascending) on. Between two lengths
/// without a break the cost of a message rises as that of a copy does. Caches bend it, which a straight line would not
/// show.
pub(crate) fn follow(times_us: &BySize, copy_us: &BySize, breaks: &[u64]) -> BySize {
    let mut dense = times_us.clone();
    let Some(&from_bytes) = breaks.first() else { return dense };
    let points: Vec<(u64, f64)> =
        times_us.range(from_bytes..).map(|(&size, &us)| (size, us)).collect();
    for pair in points.windows(2) {
        let [(first, first_us), (last, last_us)] = [pair[0], pair[1]];
        let (Some(low), Some(high)) = (copy_us.get(&first), copy_us.get(&last)) else { continue };
        if high <= low || breaks.iter().any(|&at| (first + 1..=last).contains(&at)) {
            continue;
        }
        for (&size, us) in copy_us.range(first + 1..last) {
            let share = ((us - low) / (high - low)).clamp(0.0, 1.0);
            dense.insert(size, first_us + share * (last_us - first_us));
        }
    }
    dense
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(points: &[(u64, f64)], breaks: &[u64]) -> Vec<(u64, f64, f64)> {
        let curve = Curve::through(&points.iter().copied().collect(), breaks);
        curve.pieces.iter().map(|piece| (piece.from_bytes, piece.us, piece.us_per_byte)).collect()
    }

    #[test]
    fn pieces_go_through_the_measured_sizes_and_begin_at_zero() {
        let found = pieces(&[(10, 2.0), (30, 6.0), (50, 5.0)], &[]);
        assert_eq!(found, [(0, 2.0, 0.0), (10, 2.0, 0.2), (30, 6.0, 0.0), (50, 5.0, 0.0)]);
    }

    #[test]
    fn no_line_goes_across_a_break() {
        // The break is at 20 bytes. The line below it, 1 us in 10 bytes, is extended up to it; the line above it, 1 us
        // in 20 bytes, is extended down to it.
        let found = pieces(&[(5, 0.5), (15, 1.5), (40, 2.0), (60, 3.0)], &[20]);
        let expected = [(0, 0.5, 0.0), (5, 0.5, 0.1), (15, 1.5, 0.1), (20, 1.0, 0.05)];
        assert_eq!(found[..4], expected);
        assert_eq!(found[4..], [(40, 2.0, 0.05), (60, 3.0, 0.05)]);
    }

    #[test]
    fn a_length_alone_beyond_a_break_costs_by_the_byte() {
        assert_eq!(pieces(&[(10, 1.0), (40, 2.0)], &[20])[2..], [(20, 1.0, 0.05), (40, 2.0, 0.05)]);
    }

    /// Tests the points that are added. A copy of 30 bytes lies a tenth of the way from that of 20 to that of 40, so
    /// the message of 30 does. No point is added across the break at 50, or before the first break.
    #[test]
    fn between_two_lengths_a_message_follows_the_copy() {
        let times = BySize::from([(5, 1.0), (15, 1.0), (20, 2.0), (40, 12.0), (60, 20.0)]);
        let copy = [(5, 0.0), (10, 1.0), (15, 1.0), (20, 1.0), (30, 2.0), (40, 11.0), (55, 12.0)];
        let mut expected = times.clone();
        expected.insert(30, 3.0);
        assert_eq!(follow(&times, &BySize::from(copy), &[18, 50]), expected);
        assert_eq!(follow(&times, &BySize::from(copy), &[]), times);
    }

    #[test]
    fn the_cost_of_a_length_lies_on_its_piece() {
        let curve = Curve::through(&BySize::from([(10, 2.0), (30, 6.0)]), &[]);
        assert_eq!([5, 20, 40].map(|bytes| curve.of(bytes)), [2.0, 4.0, 8.0]);
        assert_eq!(Curve::default().of(5), 0.0);
        assert_eq!(curve.scaled(0.5).of(20), 2.0);
    }
}
