//! Messages over one endpoint of libfabric.
//!
//! A message of up to [`EAGER_MAX`] bytes is one tagged message. A longer or synchronous message is sent by rendezvous:
//! its RTS has no data. When a receive has matched the RTS, the receiver posts a receive into the program's memory for
//! the data, which have their own tag, and asks the sender for as many bytes as it has room for. So no message waits
//! behind data without a receive.
//!
//! The provider matches nothing but data: some receives of [`EAGER_MAX`] bytes accept the messages and the RTS of all
//! ranks, and the message engine finds their receives. The provider gives these messages in the order in which they have
//! arrived to the receives in the order in which they were posted, and so they are processed in that order. No receive of
//! the provider is shorter than its message, because providers report truncation in different ways.
//!
//! The connections of `fabric-tcp` serve the run as a whole: collectives that do not match, ranks that die, and the end.

mod access;
mod carry;
mod complete;
#[cfg(test)]
mod corrupt;
mod ending;
mod start;

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use contract::{Error, Request, Result};
use engine::{Messages, Transport};
use fabric_tcp::{Connections, Reporter};
use launcher::{LONGEST_SLEEP, Seat};
use rustix::event::epoll;

use crate::objects::{Completed, Objects};
use crate::slots::{Slot, Slots};

/// The longest message that is not divided, in bytes. Every provider sends as much in one piece. Longer messages
/// without a receive could fill the memory of a provider, and then nothing behind them would arrive.
pub(crate) const EAGER_MAX: usize = 4 << 10;
/// Receives for words between ranks.
const WORD_RECEIVES: usize = 8;
/// Most receives for messages: as many may arrive between two polls without a copy by the provider.
const MESSAGE_RECEIVES_MAX: usize = 32;
/// The assumed number of receives of a provider that does not state one.
const RECEIVES_UNKNOWN: usize = 256;

/// A send that waits until the provider has room for it.
#[derive(Clone, Copy)]
struct Post {
    slot: u32,
    to: usize,
    tag: u64,
    immediate: u64,
    /// How many bytes of the message of `slot` are sent, from the first.
    bytes: usize,
}

/// A receive of the data of a long message that waits until the provider has room for it.
#[derive(Clone, Copy)]
struct DataReceive {
    request: Request,
    source: usize,
    number: u32,
}

/// The state of another rank.
#[derive(Clone, Default)]
struct Peer {
    next_number: u32,
    /// The long messages to it that wait for its CTS, by their numbers.
    held: Vec<(u32, Request)>,
    /// Number of sends to it that the provider has not completed.
    under_way: usize,
    /// The number of polls after which its word arrived that it has left, and that it has ended its part.
    left_at: Option<u64>,
    goodbye_at: Option<u64>,
    atomics: access::UnderWay,
}

/// One rank's end of all messages over libfabric.
pub struct Libfabric {
    /// `None` after a call has failed permanently. Nothing accesses the memory of requests from then on. Declared, and so
    /// closed, before the slots, because the provider uses their memory.
    objects: Option<Objects>,
    slots: Slots,
    rank: usize,
    peers: Vec<Peer>,
    posts: VecDeque<Post>,
    data_receives: VecDeque<DataReceive>,
    /// Number of receives of data that the provider has, and that it may have.
    receiving: usize,
    receiving_max: usize,
    /// Operations on memory of other ranks that wait for room at the provider, or for earlier ones.
    accesses: VecDeque<u32>,
    /// The receives for messages in the order in which they were posted, and what the first of them have received.
    buffers: VecDeque<(u32, Option<Completed>)>,
    polls: u64,
    activity: u64,
    /// Number of sleeps in a row, since the activity was this.
    sleeps: (u64, u32),
    /// Numbers of the messages and words that the provider has accepted, and of those that it has delivered.
    traffic: [u64; 2],
    completed: Vec<Completed>,
    /// The connections with all ranks and with the process that started the run.
    connections: Connections,
    /// The descriptor that becomes readable when one of these connections does.
    waker: OwnedFd,
    /// The seat of this rank on its host, if the process of a host has started it.
    launched: Option<RankOnHost>,
    /// True if the provider has one-sided operations.
    has_access: bool,
    end: End,
}

/// A rank's seat on its host, if the process of a host has started it.
pub(crate) struct RankOnHost {
    pub(crate) seat: Seat,
    /// A number that no other host has.
    pub(crate) host: u16,
    /// The hosts of all ranks of the run, once they are known.
    pub(crate) hosts: Vec<u16>,
}

/// Parts of a rank that could not begin, to report that.
pub(crate) type Parts = (Error, Connections, Option<RankOnHost>);

/// How far the end of this rank's part has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It has not left.
    No,
    /// It has left. No descriptor need become readable for what it waits for.
    Left,
    /// It has said goodbye over libfabric.
    SaysGoodbye,
    /// It says goodbye over the connections.
    Closes,
}

