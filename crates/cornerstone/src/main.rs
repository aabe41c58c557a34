//! The command line of Cornerstone.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    cornerstone::main()
}
