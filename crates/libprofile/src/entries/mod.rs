//! The functions that this library exports.

// As the data have it.
#[allow(unused_variables, clippy::redundant_closure)]
mod functions {
    include!(concat!(env!("OUT_DIR"), "/observed_entries.rs"));
}

/// Exports a function by its name and by its profiling name. Each observes the call and makes it in our library or in
/// another. A tool of the user's may come between: after the first name if it is a library, before the second if the
/// program contains it.
macro_rules! entry {
    ($number:literal, $name:ident, $own:literal, $profiling:ident, $own_profiling:literal, $of_library:literal,
     ($($p:ident: $t:ty),*), |$call:ident, $real:ident| $body:expr) => {
        const _: () = {
            static REAL: crate::real::Real = crate::real::Real::new($own, $of_library);
            static DIRECT: crate::real::Real = crate::real::Real::new($own_profiling, $of_library);

            #[allow(clippy::missing_transmute_annotations)]
            fn function(of: &crate::real::Real) -> unsafe extern "C" fn($($t,)* f64) -> c_int {
                // SAFETY: the function has this type in our library, which learns where the program has called. That
                // of another library does not see the last argument.
                unsafe { std::mem::transmute(of.get()) }
            }

            call_stack::export_entry!(fn $name($($p: $t),*) -> c_int, observed);

            unsafe extern "C" fn observed($($p: $t,)* site: f64) -> c_int {
                let $call =
                    crate::data::Call { function: $number, address: site.to_bits() };
                let (real, has_tool) = (function(&REAL), REAL.get() != DIRECT.get());
                let $real = move |$($p: $t),*| {
                    let _inside = has_tool.then(crate::tool::enter);
                    // SAFETY: as for the body.
                    unsafe { real($($p,)* site) }
                };
                // SAFETY: the caller of an MPI function passes the arguments that the standard requires.
                unsafe { $body }
            }

            call_stack::export_entry!(fn $profiling($($p: $t),*) -> c_int, of_tool);

            unsafe extern "C" fn of_tool($($p: $t,)* site: f64) -> c_int {
                let real = function(&DIRECT);
                // SAFETY: as for the body.
                let $real = move |$($p: $t),*| unsafe { real($($p,)* site) };
                if crate::tool::is_inside() {
                    return $real($($p),*);
                }
                let $call =
                    crate::data::Call { function: $number, address: site.to_bits() };
                // SAFETY: as above.
                unsafe { $body }
            }
        };
    };
}
pub(crate) use entry;
