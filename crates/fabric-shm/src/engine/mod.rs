//! The message engine: operations, matching, and the protocols that move the data.
//!
//! It works on raw memory, ranks, contexts and tags, and knows no interface: the contract's endpoint is one layer above
//! it. An engine belongs to one thread; everything that it shares lies in the segment.
//!
//! The protocol of a message depends on its length:
//! * up to 108 bytes ([`SHORT_BYTES`](crate::ring::SHORT_BYTES)): in one cell, from 49 bytes on in two;
//! * up to [`EAGER_LIMIT_BYTES`](limits::EAGER_LIMIT_BYTES) (less where rendezvous is faster: `limits`):
//!   eagerly, through the byte ring, in fragments if need be; a receiver that has posted nothing keeps a
//!   copy;
//! * longer: by rendezvous. Once the receive is known, the message is copied from memory to memory where one
//!   side reaches the other's, and follows in fragments otherwise.
//!
//! The path of a short message is forced into one function (`inline(always)`). What one function passes to another in
//! memory is written in small parts and read at once in larger ones. Such a read waits until all earlier stores have
//! left the processor, and stores to cells wait for lines of another processor. See
//! docs/measurements.md#short-path-in-one-function.

mod apart;
mod arrive;
mod blocking;
mod calls;
mod cma;
mod in_place;
mod limits;
mod matching;
mod message;
mod operation;
mod rendezvous;
mod send;
mod wait_reports;
mod waiting;

use std::collections::BTreeMap;
use std::time::Duration;

use contract::{Request, Result};
use launcher::{Choices, LONGEST_SLEEP, Seat, State};

pub(crate) use blocking::FIRST_POLLS;
pub(crate) use in_place::InPlaceMessage;

use crate::ring::{Consumer, Producer};
use crate::segment::Segment;
use arrive::Stream;
use calls::Calls;
use cma::{Cma, Probe};
use limits::{ARENA_RENDEZVOUS_FROM_BYTES, EAGER_LIMIT_BYTES, RECEIVER_ASKS_HELP_FROM_BYTES};
use matching::{PostedQueue, UnexpectedQueue};
use operation::Operations;
use rendezvous::CoCopy;
use send::Outgoing;
use wait_reports::WaitReports;

/// The engine of one rank.
pub(crate) struct Engine {
    me: usize,
    choices: Choices,
    /// By source; `None` until that rank has sent something.
    inbound: Vec<Inbound>,
    /// By destination.
    outbound: Vec<Outbound>,
    /// The sources that have ever sent something, in the order in which they were found.
    active: Vec<usize>,
    /// The destinations with a non-empty queue.
    queued: Vec<usize>,
    operations: Operations,
    posted: PostedQueue,
    unexpected: UnexpectedQueue,
    cma: Cma,
    co_copies: Vec<CoCopy>,
    /// In-place messages whose receives have not ended yet.
    in_place: Vec<(Request, InPlaceMessage)>,
    calls: Calls,
    wait_reports: WaitReports,
    /// Number of consecutive polls that have moved nothing.
    idle_polls: u32,
    /// True if this poll may leave messages in their rings.
    may_defer_copy: bool,
    /// Limit of this rank's sleeps.
    longest_sleep: Duration,
    /// The ranks by which messages to people name this fabric's ranks, if it is a part of another.
    names: Vec<usize>,
    /// The first permanent error; every later call returns it.
    failure: Option<contract::Error>,
    /// Last, because everything above may point into it.
    segment: Segment,
}

#[derive(Default)]
struct Inbound {
    ring: Option<Consumer>,
    stream: Stream,
}

struct Outbound {
    ring: Producer,
    /// True if the receiver has been added to poll this ring.
    receiver_knows: bool,
    /// Number of RTS that were sent and not yet answered.
    pending_rts: u32,
    queue: std::collections::VecDeque<Outgoing>,
}

