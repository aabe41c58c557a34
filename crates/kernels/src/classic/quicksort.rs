//! Recursive quicksort of elements from a multiplicative generator.

use std::hint::black_box;

use super::check::check;
use crate::error::Result;

/// Sorts `count` elements and returns the number of comparisons.
pub(super) fn run(count: usize) -> Result<u64> {
    let mut state = black_box(74_755u32);
    let mut next = || {
        state = (state * 1309 + 13_849) % 65_536;
        state as i32 - 32_768
    };
    let mut elements: Vec<i32> = (0..count).map(|_| next()).collect();
    let sum: i64 = elements.iter().map(|&element| i64::from(element)).sum();
    let mut comparisons = 0;
    sort(black_box(&mut elements), &mut comparisons);
    check("sort", "whether the elements are in order", true, elements.is_sorted())?;
    let sorted_sum = elements.iter().map(|&element| i64::from(element)).sum();
    check("sort", "the sum of the elements", sum, sorted_sum)?;
    Ok(comparisons)
}

#[inline(never)]
fn sort(elements: &mut [i32], comparisons: &mut u64) {
    if elements.len() < 2 {
        return;
    }
    // The lower middle: with the upper one, two elements in order would never be separated.
    let pivot = elements[(elements.len() - 1) / 2];
    let (mut low, mut high) = (0, elements.len() - 1);
    loop {
        while elements[low] < pivot {
            low += 1;
            *comparisons += 1;
        }
        while elements[high] > pivot {
            high -= 1;
            *comparisons += 1;
        }
        *comparisons += 2;
        if low >= high {
            break;
        }
        elements.swap(low, high);
        low += 1;
        high -= 1;
    }
    // Everything before `low` is at most the pivot, and everything after `high` at least.
    let (before, after) = elements.split_at_mut(high + 1);
    sort(before, comparisons);
    sort(after, comparisons);
}
