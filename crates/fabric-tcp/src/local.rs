//! Ranks on this host alone, which the launcher of `fabric-shm` starts and watches over.

use std::net::{Ipv4Addr, SocketAddr};

use contract::{Error, Rank, Result};
use fabric_shm::ShmProcess;

use crate::engine::Engine;
use crate::handshake::Acceptor;
use crate::mesh::connect_all;
use crate::rank::TcpRank;
use crate::secret::Secret;
use crate::supervision::Supervision;

/// Makes a rank that the launcher has started one whose messages go over TCP on the loopback interface. All ranks of the run
/// call it alike, with the secret that they got with their job.
///
/// The shared memory that the launcher made serves to exchange the ranks' ports, and later to notice a rank that dies and say
/// how; no message of the program goes through it.
///
/// # Errors
/// What failed on the way; the launcher knows of it then.
pub fn join(mut local: ShmProcess, secret: &Secret) -> Result<TcpRank> {
    match meet(&mut local, secret) {
        Ok((acceptor, addresses)) => {
            let own = addresses[local.world().rank()];
            let rank = local.world().rank();
            let mut supervision = Supervision::Local(Box::new(local));
            match connect_all(rank, &addresses, acceptor, secret, &mut supervision) {
                Ok(streams) => begin(rank, streams, supervision, own),
                Err(error) => {
                    supervision.finish(Err(error.clone()));
                    Err(error)
                }
            }
        }
        Err(error) => {
            local.finish(Err(error.clone()));
            Err(error)
        }
    }
}

/// Listens, and learns where the others do.
fn meet(local: &mut ShmProcess, secret: &Secret) -> Result<(Acceptor, Vec<SocketAddr>)> {
    let failed = |error: std::io::Error| Error::System {
        what: "listening on the loopback interface".into(),
        reason: error.to_string(),
    };
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let acceptor = Acceptor::listen(any, secret.clone()).map_err(failed)?;
    let port = acceptor.address().map_err(failed)?.port();
    let mut ports = vec![0; 2 * local.world().size()];
    local.world().allgather(&port.to_le_bytes(), &mut ports)?;
    let address =
        |port: &[u8; 2]| SocketAddr::from((Ipv4Addr::LOCALHOST, u16::from_le_bytes(*port)));
    Ok((acceptor, ports.as_chunks::<2>().0.iter().map(address).collect()))
}

/// The rank over connections that are there.
pub(crate) fn begin(
    rank: usize,
    streams: Vec<Option<std::net::TcpStream>>,
    supervision: Supervision,
    own: SocketAddr,
) -> Result<TcpRank> {
    let engine = Engine::new(rank, streams, supervision).map_err(|error| Error::System {
        what: "preparing the connections".into(),
        reason: error.to_string(),
    })?;
    TcpRank::settle(engine, own.ip().to_string())
}
