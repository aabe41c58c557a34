//! The requests of a rank as its own process knows them: their memory, and whether they are done.

use contract::{Awaited, Envelope, Request, Selector, Writable};

use crate::reply::read_ended;
use crate::stream::Reader;

enum Operation {
    Free,
    Send { to: usize, envelope: Envelope },
    Receive { selector: Selector, room: Writable },
    Done(Envelope),
}

/// Operations by the numbers of their requests, which are used again.
#[derive(Default)]
pub(super) struct Operations(Vec<Operation>);

impl Operations {
    pub(super) fn add_send(&mut self, request: Request, to: usize, envelope: Envelope) {
        *self.place(request) = Operation::Send { to, envelope };
    }

    pub(super) fn add_receive(&mut self, request: Request, selector: Selector, room: Writable) {
        *self.place(request) = Operation::Receive { selector, room };
    }

    fn place(&mut self, request: Request) -> &mut Operation {
        if self.0.len() <= request.index() {
            self.0.resize_with(request.index() + 1, || Operation::Free);
        }
        &mut self.0[request.index()]
    }

    /// Reads which requests are done. The data of receives go where these have said.
    pub(super) fn absorb(&mut self, ended: usize, reader: &mut Reader<'_>) {
        for _ in 0..ended {
            let (request, envelope, data) = read_ended(reader);
            let place = self.place(request);
            if let Operation::Receive { room, .. } = place {
                room.write(0, data);
            }
            *place = Operation::Done(envelope);
        }
    }

    pub(super) fn is_done(&self, request: Request) -> bool {
        matches!(self.0.get(request.index()), Some(Operation::Done(_)))
    }

    /// The message of a request that is done.
    pub(super) fn envelope(&self, request: Request) -> Envelope {
        match self.0.get(request.index()) {
            Some(Operation::Done(envelope)) => *envelope,
            _ => panic!("only a request that is done is asked for its message"),
        }
    }

    pub(super) fn forget(&mut self, request: Request) {
        *self.place(request) = Operation::Free;
    }

    /// The event for which a wait for a request waits.
    pub(super) fn awaited(&self, request: Request) -> Option<Awaited> {
        match self.0.get(request.index())? {
            Operation::Send { to, envelope } => {
                Some(Awaited::Receive { to: *to, envelope: *envelope })
            }
            Operation::Receive { selector, .. } => Some(Awaited::Message(*selector)),
            Operation::Free | Operation::Done(_) => None,
        }
    }
}
