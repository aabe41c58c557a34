//! MPI_Comm_spawn: runs that a program starts.
//!
//! A new run has a launcher of its own, `cornerstone`. The launcher of this run becomes its parent as soon as the
//! process that has started it exits. The new ranks call a port of the root at their beginning.

mod launcher;
mod program;

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int};

use launcher::Launcher;
use program::Program;

use super::root_of;
use crate::abi::*;
use crate::communicator::{get_object, register};
use crate::failure::{Error, Result, ensure, error_of};
use crate::process::running;

/// The state of a new run at the root.
#[derive(Default)]
struct Start {
    launcher: RefCell<Option<Launcher>>,
    port: Cell<Option<mpi::Port>>,
    /// Requested and actual number of ranks of each program.
    ranks: RefCell<Vec<(usize, usize)>>,
}

impl Start {
    /// Starts the programs, which will call the returned port.
    fn begin(&self, programs: Vec<Program>) -> Result<mpi::Port> {
        *self.ranks.borrow_mut() = programs.iter().map(|one| (one.wanted, one.ranks)).collect();
        let universe = running()?;
        let port = universe.open_port()?;
        self.port.set(Some(port));
        let fabric = universe.engine().endpoint()?.name();
        *self.launcher.borrow_mut() = Some(Launcher::start(fabric, &port, &programs)?);
        Ok(port)
    }

    /// Fails once the launcher has ended, or has reported why it cannot start the programs.
    fn check(&self) -> Result {
        self.launcher.borrow_mut().as_mut().map_or(Ok(()), Launcher::check)
    }

    /// Ends the wait at the port.
    fn end(&self, has_started: bool) -> Result {
        if let Some(launcher) = self.launcher.take().filter(|_| has_started) {
            launcher.let_go();
        }
        match self.port.take() {
            Some(port) => running()?.close_port(&port),
            None => Ok(()),
        }
    }

    /// Returns the codes of all requested ranks, at the root.
    fn codes(&self) -> Vec<c_int> {
        let code = |is_there: bool| if is_there { SUCCESS } else { ERR_SPAWN };
        let of_program =
            |&(wanted, ranks): &(usize, usize)| (0..wanted).map(move |rank| code(rank < ranks));
        self.ranks.borrow().iter().flat_map(of_program).collect()
    }
}

/// Starts the programs of all ranks, and creates a communicator of the members of `comm` with them. At the root,
/// `wanted` returns the number of requested ranks.
unsafe fn start(
    root: c_int,
    comm: Comm,
    wanted: impl FnOnce() -> usize,
    programs: impl FnOnce() -> Result<Vec<Program>>,
    new: *mut Comm,
    codes: *mut c_int,
) -> Result {
    let old = get_object(comm)?;
    // Every rank finds out by itself whether its fabric reaches other runs, so that all give the reason.
    let engine = running()?.engine().clone();
    let reached = engine.other_runs(&mut *engine.endpoint()?).and_then(|runs| runs.own_name());
    reached.map_err(|why| not_started(why.to_string()))?;
    let start = Start::default();
    let begin = || start.begin(programs()?);
    let goes_on = || start.check();
    let made = running()?.accept(&old.communicator, root_of(root)?, begin, &goes_on);
    start.end(made.is_ok())?;
    let is_root = old.communicator.rank() == root as usize;
    if !codes.is_null() {
        let size = |one: &crate::communicator::Communicator| {
            vec![SUCCESS; one.remote_group().map_or(0, mpi::Group::size)]
        };
        let outcomes = match &made {
            Err(_) if is_root => vec![ERR_SPAWN; wanted()],
            Ok(_) if is_root => start.codes(),
            Ok(made) => size(made),
            Err(_) => Vec::new(),
        };
        std::ptr::copy_nonoverlapping(outcomes.as_ptr(), codes, outcomes.len());
    }
    *new = COMM_NULL;
    let failed = |error: Error| match is_root {
        true => error,
        false => {
            error.with_class(crate::failure::class_of(ERR_SPAWN), "the root started no programs")
        }
    };
    *new = register(Some(made.map_err(failed)?), &old);
    Ok(())
}

/// Implements MPI_Comm_spawn.
#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn spawn(
    command: *const c_char,
    argv: *mut *mut c_char,
    ranks: c_int,
    info: Info,
    root: c_int,
    comm: Comm,
    new: *mut Comm,
    codes: *mut c_int,
) -> Result {
    let programs = || Ok(vec![Program::read(command, argv, ranks, info)?]);
    let wanted = || usize::try_from(ranks).unwrap_or(0);
    start(root, comm, wanted, programs, new, codes)
}

/// Implements MPI_Comm_spawn_multiple.
#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn spawn_multiple(
    count: c_int,
    commands: *mut *mut c_char,
    argvs: *mut *mut *mut c_char,
    ranks: *const c_int,
    infos: *const Info,
    root: c_int,
    comm: Comm,
    new: *mut Comm,
    codes: *mut c_int,
) -> Result {
    let programs = || {
        ensure!(count > 0, ERR_COUNT, "{count} programs");
        let given = !commands.is_null() && !ranks.is_null() && !infos.is_null();
        ensure!(given, ERR_ARG, "no commands, no numbers of ranks, or no info");
        let read = |index: usize| {
            let argv = if argvs.is_null() { std::ptr::null_mut() } else { *argvs.add(index) };
            Program::read(*commands.add(index), argv, *ranks.add(index), *infos.add(index))
        };
        (0..count as usize).map(read).collect()
    };
    let wanted = || {
        let number = if ranks.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
        (0..number).map(|index| usize::try_from(*ranks.add(index)).unwrap_or(0)).sum()
    };
    start(root, comm, wanted, programs, new, codes)
}

fn not_started(why: impl Into<String>) -> Error {
    error_of(ERR_SPAWN, why)
}
