//! Gives the library the name by which programs built for the standard ABI ask for it.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    println!("cargo::rerun-if-changed=build.rs");
}
