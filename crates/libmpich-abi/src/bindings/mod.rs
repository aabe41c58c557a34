//! The exported functions whose arguments are converted one by one.

/// Exports a function under its two names. It converts its arguments, calls the function of the standard ABI, and
/// converts the result. The return address is passed on to the body of the standard function, whose reports name the
/// program's line.
macro_rules! forward {
    ($name:ident $profiling:ident ($($p:ident: $t:ty),*) -> $result:ty, $arguments:expr) => {
        #[allow(non_snake_case)]
        pub(crate) mod $name {
            use super::*;

            static ENTRY: Entry = Entry::new(concat!("cornerstone_", stringify!($name), "\0"));

            call_stack::export_entry!(pub(crate) fn $name($($p: $t),*) -> <$result as Convert>::Foreign, body);
            call_stack::export_entry!(pub(crate) fn $profiling($($p: $t),*) -> <$result as Convert>::Foreign, body);

            unsafe extern "C" fn body($($p: $t,)* site: f64) -> <$result as Convert>::Foreign {
                // SAFETY: the caller passes the arguments that the standard requires.
                let standard = unsafe { $arguments.call(ENTRY.get(), site) };
                <$result as Convert>::outward(standard)
            }
        }
    };
}

// As the data have it.
#[allow(clippy::redundant_closure_call, unused_variables)]
pub(crate) mod functions {
    include!(concat!(env!("OUT_DIR"), "/mpich_functions.rs"));
}
