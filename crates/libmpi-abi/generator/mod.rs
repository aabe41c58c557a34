//! Generates mpi.h, the exported functions, and the functions of the crate libmpich-abi and of the profiling library
//! from the data in `abi/`. Used by the example that writes the files and by the test that compares them.

mod bindings;
mod data;
mod header;
mod mpich;
mod observed;
mod removed;

use std::path::Path;

/// Folder of the crate libmpich-abi, relative to this crate's `abi`.
const MPICH: &str = "../../libmpich-abi";

/// Returns the generated files: paths below the crate's folder, and contents.
pub(crate) fn generate(crate_folder: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let read = |name: &str| {
        let path = crate_folder.join("abi").join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut abi = data::parse("mpi5.txt", &read("mpi5.txt")?)?;
    abi.add(data::parse("beyond.txt", &read("beyond.txt")?)?);
    let served = bindings::parse_served(&read("served.txt")?, &abi)?;
    let own = data::parse("mpich.txt", &read(&format!("{MPICH}/abi/mpich.txt"))?)?;
    let parameters = mpich::parse(&read(&format!("{MPICH}/abi/parameters.txt"))?, &abi)?;
    let observed = observed::parse(&read("../../libprofile/observed.txt")?, &abi)?;
    Ok(vec![
        ("include/mpi.h", header::write(&abi)),
        ("src/abi/constants.rs", bindings::constants(&abi)),
        ("src/bindings/functions.rs", bindings::functions(&abi, &served)),
        ("../libmpich-abi/src/values.rs", mpich::values(&own, &abi)?),
        ("../libmpich-abi/src/bindings/functions.rs", mpich::functions(&abi, &parameters)),
        ("../libprofile/src/entries/functions.rs", observed::entries(&abi, &observed)),
        ("../profile/src/functions/list.rs", observed::functions(&observed)),
    ])
}
