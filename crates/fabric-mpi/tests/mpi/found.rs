//! MPIs of this machine.

use std::path::{Path, PathBuf};

use fabric_mpi::{Flavour, Launcher};

/// Returns the launcher of an MPI, if it is installed in one of the searched places.
pub(crate) fn launcher(flavour: Flavour) -> Option<Launcher> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os("CORNERSTONE_MPI_ROOTS").unwrap_or_default();
    let roots = std::env::split_paths(&named)
        .chain([repository.join(".venv"), repository.join(".venv").join(flavour.name())]);
    let inside =
        roots.filter_map(|root| Launcher::find(flavour, Some(&library(&root, flavour)?)).ok());
    let mut all = inside.chain(Launcher::find(flavour, None));
    all.find(|launcher| launcher.library.is_some())
}

fn library(root: &Path, flavour: Flavour) -> Option<PathBuf> {
    let file = match flavour {
        Flavour::OpenMpi => "libmpi.so.40",
        Flavour::Mpich | Flavour::Intel | Flavour::Cornerstone => "libmpi_abi.so.1",
    };
    Some(root.join("lib").join(file)).filter(|path| path.is_file())
}
