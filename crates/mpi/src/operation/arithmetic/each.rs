//! Element-wise operations on two arrays of numbers, with the vectors of this machine.

/// The locations of the numbers of one call; the result may replace the right operand.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) left: *const u8,
    pub(super) right: *const u8,
    pub(super) result: *mut u8,
    pub(super) count: i64,
}

/// Computes result = with(left, right), number by number. Programs' buffers need not be aligned.
#[inline(always)]
unsafe fn each_in<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    let (left, right, result) = (at.left.cast::<T>(), at.right.cast::<T>(), at.result.cast::<T>());
    for index in 0..at.count as usize {
        let value = with(left.add(index).read_unaligned(), right.add(index).read_unaligned());
        result.add(index).write_unaligned(value);
    }
}

/// Length that is combined between two prefetches, and their distance. One operand often lies in another processor's
/// cache, which the hardware's own prefetcher does not hide.
#[cfg(target_arch = "x86_64")]
const BLOCK_BYTES: usize = 512;
#[cfg(target_arch = "x86_64")]
const PREFETCH_DISTANCE_BYTES: usize = 2048;

/// A part that is read before any of it is written, aligned for vectors.
#[cfg(target_arch = "x86_64")]
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Chunk([u8; CHUNK_BYTES]);
#[cfg(target_arch = "x86_64")]
const CHUNK_BYTES: usize = 256;

/// Combines one block, chunk by chunk. The result may replace one operand. The compiler uses vectors only if it can
/// prove that nothing is read after it was written; the copies of both chunks prove that.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn block<T: Copy>(
    left: *const u8,
    right: *const u8,
    result: *mut u8,
    with: impl Fn(T, T) -> T,
) {
    for offset in (0..BLOCK_BYTES).step_by(CHUNK_BYTES) {
        let one = left.add(offset).cast::<Chunk>().read_unaligned();
        let mut other = right.add(offset).cast::<Chunk>().read_unaligned();
        let (from, to) = (one.0.as_ptr().cast::<T>(), other.0.as_mut_ptr().cast::<T>());
        for index in 0..CHUNK_BYTES / size_of::<T>() {
            let value = with(from.add(index).read_unaligned(), to.add(index).read_unaligned());
            to.add(index).write_unaligned(value);
        }
        result.add(offset).cast::<Chunk>().write_unaligned(other);
    }
}

/// As [`each_in`], in blocks, with prefetches.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn each_prefetched<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let in_block = (BLOCK_BYTES / size_of::<T>()) as i64;
    let mut first = 0;
    while first + in_block <= at.count {
        let offset = first as usize * size_of::<T>();
        for line in (0..BLOCK_BYTES).step_by(64) {
            // A prefetch beyond the end is harmless.
            _mm_prefetch::<_MM_HINT_T0>(
                at.left.wrapping_add(offset + PREFETCH_DISTANCE_BYTES + line).cast(),
            );
            _mm_prefetch::<_MM_HINT_T0>(
                at.right.wrapping_add(offset + PREFETCH_DISTANCE_BYTES + line).cast(),
            );
        }
        block(at.left.add(offset), at.right.add(offset), at.result.add(offset), &with);
        first += in_block;
    }
    let offset = first as usize * size_of::<T>();
    let (left, right) = (at.left.add(offset), at.right.add(offset));
    each_in(Places { left, right, result: at.result.add(offset), count: at.count - first }, &with);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn each_widest<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    each_prefetched(at, with);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn each_wide<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    each_prefetched(at, with);
}

/// Computes result = with(left, right), number by number, with the vectors of this machine.
///
/// # Safety
/// Left and right are as many numbers, and there is room for the result.
#[inline]
pub(super) unsafe fn each<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    #[cfg(target_arch = "x86_64")]
    if at.count as usize * size_of::<T>() > BLOCK_BYTES {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
        {
            return each_widest(at, with);
        }
        if is_x86_feature_detected!("avx2") {
            return each_wide(at, with);
        }
    }
    each_in(at, with);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For every length and every place of the result, the result equals the element-wise one.
    #[test]
    fn long_arrays_are_combined_as_their_numbers_are() {
        let numbers = |seed: u32, count: usize| -> Vec<u8> {
            let next = |state: &mut u32| {
                *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (*state >> 24) as u8
            };
            (0..count).scan(seed, |state, _| Some(next(state))).collect()
        };
        for count in (0..40).chain([511, 512, 513, 1024, 1535, 4099]) {
            // One more than needed, so that nothing is aligned.
            let (left, right) = (numbers(1, 8 * count + 1), numbers(2, 8 * count + 1));
            let mut unaligned = vec![0; right.len()];
            let mut in_place = right.clone();
            let at = |to: &mut Vec<u8>, right: *const u8| Places {
                left: left[1..].as_ptr(),
                right,
                result: to[1..].as_mut_ptr(),
                count: count as i64,
            };
            let own = in_place[1..].as_ptr();
            // SAFETY: every place holds `count` numbers of eight bytes behind its first.
            unsafe {
                each::<u64>(at(&mut unaligned, right[1..].as_ptr()), |a, b| a.wrapping_mul(b));
                each::<u64>(at(&mut in_place, own), |a, b| a.wrapping_mul(b));
            }
            let (left, right) = (left[1..].as_chunks::<8>().0, right[1..].as_chunks::<8>().0);
            let product = |(a, b): (&[u8; 8], &[u8; 8])| {
                u64::from_ne_bytes(*a).wrapping_mul(u64::from_ne_bytes(*b)).to_ne_bytes()
            };
            let expected: Vec<u8> = left.iter().zip(right).flat_map(product).collect();
            assert_eq!(unaligned[1..], expected, "{count} numbers");
            assert_eq!(in_place[1..], expected, "{count} numbers in place");
        }
    }

    #[test]
    fn bytes_are_summed_in_place_to_the_last() {
        for count in [1, 255, 256, 257, 512, 513, 2000] {
            let left: Vec<u8> = (0..count).map(|index| index as u8).collect();
            let mut right = vec![7_u8; count];
            let places = Places {
                left: left.as_ptr(),
                right: right.as_ptr(),
                result: right.as_mut_ptr(),
                count: count as i64,
            };
            // SAFETY: both hold `count` bytes.
            unsafe { each::<u8>(places, |a, b| a.wrapping_add(b)) };
            assert!((0..count).all(|index| right[index] == (index as u8).wrapping_add(7)));
        }
    }
}
