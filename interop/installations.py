"""The other installed MPI libraries: the folders that CORNERSTONE_MPI_ROOTS names, separated by colons."""

import os
import pathlib
import subprocess

VARIABLE = "CORNERSTONE_MPI_ROOTS"


class Installation:
    """A folder with `bin/mpiexec` and the libraries that belong to it."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.mpiexec = self.root / "bin" / "mpiexec"
        said = subprocess.run([self.mpiexec, "--version"], stdout=subprocess.PIPE, text=True).stdout
        if "Open MPI" in said or "OpenRTE" in said:
            self.name = "Open MPI"
            self.environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        else:
            self.name = "Intel MPI" if "Intel" in said else "MPICH"
            self.environment = {"LD_LIBRARY_PATH": str(self.root / "lib"), "I_MPI_ROOT": str(self.root)}

    @property
    def standard_library(self):
        """The library of the standard ABI, or None. Programs that were built for our library load it unchanged."""
        library = self.root / "lib" / "libmpi_abi.so.1"
        return library if library.exists() else None

    @property
    def yielding(self):
        """The environment of ranks that share a processor. MPICH polls, and must yield early."""
        return {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"} if self.name == "MPICH" else {}


def installed(default=()):
    """Returns every installation that is named, or those in `default` if none is."""
    named = [root for root in os.environ.get(VARIABLE, "").split(":") if root]
    return [Installation(root) for root in named or default]


def of_the_standard_abi(default=()):
    """Returns the installations that can run a program built for our library, and prints the others as skipped."""
    for one in installed(default):
        if one.standard_library:
            yield one
        else:
            print(f"skipped: {one.root}, because it has no library of the standard ABI")
