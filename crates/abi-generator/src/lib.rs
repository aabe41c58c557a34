//! Makes the parts of other crates that follow from the data of MPI's ABI: mpi.h, the constants, the exported functions
//! of both libraries, and the functions that the profiling library observes.
//!
//! Build scripts call [`generate`]. mpi.h is in the repository, for programs; `cargo run -p libmpi-abi --example header`
//! writes it, and a test compares it with [`header`].

#![forbid(unsafe_code)]

mod bindings;
mod data;
mod header;
mod mpich;
mod observed;
mod removed;

use std::path::{Path, PathBuf};

/// A generated file of Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The constants and handle types of the standard ABI.
    Constants,
    /// The exported functions of the standard ABI.
    Functions,
    /// The values of MPICH's ABI beside those of the standard ABI.
    MpichValues,
    /// The exported functions of MPICH's ABI.
    MpichFunctions,
    /// The functions that the profiling library exports.
    ObservedEntries,
    /// The list of these functions.
    ObservedFunctions,
}

impl Part {
    /// Returns the name of the file in the folder of the build script's output.
    fn file(self) -> &'static str {
        match self {
            Part::Constants => "constants.rs",
            Part::Functions => "functions.rs",
            Part::MpichValues => "mpich_values.rs",
            Part::MpichFunctions => "mpich_functions.rs",
            Part::ObservedEntries => "observed_entries.rs",
            Part::ObservedFunctions => "observed_functions.rs",
        }
    }
}

/// Writes parts into the folder of the build script that calls this, and has it run again when the data change.
///
/// # Errors
/// The file and the line of the data that are wrong, or the file that could not be read or written.
pub fn generate(parts: &[Part]) -> Result<(), String> {
    let all = Data::read()?;
    for path in &all.files {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: no build script runs this")?;
    for &part in parts {
        let path = Path::new(&out).join(part.file());
        std::fs::write(&path, all.part(part)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns the contents of mpi.h.
///
/// # Errors
/// As [`generate`].
pub fn header() -> Result<String, String> {
    Ok(header::write(&Data::read()?.abi))
}

/// The data of all ABIs.
struct Data {
    files: Vec<PathBuf>,
    abi: data::Abi,
    served: std::collections::BTreeMap<String, bindings::Server>,
    mpich: data::Abi,
    parameters: mpich::Parameters,
    observed: Vec<observed::Observed>,
}

impl Data {
    fn read() -> Result<Data, String> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("");
        let mut files = Vec::new();
        let mut read = |name: &str| {
            let path = crates.join(name);
            let text = std::fs::read_to_string(&path);
            let text = text.map_err(|error| format!("{}: {error}", path.display()));
            files.push(path);
            text
        };
        let mut abi = data::parse("mpi5.txt", &read("libmpi-abi/abi/mpi5.txt")?)?;
        abi.add(data::parse("beyond.txt", &read("libmpi-abi/abi/beyond.txt")?)?);
        let served = bindings::parse_served(&read("libmpi-abi/abi/served.txt")?, &abi)?;
        let mpich = data::parse("mpich.txt", &read("libmpich-abi/abi/mpich.txt")?)?;
        let parameters = mpich::parse(&read("libmpich-abi/abi/parameters.txt")?, &abi)?;
        let observed = observed::parse(&read("libprofile/observed.txt")?, &abi)?;
        Ok(Data { files, abi, served, mpich, parameters, observed })
    }

    fn part(&self, part: Part) -> Result<String, String> {
        Ok(match part {
            Part::Constants => bindings::constants(&self.abi),
            Part::Functions => bindings::functions(&self.abi, &self.served),
            Part::MpichValues => mpich::values(&self.mpich, &self.abi)?,
            Part::MpichFunctions => mpich::functions(&self.abi, &self.parameters),
            Part::ObservedEntries => observed::entries(&self.abi, &self.observed),
            Part::ObservedFunctions => observed::functions(&self.observed),
        })
    }
}
