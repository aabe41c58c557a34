//! Sets the name of the library (soname) to the one with which programs are built for the standard ABI.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    println!("cargo::rerun-if-changed=build.rs");
}
