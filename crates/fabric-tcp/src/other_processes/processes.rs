//! The known processes, by name, number and connection.

use std::collections::HashMap;
use std::net::TcpStream;

use contract::{ProcessName, Untrusted};

use crate::handshake::{Call, ConnectError};
use crate::secret::Secret;

/// The parts of a name.
pub(super) struct Parts {
    pub(super) secret: Secret,
    pub(super) run: u64,
    /// Its rank in that run.
    pub(super) rank: u32,
    /// Port at which it listens on the loopback interface.
    pub(super) port: u16,
}

impl Parts {
    pub(super) fn name(&self) -> ProcessName {
        let mut bytes = [0; ProcessName::BYTES];
        bytes[..32].copy_from_slice(self.secret.as_bytes());
        bytes[32..40].copy_from_slice(&self.run.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.rank.to_le_bytes());
        bytes[44..].copy_from_slice(&self.port.to_le_bytes());
        ProcessName(bytes)
    }

    pub(super) fn of(name: &ProcessName) -> Self {
        let (secret, rest) = name.0.split_first_chunk().expect("a name holds a secret");
        let (run, rest) = rest.split_first_chunk().expect("a name holds a run");
        let (rank, rest) = rest.split_first_chunk().expect("a name holds a rank");
        let port = rest.first_chunk().expect("a name holds a port");
        Parts {
            secret: Secret::from_bytes(*secret),
            run: u64::from_le_bytes(*run),
            rank: u32::from_le_bytes(*rank),
            port: u16::from_le_bytes(*port),
        }
    }
}

/// All processes that this one knows, of which it is the first.
pub(super) struct Processes {
    run: u64,
    /// Number of ranks of that run.
    ranks: usize,
    all: Vec<Process>,
    by_name: HashMap<ProcessName, usize>,
    by_number: HashMap<usize, usize>,
    /// By the rank of the engine that represents its connection.
    by_peer: Vec<usize>,
    /// Number of the next process of another run.
    next_number: usize,
}

struct Process {
    name: ProcessName,
    number: usize,
    peer: Option<usize>,
    call: Option<Call>,
}

impl Processes {
    /// Creates a table of this process only, of a run of `ranks` ranks.
    pub(super) fn new(own: &Parts, ranks: usize) -> Self {
        let mut processes = Processes {
            run: own.run,
            ranks,
            all: Vec::new(),
            by_name: HashMap::new(),
            by_number: HashMap::new(),
            by_peer: Vec::new(),
            next_number: ranks,
        };
        let index = processes.meet(&own.name());
        processes.set_peer(index, 0);
        processes
    }

    /// Returns the index of a process, which is known from now on.
    pub(super) fn meet(&mut self, name: &ProcessName) -> usize {
        if let Some(&index) = self.by_name.get(name) {
            return index;
        }
        let parts = Parts::of(name);
        // A process of another run may name any run and any rank. It gets no number that another process has.
        let rank = Untrusted::new(parts.rank as usize).below(self.ranks);
        let own = rank.filter(|rank| parts.run == self.run && !self.by_number.contains_key(rank));
        let number = own.unwrap_or(self.next_number);
        self.next_number += usize::from(own.is_none());
        let index = self.all.len();
        self.all.push(Process { name: *name, number, peer: None, call: None });
        self.by_name.insert(*name, index);
        self.by_number.insert(number, index);
        index
    }

    pub(super) fn number(&self, index: usize) -> usize {
        self.all[index].number
    }

    pub(super) fn name(&self, index: usize) -> ProcessName {
        self.all[index].name
    }

    pub(super) fn with_number(&self, number: usize) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    pub(super) fn peer(&self, index: usize) -> Option<usize> {
        self.all[index].peer
    }

    pub(super) fn peer_with_number(&self, number: usize) -> Option<usize> {
        self.peer(self.with_number(number)?)
    }

    pub(super) fn number_of_peer(&self, peer: usize) -> usize {
        self.number(self.by_peer[peer])
    }

    /// Sets the rank of the engine that represents its connection.
    pub(super) fn set_peer(&mut self, index: usize, peer: usize) {
        debug_assert_eq!(peer, self.by_peer.len(), "connections come one after the other");
        self.all[index].peer = Some(peer);
        self.by_peer.push(index);
    }

    pub(super) fn is_called(&self, index: usize) -> bool {
        self.all[index].call.is_some()
    }

    pub(super) fn are_called(&self) -> bool {
        self.all.iter().any(|one| one.call.is_some())
    }

    pub(super) fn set_call(&mut self, index: usize, call: Call) {
        self.all[index].call = Some(call);
    }

    /// Advances all calls. Returns those that have ended.
    pub(super) fn step_calls(&mut self) -> Vec<(usize, Result<TcpStream, ConnectError>)> {
        let mut ended = Vec::new();
        for (index, one) in self.all.iter_mut().enumerate() {
            let Some(call) = &mut one.call else { continue };
            let outcome = call.advance();
            if outcome != Ok(false)
                && let Some(call) = one.call.take()
            {
                ended.push((index, outcome.map(|_| call.into_stream())));
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_address_and_process_and_ranks_of_the_own_run_keep_their_numbers() {
        let parts = |byte, run, rank| Parts {
            secret: Secret::from_bytes([byte; 32]),
            run,
            rank,
            port: 40_000 + u16::from(byte),
        };
        let found = Parts::of(&parts(7, 1 << 40, 3).name());
        assert_eq!((found.run, found.rank, found.port), (1 << 40, 3, 40_007));
        let mut processes = Processes::new(&parts(1, 5, 2), 4);
        // Of another run, of this one, of another run, and the first once more.
        let names = [parts(2, 6, 2), parts(3, 5, 0), parts(4, 6, 0), parts(2, 6, 2)];
        let indices = names.map(|one| processes.meet(&one.name()));
        assert_eq!(indices.map(|index| processes.number(index)), [4, 0, 5, 4]);
        assert_eq!(processes.peer_with_number(2), Some(0), "this process itself");
        // Pretenders: of a rank that is known, and of one that this run has not.
        let pretenders = [parts(5, 5, 2), parts(6, 5, 4)].map(|one| processes.meet(&one.name()));
        assert_eq!(pretenders.map(|index| processes.number(index)), [6, 7]);
        assert_eq!(processes.peer_with_number(2), Some(0));
        assert_eq!((processes.with_number(5), processes.with_number(8)), (Some(indices[2]), None));
    }
}
