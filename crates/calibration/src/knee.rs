//! The eager limit: the length after which the time of a message makes a step.

use crate::times::BySize;

/// Step of the time over the length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knee {
    /// Last length before it.
    pub(crate) last_bytes: u64,
    /// Its height.
    pub(crate) step_us: f64,
}

/// Number of lengths on each side of a step to which the lines before and after it are fitted.
const SIDE: usize = 3;
/// Least height of a step as a share of the time. Medians of two runs differ by up to that much.
const STEP_MIN: f64 = 0.15;

/// Returns the step that is highest relative to its time, if there is one.
///
/// A step lies between two lengths if all lengths after it lie above the line through those before it, and all lengths
/// before it below the line through those after it. At a change of slope the two lines meet, and a disturbed length is
/// followed by undisturbed ones; neither is a step. The height of the step is the smallest of these distances.
pub(crate) fn find(times_us: &BySize) -> Option<Knee> {
    let points: Vec<(f64, f64)> = times_us.iter().map(|(&size, &us)| (size as f64, us)).collect();
    let candidates = SIDE..=points.len().checked_sub(SIDE)?;
    let steps = candidates.filter_map(|next| {
        let (before, after) = (&points[next - SIDE..next], &points[next..next + SIDE]);
        let (old, new, last) = (line(before), line(after), before[SIDE - 1]);
        let above = after.iter().map(|&(x, y)| y - old(x));
        let below = before.iter().map(|&(x, y)| new(x) - y);
        let step_us = above.chain(below).fold(f64::INFINITY, f64::min);
        (step_us > STEP_MIN * last.1).then_some((step_us / last.1, last.0 as u64, step_us))
    });
    let (_, last_bytes, step_us) = steps.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Knee { last_bytes, step_us })
}

/// Returns the straight line through points by least squares of relative deviations.
fn line(points: &[(f64, f64)]) -> impl Fn(f64) -> f64 {
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for &(x, y) in points {
        let weight = 1.0 / (y * y).max(f64::MIN_POSITIVE);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    let slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    let intercept = (wy - slope * wx) / w;
    move |x| intercept + slope * x
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 10] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

    fn times(us: impl Fn(u64) -> f64) -> BySize {
        SIZES.iter().map(|&size| (size, us(size))).collect()
    }

    #[test]
    fn a_straight_line_and_a_change_of_slope_are_no_step() {
        assert_eq!(find(&times(|size| 1.0 + size as f64 / 100.0)), None);
        // Ten times as steep beyond 256 bytes, without a step.
        let kink =
            |size: u64| 1.0 + size.min(256) as f64 / 100.0 + size.saturating_sub(256) as f64 / 10.0;
        assert_eq!(find(&times(kink)), None);
    }

    #[test]
    fn a_step_is_found_with_its_height() {
        let step = |size: u64| 1.0 + size as f64 / 100.0 + if size > 512 { 3.0 } else { 0.0 };
        let Knee { last_bytes, step_us } = find(&times(step)).unwrap();
        assert_eq!(last_bytes, 512);
        assert!((step_us - 3.0).abs() < 1e-9, "{step_us}");
    }

    #[test]
    fn one_disturbed_length_is_no_step() {
        let disturbed = |size: u64| if size == 256 { 9.0 } else { 1.0 + size as f64 / 100.0 };
        assert_eq!(find(&times(disturbed)), None);
        assert_eq!(find(&BySize::from([(8, 1.0), (16, 1.0)])), None);
    }
}
