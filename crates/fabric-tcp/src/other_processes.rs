//! Processes of other runs on this host, and those of this run among them. Each pair has a connection, which is made
//! when both first have a common context.
//!
//! Every process listens at an address of its own, with a secret of its own, from the first time that it may be called.
//! Address and secret are its name, which it sends only to processes with a connection, or which were given one of its
//! ports. Of two processes the one with the greater name calls the other, so that there is one connection.
//!
//! A context has another number at each of its members, which they exchange when they create it. A message carries the
//! number that its receiver knows, so nobody must agree on numbers.

mod contexts;
mod processes;

use std::net::{Ipv4Addr, SocketAddr};

use contract::{
    Claim, Completion, ContextOffer, ContextPlace, Destination, Envelope, Error, MEETING_CONTEXT,
    OpenedBetweenRuns, ProcessName, Readable, Request, Result, Selector, Writable,
};

use crate::handshake::{Acceptor, Call, Caller, ConnectError, Purpose};
use crate::secret::Secret;
use crate::supervision::Supervision;
use crate::transport::{Connections, Engine};
use contexts::Contexts;
use engine::Transport;
use processes::{Parts, Processes};

/// One process's end of all connections with processes of any run.
pub struct OtherProcesses {
    engine: Engine,
    parts: Parts,
    acceptor: Acceptor,
    processes: Processes,
    contexts: Contexts,
    /// The open ports, and the number of the next.
    ports: Vec<u32>,
    next_port: u32,
    /// Questions about ports without an answer.
    questions: Vec<Question>,
}

/// A question whether a port of a process is open.
struct Question {
    name: ProcessName,
    port: u32,
    call: Call,
}

fn failed(what: &str) -> impl Fn(std::io::Error) -> Error + '_ {
    move |error| Error::System { what: what.into(), reason: error.to_string() }
}

fn not_reached(error: &ConnectError) -> Error {
    let what = "calling a process of another run".into();
    Error::System { what, reason: error.to_string() }
}

impl OtherProcesses {
    /// Creates those of rank `rank` of `ranks` ranks of a run, whose number no other run of this host has. From now on
    /// this process answers calls whenever it makes progress.
    ///
    /// # Errors
    /// [`Error::System`] if it cannot listen.
    pub fn begin(run: u64, rank: usize, ranks: usize) -> Result<Self> {
        let secret = Secret::generate().map_err(failed("making a secret"))?;
        let listening = failed("listening on the loopback interface");
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let acceptor = Acceptor::listen(any, secret.clone()).map_err(&listening)?;
        let port = acceptor.address().map_err(&listening)?.port();
        let parts = Parts { secret, run, rank: rank as u32, port };
        Ok(OtherProcesses {
            engine: Connections::begin(0, vec![None], Supervision::Nobody, None),
            processes: Processes::new(&parts, ranks),
            parts,
            acceptor,
            contexts: Contexts::default(),
            ports: Vec::new(),
            next_port: 0,
            questions: Vec::new(),
        })
    }

    /// Returns this process's name.
    pub fn name(&self) -> ProcessName {
        self.parts.name()
    }

    /// Returns the number of a process: its rank, if it is of this run.
    pub fn meet(&mut self, name: &ProcessName) -> usize {
        let index = self.processes.meet(name);
        self.processes.number(index)
    }

    /// Returns whether this process's name precedes that of another process that it has met.
    pub fn comes_before(&self, other: usize) -> bool {
        self.processes
            .with_number(other)
            .is_some_and(|index| self.name() < self.processes.name(index))
    }

    /// Returns whether this process is connected with all of `members`. If not, the connection is in progress.
    ///
    /// # Errors
    /// [`Error::System`] if one of them cannot be called.
    pub fn reach(&mut self, members: &[usize]) -> Result<bool> {
        let mut are_reached = true;
        for &member in members {
            let Some(index) = self.processes.with_number(member) else {
                return Err(Error::InvalidRank { rank: member, size: members.len() });
            };
            self.want(index)?;
            are_reached &= self.processes.peer(index).is_some();
        }
        if !are_reached {
            self.answer()?;
        }
        Ok(are_reached)
    }

