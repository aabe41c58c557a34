//! The constants and handle types of the ABI.

// All of the ABI, used or not.
#[allow(dead_code)]
mod constants {
    include!(concat!(env!("OUT_DIR"), "/constants.rs"));
}

pub(crate) use constants::*;

/// Any of the handle types.
pub(crate) trait Handle: Copy {
    /// Returns the value in C.
    fn number(self) -> usize;
    /// Returns the handle of a value.
    fn from_number(number: usize) -> Self;
}

/// Declares a handle as the pointer that C uses.
macro_rules! handle {
    ($name:ident) => {
        /// A handle; small numbers are predefined ones.
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name(pub(crate) usize);

        impl crate::abi::Handle for $name {
            fn number(self) -> usize {
                self.0
            }

            fn from_number(number: usize) -> Self {
                $name(number)
            }
        }
    };
}
pub(crate) use handle;
