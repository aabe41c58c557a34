//! The exported functions whose arguments are converted one by one.

/// Exports a function under its two names. It converts its arguments, calls the function of the standard ABI, and
/// converts the result. The first instructions add the return address as a last argument, in the first register for
/// floating-point arguments, and the body of the standard function takes it there: its reports name the program's line.
macro_rules! forward {
    ($name:ident $profiling:ident ($($p:ident: $t:ty),*) -> $result:ty, $arguments:expr) => {
        #[allow(non_snake_case)]
        pub(crate) mod $name {
            use super::*;

            static ENTRY: Entry = Entry::new(concat!("cornerstone_", stringify!($name), "\0"));

            forward!(entry $name, ($($p: $t),*) -> $result);
            forward!(entry $profiling, ($($p: $t),*) -> $result);

            unsafe extern "C" fn body($($p: $t,)* site: f64) -> <$result as Convert>::Foreign {
                // SAFETY: the caller passes the arguments that the standard requires.
                let standard = unsafe { $arguments.call(ENTRY.get(), site) };
                <$result as Convert>::outward(standard)
            }
        }
    };
    (entry $export:ident, ($($p:ident: $t:ty),*) -> $result:ty) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $export($($p: $t),*) -> <$result as Convert>::Foreign {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!("movq xmm0, qword ptr [rsp]", "jmp {}", sym body);
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!("fmov d0, x30", "b {}", sym body);
        }
    };
}

// As the data have it.
#[allow(clippy::redundant_closure_call, unused_variables)]
pub(crate) mod functions {
    include!(concat!(env!("OUT_DIR"), "/mpich_functions.rs"));
}
