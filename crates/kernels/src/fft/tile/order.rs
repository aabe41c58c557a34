//! The order of the passes of a transform, and of their results.

/// Returns the radix of the first pass and the length for the others, or (1, length) if one pass suffices.
pub(in crate::fft) const fn split(length: usize) -> (usize, usize) {
    match length {
        32 => (4, 8),
        64 => (8, 8),
        128 => (8, 16),
        256 => (4, 64),
        512 => (8, 64),
        1024 => (16, 64),
        _ => (1, length),
    }
}

/// Returns the position of result `k` of a transform in the scratch if every pass has stored its results in the places
/// of its points.
pub(super) const fn place(length: usize, k: usize) -> usize {
    match split(length) {
        (1, _) => k,
        (first, rest) => rest * (k % first) + place(rest, k / first),
    }
}
