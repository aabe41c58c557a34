//! The functions that this library exports.

// As the data have it.
#[allow(unused_variables, clippy::redundant_closure)]
mod functions {
    include!(concat!(env!("OUT_DIR"), "/observed_entries.rs"));
}

/// Exports a function, which observes the call and makes it in our library or in another.
macro_rules! entry {
    ($number:literal, $name:ident, $own:literal, $of_library:literal, ($($p:ident: $t:ty),*),
     |$call:ident, $real:ident| $body:expr) => {
        const _: () = {
            call_stack::export_entry!(fn $name($($p: $t),*) -> c_int, observed);

            unsafe extern "C" fn observed($($p: $t,)* site: f64) -> c_int {
                static REAL: crate::real::Real = crate::real::Real::new($own, $of_library);
                let $call =
                    crate::data::Call { function: $number, address: site.to_bits() };
                #[allow(clippy::missing_transmute_annotations)]
                let real: unsafe extern "C" fn($($t,)* f64) -> c_int = {
                    // SAFETY: the function has this type in our library, which learns where the program has called. That
                    // of another library does not see the last argument.
                    unsafe { std::mem::transmute(REAL.get()) }
                };
                // SAFETY: as for the body.
                let $real = move |$($p: $t),*| unsafe { real($($p,)* site) };
                // SAFETY: the caller of an MPI function passes the arguments that the standard requires.
                unsafe { $body }
            }
        };
    };
}
pub(crate) use entry;