    /// Calls a process that is not connected, if this process must make the call.
    fn want(&mut self, index: usize) -> Result<()> {
        let name = self.processes.name(index);
        if self.processes.peer(index).is_some()
            || self.processes.is_called(index)
            || self.name() < name
        {
            return Ok(());
        }
        let call = self.begin_call(&name, Purpose::Process, 0)?;
        self.processes.set_call(index, call);
        Ok(())
    }

    fn begin_call(&self, name: &ProcessName, purpose: Purpose, wanted: usize) -> Result<Call> {
        let Parts { secret, port, .. } = Parts::of(name);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let caller = Caller { purpose, rank: self.parts.rank as usize, wanted };
        let call = Call::begin(address, caller, &secret, &self.name().0);
        call.map_err(|error| not_reached(&error))
    }

    /// Opens a port.
    pub fn open_port(&mut self) -> u32 {
        self.next_port += 1;
        self.ports.push(self.next_port);
        self.next_port
    }

    /// Closes a port. Returns false if it is not open.
    pub fn close_port(&mut self, port: u32) -> bool {
        let place = self.ports.iter().position(|&open| open == port);
        place.map(|place| self.ports.swap_remove(place)).is_some()
    }

    /// Calls a port of a process. Returns the number of that process once it has answered that the port is open.
    ///
    /// # Errors
    /// [`Error::System`] if nobody answers there, or the port is not open.
    pub fn call(&mut self, name: &ProcessName, port: u32) -> Result<Option<usize>> {
        let is_own = *name == self.name();
        let requested = |one: &Question| one.name == *name && one.port == port;
        match self.questions.iter().position(requested) {
            None if is_own && self.ports.contains(&port) => Ok(Some(self.meet(name))),
            None => {
                let call = self.begin_call(name, Purpose::Port, port as usize)?;
                self.questions.push(Question { name: *name, port, call });
                Ok(None)
            }
            Some(index) => match self.questions[index].call.advance() {
                Ok(false) => Ok(None),
                answer => {
                    self.questions.swap_remove(index);
                    answer.map_err(|error| not_reached(&error))?;
                    Ok(Some(self.meet(name)))
                }
            },
        }
    }

    /// Returns this process's part of a new context.
    pub fn offer_context(&mut self) -> ContextOffer {
        self.contexts.offer()
    }

    /// Opens a context for `members`, with all of which this process is connected, and of which it is number `me`.
    ///
    /// # Errors
    /// [`Error::InvalidRank`] for a member without a connection.
    pub fn open_context(
        &mut self,
        members: &[usize],
        me: usize,
        offers: &[ContextOffer],
    ) -> Result<OpenedBetweenRuns> {
        let mut theirs = Vec::new();
        for (&member, offer) in members.iter().zip(offers) {
            let peer = self.processes.peer_with_number(member);
            let missing = Error::InvalidRank { rank: member, size: members.len() };
            theirs.push((member, peer.ok_or(missing)?, *offer));
        }
        let number = self.contexts.open(&theirs, offers[me]);
        Ok(OpenedBetweenRuns { number, place: ContextPlace(number) })
    }

    /// Closes a context. A process without another common context is not waited for at the end.
    pub fn close_context(&mut self, place: ContextPlace) {
        self.contexts.close(place.0);
    }

    /// Receives what has arrived and answers callers. Returns whether anything moved.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses.
    pub fn progress(&mut self) -> Result<bool> {
        let has_met = self.answer()?;
        let before = self.engine.transport().activity();
        self.engine.poll()?;
        Ok(self.engine.transport().activity() != before || has_met)
    }

    /// Answers callers, and advances calls in progress. Returns whether a connection was made.
    fn answer(&mut self) -> Result<bool> {
        let ports = &self.ports;
        let is_welcome = |caller: &Caller| {
            caller.purpose != Purpose::Port || ports.contains(&(caller.wanted as u32))
        };
        let verified = self.acceptor.step_where(is_welcome).map_err(failed("answering calls"))?;
        let mut has_met = false;
        for one in verified {
            let Some(name) = ProcessName::from_bytes(&one.description) else { continue };
            let index = self.processes.meet(&name);
            match one.caller.purpose {
                Purpose::Process if self.processes.peer(index).is_none() => {
                    self.connect(index, one.stream)?;
                    has_met = true;
                }
                // A process that has ended since then needs no answer.
                Purpose::Port => drop(self.want(index)),
                _ => {}
            }
        }
        for (index, outcome) in self.processes.step_calls() {
            let stream = outcome.map_err(|error| not_reached(&error))?;
            self.connect(index, stream)?;
            has_met = true;
        }
        Ok(has_met)
    }