impl Libfabric {
    /// Begins the messages of a rank. The objects must have the addresses of all ranks.
    ///
    /// # Errors
    /// The provider's and the system's, with the other parts.
    pub(crate) fn begin(
        objects: Objects,
        rank: usize,
        mut connections: Connections,
        launched: Option<RankOnHost>,
    ) -> std::result::Result<Self, Box<Parts>> {
        let waker = match connections.descriptor() {
            Ok(waker) => waker,
            Err(error) => return Err(Box::new((error, connections, launched))),
        };
        let receives_max = match objects.provider.receives_max {
            0 => RECEIVES_UNKNOWN,
            most => most,
        };
        let free = receives_max.saturating_sub(WORD_RECEIVES);
        let buffers = (free / 2).clamp(1, MESSAGE_RECEIVES_MAX);
        let has_access = objects.provider.remote.is_some();
        let mut begun = Libfabric {
            objects: Some(objects),
            slots: Slots::default(),
            rank,
            peers: vec![Peer::default(); connections.size()],
            posts: VecDeque::new(),
            data_receives: VecDeque::new(),
            receiving: 0,
            receiving_max: free.saturating_sub(buffers).max(1),
            accesses: VecDeque::new(),
            buffers: VecDeque::with_capacity(buffers),
            polls: 0,
            activity: 0,
            sleeps: (0, 0),
            traffic: [0; 2],
            completed: Vec::new(),
            connections,
            waker,
            launched,
            has_access,
            end: End::No,
        };
        match begun.post_receives(buffers) {
            Ok(()) => Ok(begun),
            Err(error) => {
                let (connections, launched) = begun.into_parts();
                Err(Box::new((error, connections, launched)))
            }
        }
    }

    fn post_receives(&mut self, buffers: usize) -> Result<()> {
        for _ in 0..WORD_RECEIVES {
            let slot = self.slots.add(Slot::Words);
            self.receive_words(slot)?;
        }
        for _ in 0..buffers {
            let slot = self.slots.add(Slot::Message(vec![0; EAGER_MAX].into()));
            self.receive_message(slot)?;
        }
        Ok(())
    }

    /// Returns the objects.
    ///
    /// # Errors
    /// If they are closed, because the run has ended for this rank.
    pub(crate) fn objects(&self) -> Result<&Objects> {
        self.objects.as_ref().ok_or_else(|| Error::Program("the endpoint is closed".into()))
    }

    /// Returns a handle that passes reports to the process that started the run, also while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.connections.reporter()
    }

    /// Returns a descriptor that is readable when something may have arrived, for sleeps of at most
    /// [`sleep_limit`](Libfabric::sleep_limit).
    ///
    /// # Errors
    /// The system's.
    pub fn descriptor(&self) -> Result<OwnedFd> {
        let both = || -> std::io::Result<OwnedFd> {
            let both = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let add = |one: BorrowedFd<'_>| {
                epoll::add(&both, one, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
            };
            add(self.waker.as_fd())?;
            let of_provider = self.objects().ok().and_then(|one| one.queue_descriptor());
            of_provider.map_or(Ok(()), add)?;
            Ok(both)
        };
        both().map_err(|error| Error::System {
            what: "watching the provider of libfabric".into(),
            reason: error.to_string(),
        })
    }

    /// Returns how long this rank may sleep on [`descriptor`](Libfabric::descriptor). Must be called after every poll and
    /// before the sleep.
    pub fn sleep_limit(&self) -> Duration {
        match self.objects() {
            // Every call returns the error.
            Err(_) => Duration::ZERO,
            // No descriptor need become readable for these.
            Ok(objects) if !objects.can_sleep() || self.waits_for_room() => {
                carry::LONGEST_TIMED_SLEEP
            }
            Ok(objects) if objects.descriptor().is_none() => Duration::ZERO,
            Ok(_) => LONGEST_SLEEP,
        }
    }

    /// Returns whether anything waits for room at the provider. No descriptor need become readable when there is room.
    pub(crate) fn waits_for_room(&self) -> bool {
        !self.posts.is_empty() || !self.data_receives.is_empty() || !self.accesses.is_empty()
    }

    /// Replaces an error of the provider by its cause, such as a dead rank, if the process that started the run has it.
    /// Closes the provider's endpoint, so that it no longer writes to memory of the program.
    pub(crate) fn record_failure<R>(
        &mut self,
        messages: &mut Messages,
        outcome: Result<R>,
    ) -> Result<R> {
        match outcome {
            // Concerns one call only. The run continues.
            Err(error @ Error::Unsupported { .. }) => Err(error),
            Err(error) => {
                self.objects = None;
                messages.check()?;
                let cause = self.connections.wait_for_cause();
                Err(messages.fail(cause.unwrap_or(error)))
            }
            well => well,
        }
    }
}

impl Libfabric {
    /// Closes the endpoint, and returns what is left: the connections, and the seat.
    fn into_parts(self) -> (Connections, Option<RankOnHost>) {
        let Libfabric { objects, slots, connections, launched, .. } = self;
        // Closed before the slots are freed, because the provider uses their memory.
        drop(objects);
        drop(slots);
        (connections, launched)
    }
}
