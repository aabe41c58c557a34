//! Writes `include/mpi.h` from the data in `abi/`.

fn main() -> Result<(), String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/include/mpi.h");
    std::fs::write(path, abi_generator::header()?).map_err(|error| format!("{path}: {error}"))
}
