//! The operations of one rank, by number.

use std::fmt;

use contract::{Envelope, Request, Selector, Source, Tag, TagSelector};

/// An operation of a rank.
pub(super) enum Operation {
    /// A send in progress.
    Send {
        to: usize,
        envelope: Envelope,
    },
    /// A receive in progress.
    Receive(Selector),
    Ended(Ended),
}

/// The result of an operation.
pub(super) struct Ended {
    pub(super) envelope: Envelope,
    /// As much of a received message as there was room for.
    pub(super) data: Vec<u8>,
}

impl Operation {
    /// Creates a send, which ends at once unless it `waits` for its receive.
    pub(super) fn send(envelope: Envelope, to: usize, waits: bool) -> Self {
        match waits {
            true => Operation::Send { to, envelope },
            false => Operation::Ended(Ended { envelope, data: Vec::new() }),
        }
    }
}

/// Describes an operation in progress, for the explanation of a deadlock.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let context = match self {
            Operation::Send { to, envelope } => {
                let tag = Tag::from_wire(envelope.tag);
                write!(f, "to send {} bytes with {tag} to rank {to}", envelope.bytes)?;
                envelope.context
            }
            Operation::Receive(selector) => {
                let tag = match selector.tag {
                    Some(tag) => TagSelector::Is(Tag::from_wire(tag)),
                    None if selector.context.is_multiple_of(2) => TagSelector::Any,
                    None => TagSelector::AnyReserved,
                };
                let from = selector.source.map_or(Source::Any, |one| Source::Rank(one as usize));
                write!(f, "to receive {tag} from {from}")?;
                selector.context
            }
            Operation::Ended(_) => return write!(f, "for nothing"),
        };
        if context > 1 { write!(f, " in context {}", context / 2) } else { Ok(()) }
    }
}

/// Places for operations, which are reused.
#[derive(Default)]
pub(super) struct Operations {
    places: Vec<Option<Operation>>,
    free: Vec<Request>,
}

impl Operations {
    pub(super) fn add(&mut self, operation: Operation) -> Request {
        let request = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            Request(self.places.len() as u32 - 1)
        });
        self.places[request.index()] = Some(operation);
        request
    }

    pub(super) fn get(&self, request: Request) -> &Operation {
        self.places[request.index()].as_ref().expect("a request under way has an operation")
    }

    pub(super) fn conclude(&mut self, request: Request, ended: Ended) {
        self.places[request.index()] = Some(Operation::Ended(ended));
    }

    pub(super) fn has_ended(&self, request: Request) -> bool {
        matches!(self.get(request), Operation::Ended(_))
    }

    pub(super) fn envelope(&self, request: Request) -> Envelope {
        match self.get(request) {
            Operation::Ended(ended) => ended.envelope,
            _ => Envelope::default(),
        }
    }

    pub(super) fn take(&mut self, request: Request) -> Option<Ended> {
        if !self.has_ended(request) {
            return None;
        }
        match self.forget(request) {
            Some(Operation::Ended(ended)) => Some(ended),
            _ => None,
        }
    }

    pub(super) fn forget(&mut self, request: Request) -> Option<Operation> {
        self.free.push(request);
        self.places[request.index()].take()
    }
}
