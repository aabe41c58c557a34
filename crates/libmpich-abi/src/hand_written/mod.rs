//! Functions that need more than their arguments converted one by one.

mod attribute;
mod buffer;
mod contents;
mod former;
mod fortran;
mod grequest;
mod handler;
mod key;
mod operation;
mod representation;
mod slots;
mod version;
mod within;

/// Exports a function under its two names.
macro_rules! export {
    ($name:ident $profiling:ident ($($p:ident: $t:ty),*) -> $result:ty, $body:expr) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($p: $t),*) -> $result {
            $body
        }

        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $profiling($($p: $t),*) -> $result {
            $body
        }
    };
}
pub(crate) use export;
