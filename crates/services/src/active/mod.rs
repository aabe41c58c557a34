//! Active messages: each names a function that the receiver calls when the message arrives.
//!
//! After the Generic Active Message specification (Mainwaring and Culler, 1995). `docs/services.md` lists the
//! corresponding calls and our own additions.
//!
//! * `wire`: the layout of a message;
//! * `registered`, `outgoing`: checks of a message before it is sent;
//! * `call`, `handlers`: the functions, and their permitted actions;
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

/// Number of rounds of a barrier of the largest possible number of ranks.
const ROUNDS: usize = usize::BITS as usize;

/// The active messages of one rank: its handlers, its segment, and the messages under way.
///
/// `S` is the state of the program, which its handlers receive. To send and to receive, [enter](ActiveMessages::enter)
/// it.
pub struct ActiveMessages<S> {
    context: Context,
    handlers: Handlers<S>,
    /// Memory to which long messages of other ranks are written.
    segment: Buffer,
    partners: Vec<Partner>,
    /// The buffer of a message before it is sent.
    outgoing: Box<[u8; EAGER_BYTES]>,
    /// The buffer of a received message, which is taken while its handler runs.
    incoming: Vec<u8>,
    /// The words of that message, which are taken as well.
    words: Vec<u64>,
    /// Messages of this rank to itself.
    own: VecDeque<(Vec<u8>, Option<Buffer>)>,
    /// Sends of long data that have not ended, in their order.
    sending: VecDeque<Posted>,
    /// Buffers whose data have been sent.
    sent: VecDeque<Buffer>,
    /// For each round of a barrier, the number of arrivals that other ranks have ever reported.
    arrivals: [u32; ROUNDS],
    barriers: u32,
    /// True if credits are returned one by one, so that all ranks get back all of theirs.
    closing: bool,
}

impl<S> ActiveMessages<S> {
    /// Opens active messages among all ranks of `rank`, as a collective. All must have handlers of the same numbers.
    /// Long messages of other ranks are written to `segment`, whose length each rank chooses for itself.
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

    /// Returns the service's calls. `rank` is the one with which it was opened, and `state` is passed to handlers.
    pub fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank, state: &'a mut S) -> Session<'a, S> {
        Session::new(self, rank, state)
    }

    /// Closes the service on all ranks, as a collective. It returns when every request of every rank has been handled,
    /// and handlers run until then. Returns the segment.
    ///
    /// # Errors
    /// Those of handlers and of the fabric.
    pub fn close(mut self, rank: &mut dyn Rank, state: &mut S) -> Result<Buffer> {
        self.enter(rank, state).drain()?;
        rank.close(self.context)?;
        Ok(self.segment)
    }

    /// Returns this rank's segment.
    pub fn segment(&self) -> &[u8] {
        &self.segment
    }

    /// Returns this rank's segment, for writing.
    pub fn segment_mut(&mut self) -> &mut [u8] {
        &mut self.segment
    }
}
