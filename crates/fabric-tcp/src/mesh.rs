//! The connections of every rank with every other.

use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use contract::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::handshake::{Acceptor, Caller, ConnectError, MEET_LIMIT, Purpose, connect};
use crate::reconnect::path_here;
use crate::secret::Secret;
use crate::supervision::Supervision;

const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The connections to a rank, each with the index of its address. There is one, unless a rank with several addresses is
/// ahead of this one and has already made more.
pub(crate) type Connected = Vec<(usize, TcpStream)>;

/// Connects this rank with all others. Rank `r` listens at any of `addresses[r]`. A rank connects to those below it and
/// accepts those above it. No circle of waiting ranks can form: rank 0 connects to nobody, and each rank has finished
/// connecting once those below it have.
pub(crate) fn connect_all(
    rank: usize,
    addresses: &[Vec<SocketAddr>],
    acceptor: &mut Acceptor,
    secret: &Secret,
    supervision: &mut Supervision,
) -> Result<Vec<Connected>> {
    let mut streams: Vec<Connected> = addresses.iter().map(|_| Vec::new()).collect();
    for wanted in 0..rank {
        let caller = Caller { purpose: Purpose::Messages, rank, wanted };
        let connected = connect_to_any(&addresses[wanted], caller, secret).map_err(|error| {
            supervision.wait_for_cause().unwrap_or_else(|| failed(rank, wanted, error.to_string()))
        })?;
        streams[wanted].push(connected);
    }
    let until = Instant::now() + MEET_LIMIT;
    while let Some(missing) = (rank + 1..addresses.len()).find(|&other| streams[other].is_empty()) {
        let mut entries: Vec<PollFd<'_>> =
            acceptor.descriptors().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        // An error only shortens the wait.
        let _ = poll(&mut entries, Some(&POLL_INTERVAL));
        drop(entries);
        let verified = acceptor.step().map_err(|error| failed(missing, rank, error.to_string()))?;
        for (caller, stream) in verified {
            let fits = caller.purpose == Purpose::Messages && caller.wanted == rank;
            match streams.get_mut(caller.rank) {
                Some(place) if fits && caller.rank != rank => {
                    place.push((path_here(&addresses[rank], &stream), stream));
                }
                _ => return Err(failed(caller.rank, rank, "it called the wrong rank".into())),
            }
        }
        if let Some(error) = supervision.abort_reason() {
            return Err(error);
        }
        if Instant::now() > until {
            return Err(failed(missing, rank, format!("it did not call within {MEET_LIMIT:?}")));
        }
    }
    Ok(streams)
}

/// Connects to the first reachable address of a rank.
fn connect_to_any(
    addresses: &[SocketAddr],
    caller: Caller,
    secret: &Secret,
) -> std::result::Result<(usize, TcpStream), ConnectError> {
    let mut path = 0;
    loop {
        match connect(addresses[path], caller, secret) {
            Ok(stream) => return Ok((path, stream)),
            Err(ConnectError::Unreachable { .. }) if path + 1 < addresses.len() => path += 1,
            Err(error) => return Err(error),
        }
    }
}

fn failed(from: usize, to: usize, reason: String) -> Error {
    Error::System { what: format!("connecting rank {from} to rank {to}"), reason }
}
