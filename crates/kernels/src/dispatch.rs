//! One function for each instruction set, from one body that is generic over the lanes.

/// Defines `$name`, which runs the generic `$body` with the single-precision lanes of the instructions in its first
/// argument. The caller must have checked that this processor has them.
macro_rules! dispatched {
    ($(#[$doc:meta])* unsafe fn $name:ident($($arg:ident: $type:ty),* $(,)?) = $body:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// This processor has the instructions, and the body's requirements are met.
        unsafe fn $name(instructions: crate::Instructions, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            unsafe fn avx512($($arg: $type),*) {
                // SAFETY: the caller guarantees the instructions and the requirements of the body.
                unsafe { $body::<crate::lanes::avx512::F32x16>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2($($arg: $type),*) {
                // SAFETY: as above.
                unsafe { $body::<crate::lanes::avx2::F32x8>($($arg),*) }
            }
            match instructions {
                // SAFETY: the caller guarantees the instructions and the requirements of the body.
                #[cfg(target_arch = "x86_64")]
                crate::Instructions::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                crate::Instructions::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: portable lanes need no instructions; the caller guarantees the rest.
                _ => unsafe { $body::<crate::lanes::Array<f32, 4>>($($arg),*) },
            }
        }
    };
}

pub(crate) use dispatched;
