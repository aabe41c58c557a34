//! The comparison of exact numbers: equal, or different by so much.

use record::{Better, Measurement};

use super::{Effect, Verdict};

/// Returns the ratio of the second of two exact numbers to the first one, and the verdict. Any difference is one; the
/// threshold decides only whether it is a regression. There is no ratio if a number is negative.
pub(super) fn compared(
    [first, second]: [&Measurement; 2],
    better: Better,
) -> (Option<Effect>, Verdict) {
    let [a, b] = [first, second].map(|m| m.summary.median);
    let ratio = if a == b { 1.0 } else { b / a };
    let has_ratio = a == b || a >= 0.0 && b >= 0.0;
    let effect = has_ratio.then_some(Effect { ratio, low: ratio, high: ratio, confidence: 1.0 });
    let verdict = match (a == b, (b > a) == (better == Better::Higher)) {
        (true, _) => Verdict::Same,
        (false, true) => Verdict::Faster,
        (false, false) => Verdict::Slower,
    };
    (effect, verdict)
}
