//! Gives the library the name by which programs built for the standard ABI ask for it, and has the linker keep functions of the
//! same code once.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    // The linker that comes with Rust for this machine can. What it saves is a fiftieth of the library: nobody compares the
    // addresses of functions here.
    let is_x86_64 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|one| one == "x86_64");
    if is_x86_64 && std::env::var_os("RUSTC_LINKER").is_none() {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--icf=all");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
