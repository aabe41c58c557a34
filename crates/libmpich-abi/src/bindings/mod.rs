//! The exported functions whose arguments are converted one by one.

/// Exports a function under its two names. It converts its arguments, calls the function of the standard ABI, and
/// converts the result.
macro_rules! forward {
    ($name:ident $profiling:ident ($($p:ident: $t:ty),*) -> $result:ty, $arguments:expr) => {
        #[allow(non_snake_case)]
        pub(crate) mod $name {
            use super::*;

            // Both names share it, so that their functions are identical, and the library contains one of them.
            static ENTRY: Entry = Entry::new(concat!(stringify!($name), "\0"));

            forward!($name, ($($p: $t),*) -> $result, $arguments);
            forward!($profiling, ($($p: $t),*) -> $result, $arguments);
        }
    };
    ($export:ident, ($($p:ident: $t:ty),*) -> $result:ty, $arguments:expr) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $export($($p: $t),*) -> <$result as Convert>::Foreign {
            // SAFETY: the caller passes the arguments that the standard requires.
            let standard = unsafe { $arguments.call(ENTRY.get()) };
            <$result as Convert>::outward(standard)
        }
    };
}

// As the data have it.
#[allow(clippy::redundant_closure_call, unused_variables)]
pub(crate) mod functions {
    include!(concat!(env!("OUT_DIR"), "/mpich_functions.rs"));
}