impl Engine {
    /// Begins a rank's part of the run. Returns once all ranks have begun theirs.
    pub(crate) fn new(segment: Segment) -> Self {
        let me = segment.seat().rank();
        let choices = segment.seat().choices();
        let probe = Probe::publish(&segment, me);
        // The first call after the run was aborted says so.
        let _ = segment.seat().meet();
        let cma = match choices.cross_memory_attach {
            true => probe.try_neighbour(&segment, me),
            false => Cma::Forbidden,
        };
        // From here on nobody reads what was published.
        let cma = cma.agree(&segment);
        Engine::with(segment, me, choices, cma)
    }

    /// Creates the engine of a rank that has joined.
    fn with(segment: Segment, me: usize, choices: Choices, cma: Cma) -> Self {
        let ranks = segment.seat().size();
        let outbound = (0..ranks)
            .map(|receiver| Outbound {
                // SAFETY: the segment maps the ring, outlives the engine's use of it, and gave it to no other sender.
                ring: unsafe { Producer::new(segment.ring(me, receiver)) },
                receiver_knows: false,
                pending_rts: 0,
                queue: Default::default(),
            })
            .collect();
        Engine {
            me,
            choices,
            inbound: (0..ranks).map(|_| Inbound::default()).collect(),
            outbound,
            // Room for all ranks, so that nothing is allocated later, whichever of them is active first.
            active: Vec::with_capacity(ranks),
            queued: Vec::with_capacity(ranks),
            operations: Operations::default(),
            posted: PostedQueue::default(),
            unexpected: UnexpectedQueue::with_room(),
            cma,
            co_copies: Vec::new(),
            in_place: Vec::new(),
            calls: Calls::default(),
            wait_reports: WaitReports::default(),
            idle_polls: 0,
            may_defer_copy: false,
            longest_sleep: LONGEST_SLEEP,
            names: Vec::new(),
            failure: None,
            segment,
        }
    }

