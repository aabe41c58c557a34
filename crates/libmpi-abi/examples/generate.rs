//! Generates mpi.h and the bindings from `abi/`.

#[path = "../generator/mod.rs"]
mod generator;

fn main() -> Result<(), String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, contents) in generator::generate(folder)? {
        std::fs::write(folder.join(path), contents).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}
