//! Checks that the built library has every function that it observes. Without this test, tests of other crates would
//! not have the library: cargo builds it for tests of its own crate only.

use std::ffi::CString;

#[test]
fn every_function_that_is_looked_at_is_exported() {
    let library = std::env::current_exe().unwrap().with_file_name("libcornerstone_profile.so");
    let path = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: the path ends with a zero byte; the library has no code that runs when it is loaded.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{} cannot be loaded", library.display());
    let observed = include_str!("../observed.txt").lines();
    let names = observed.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut count = 0;
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        let symbol = CString::new(format!("MPI_{name}")).unwrap();
        // SAFETY: the handle is of a loaded library, and the name ends with a zero byte.
        let found = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
        assert!(!found.is_null(), "MPI_{name} is not exported");
        count += 1;
    }
    assert!(count > 100, "{count} functions are looked at");
}
