//! Vectors of lanes: the few operations that the kernels consist of, once for every instruction set.
//!
//! A value of a vector type can only be created by an `unsafe` function that requires its instructions. So a value
//! proves that they exist, and the arithmetic on values is safe.

mod portable;

/// Defines a vector type around one of the processor's own, each operation by the named intrinsic or function.
#[cfg(target_arch = "x86_64")]
macro_rules! x86_vector {
    (
        $(#[$doc:meta])*
        $name:ident($vector:ty): $count:literal of $element:ty,
        $load:expr, $store:expr, $stream:expr, $transpose:ident
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name($vector);

        impl Vector for $name {
            type Element = $element;
            type Square = [Self; $count];
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: the caller guarantees the instructions and the elements at `from`.
                $name(unsafe { $load(from.cast()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: the caller guarantees the room; `self` proves the instructions.
                unsafe { $store(to.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn stream(self, to: *mut $element) {
                // SAFETY: the caller guarantees the room and its alignment; `self` proves the instructions.
                unsafe { $stream(to.cast(), self.0) }
            }

            #[inline(always)]
            fn repeat(self) -> [Self; $count] {
                [self; $count]
            }

            #[inline(always)]
            fn transpose(square: [Self; $count]) -> [Self; $count] {
                // SAFETY: the rows prove the instructions; this type is its vector, so arrays of either are one.
                unsafe {
                    let rows = std::mem::transmute::<[Self; $count], [$vector; $count]>(square);
                    std::mem::transmute::<[$vector; $count], [Self; $count]>($transpose(rows))
                }
            }
        }
    };
}

/// Defines the arithmetic of such a type, each operation by the named intrinsic or function.
#[cfg(target_arch = "x86_64")]
macro_rules! x86_lanes {
    (
        $name:ident of $real:ty: $splat:ident,
        $add:ident, $sub:ident, $mul:ident, $mul_add:ident, $neg_mul_add:ident
    ) => {
        impl Lanes for $name {
            #[inline(always)]
            unsafe fn splat(value: $real) -> Self {
                // SAFETY: the caller guarantees the instructions.
                $name(unsafe { $splat(value) })
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                $name(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                $name(unsafe { $sub(self.0, other.0) })
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                $name(unsafe { $mul(self.0, other.0) })
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                $name(unsafe { $mul_add(self.0, factor.0, addend.0) })
            }

            #[inline(always)]
            fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                $name(unsafe { $neg_mul_add(self.0, factor.0, addend.0) })
            }
        }
    };
}

/// Defines how such a type holds complex numbers, each operation by the named function.
#[cfg(target_arch = "x86_64")]
macro_rules! x86_complexes {
    (
        $name:ident:
        $deinterleave:ident, $deinterleave_in_order:ident, $interleave:ident, $interleave_in_order:ident
    ) => {
        impl Complexes for $name {
            #[inline(always)]
            fn deinterleave(low: Self, high: Self) -> (Self, Self) {
                // SAFETY: the vectors prove the instructions.
                let (re, im) = unsafe { $deinterleave(low.0, high.0) };
                ($name(re), $name(im))
            }

            #[inline(always)]
            fn deinterleave_in_order(low: Self, high: Self) -> (Self, Self) {
                // SAFETY: the vectors prove the instructions.
                let (re, im) = unsafe { $deinterleave_in_order(low.0, high.0) };
                ($name(re), $name(im))
            }

            #[inline(always)]
            fn interleave(re: Self, im: Self) -> (Self, Self) {
                // SAFETY: the vectors prove the instructions.
                let (low, high) = unsafe { $interleave(re.0, im.0) };
                ($name(low), $name(high))
            }

            #[inline(always)]
            fn interleave_in_order(re: Self, im: Self) -> (Self, Self) {
                // SAFETY: the vectors prove the instructions.
                let (low, high) = unsafe { $interleave_in_order(re.0, im.0) };
                ($name(low), $name(high))
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;

pub(crate) use portable::Array;

/// A vector that moves [`Vector::COUNT`] elements at a time.
pub(crate) trait Vector: Copy {
    /// One lane.
    type Element: Copy;
    /// As many vectors as a vector has lanes.
    type Square: Copy + AsRef<[Self]> + AsMut<[Self]>;
    /// Number of lanes.
    const COUNT: usize;

    /// Loads the [`Vector::COUNT`] elements at `from`, which need not be aligned.
    ///
    /// # Safety
    /// The processor has the instructions of this type, and `from` is valid for reading that many elements.
    unsafe fn load(from: *const Self::Element) -> Self;

    /// Writes the lanes to `to`, which need not be aligned.
    ///
    /// # Safety
    /// `to` is valid for writing [`Vector::COUNT`] elements.
    unsafe fn store(self, to: *mut Self::Element);

    /// Writes the lanes to `to` past the caches, if the instructions allow it; a fence must follow.
    ///
    /// # Safety
    /// `to` is valid for writing [`Vector::COUNT`] elements and aligned to the size of the vector.
    unsafe fn stream(self, to: *mut Self::Element);

    /// Returns a square whose rows are all this vector, to be filled.
    fn repeat(self) -> Self::Square;

    /// Exchanges lane i of vector j and lane j of vector i.
    fn transpose(square: Self::Square) -> Self::Square;

    /// Loads a square from memory, with rows `pitch` elements apart.
    ///
    /// # Safety
    /// As for [`Vector::load`], for each row.
    #[inline(always)]
    unsafe fn load_square(from: *const Self::Element, pitch: usize) -> Self::Square {
        // SAFETY: the caller guarantees every row and the instructions.
        unsafe {
            let mut square = Self::load(from).repeat();
            let rows = square.as_mut();
            for row in 1..Self::COUNT {
                rows[row] = Self::load(from.add(row * pitch));
            }
            square
        }
    }

    /// Writes a square past the caches, with rows `pitch` elements apart.
    ///
    /// # Safety
    /// As for [`Vector::stream`], for each row.
    #[inline(always)]
    unsafe fn stream_square(square: Self::Square, to: *mut Self::Element, pitch: usize) {
        let rows = square.as_ref();
        for row in 0..Self::COUNT {
            // SAFETY: the caller guarantees room for every row, and its alignment.
            unsafe { rows[row].stream(to.add(row * pitch)) };
        }
    }

    /// Writes a square to memory, with rows `pitch` elements apart.
    ///
    /// # Safety
    /// As for [`Vector::store`], for each row.
    #[inline(always)]
    unsafe fn store_square(square: Self::Square, to: *mut Self::Element, pitch: usize) {
        let rows = square.as_ref();
        for row in 0..Self::COUNT {
            // SAFETY: the caller guarantees room for every row.
            unsafe { rows[row].store(to.add(row * pitch)) };
        }
    }
}

/// A vector of an even number of real numbers, and its arithmetic.
pub(crate) trait Lanes: Vector {
    /// Returns `value` in every lane.
    ///
    /// # Safety
    /// The processor has the instructions of this type.
    unsafe fn splat(value: Self::Element) -> Self;

    /// Returns `value` in every lane.
    #[inline(always)]
    fn fill(self, value: Self::Element) -> Self {
        // SAFETY: `self` proves the instructions.
        unsafe { Self::splat(value) }
    }

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Returns `self * factor + addend`, rounded once if the instructions allow it.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Returns `addend - self * factor`, rounded once if the instructions allow it.
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self;
}

/// A vector of which two hold complex numbers: real and imaginary parts apart, or one after the other as in memory.
pub(crate) trait Complexes: Lanes {
    /// Returns real parts and imaginary parts of the complex numbers that are interleaved in `low`, then `high`.
    ///
    /// The order of the lanes is the fastest one for the instructions; [`Complexes::interleave`] reverses it.
    fn deinterleave(low: Self, high: Self) -> (Self, Self);

    /// As [`Complexes::deinterleave`], with the i-th complex number in lane i.
    fn deinterleave_in_order(low: Self, high: Self) -> (Self, Self);

    /// Returns the inverse of [`Complexes::deinterleave`].
    fn interleave(re: Self, im: Self) -> (Self, Self);

    /// As [`Complexes::interleave`], for lanes in natural order: lane i becomes the i-th complex number.
    fn interleave_in_order(re: Self, im: Self) -> (Self, Self);
}
