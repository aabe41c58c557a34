//! The command line of Cornerstone.
#![forbid(unsafe_code)]

/// The allocator places large buffers in shared memory, so that ranks of the local fabric copy long messages only once.
#[global_allocator]
static ALLOCATOR: launcher::SharedAllocator = launcher::SharedAllocator;

fn main() -> std::process::ExitCode {
    cornerstone::main()
}
