//! A library in any program that is a rank of a run over TCP, such as an MPI library.
//!
//! The launcher of `fabric-shm` starts the program, with [`job`] as its job. The library joins the run as over shared
//! memory, and [`join_from_library`] then connects it with the others.

use contract::{Error, Result};

use fabric_shm::ShmEndpoint;

use crate::launched::Launched;
use crate::{Secret, TcpEndpoint, local};

/// The beginning of a job of a run over TCP, which the secret follows.
const MARK: &[u8] = b"cornerstone-tcp-1\n";

/// Returns the job that makes the ranks of a launch pass their messages over TCP. All ranks get the same.
pub fn job(secret: &Secret) -> Vec<u8> {
    [MARK, secret.as_bytes()].concat()
}

/// Joins the run over TCP, if its launcher has requested that with [`job`]. Otherwise returns the rank over shared
/// memory.
///
/// All ranks of the run must call it. It returns when they are connected with each other.
///
/// # Errors
/// The failure, which the launcher also learns of.
pub fn join_from_library(
    shared_memory: ShmEndpoint,
) -> Result<std::result::Result<TcpEndpoint, ShmEndpoint>> {
    match secret_in(shared_memory.job()) {
        None => Ok(Err(shared_memory)),
        Some(Ok(secret)) => {
            let rank = local::join_launched(Launched::new(shared_memory), &secret)?;
            Ok(Ok(rank.into_endpoint()))
        }
        Some(Err(error)) => {
            Launched::new(shared_memory).finish(Err(error.clone()));
            Err(error)
        }
    }
}

/// Returns the secret in a job, or `None` if the run is not one over TCP.
fn secret_in(job: &[u8]) -> Option<Result<Secret>> {
    let bytes = job.strip_prefix(MARK)?;
    let secret = bytes.try_into().map(Secret::from_bytes);
    Some(secret.map_err(|_| Error::System {
        what: "joining the run over TCP".into(),
        reason: format!("the launcher gave a secret of {} bytes", bytes.len()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_encodes_the_fabric_of_the_run_and_its_secret() {
        let secret = Secret::generate().unwrap();
        assert_eq!(secret_in(&job(&secret)), Some(Ok(secret.clone())));
        assert_eq!(secret_in(b""), None);
        assert_eq!(secret_in(b"cornerstone"), None);
        assert!(secret_in(&job(&secret)[..30]).unwrap().is_err());
    }
}
