//! Messages over one endpoint of libfabric: starting and completing them, and the state of the other ranks.
//!
//! A message of up to [`EAGER_MAX`] bytes is one tagged message. A longer or synchronous message is sent by rendezvous:
//! its RTS has no data and is matched by the receives of the program. When the receiver has the RTS, it posts a receive
//! into the program's memory for the data, which have their own tag, and asks the sender for as many bytes as it has
//! room for. Unexpected messages therefore need little memory of the provider, and no message waits behind data without
//! a receive. No receive of the provider is shorter than its message, because providers report truncation in different
//! ways.

mod access;
mod complete;
mod ending;
mod probe;
mod retained;
mod start;
mod wait_reports;

use std::collections::VecDeque;

use contract::{Envelope, Error, Request, Result};

use crate::objects::{Completed, Objects};
use crate::slots::{Slot, Slots};
use crate::unexpected::Unexpected;

/// The longest message that is not divided, in bytes. Every provider sends as much in one piece. Longer messages
/// without a receive could fill the memory of a provider, and then nothing behind them would arrive.
pub(crate) const EAGER_MAX: usize = 4 << 10;
/// Receives for words between engines.
const WORD_RECEIVES: usize = 8;
/// The receives of the provider that are not for the program's messages.
const RECEIVES_KEPT: usize = WORD_RECEIVES + 2;
/// The assumed number of receives of a provider that does not state one.
const RECEIVES_UNKNOWN: usize = 256;

/// A send that waits until the provider has room for it.
#[derive(Clone, Copy)]
struct Post {
    slot: u32,
    to: usize,
    tag: u64,
    beside: u64,
    /// How many bytes of the message of `slot` are sent, from the first.
    bytes: usize,
}

/// A receive that waits until the provider has room for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QueuedReceive {
    Message(u32),
    /// The data of a long message: its sender and number.
    Data(u32, u32, u32),
}

/// The state of another rank.
#[derive(Clone, Copy, Default)]
struct Peer {
    next_number: u32,
    /// The number of polls after which its word arrived that it has left, and that it has ended its part.
    left_at: Option<u64>,
    goodbye_at: Option<u64>,
    atomics: access::UnderWay,
}

/// The receive that accepts every message.
struct AnyReceive {
    slot: u32,
    memory: Vec<u8>,
    /// Whether the provider has it, or its completion has not been handled yet.
    is_posted: bool,
    completed: Option<Completed>,
}

pub(crate) struct Engine {
    /// `None` after a call has failed permanently. Nothing accesses the memory of requests from then on.
    objects: Option<Objects>,
    slots: Slots,
    unexpected: Unexpected,
    rank: usize,
    peers: Vec<Peer>,
    posts: VecDeque<Post>,
    queued: VecDeque<QueuedReceive>,
    /// Operations on memory of other ranks that wait for room at the provider, or for earlier ones.
    accesses: VecDeque<u32>,
    /// Receives of the program that the provider has.
    posted: usize,
    posted_max: usize,
    /// Bounce buffers of [`EAGER_MAX`] bytes that no receive uses at the moment.
    bounces: Vec<Vec<u8>>,
    /// Messages of this rank to itself that have not arrived yet.
    own_under_way: usize,
    any: AnyReceive,
    /// Receives that the provider does not get, from the oldest. See `retained`.
    retained: Vec<u32>,
    polls: u64,
    activity: u64,
    /// Numbers of the messages and words that the provider has accepted, and of those that it has delivered.
    traffic: [u64; 2],
    completed: Vec<Completed>,
    has_left: bool,
    failed: Option<Error>,
}

impl Engine {
    /// Returns the engine of rank `rank` of `size`. The objects must have the addresses of all ranks.
    ///
    /// # Errors
    /// The provider's.
    pub(crate) fn new(objects: Objects, rank: usize, size: usize) -> Result<Self> {
        let limit = match objects.provider.receives_max {
            0 => RECEIVES_UNKNOWN,
            most => most,
        };
        let mut slots = Slots::default();
        let any = AnyReceive {
            slot: slots.add(Slot::Any),
            memory: vec![0; EAGER_MAX],
            is_posted: false,
            completed: None,
        };
        let mut engine = Engine {
            posted_max: limit.saturating_sub(RECEIVES_KEPT).max(1),
            objects: Some(objects),
            slots,
            unexpected: Unexpected::default(),
            rank,
            peers: vec![Peer::default(); size],
            posts: VecDeque::new(),
            queued: VecDeque::new(),
            accesses: VecDeque::new(),
            posted: 0,
            bounces: Vec::new(),
            own_under_way: 0,
            any,
            retained: Vec::new(),
            polls: 0,
            activity: 0,
            traffic: [0; 2],
            completed: Vec::new(),
            has_left: false,
            failed: None,
        };
        for _ in 0..WORD_RECEIVES {
            let slot = engine.slots.add(Slot::Words);
            engine.receive_words(slot)?;
        }
        Ok(engine)
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.peers.len()
    }

    /// Returns the objects.
    ///
    /// # Errors
    /// The error that ended the run for this rank.
    pub(crate) fn objects(&self) -> Result<&Objects> {
        match (&self.objects, &self.failed) {
            (Some(objects), None) => Ok(objects),
            (_, Some(error)) => Err(error.clone()),
            (None, None) => Err(Error::Program("the endpoint is closed".into())),
        }
    }

    /// Returns the objects, to change them.
    pub(crate) fn objects_mut(&mut self) -> Option<&mut Objects> {
        self.objects.as_mut()
    }

    /// Fails with the error that ended the run for this rank, if there is one.
    pub(crate) fn check(&self) -> Result<()> {
        self.objects().map(drop)
    }

    /// Ends the run for this rank. Closes the provider's endpoint, so that it no longer writes to memory of the
    /// program.
    pub(crate) fn fail(&mut self, error: Error) -> Error {
        self.objects = None;
        self.failed.get_or_insert(error).clone()
    }

    /// Returns whether anything waits for room at the provider. No descriptor need become readable when there is room.
    pub(crate) fn has_queued(&self) -> bool {
        !self.posts.is_empty() || !self.queued.is_empty() || !self.accesses.is_empty()
    }

    /// Returns a number that changes whenever an operation may have changed.
    pub(crate) fn activity(&self) -> u64 {
        self.activity
    }

    pub(crate) fn is_done(&self, request: Request) -> bool {
        self.slots.is_done(request)
    }

    /// Returns the message of a request that is done.
    pub(crate) fn envelope(&self, request: Request) -> Envelope {
        self.slots.envelope(request)
    }

    /// Frees a request that is done, and returns its message. The slot of a copy is freed when the provider has
    /// completed it.
    ///
    /// # Panics
    /// If the request is not done, because its number would be used for another one.
    pub(crate) fn end(&mut self, request: Request) -> Envelope {
        assert!(self.is_done(request), "a request was ended before it was done");
        let envelope = self.envelope(request);
        match self.slots.send_mut(request.0) {
            Some(send) if send.stage != crate::slots::SendStage::Done => send.is_forgotten = true,
            _ => self.slots.free(request.0),
        }
        envelope
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Closed before the slots are freed, because the provider uses their memory.
        self.objects = None;
    }
}
