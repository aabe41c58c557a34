//! `run`: plan, measure, keep, show.

mod checks;
mod request;
mod session;

use std::collections::BTreeSet;
use std::process::ExitCode;

use benchmark::{Launch, plan, select};
use contract::record::Key;

use crate::arguments::RunArguments;
use crate::fabric::mpi;
use crate::failure::Failure;
use crate::interruption::Interruption;

use request::Request;
use session::Session;

/// Measures what is asked for. Under an MPI's launcher every process comes here: the first one measures, the others are its
/// ranks.
pub(crate) fn execute(arguments: RunArguments) -> Result<ExitCode, Failure> {
    if !mpi::is_asked_for(&arguments) {
        return measure(arguments);
    }
    match mpi::join(&arguments)? {
        mpi::Part::Rank(status) => Ok(status),
        mpi::Part::First => mpi::leave(measure(arguments)),
    }
}

fn measure(arguments: RunArguments) -> Result<ExitCode, Failure> {
    let interruption = Interruption::watch();
    let request = Request::new(arguments)?;
    let launches = launches(&request)?;
    checks::ranks(&request, &launches)?;
    checks::memory(&launches)?;
    let mut session = Session::open(request, &launches)?;
    let ended = session.measure(&launches, &interruption);
    session.close(ended)
}

fn launches(request: &Request) -> Result<Vec<Launch>, Failure> {
    let selection = select(&request.names).map_err(|error| Failure::unknown_benchmark(&error))?;
    let earlier = request.earlier().into_iter().flat_map(|run| &run.measurements);
    let done: BTreeSet<Key> = earlier.map(|measurement| measurement.key()).collect();
    let processors =
        request.fabric.processors(request.environment.processors_available, request.hosts.as_ref());
    plan(&selection, request.ranks.as_deref(), processors, &request.settings, &done).map_err(
        |error| {
            Failure::usage(error.to_string())
                .hint("choose other numbers with --ranks, or leave the benchmark out")
        },
    )
}
