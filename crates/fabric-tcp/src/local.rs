//! Ranks on this host only, which the launcher starts and supervises.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use contract::{Error, Result};
use launcher::Seat;

use crate::endpoint::meet;
use crate::handshake::Acceptor;
use crate::mesh::{Connected, connect_all};
use crate::process::TcpProcess;
use crate::secret::Secret;
use crate::supervision::Supervision;
use crate::transport::{Connections, Engine, Stream};

/// Makes a rank that the launcher has started pass its messages over TCP on the loopback interface. All ranks of the
/// run must call it, with the secret from their job.
///
/// The seats serve to exchange the ranks' ports, and later to detect and describe the death of a rank.
///
/// # Errors
/// The failure, which the launcher also learns of.
pub fn join(seat: Seat, secret: &Secret) -> Result<TcpProcess> {
    let rank = seat.rank();
    let met = listen_and_exchange(&seat, secret);
    let mut supervision = Supervision::Local(Box::new(seat));
    let connected = met.and_then(|(mut acceptor, addresses)| {
        connect_all(rank, &addresses, &mut acceptor, secret, &mut supervision)
    });
    match connected.and_then(single) {
        Ok(streams) => {
            let engine = Connections::begin(rank, streams, supervision, None);
            begin(engine, Ipv4Addr::LOCALHOST.into())
        }
        Err(error) => {
            supervision.finish(Err(error.clone()));
            Err(error)
        }
    }
}

/// Listens, and learns the addresses of the others.
fn listen_and_exchange(seat: &Seat, secret: &Secret) -> Result<(Acceptor, Vec<Vec<SocketAddr>>)> {
    let failed = |error: std::io::Error| Error::System {
        what: "listening on the loopback interface".into(),
        reason: error.to_string(),
    };
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let acceptor = Acceptor::listen(any, secret.clone()).map_err(failed)?;
    let port = acceptor.address().map_err(failed)?.port();
    let ports = seat.exchange(port.into())?;
    let address = |port: u64| vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port as u16))];
    Ok((acceptor, ports.into_iter().map(address).collect()))
}

/// Returns one connection to each other rank, if none is made again.
pub(crate) fn single(connected: Vec<Connected>) -> Result<Vec<Option<Stream>>> {
    let only = |streams: Connected| streams.into_iter().next().map(|(_, one)| Stream::one(one));
    let prepared: std::io::Result<Vec<_>> =
        connected.into_iter().map(|streams| only(streams).transpose()).collect();
    prepared.map_err(|error| Error::System {
        what: "preparing the connections".into(),
        reason: error.to_string(),
    })
}

/// Creates the rank over an engine with its connections.
pub(crate) fn begin(engine: Engine, own: IpAddr) -> Result<TcpProcess> {
    meet(engine, own.to_string()).map(TcpProcess::new)
}
