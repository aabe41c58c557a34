//! Gives the library the name by which programs built for MPICH's ABI ask for it.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi.so.12");
    println!("cargo::rerun-if-changed=build.rs");
}
