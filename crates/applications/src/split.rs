//! The division of a whole into parts for several ranks.

use std::ops::Range;

/// Returns part `index` of `parts` parts of 0 to `total`, which follow each other and differ by at most one element.
pub(crate) fn part(total: usize, parts: usize, index: usize) -> Range<usize> {
    let begin = |index: usize| (total as u128 * index as u128 / parts as u128) as usize;
    begin(index)..begin(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_and_differ_by_one_at_most() {
        for (total, parts) in [(10, 3), (2, 5), (0, 1), (1024, 7), (usize::MAX, 3)] {
            let all: Vec<_> = (0..parts).map(|index| part(total, parts, index)).collect();
            assert_eq!((all[0].start, all[parts - 1].end), (0, total));
            assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
            let (least, most) = (total / parts, total.div_ceil(parts));
            assert!(all.iter().all(|part| (least..=most).contains(&part.len())));
        }
    }
}
