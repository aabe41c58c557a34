//! Operations of a rank, and their states.

use contract::{Envelope, Request, Selector, TimeSpan, Writable};

/// State of a rank whose program is suspended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// It runs, or will as soon as its event happens.
    Running,
    /// It waits for this request.
    Request(Request),
    /// It waits for one of these requests.
    Requests(Vec<Request>),
    /// It waits until something of its own happens: a message arrives, or a request is done.
    Anything,
    /// It waits for a moment.
    Time,
    /// It waits for another rank's part of a step of a collective over boards.
    Part { of: u32, step: u64 },
    /// It waits for its own place on its board, until every rank has ended this step.
    Place { ended: u64 },
    /// Its program has ended.
    Ended,
}

impl Waiting {
    /// Returns whether the end of this request ends the wait.
    pub(super) fn is_for(&self, request: Request) -> bool {
        match self {
            Waiting::Request(wanted) => *wanted == request,
            Waiting::Requests(wanted) => wanted.contains(&request),
            Waiting::Anything => true,
            Waiting::Running
            | Waiting::Time
            | Waiting::Part { .. }
            | Waiting::Place { .. }
            | Waiting::Ended => false,
        }
    }

    /// Returns whether it waits for other ranks. Such a rank may be woken to check something else, and waits again.
    pub(super) fn is_for_others(&self) -> bool {
        match self {
            Waiting::Request(_)
            | Waiting::Requests(_)
            | Waiting::Anything
            | Waiting::Part { .. }
            | Waiting::Place { .. } => true,
            Waiting::Running | Waiting::Time | Waiting::Ended => false,
        }
    }
}

/// An operation of a rank.
#[derive(Debug)]
pub(super) enum State {
    Free,
    Sending {
        to: u32,
        envelope: Envelope,
    },
    /// A receive, with the memory for its message; none for a blocking receive, which collects the message at its end.
    Receiving {
        selector: Selector,
        room: Option<Writable>,
    },
    Done(Done),
}

/// A request that is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) envelope: Envelope,
    /// Message of a receive, whose place is freed at the end of the request.
    pub(super) message: Option<u32>,
    /// Time that the rank's processor has yet to work for it.
    pub(super) due: TimeSpan,
}

struct Place {
    state: State,
    /// Memory in bytes that the program has lent for the operation.
    posted_bytes: u64,
    /// True if the time that it takes beyond the caches has yet to be spent.
    memory_time_due: bool,
    /// True if its rank has checked whether it is done, and will check again.
    watched: bool,
}

/// A rank's operations, by number. Numbers are used again.
#[derive(Default)]
pub(super) struct Operations {
    places: Vec<Place>,
    free: Vec<Request>,
}

impl Operations {
    pub(super) fn add(&mut self, state: State) -> Request {
        let place = Place { state, posted_bytes: 0, memory_time_due: false, watched: false };
        if let Some(request) = self.free.pop() {
            self.places[request.index()] = place;
            return request;
        }
        self.places.push(place);
        Request(self.places.len() as u32 - 1)
    }

    pub(super) fn state(&self, request: Request) -> &State {
        &self.places[request.index()].state
    }

    /// Returns the operations in progress and those that are done.
    pub(super) fn all(&self) -> impl Iterator<Item = Request> {
        let used = |(index, place): (usize, &Place)| {
            (!matches!(place.state, State::Free)).then_some(Request(index as u32))
        };
        self.places.iter().enumerate().filter_map(used)
    }

    /// Records the memory that the program has lent for an operation.
    pub(super) fn set_memory(&mut self, request: Request, bytes: u64) {
        let place = &mut self.places[request.index()];
        (place.posted_bytes, place.memory_time_due) = (bytes, true);
    }

    /// Marks an operation as done. The data of a message are written to the memory of its receive.
    pub(super) fn conclude(&mut self, request: Request, mut done: Done, data: &[u8]) {
        let state = &mut self.places[request.index()].state;
        if let State::Receiving { room: Some(room), .. } = state {
            room.write(0, data);
            done.envelope.room = room.bytes();
        }
        *state = State::Done(done);
    }

    pub(super) fn done(&self, request: Request) -> Option<&Done> {
        match self.state(request) {
            State::Done(done) => Some(done),
            _ => None,
        }
    }

    /// Returns whether a request is done. If not, its rank will check again.
    pub(super) fn watch(&mut self, request: Request) -> bool {
        let place = &mut self.places[request.index()];
        place.watched = true;
        matches!(place.state, State::Done(_))
    }

    pub(super) fn is_watched(&self, request: Request) -> bool {
        self.places[request.index()].watched
    }

    /// Returns the time that the rank's processor has yet to work for a request that is done. Zero when called again.
    pub(super) fn take_due(&mut self, request: Request) -> TimeSpan {
        match &mut self.places[request.index()].state {
            State::Done(done) => std::mem::take(&mut done.due),
            _ => TimeSpan::ZERO,
        }
    }

    /// Returns the length of a posted message that the processor has yet to move. None when called again.
    pub(super) fn take_memory(&mut self, request: Request) -> Option<usize> {
        let place = &mut self.places[request.index()];
        let State::Done(Done { message: Some(_), envelope, .. }) = &place.state else {
            return None;
        };
        std::mem::take(&mut place.memory_time_due).then_some(envelope.bytes)
    }

    /// Removes an operation, and returns the amount of memory that the program had lent for it.
    pub(super) fn forget(&mut self, request: Request) -> u64 {
        let place = &mut self.places[request.index()];
        place.state = State::Free;
        self.free.push(request);
        place.posted_bytes
    }

    /// Removes the memory that receives write to, because the program that has lent it has ended.
    pub(super) fn forget_rooms(&mut self) {
        for place in &mut self.places {
            if let State::Receiving { room, .. } = &mut place.state {
                *room = None;
            }
        }
    }
}
