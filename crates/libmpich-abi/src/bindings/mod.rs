//! The exported functions whose arguments are converted one by one.

/// Exports a function under its two names: converts its arguments, calls the function of the standard ABI, converts the
/// result.
macro_rules! forward {
    ($name:ident $profiling:ident ($($p:ident: $t:ty),*) -> $result:ty, $arguments:expr) => {
        forward!($name, $name, ($($p: $t),*) -> $result, $arguments);
        forward!($profiling, $name, ($($p: $t),*) -> $result, $arguments);
    };
    ($export:ident, $name:ident, ($($p:ident: $t:ty),*) -> $result:ty, $arguments:expr) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $export($($p: $t),*) -> <$result as Convert>::Foreign {
            static ENTRY: Entry = Entry::new(concat!(stringify!($name), "\0"));
            // SAFETY: the caller passes what the standard asks for.
            let standard = unsafe { $arguments.call(ENTRY.get()) };
            <$result as Convert>::outward(standard)
        }
    };
}

#[rustfmt::skip] // Generated.
pub(crate) mod functions;
