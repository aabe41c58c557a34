//! Makes the list of observed functions.

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    abi_generator::generate(&[abi_generator::Part::ObservedFunctions])
}
