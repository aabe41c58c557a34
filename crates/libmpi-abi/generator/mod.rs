//! Makes mpi.h and the exported functions from the data in `abi/`. Used by the example that writes them and by the test that
//! compares them.

mod bindings;
mod data;
mod header;
mod removed;

use std::path::Path;

/// The generated files, as paths below the crate's folder and their contents.
pub(crate) fn generate(crate_folder: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let read = |name: &str| {
        let path = crate_folder.join("abi").join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut abi = data::parse("mpi5.txt", &read("mpi5.txt")?)?;
    abi.add(data::parse("beyond.txt", &read("beyond.txt")?)?);
    let served = bindings::parse_served(&read("served.txt")?, &abi)?;
    Ok(vec![
        ("include/mpi.h", header::write(&abi)),
        ("src/abi/constants.rs", bindings::constants(&abi)),
        ("src/bindings/functions.rs", bindings::functions(&abi, &served)),
    ])
}
