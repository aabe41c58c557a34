//! Sets the name of the library (soname) to the one with which programs are built for the standard ABI, and makes its
//! constants and exported functions.

use abi_generator::Part;

fn main() -> Result<(), String> {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    // The names of MPI jump to exported bodies, which no other library replaces.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
    println!("cargo::rerun-if-changed=build.rs");
    abi_generator::generate(&[Part::Constants, Part::Functions])
}
