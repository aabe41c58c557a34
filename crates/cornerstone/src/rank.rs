//! What this program does when it is started as a rank of a run.

use std::process::ExitCode;

use benchmark::{Event, Job};
use contract::record::FabricDescription;
use contract::{Error, Rank, Result};
use fabric_shm::ShmProcess;
use serde::{Deserialize, Serialize};

use crate::fabric::tcp;

/// What a rank says to the process that started it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Message {
    /// Rank 0 has joined a run on this fabric.
    Joined(FabricDescription),
    /// Rank 0 has got on with the job.
    Event(Event),
}

/// What a rank that this program has started is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The secret of a run over TCP; none where messages go through shared memory.
    pub(crate) secret: Option<String>,
    pub(crate) job: Job,
}

impl Order {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an order is plain data")
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes)
            .map_err(|error| Error::Program(format!("the job is not to be understood: {error}")))
    }
}

/// Executes the job if this process is a rank, and gives its exit status; none if it is not.
///
/// Must be called before anything else: it takes the launcher's words out of the environment.
pub(crate) fn serve() -> Option<ExitCode> {
    let status = match fabric_shm::attach_if_rank()? {
        Ok(local) => match Order::from_bytes(local.job()) {
            Ok(order) => serve_order(local, &order),
            Err(error) => local.finish(Err(error)),
        },
        Err(error) => {
            crate::progress::note(&format!("cornerstone: error: {error}"));
            1
        }
    };
    Some(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}

fn serve_order(mut local: ShmProcess, order: &Order) -> i32 {
    if let Some(secret) = &order.secret {
        return tcp::serve_here(local, order, secret);
    }
    let reporter = local.reporter();
    let outcome = execute(&mut local.world(), &order.job, &|bytes| reporter.report(bytes));
    local.finish(outcome)
}

/// Executes a job as `rank`, and hands on by `report` what is to be said.
pub(crate) fn execute(
    rank: &mut dyn Rank,
    job: &Job,
    report: &dyn Fn(&[u8]) -> Result<()>,
) -> Result<()> {
    let say =
        |message: &Message| report(&serde_json::to_vec(message).expect("messages are plain data"));
    if rank.rank() == 0 {
        say(&Message::Joined(rank.describe()))?;
    }
    benchmark::execute(rank, job, &mut |event| say(&Message::Event(event)))
}
