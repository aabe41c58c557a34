//! The command line of Cornerstone.
#![forbid(unsafe_code)]

/// Ranks of the local fabric see each other's large buffers, and copy long messages once.
#[global_allocator]
static ALLOCATOR: fabric_shm::SharedAllocator = fabric_shm::SharedAllocator;

fn main() -> std::process::ExitCode {
    cornerstone::main()
}
