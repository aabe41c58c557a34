//! A library in any program that is a rank of a run over TCP, such as an MPI library.
//!
//! The launcher starts the program, with [`job`] as its job. The library takes its seat, and [`join_from_library`]
//! connects it with the others.

use contract::{Error, Result};
use launcher::Seat;

use crate::{Secret, TcpEndpoint, local};

/// The beginning of a job of a run over TCP, which the secret follows.
const MARK: &[u8] = b"cornerstone-tcp-1\n";

/// Returns the job that makes the ranks of a launch pass their messages over TCP. All ranks get the same.
pub fn job(secret: &Secret) -> Vec<u8> {
    [MARK, secret.as_bytes()].concat()
}

/// Joins the run over TCP, if its launcher has requested that with [`job`]. Otherwise returns the seat.
///
/// All ranks of the run must call it. It returns when they are connected with each other.
///
/// # Errors
/// The failure, which the launcher also learns of.
pub fn join_from_library(seat: Seat) -> Result<std::result::Result<TcpEndpoint, Seat>> {
    match secret_in(seat.job()) {
        None => Ok(Err(seat)),
        Some(Ok(secret)) => Ok(Ok(local::join(seat, &secret)?.into_endpoint())),
        Some(Err(error)) => Err(seat.give_up(error)),
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
