//! Lanes as plain arrays, which compilers map to the vectors that the architecture always has.

use super::{Complexes, Lanes, Vector};

/// `N` numbers.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Array<T, const N: usize>([T; N]);

impl<T: Copy, const N: usize> Vector for Array<T, N> {
    type Element = T;
    type Square = [Self; N];
    const COUNT: usize = N;

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller guarantees N elements at `from`.
        Array(unsafe { from.cast::<[T; N]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller guarantees room for N elements at `to`.
        unsafe { to.cast::<[T; N]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut T) {
        // SAFETY: the caller guarantees at least what `store` needs.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    fn repeat(self) -> [Self; N] {
        [self; N]
    }

    #[inline(always)]
    fn transpose(square: [Self; N]) -> [Self; N] {
        std::array::from_fn(|row| Array(std::array::from_fn(|lane| square[lane].0[row])))
    }
}

impl<T: Copy, const N: usize> Array<T, N> {
    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(T, T) -> T) -> Self {
        Array(std::array::from_fn(|lane| operation(self.0[lane], other.0[lane])))
    }

    #[inline(always)]
    fn take(low: Self, high: Self, from: impl Fn(usize) -> usize) -> Self {
        Array(std::array::from_fn(|lane| {
            let index = from(lane);
            if index < N { low.0[index] } else { high.0[index - N] }
        }))
    }
}

impl<T, const N: usize> Lanes for Array<T, N>
where
    T: Copy + std::ops::Add<Output = T> + std::ops::Sub<Output = T> + std::ops::Mul<Output = T>,
{
    #[inline(always)]
    unsafe fn splat(value: T) -> Self {
        Array([value; N])
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self.mul(factor).add(addend)
    }

    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        addend.sub(self.mul(factor))
    }
}

impl<T, const N: usize> Complexes for Array<T, N>
where
    Self: Lanes,
    T: Copy,
{
    #[inline(always)]
    fn deinterleave(low: Self, high: Self) -> (Self, Self) {
        (Array::take(low, high, |lane| 2 * lane), Array::take(low, high, |lane| 2 * lane + 1))
    }

    #[inline(always)]
    fn deinterleave_in_order(low: Self, high: Self) -> (Self, Self) {
        Self::deinterleave(low, high)
    }

    #[inline(always)]
    fn interleave(re: Self, im: Self) -> (Self, Self) {
        Self::interleave_in_order(re, im)
    }

    #[inline(always)]
    fn interleave_in_order(re: Self, im: Self) -> (Self, Self) {
        let pick = |lane: usize| lane / 2 + lane % 2 * N;
        (Array::take(re, im, pick), Array::take(re, im, |lane| pick(lane + N)))
    }
}
