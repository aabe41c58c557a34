//! Sets the name by which programs built for MPICH's ABI load the library.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi.so.12");
    println!("cargo::rerun-if-changed=build.rs");
}