    /// Creates the engine of a rank in a model.
    #[cfg(all(test, loom))]
    pub(crate) fn of_model(segment: Segment, me: usize) -> Self {
        let choices = segment.seat().choices();
        Engine::with(segment, me, choices, Cma::Forbidden)
    }

    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.me
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.inbound.len()
    }

    /// Limits the duration of this rank's sleeps from now on.
    pub(crate) fn sleep_at_most(&mut self, limit: Duration) {
        self.longest_sleep = limit;
    }

    pub(crate) fn name_ranks(&mut self, names: Vec<usize>) {
        self.names = names;
    }

    /// Returns the rank by which messages to people name `rank`.
    #[cold]
    pub(crate) fn name_of(&self, rank: usize) -> usize {
        self.names.get(rank).copied().unwrap_or(rank)
    }

    /// Sets whether every rank has a processor, if the caller knows that better than the launcher. All ranks must make
    /// the same call, before any of them waits.
    pub(crate) fn set_every_rank_has_a_processor(&mut self, has: bool) {
        self.choices.every_rank_has_a_processor = has;
    }

    /// Returns whether a posted receive has matched a message.
    pub(crate) fn is_matched(&self, receive: Request) -> bool {
        !self.posted.holds(receive)
    }

    /// Returns whether anything that this rank has sent is not yet in its ring.
    pub(crate) fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Returns whether anything that this rank has sent may still be received.
    pub(crate) fn is_sending(&self) -> bool {
        self.operations.iter_sends().any(|(_, one)| match one.direction {
            operation::Direction::Send { to } => {
                to as usize != self.me && self.segment.seat().state(to as usize) == State::Alive
            }
            operation::Direction::Receive(_) => false,
        })
    }

    #[inline]
    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Returns this rank's seat.
    #[inline]
    pub(crate) fn seat(&self) -> &Seat {
        self.segment.seat()
    }

    /// Returns it mutably.
    pub(crate) fn seat_mut(&mut self) -> &mut Seat {
        self.segment.seat_mut()
    }

    /// Returns whether there are more ranks than processors.
    #[inline]
    pub(crate) fn is_oversubscribed(&self) -> bool {
        !self.choices.every_rank_has_a_processor
    }

    /// Describes the choices that matter to readers of measurements.
    pub(crate) fn describe(&self) -> BTreeMap<String, String> {
        let waiting = if self.choices.every_rank_has_a_processor {
            "spin; yield now and then after 50 us"
        } else {
            "yield, then sleep (more ranks than processors)"
        };
        let layout = self.segment.layout();
        let ring_bytes = layout.lines_per_ring() as usize * crate::ring::LINE_BYTES;
        let eager_limit_bytes = EAGER_LIMIT_BYTES.max(ring_bytes);
        BTreeMap::from([
            ("waiting".into(), waiting.into()),
            (
                "eager limit".into(),
                format!("{eager_limit_bytes} bytes; {ARENA_RENDEZVOUS_FROM_BYTES} from an arena"),
            ),
            (
                "ring".into(),
                format!(
                    "{} cells and {} bytes for each pair of ranks",
                    layout.cells_per_ring(),
                    ring_bytes
                ),
            ),
            ("cross-memory attach".into(), self.cma.describe()),
            (
                "shared arenas".into(),
                if self.segment.seat().has_arenas() { "yes" } else { "no (limit on addresses)" }
                    .into(),
            ),
            (
                "one copy from".into(),
                format!("{} bytes, from an arena", ARENA_RENDEZVOUS_FROM_BYTES + 1),
            ),
            ("both sides copy from".into(), format!("{RECEIVER_ASKS_HELP_FROM_BYTES} bytes")),
        ])
    }

    /// Returns the lengths from which messages are copied once, and by both sides.
    pub(crate) fn copies_from_bytes() -> [usize; 2] {
        [ARENA_RENDEZVOUS_FROM_BYTES + 1, RECEIVER_ASKS_HELP_FROM_BYTES]
    }

    /// Refuses every call after a permanent failure: memory of the call that failed may be gone and must not be
    /// accessed.
    #[inline]
    pub(crate) fn check_alive(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    pub(crate) fn fail(&mut self, error: contract::Error) -> contract::Error {
        self.close_co_copies();
        self.failure.get_or_insert(error).clone()
    }

    /// Wakes `rank` if it may sleep.
    #[inline]
    fn wake(&self, rank: usize) {
        if !self.choices.every_rank_has_a_processor {
            self.segment.seat().wake_if_asleep(rank);
        }
    }

    /// Takes in what has arrived, until `wanted` has ended, and sends what is queued.
    fn progress(&mut self, wanted: Option<Request>) {
        self.may_defer_copy = false;
        self.move_messages(wanted);
    }

    /// As `progress`, for one of many polls: it may temporarily leave a message in its ring that no receive accepts.
    /// Not sufficient if a single poll must have seen everything.
    fn progress_in_a_wait(&mut self, wanted: Option<Request>) {
        self.may_defer_copy = true;
        self.idle_polls = self.idle_polls.saturating_add(1);
        self.move_messages(wanted);
    }

    #[inline]
    fn move_messages(&mut self, wanted: Option<Request>) {
        self.find_senders();
        for index in 0..self.active.len() {
            self.drain(self.active[index], wanted);
        }
        if !self.co_copies.is_empty() {
            self.poll_co_copies();
        }
        if !self.queued.is_empty() {
            self.push_queued();
        }
    }

    /// Finds ranks that have begun to send.
    #[inline]
    fn find_senders(&mut self) {
        for word in 0..self.size().div_ceil(64) {
            let mut senders = self.segment.block(self.me).senders(word);
            while senders != 0 {
                let sender = word * 64 + senders.trailing_zeros() as usize;
                senders &= senders - 1;
                if self.inbound[sender].ring.is_none() {
                    let place = self.segment.ring(sender, self.me);
                    let back = self.segment.ring(self.me, sender);
                    // SAFETY: as for the producers; this rank is the only receiver.
                    self.inbound[sender].ring = Some(unsafe { Consumer::new(place, back) });
                    self.active.push(sender);
                }
            }
        }
    }
}

#[cfg(all(test, loom))]
mod tests;
