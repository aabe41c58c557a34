//! Active messages: each names a function that the receiver calls when the message arrives.
//!
//! After the Generic Active Message specification (Mainwaring and Culler, 1995). `docs/services.md` lists the
//! corresponding calls and our own additions.
//!
//! * `wire`: how a message is laid out;
//! * `registered`, `outgoing`: what may be sent, checked before it is;
//! * `call`, `handlers`: the functions, and what they may do;
//! * `partner`: the credits between two ranks;
//! * `session`: sending, polling, barriers.

mod call;
mod handlers;
mod outgoing;
mod partner;
mod registered;
mod session;
mod wire;

use std::collections::VecDeque;

use contract::{Buffer, Context, EAGER_BYTES, Posted, Rank};

pub use call::{Body, Call};
pub use handlers::{Handler, Handlers};
pub use partner::CREDITS;
pub use session::Session;

use crate::{Result, WORDS_MAX};
use partner::Partner;

/// Rounds of a barrier of as many ranks as a machine can have.
const ROUNDS: usize = usize::BITS as usize;

/// The active messages of one rank: its handlers, its segment, and what is under way.
///
/// `S` is the state of the program, which its handlers get. To send and to receive, [enter](ActiveMessages::enter) it.
pub struct ActiveMessages<S> {
    context: Context,
    handlers: Handlers<S>,
    /// Memory that long messages of others are written to.
    segment: Buffer,
    partners: Vec<Partner>,
    /// The buffer of a message before it is sent.
    outgoing: Box<[u8; EAGER_BYTES]>,
    /// The buffer of a received message; taken while its handler runs.
    incoming: Vec<u8>,
    /// The words of that message; likewise.
    words: Vec<u64>,
    /// Messages of this rank to itself.
    own: VecDeque<(Vec<u8>, Option<Buffer>)>,
    /// Sends of long data that have not ended, in their order.
    sending: VecDeque<Posted>,
    /// Buffers whose data have been sent.
    sent: VecDeque<Buffer>,
    /// For each round of a barrier, how many ranks have ever said that they have come to it.
    arrivals: [u32; ROUNDS],
    barriers: u32,
    /// Whether credits are returned one by one, so that all ranks get all of theirs back.
    closing: bool,
}

impl<S> ActiveMessages<S> {
    /// Opens active messages among all ranks of `rank`, each of which calls this as a collective, with handlers of the
    /// same numbers. Long messages of others come into `segment`, whose length each rank chooses for itself.
    ///
    /// # Errors
    /// [`HandlersDiffer`](crate::Error::HandlersDiffer), on all ranks alike; and those of the fabric.
    pub fn open(rank: &mut dyn Rank, handlers: Handlers<S>, segment: Buffer) -> Result<Self> {
        handlers.compare(rank)?;
        let mut lengths = vec![0; size_of::<u64>() * rank.size()];
        rank.allgather(&(segment.len() as u64).to_le_bytes(), &mut lengths)?;
        let (lengths, _) = lengths.as_chunks();
        let partners = lengths.iter().map(|length| Partner::new(u64::from_le_bytes(*length)));
        let context = rank.split(Some(0), 0)?;
        Ok(ActiveMessages {
            context: context.expect("this rank has given a colour"),
            handlers,
            segment,
            partners: partners.collect(),
            outgoing: Box::new([0; EAGER_BYTES]),
            incoming: vec![0; EAGER_BYTES],
            words: Vec::with_capacity(WORDS_MAX),
            own: VecDeque::new(),
            sending: VecDeque::new(),
            sent: VecDeque::new(),
            arrivals: [0; ROUNDS],
            barriers: 0,
            closing: false,
        })
    }

    /// Makes the service's calls possible. `rank` is the one that it was opened with, and `state` is what handlers get.
    pub fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank, state: &'a mut S) -> Session<'a, S> {
        Session::new(self, rank, state)
    }

    /// Closes the service on all ranks, each of which calls this as a collective. It returns when every request of
    /// every rank has been handled; handlers run until then. Gives the segment back.
    ///
    /// # Errors
    /// Those of handlers and of the fabric.
    pub fn close(mut self, rank: &mut dyn Rank, state: &mut S) -> Result<Buffer> {
        self.enter(rank, state).drain()?;
        rank.close(self.context)?;
        Ok(self.segment)
    }

    /// This rank's segment.
    pub fn segment(&self) -> &[u8] {
        &self.segment
    }

    /// This rank's segment, to write.
    pub fn segment_mut(&mut self) -> &mut [u8] {
        &mut self.segment
    }
}