    fn connect(&mut self, index: usize, stream: std::net::TcpStream) -> Result<()> {
        let peer =
            self.engine.transport_mut().add(stream).map_err(failed("preparing a connection"))?;
        self.processes.set_peer(index, peer);
        Ok(())
    }
}

/// Messages, as in [`Endpoint`](contract::Endpoint).
#[allow(missing_docs)]
impl OtherProcesses {
    fn outer(&self, envelope: Envelope) -> Envelope {
        let source = self.processes.number_of_peer(envelope.source as usize) as u32;
        Envelope { source, ..envelope }
    }

    fn inner(&self, selector: Selector) -> Selector {
        let peer = |number| self.processes.peer_with_number(number as usize);
        // Only connected processes have sent anything.
        let source = selector.source.map(|number| peer(number).map_or(u32::MAX, |one| one as u32));
        Selector { source, ..selector }
    }

    pub fn post_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        let Destination { rank, context, tag } = to;
        let destination = match context >> 1 {
            MEETING_CONTEXT => {
                self.processes.peer_with_number(rank).map(|peer| (peer, MEETING_CONTEXT))
            }
            number => self.contexts.destination(number, rank),
        };
        let (peer, number) = destination.ok_or(Error::InvalidRank { rank, size: 0 })?;
        let to = Destination { rank: peer, context: 2 * number + (context & 1), tag };
        self.engine.post_send(to, data, until)
    }

    pub fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        let selector = self.inner(selector);
        self.engine.post_receive(selector, room, false)
    }

    pub fn is_done(&self, request: Request) -> bool {
        self.engine.is_done(request)
    }

    pub fn envelope(&self, request: Request) -> Envelope {
        self.outer(self.engine.envelope(request))
    }

    pub fn end(&mut self, request: Request) -> Envelope {
        let envelope = self.engine.end(request);
        self.outer(envelope)
    }

    pub fn cancel_receive(&mut self, request: Request) -> bool {
        self.engine.cancel_receive(request)
    }

    pub fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        let found = self.engine.probe(&self.inner(selector), claim)?;
        Ok(found.map(|envelope| self.outer(envelope)))
    }

    pub fn any_has_left(&self) -> bool {
        self.engine.any_has_left()
    }

    pub fn cannot_complete(&self, request: Request) -> bool {
        self.engine.cannot_complete(request)
    }

    pub fn none_will_send(&self, selector: Selector) -> bool {
        let selector = self.inner(selector);
        selector.source != Some(u32::MAX) && self.engine.none_will_send(&selector)
    }

    pub fn give_up_on(&mut self, request: Request) -> Error {
        match self.engine.give_up_on(request) {
            Error::RankDied { rank, how } => {
                Error::RankDied { rank: self.processes.number_of_peer(rank), how }
            }
            Error::RankEnded { rank, before } => {
                Error::RankEnded { rank: self.processes.number_of_peer(rank), before }
            }
            other => other,
        }
    }

    /// Announces to all that this process starts no messages of its own any more.
    ///
    /// # Errors
    /// Errors of messages.
    pub fn leave(&mut self) -> Result<()> {
        self.engine.leave()
    }

    /// Returns whether anything that was sent may still be received.
    pub fn is_sending(&self) -> bool {
        self.engine.is_sending()
    }

    /// Announces to all that nothing follows.
    ///
    /// # Errors
    /// Errors of messages.
    pub fn say_goodbye(&mut self) -> Result<()> {
        let (messages, connections) = self.engine.parts_mut();
        connections.say_goodbye(messages)
    }

    /// Returns whether all processes with a common context have ended their part, so that this process may end.
    pub fn is_through(&self) -> bool {
        let mut peers = self.contexts.peers();
        let connections = self.engine.transport();
        peers.all(|peer| connections.has_ended(peer)) && !connections.has_outgoing()
    }

    /// Returns whether anybody may send something: whether there is a context, a port or a call in progress.
    pub fn is_used(&self) -> bool {
        !self.contexts.are_none() || !self.ports.is_empty() || self.processes.are_called()
    }
}

#[cfg(test)]
mod tests;
