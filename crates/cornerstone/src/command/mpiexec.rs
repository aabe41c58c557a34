//! `mpiexec`: `launch` with the usual options of mpiexec.

use std::process::ExitCode;

use super::launch;
use crate::arguments::{Mpiexec, MpiexecArguments, VERSION};
use crate::failure::Failure;
use crate::output::print;
use crate::progress::note;

/// Starts the programs on the command line, or prints the help or the version.
pub(super) fn execute(arguments: MpiexecArguments) -> Result<ExitCode, Failure> {
    match arguments.read()? {
        Mpiexec::Launch(mut programs, notes) => {
            notes.iter().for_each(|line| note(&format!("cornerstone: note: {line}")));
            let others = programs.split_off(1);
            launch::execute(programs.remove(0), &others)
        }
        Mpiexec::Help => {
            print(&format!("{}\n", MpiexecArguments::help())).map(|()| ExitCode::SUCCESS)
        }
        Mpiexec::Version => {
            print(&format!("mpiexec (Cornerstone) {VERSION}\n")).map(|()| ExitCode::SUCCESS)
        }
    }
}
