//! Names of fabrics in the user interface and in results files: `NAME` or `NAME:ARGUMENT`.

use std::path::Path;

use fabric_sim::Machine;
use record::RunHeader;

/// Processes of this host over shared memory.
pub(crate) const LOCAL: &str = "local";
/// Processes over TCP.
pub(crate) const TCP: &str = "tcp";
/// Processes on several hosts: over shared memory inside each, over TCP between them.
pub(crate) const CLUSTER: &str = "cluster";
/// Processes over libfabric. Its argument names the provider.
pub(crate) const OFI: &str = "ofi";
/// Any MPI; its argument names the MPI that provides the launcher.
pub(crate) const MPI: &str = "mpi";
/// A simulated machine; its argument names the machine or its file.
pub(crate) const SIMULATED: &str = "sim";

/// Returns the machine that the fabric of this name simulates, or `None` for a real fabric.
pub(crate) fn simulated_machine(fabric: &str) -> Option<&str> {
    fabric.strip_prefix(SIMULATED)?.strip_prefix(':')
}

/// Prefix of the name of a machine file among the texts of a run's record.
const MACHINE: &str = "machine ";

/// Returns the text of the file of a simulated machine for a run's record, with its name there. `None` for a built-in
/// machine, and for a file that cannot be read.
pub(crate) fn text_of_machine(machine: &str) -> Option<(String, String)> {
    let text =
        machine.ends_with(".toml").then(|| definition_files::read_text(Path::new(machine)).ok())?;
    text.map(|text| (format!("{MACHINE}{machine}"), text))
}

/// Returns the machine that a run simulated: the file among the texts of its record, or else the built-in one. `None` for a
/// real fabric, or if the machine is unknown.
pub(crate) fn machine_of(header: &RunHeader) -> Option<Machine> {
    let name = simulated_machine(&header.fabric.name)?;
    let file = header.texts.iter().find_map(|(key, text)| Some((key.strip_prefix(MACHINE)?, text)));
    match file {
        Some((file, text)) => fabric_sim::machine::parse(file, text).ok(),
        None => fabric_sim::machine::find_built_in(name).ok(),
    }
}

/// Returns whether messages go through the library of an MPI.
pub(crate) fn is_mpi(fabric: &str) -> bool {
    fabric.split(':').next() == Some(MPI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_mpi_may_name_its_launcher() {
        assert!(["mpi", "mpi:mpich"].into_iter().all(is_mpi));
        assert!(!["local", "sim:mpi", "mpich"].into_iter().any(is_mpi));
    }

    #[test]
    fn only_a_simulated_fabric_names_a_machine() {
        assert_eq!(simulated_machine("sim:cluster"), Some("cluster"));
        assert_eq!(simulated_machine("sim:dir/a:b.toml"), Some("dir/a:b.toml"));
        for other in ["local", "mpi:mpich", "sim", "simulation", ""] {
            assert_eq!(simulated_machine(other), None, "{other}");
        }
    }
}
