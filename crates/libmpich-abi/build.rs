//! Sets the name by which programs built for MPICH's ABI load the library, and makes its values and exported functions.

use abi_generator::Part;

fn main() -> Result<(), String> {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi.so.12");
    println!("cargo::rerun-if-changed=build.rs");
    abi_generator::generate(&[Part::MpichValues, Part::MpichFunctions])
}
