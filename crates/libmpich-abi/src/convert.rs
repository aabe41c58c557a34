//! The conversion of values between the ABIs.

/// A kind of value, with its type here (`Foreign`) and in the standard ABI.
pub(crate) trait Convert {
    type Foreign: Copy;
    type Standard: Copy + PartialEq;

    fn inward(foreign: Self::Foreign) -> Self::Standard;
    fn outward(standard: Self::Standard) -> Self::Foreign;
}

/// A value that is the same in both.
pub(crate) struct Same<T>(std::marker::PhantomData<T>);

impl<T: Copy + PartialEq> Convert for Same<T> {
    type Foreign = T;
    type Standard = T;

    #[inline(always)]
    fn inward(foreign: T) -> T {
        foreign
    }

    #[inline(always)]
    fn outward(standard: T) -> T {
        standard
    }
}
