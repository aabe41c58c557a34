//! The operations in progress, and their memory.
//!
//! The memory of an operation is used only while the operation is in the table and not done. The engine uses no memory
//! at all after a call has failed, because every entry point checks that first.

use contract::{Envelope, Readable, Request, Selector, Writable};

pub(crate) enum Operation {
    Send(Sending),
    Receive(Receiving),
}

pub(crate) struct Sending {
    pub(crate) to: usize,
    pub(crate) envelope: Envelope,
    pub(crate) data: Readable,
    pub(crate) done: bool,
}

pub(crate) struct Receiving {
    pub(crate) selector: Selector,
    pub(crate) room: Writable,
    /// The message that it has matched.
    pub(crate) envelope: Option<Envelope>,
    pub(crate) done: bool,
}

impl Operation {
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Operation::Send(send) => send.done,
            Operation::Receive(receive) => receive.done,
        }
    }

    fn envelope(&self) -> Option<Envelope> {
        match self {
            Operation::Send(send) => Some(send.envelope),
            Operation::Receive(receive) => receive.envelope,
        }
    }
}

/// Operations by the number of their request. Numbers are reused, so nothing is allocated once a program has reached
/// its usual number of operations.
#[derive(Default)]
pub(crate) struct OperationTable {
    places: Vec<Option<Operation>>,
    free: Vec<u32>,
}

impl OperationTable {
    pub(crate) fn start(&mut self, operation: Operation) -> Request {
        if let Some(index) = self.free.pop() {
            self.places[index as usize] = Some(operation);
            return Request(index);
        }
        self.places.push(Some(operation));
        Request((self.places.len() - 1) as u32)
    }

    /// # Panics
    /// If there is no such request.
    pub(crate) fn get(&self, request: Request) -> &Operation {
        self.places[request.index()].as_ref().expect("the request is under way")
    }

    /// Returns the envelope of an operation that is done.
    ///
    /// # Panics
    /// If there is no such request, or it is a receive without a message.
    pub(crate) fn envelope(&self, request: Request) -> Envelope {
        self.get(request).envelope().expect("the request is done")
    }

    /// Frees an operation that is done, and returns its envelope.
    ///
    /// # Panics
    /// If it is not done: its number must not be reused while the connections still use it.
    pub(crate) fn end(&mut self, request: Request) -> Envelope {
        assert!(self.get(request).is_done(), "a request was ended before it was done");
        let envelope = self.envelope(request);
        self.forget(request);
        envelope
    }

    /// Frees an operation that nothing uses.
    pub(crate) fn forget(&mut self, request: Request) {
        self.places[request.index()] = None;
        self.free.push(request.0);
    }

    /// Returns the send with this request, or `None` if it is not one, as a request that another rank has named may be.
    pub(crate) fn send(&self, request: Request) -> Option<&Sending> {
        match self.places.get(request.index())? {
            Some(Operation::Send(send)) => Some(send),
            _ => None,
        }
    }

    /// Returns that send mutably.
    pub(crate) fn send_mut(&mut self, request: Request) -> Option<&mut Sending> {
        match self.places.get_mut(request.index())? {
            Some(Operation::Send(send)) => Some(send),
            _ => None,
        }
    }

    /// Returns the receive with this request, or `None` if it is not one.
    pub(crate) fn receive(&self, request: Request) -> Option<&Receiving> {
        match self.places.get(request.index())? {
            Some(Operation::Receive(receive)) => Some(receive),
            _ => None,
        }
    }

    /// Returns that receive mutably.
    pub(crate) fn receive_mut(&mut self, request: Request) -> Option<&mut Receiving> {
        match self.places.get_mut(request.index())? {
            Some(Operation::Receive(receive)) => Some(receive),
            _ => None,
        }
    }

    /// Returns the sends that are not done.
    pub(crate) fn pending_sends(&self) -> impl Iterator<Item = Request> {
        let pending = |(index, place): (usize, &Option<Operation>)| match place {
            Some(Operation::Send(send)) if !send.done => Some(Request(index as u32)),
            _ => None,
        };
        self.places.iter().enumerate().filter_map(pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(done: bool) -> Operation {
        let selector = Selector { context: 0, source: None, tag: None };
        let envelope = Some(Envelope::default());
        Operation::Receive(Receiving { selector, room: Writable::empty(), envelope, done })
    }

    #[test]
    fn numbers_are_used_again_and_no_two_operations_share_one() {
        let mut table = OperationTable::default();
        let (first, second) = (table.start(receive(true)), table.start(receive(false)));
        assert_ne!(first, second);
        table.end(first);
        assert!(table.receive(first).is_none() && table.receive(Request(7)).is_none());
        assert_eq!(table.start(receive(false)), first);
        assert!(table.send(first).is_none(), "it is a receive");
    }

    #[test]
    #[should_panic(expected = "before it was done")]
    fn a_request_that_is_not_done_cannot_be_ended() {
        let mut table = OperationTable::default();
        let request = table.start(receive(false));
        table.end(request);
    }
}
