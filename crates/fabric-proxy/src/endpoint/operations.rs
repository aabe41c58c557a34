//! The operations of a rank in its own process: their memory, and whether they are done.

use contract::{Awaited, Envelope, Request, Selector, Writable};

use crate::wire::reply::Completed;

enum Operation {
    Free,
    Send { to: usize, envelope: Envelope },
    Receive { selector: Selector, room: Writable },
    Done(Envelope),
}

/// Operations by the numbers of their requests. The numbers are chosen here, and reused.
#[derive(Default)]
pub(super) struct Operations {
    places: Vec<Operation>,
    free: Vec<Request>,
}

impl Operations {
    pub(super) fn add_send(&mut self, to: usize, envelope: Envelope) -> Request {
        self.add(Operation::Send { to, envelope })
    }

    pub(super) fn add_receive(&mut self, selector: Selector, room: Writable) -> Request {
        self.add(Operation::Receive { selector, room })
    }

    fn add(&mut self, operation: Operation) -> Request {
        if let Some(request) = self.free.pop() {
            self.places[request.index()] = operation;
            return request;
        }
        self.places.push(operation);
        Request(self.places.len() as u32 - 1)
    }

    /// Records completed operations, and writes the data of receives to their memory. `data` begins with these; returns
    /// the rest.
    pub(super) fn complete<'a>(&mut self, completed: &[Completed], data: &'a [u8]) -> &'a [u8] {
        let mut rest = data;
        for &Completed { request, envelope, bytes } in completed {
            let (data, behind) = rest.split_at_checked(bytes).unwrap_or_default();
            rest = behind;
            let Some(place) = self.places.get_mut(request.index()) else { continue };
            if let Operation::Receive { room, .. } = place {
                room.write(0, data);
            }
            *place = Operation::Done(envelope);
        }
        rest
    }

    pub(super) fn is_done(&self, request: Request) -> bool {
        matches!(self.places.get(request.index()), Some(Operation::Done(_)))
    }

    /// Returns the message of an operation that is done.
    pub(super) fn envelope(&self, request: Request) -> Envelope {
        match self.places.get(request.index()) {
            Some(Operation::Done(envelope)) => *envelope,
            _ => panic!("only a request that is done is asked for its message"),
        }
    }

    pub(super) fn forget(&mut self, request: Request) {
        let place = std::mem::replace(&mut self.places[request.index()], Operation::Free);
        if !matches!(place, Operation::Free) {
            self.free.push(request);
        }
    }

    /// Returns the event that an operation waits for.
    pub(super) fn awaited(&self, request: Request) -> Option<Awaited> {
        match self.places.get(request.index())? {
            Operation::Send { to, envelope } => {
                Some(Awaited::Receive { to: *to, envelope: *envelope })
            }
            Operation::Receive { selector, .. } => Some(Awaited::Message(*selector)),
            Operation::Free | Operation::Done(_) => None,
        }
    }
}
