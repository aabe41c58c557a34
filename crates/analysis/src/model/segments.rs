//! Several straight lines in sequence over message size, for machines that change their protocol at some sizes.

use serde::Serialize;

use super::line::{LineFit, Point, StraightLine};

/// A line and its range of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// The smallest measured size on it.
    pub from_bytes: u64,
    /// The largest measured size on it.
    pub to_bytes: u64,
    /// The line.
    pub line: StraightLine,
}

/// Minimum number of points on a line. Fewer do not show that they are on one.
const POINTS_MIN: usize = 3;

/// Least fall of the information criterion for another segment: very strong evidence in the words of Kass and Raftery
/// (*Bayes factors*, J. Am. Statist. Assoc. 90, 1995).
const EVIDENCE: f64 = 10.0;

/// Returns two or three lines, if they explain the points (ascending in size) much better than one does; else none.
///
/// The lines need not meet, because a rendezvous costs a step of its own. Every place for one or two breaks is tried,
/// and the best is compared with one line by the Bayesian information criterion S + p ln n. S is the sum of the squared
/// residuals in standard errors of the points, which contain 5 % for the model, so that deviations below the tolerance
/// need no break. Each line counts for two parameters and each break for two more: it may be anywhere, which costs more
/// than one (Hall, Osborn and Sakkas, *Inference on structural breaks using information criteria*, The Manchester
/// School 81, 2013, discuss such penalties).
pub(super) fn segments(points: &[Point], confidence: f64) -> Vec<Segment> {
    let n = points.len();
    let mut best = (criterion(points, &[0, n]), vec![0, n]);
    for breaks in 1..=2 {
        let found = candidates(n, breaks)
            .map(|bounds| (criterion(points, &bounds), bounds))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(found) = found.filter(|found| found.0 < best.0 - EVIDENCE) {
            best = found;
        }
    }
    if best.1.len() == 2 {
        return Vec::new();
    }
    parts(points, &best.1)
        .map(|part| Segment {
            from_bytes: part[0].size_bytes,
            to_bytes: part[part.len() - 1].size_bytes,
            line: LineFit::new(part).line(part, confidence),
        })
        .collect()
}

/// Returns all ways to cut `n` points with one or two breaks, as bounds from 0 to n with at least `POINTS_MIN` between.
fn candidates(n: usize, breaks: usize) -> Box<dyn Iterator<Item = Vec<usize>>> {
    let last = n.saturating_sub(POINTS_MIN);
    if breaks == 1 {
        Box::new((POINTS_MIN..=last).map(move |first| vec![0, first, n]))
    } else {
        Box::new((POINTS_MIN..=last).flat_map(move |first| {
            (first + POINTS_MIN..=last).map(move |second| vec![0, first, second, n])
        }))
    }
}

fn parts<'a>(points: &'a [Point], bounds: &'a [usize]) -> impl Iterator<Item = &'a [Point]> {
    bounds.windows(2).map(|pair| &points[pair[0]..pair[1]])
}

fn criterion(points: &[Point], bounds: &[usize]) -> f64 {
    let residual: f64 =
        parts(points, bounds).map(|part| LineFit::new(part).residual_sum(part)).sum();
    let lines = bounds.len() - 1;
    let parameters = 2 * lines + 2 * (lines - 1);
    residual + parameters as f64 * (points.len() as f64).ln()
}
