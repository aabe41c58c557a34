//! A rank on any host, which connects to the process that started the run.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use contract::{Error, Result};

use crate::control::{Control, Inbox, Message, Received, send};
use crate::handshake::{Acceptor, Caller, Purpose, connect};
use crate::interface;
use crate::link::Link;
use crate::local::{begin, single};
use crate::mesh::{Connected, connect_all};
use crate::process::TcpProcess;
use crate::reconnect::{Reconnector, add};
use crate::secret::Secret;
use crate::supervision::Supervision;
use crate::transport::{Connections, Stream};

/// Joins the run that the process at `starter` has started, as its rank `rank`. Also returns the job. The rank listens
/// only at the addresses or interfaces that the starter names, or at the one by which it reaches the starter. It does
/// so until it is connected with all others, or for the whole run if connections are made again.
///
/// # Errors
/// The failure.
pub fn join(starter: SocketAddr, rank: usize, secret: &Secret) -> Result<(TcpProcess, Vec<u8>)> {
    let failed = |reason: String| Error::System {
        what: format!("joining the run at {starter} as rank {rank}"),
        reason,
    };
    let caller = Caller { purpose: Purpose::Control, rank, wanted: rank };
    let stream = connect(starter, caller, secret).map_err(|error| failed(error.to_string()))?;
    let broken = |error: std::io::Error| failed(error.to_string());
    let mut inbox = Inbox::default();
    let (mut listening, mut limit) = (None, Duration::ZERO);
    let (mut addresses, mut job) = (None, None);
    while job.is_none() {
        match inbox.receive(&stream) {
            Received::Message(Message::Listen { addresses, limit_ms }) => {
                limit = Duration::from_millis(limit_ms.into());
                let acceptor = listen(&stream, &addresses, secret).map_err(|error| {
                    give_up(&stream, format!("listening for other ranks at '{addresses}': {error}"))
                })?;
                let own = join_words(&acceptor.addresses().map_err(broken)?);
                send(&stream, &Message::Listening(own)).map_err(broken)?;
                listening = Some(acceptor);
            }
            Received::Message(Message::Addresses(list)) => addresses = parse(&list),
            Received::Message(Message::Job(bytes)) => job = Some(bytes),
            Received::Message(Message::GiveUp { why, .. }) => return Err(Error::Aborted { why }),
            Received::Message(_) | Received::Nothing => {}
            Received::Closed => {
                return Err(failed("the process that started the run has gone".into()));
            }
        }
    }
    let (Some(addresses), Some(acceptor)) = (addresses.filter(|list| rank < list.len()), listening)
    else {
        return Err(failed("its list of addresses makes no sense".into()));
    };
    let supervision = Supervision::Remote(Control::new(stream, inbox).map_err(broken)?);
    let met = Met { rank, addresses, acceptor, secret: secret.clone(), limit };
    met.connect(supervision).map(|tcp| (tcp, job.unwrap_or_default()))
}

/// Lets the starter end the run, for a reason that it reports once, whichever ranks share it.
fn give_up(starter: &TcpStream, why: String) -> Error {
    // If the starter is gone, nobody needs the reason.
    let _ = send(starter, &Message::Failed { by_another: false, why: why.clone() });
    Error::Aborted { why }
}

/// A rank that knows the addresses of all.
struct Met {
    rank: usize,
    addresses: Vec<Vec<SocketAddr>>,
    acceptor: Acceptor,
    secret: Secret,
    limit: Duration,
}

impl Met {
    fn connect(mut self, mut supervision: Supervision) -> Result<TcpProcess> {
        let (rank, own) = (self.rank, self.addresses[self.rank][0].ip());
        let acceptor = &mut self.acceptor;
        let connected =
            connect_all(rank, &self.addresses, acceptor, &self.secret, &mut supervision);
        let connected = connected.and_then(|connected| {
            if self.limit.is_zero() {
                Ok((single(connected)?, None))
            } else {
                self.links(connected)
            }
        });
        match connected {
            Ok((streams, reconnector)) => {
                begin(Connections::begin(rank, streams, supervision, reconnector), own)
            }
            Err(error) => {
                supervision.finish(Err(error.clone()));
                Err(error)
            }
        }
    }

    /// Returns links to the ranks of other hosts, and their reconnector. Connections between ranks of one host do not
    /// break.
    fn links(
        self,
        connected: Vec<Connected>,
    ) -> Result<(Vec<Option<Stream>>, Option<Reconnector>)> {
        let now = Instant::now();
        let own = self.addresses[self.rank][0].ip();
        let is_here: Vec<bool> = self.addresses.iter().map(|there| there[0].ip() == own).collect();
        let reconnector = Reconnector::new(self.rank, self.addresses, self.secret, self.acceptor);
        let mut streams = Vec::new();
        for (peer, connected) in connected.into_iter().enumerate() {
            if is_here[peer] {
                streams.append(&mut single(vec![connected])?);
                continue;
            }
            let mut link = Link::new(reconnector.paths(peer), self.limit, now);
            connected.into_iter().for_each(|(path, one)| add(&mut link, path, one, now));
            streams.push(Some(Stream::Several(Box::new(link))));
        }
        Ok((streams, Some(reconnector)))
    }
}

/// Listens at these addresses and interfaces, or at the local address of the connection to the starter.
fn listen(stream: &TcpStream, addresses: &str, secret: &Secret) -> std::io::Result<Acceptor> {
    let mut wanted = interface::addresses_here(addresses).map_err(std::io::Error::other)?;
    if wanted.is_empty() {
        wanted.push(stream.local_addr()?.ip());
    }
    let wanted: Vec<SocketAddr> = wanted.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
    Acceptor::listen_at(&wanted, secret.clone())
}

fn join_words(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(" ")
}

/// Binds this process to the processor in the last argument of its command line: the n-th of those that it may use, `-`
/// for any. `dealt` has these processors in another order, or is empty. Must be called before threads are started.
///
/// # Errors
/// The error of the system, or that the argument is not a number.
pub fn bind(argument: &str, dealt: &[usize]) -> Result<()> {
    let failed =
        |reason| Error::System { what: format!("keeping a rank on processor {argument}"), reason };
    if argument == "-" {
        return Ok(());
    }
    let place: usize = argument.parse().map_err(|_| failed("that is no number".into()))?;
    let bound = hosts::Processors::of_this_process().bind_to(in_order(place, dealt));
    bound.map_err(|error| failed(error.to_string()))
}

/// The place in ascending order of what has this place in the dealt order, counted cyclically.
fn in_order(place: usize, dealt: &[usize]) -> usize {
    let Some(processor) = place.checked_rem(dealt.len()).map(|place| dealt[place]) else {
        return place;
    };
    dealt.iter().filter(|&&other| other < processor).count()
}

/// Reads the addresses of each rank, one line each.
fn parse(list: &str) -> Option<Vec<Vec<SocketAddr>>> {
    let words = |line: &str| line.split(' ').map(|word| word.parse().ok()).collect();
    list.lines().map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dealt_place_is_that_of_its_processor_among_all() {
        // Processors 1, 4, 6 and 7 in another order: the third of them is 1, the lowest, and so is the seventh.
        let dealt = [6, 7, 1, 4];
        assert_eq!([0, 1, 2, 3, 6].map(|place| in_order(place, &dealt)), [2, 3, 0, 1, 0]);
        assert_eq!(in_order(5, &[]), 5);
    }
}
