//! What this program does when it is started as a rank of a run.

use std::process::ExitCode;

use benchmark::{Event, Job};
use contract::record::FabricDescription;
use contract::{Error, Rank, Result};
use serde::{Deserialize, Serialize};

/// What a rank says to the process that started it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Message {
    /// Rank 0 has joined a run on this fabric.
    Joined(FabricDescription),
    /// Rank 0 has got on with the job.
    Event(Event),
}

/// Executes the job if this process is a rank, and gives its exit status; none if it is not.
///
/// Must be called before anything else: it takes the launcher's words out of the environment.
pub(crate) fn serve() -> Option<ExitCode> {
    let status = match fabric_shm::attach_if_rank()? {
        Ok(mut rank) => {
            let outcome = execute(&mut rank);
            rank.finish(outcome)
        }
        Err(error) => {
            crate::progress::note(&format!("cornerstone: error: {error}"));
            1
        }
    };
    Some(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}

fn execute(rank: &mut fabric_shm::LocalRank) -> Result<()> {
    let job: Job = serde_json::from_slice(rank.job())
        .map_err(|error| Error::Program(format!("the job is not to be understood: {error}")))?;
    let reporter = rank.reporter();
    let say = |message: &Message| {
        reporter.report(&serde_json::to_vec(message).expect("messages are plain data"))
    };
    if rank.rank() == 0 {
        say(&Message::Joined(rank.describe()))?;
    }
    benchmark::execute(rank, &job, &mut |event| say(&Message::Event(event)))
}
