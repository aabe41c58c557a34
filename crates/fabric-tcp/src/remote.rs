//! A rank on any host, which connects to the process that started the run.

use std::net::SocketAddr;

use contract::{Error, Rank, Result};

use crate::TcpEndpoint;
use crate::control::{Control, Inbox, Message, Received, send};
use crate::handshake::{Acceptor, Caller, Purpose, connect};
use crate::local::begin;
use crate::mesh::connect_all;
use crate::process::TcpProcess;
use crate::secret::Secret;
use crate::supervision::Supervision;

/// Joins the run that the process at `starter` has started, as its rank `rank`, and returns the job with it. The rank
/// listens at the address by which it reaches the starter, and nowhere else, until it is connected with all others.
///
/// # Errors
/// What failed on the way.
pub fn join(starter: SocketAddr, rank: usize, secret: &Secret) -> Result<(TcpProcess, Vec<u8>)> {
    let failed = |reason: String| Error::System {
        what: format!("joining the run at {starter} as rank {rank}"),
        reason,
    };
    let caller = Caller { purpose: Purpose::Control, rank, wanted: rank };
    let stream = connect(starter, caller, secret).map_err(|error| failed(error.to_string()))?;
    let listening = |error: std::io::Error| failed(format!("listening for other ranks: {error}"));
    let own = stream.local_addr().map_err(listening)?.ip();
    let acceptor = Acceptor::listen(SocketAddr::new(own, 0), secret.clone()).map_err(listening)?;
    let own = acceptor.address().map_err(listening)?;
    let broken = |error: std::io::Error| failed(error.to_string());
    send(&stream, &Message::Listening(own.to_string())).map_err(broken)?;
    let mut inbox = Inbox::default();
    let (mut addresses, mut job) = (None, None);
    while job.is_none() {
        match inbox.receive(&stream) {
            Received::Message(Message::Addresses(list)) => addresses = parse(&list),
            Received::Message(Message::Job(bytes)) => job = Some(bytes),
            Received::Message(Message::GiveUp { why, .. }) => return Err(Error::Aborted { why }),
            Received::Message(_) | Received::Nothing => {}
            Received::Closed => {
                return Err(failed("the process that started the run has gone".into()));
            }
        }
    }
    let addresses = addresses.filter(|list| rank < list.len());
    let addresses =
        addresses.ok_or_else(|| failed("its list of addresses makes no sense".into()))?;
    let mut supervision = Supervision::Remote(Control::new(stream, inbox).map_err(broken)?);
    let joined = match connect_all(rank, &addresses, acceptor, secret, &mut supervision) {
        Ok(streams) => begin(rank, streams, supervision, own),
        Err(error) => {
            supervision.finish(Err(error.clone()));
            Err(error)
        }
    };
    joined.map(|tcp| (tcp, job.unwrap_or_default()))
}

/// The same for another fabric, which tells the others `word`: the endpoint, the job and the words of all ranks, which
/// are of one length.
///
/// # Errors
/// As of [`join`].
pub fn join_and_tell(
    starter: SocketAddr,
    rank: usize,
    secret: &Secret,
    word: &[u8],
) -> Result<(TcpEndpoint, Vec<u8>, Vec<u8>)> {
    let (mut process, job) = join(starter, rank, secret)?;
    let mut world = process.world();
    let mut words = vec![0; word.len() * world.size()];
    match world.allgather(word, &mut words) {
        Ok(()) => Ok((process.into_endpoint(), job, words)),
        Err(error) => {
            process.finish(Err(error.clone()));
            Err(error)
        }
    }
}

/// Binds this process to the processor that the last argument of its command line names: the n-th of those that it
/// may use, `-` for any. It must be called before threads are started.
///
/// # Errors
/// The system's, or that the argument is no number.
pub fn bind(argument: &str) -> Result<()> {
    let failed =
        |reason| Error::System { what: format!("keeping a rank on processor {argument}"), reason };
    if argument == "-" {
        return Ok(());
    }
    let place: usize = argument.parse().map_err(|_| failed("that is no number".into()))?;
    let bound = hosts::Processors::of_this_process().bind_to(place);
    bound.map_err(|error| failed(error.to_string()))
}

fn parse(list: &str) -> Option<Vec<SocketAddr>> {
    list.lines().map(|line| line.parse().ok()).collect()
}
