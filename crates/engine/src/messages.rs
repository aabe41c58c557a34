//! The messages of a rank: what all transports share.

use contract::{Envelope, Error, Request, Result};

use crate::agreement::Agreement;
use crate::matching::{Contents, PostedQueue, Unexpected, UnexpectedQueue};
use crate::transfer::{Direction, Transfers};

/// The messages of one rank: its transfers in progress, and both queues of matching. A transport that moves messages
/// borrows them.
pub struct Messages {
    rank: usize,
    /// The transfers in progress.
    pub transfers: Transfers,
    /// The posted receives that have matched no message.
    pub posted: PostedQueue,
    /// The messages that no receive has matched.
    pub unexpected: UnexpectedQueue,
    /// The collectives by messages that the ranks have made.
    pub(crate) agreement: Agreement,
    /// Number of state changes that nothing else shows.
    pub(crate) moves: u64,
    /// True if this rank has declared that it leaves.
    pub(crate) has_left: bool,
    /// The first permanent error; every later call returns it.
    failure: Option<Error>,
}

impl Messages {
    pub(crate) fn new(rank: usize) -> Self {
        Messages {
            rank,
            transfers: Transfers::default(),
            posted: PostedQueue::default(),
            unexpected: UnexpectedQueue::default(),
            agreement: Agreement::default(),
            moves: 0,
            has_left: false,
            failure: None,
        }
    }

    /// Returns this rank's number.
    #[inline]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Fails with the first permanent error, if there was one.
    ///
    /// # Errors
    /// That error.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    /// Makes every later call fail with the first such error, and returns it.
    #[cold]
    pub fn fail(&mut self, error: Error) -> Error {
        self.failure.get_or_insert(error).clone()
    }

    /// Ends the run for this rank, because another has sent what no rank sends.
    #[cold]
    pub fn refuse(&mut self, rank: usize, what: &str) -> Error {
        let reason = format!("rank {rank} sent what no rank sends: {what}");
        self.fail(Error::System { what: "reading from another rank".into(), reason })
    }

    /// Counts a change that neither a transfer nor a queue shows.
    pub fn count_move(&mut self) {
        self.moves = self.moves.wrapping_add(1);
    }

    /// Removes and returns the oldest receive that accepts a message, and records the match. Without one, the transport
    /// adds the message to the unexpected ones.
    #[inline]
    pub fn match_receive(&mut self, envelope: &Envelope) -> Option<Request> {
        let request = self.posted.take(envelope)?;
        self.transfers[request].begin(*envelope);
        Some(request)
    }

    /// Returns the other rank of a transfer, if there is exactly one.
    pub fn partner(&self, request: Request) -> Option<usize> {
        let transfer = &self.transfers[request];
        let partner = match transfer.direction {
            Direction::Send { to } | Direction::Access { to } => Some(to as usize),
            Direction::Receive(_) if transfer.is_matched() => {
                Some(transfer.envelope.source as usize)
            }
            Direction::Receive(selector) => selector.source.map(|source| source as usize),
        };
        partner.filter(|&rank| rank != self.rank)
    }

    /// Sends a message of this rank to itself. One of at most `copied_bytes` is copied if no receive has matched it; a
    /// longer or synchronous one stays where it is.
    pub(crate) fn send_to_self(&mut self, request: Request, copied_bytes: usize) {
        self.count_move();
        let transfer = &mut self.transfers[request];
        let envelope = transfer.envelope;
        if let Some(receive) = self.posted.take(&envelope) {
            self.transfers[receive].begin(envelope);
            self.copy_to_self(request, receive);
            return;
        }
        let contents = if transfer.room <= copied_bytes && !transfer.is_synchronous {
            transfer.done = true;
            Contents::Copy(transfer.data().to_vec())
        } else {
            Contents::Own(request)
        };
        self.unexpected.add(Unexpected { envelope, contents });
    }

    /// Completes a send of this rank to itself and the receive that has matched it.
    pub(crate) fn copy_to_self(&mut self, send: Request, receive: Request) {
        let source = self.transfers[send];
        let target = &mut self.transfers[receive];
        target.append(source.data());
        self.transfers[send].done = true;
    }
}
