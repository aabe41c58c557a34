//! Messages through rings: the protocols that move the data.
//!
//! [`Rings`] works on raw memory, ranks, contexts and tags, and knows no interface. It belongs to one thread; everything
//! that it shares lies in the segment.
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
//! docs/measurements.md#short-messages.

mod arrive;
mod calls;
mod carry;
mod cma;
mod in_place;
mod limits;
mod message;
mod rendezvous;
mod send;
mod shared_processor;

use std::collections::BTreeMap;

use contract::{Request, SharedLine, Untrusted};
use engine::Messages;
use launcher::{Choices, Seat};

use crate::ring::{Consumer, Producer};
use crate::segment::Segment;
use arrive::Stream;
use calls::Calls;
use cma::{Cma, Probe};
use in_place::InPlaceMessage;
use limits::{ARENA_RENDEZVOUS_FROM_BYTES, EAGER_LIMIT_BYTES, RECEIVER_ASKS_HELP_FROM_BYTES};
use rendezvous::CoCopy;
use send::Outgoing;

/// The engine of one rank over this transport.
pub(crate) type Engine = engine::MessageEngine<Rings>;

/// Number of polls of the source's ring with which a blocking receive begins: some microseconds.
pub(crate) const FIRST_POLLS: u32 = if cfg!(loom) { 1 } else { 2000 };

/// The rings of one rank, to and from all others.
pub struct Rings {
    me: usize,
    choices: Choices,
    /// By source; `None` until that rank has sent something.
    inbound: Vec<Inbound>,
    /// By destination.
    outbound: Vec<Outbound>,
    /// The places here of the ranks of the run, if these are not the same numbers.
    places: Option<Vec<usize>>,
    /// The sources that have ever sent something, in the order in which they were found.
    active: Vec<usize>,
    /// The destinations with a non-empty queue.
    queued: Vec<usize>,
    cma: Cma,
    co_copies: Vec<CoCopy>,
    /// In-place messages whose receives have not ended yet.
    in_place: Vec<(Request, InPlaceMessage)>,
    /// In-place messages of other ranks that the program reads, by number.
    lent: Vec<Option<InPlaceMessage>>,
    calls: Calls,
    /// Number of consecutive polls that have moved nothing.
    idle_polls: u32,
    /// True if this poll may leave messages in their rings.
    may_defer_copy: bool,
    /// Last, because everything above may point into it.
    segment: Segment,
}

struct Inbound {
    /// The rank of the run.
    rank: u32,
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

impl Rings {
    /// Begins a rank's part of the run. Returns its engine once all ranks have begun theirs.
    pub(crate) fn begin(segment: Segment) -> Engine {
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
        Engine::new(me, Rings::with(segment, me, choices, cma), choices.every_rank_has_a_processor)
    }

    /// Returns the rings of a rank that has joined.
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
        Rings {
            me,
            choices,
            inbound: (0..ranks)
                .map(|rank| Inbound { rank: rank as u32, ring: None, stream: Stream::None })
                .collect(),
            outbound,
            places: None,
            // Room for all ranks, so that nothing is allocated later, whichever of them is active first.
            active: Vec::with_capacity(ranks),
            queued: Vec::with_capacity(ranks),
            cma,
            co_copies: Vec::new(),
            in_place: Vec::new(),
            lent: Vec::new(),
            calls: Calls::default(),
            idle_polls: 0,
            may_defer_copy: false,
            segment,
        }
    }

    /// Creates the engine of a rank in a model.
    #[cfg(all(test, loom))]
    pub(crate) fn of_model(segment: Segment, me: usize) -> Engine {
        let choices = segment.seat().choices();
        let own_processor = choices.every_rank_has_a_processor;
        Engine::new(me, Rings::with(segment, me, choices, Cma::Forbidden), own_processor)
    }

    /// Returns whether this rank, as every other, has a processor to itself.
    #[inline]
    pub fn has_own_processor(&self) -> bool {
        self.choices.every_rank_has_a_processor
    }

    /// Sets that, if the caller knows it better than the launcher. All ranks must make the same call, before any of them
    /// waits.
    pub fn set_own_processor(&mut self, has: bool) {
        self.choices.every_rank_has_a_processor = has;
    }

    /// Returns the number of consecutive polls of a wait that have moved nothing.
    pub fn idle_polls(&self) -> u32 {
        self.idle_polls
    }

    #[inline]
    fn ranks(&self) -> usize {
        self.inbound.len()
    }

    /// Declares that these are `ranks` of a run of `size` ranks, in this order. Without this call the two are the same.
    pub fn be_of_run(&mut self, ranks: &[usize], size: usize) {
        let mut places = vec![usize::MAX; size];
        for (place, (inbound, &rank)) in self.inbound.iter_mut().zip(ranks).enumerate() {
            inbound.rank = rank as u32;
            places[rank] = place;
        }
        self.places = Some(places);
    }

    /// Returns the rank of the run at a place here.
    #[inline]
    pub fn rank_at(&self, place: usize) -> usize {
        self.inbound[place].rank as usize
    }

    /// Returns the place here of a rank of the run, which must be one of these.
    #[inline]
    fn place_of(&self, rank: u32) -> usize {
        match &self.places {
            None => rank as usize,
            Some(places) => places[rank as usize],
        }
    }

    #[inline]
    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Returns this rank's seat.
    #[inline]
    pub fn seat(&self) -> &Seat {
        self.segment.seat()
    }

    /// Returns the cache line that all ranks of these rings share.
    #[cfg(not(loom))]
    pub fn shared_line(&self) -> &dyn SharedLine {
        &self.segment.header().shared_line
    }

    /// Returns it mutably.
    pub fn seat_mut(&mut self) -> &mut Seat {
        self.segment.seat_mut()
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

    /// Wakes `rank` if it may sleep.
    #[inline]
    fn wake(&self, rank: usize) {
        if !self.choices.every_rank_has_a_processor {
            self.segment.seat().wake_if_asleep(rank);
        }
    }

    #[inline]
    fn move_messages(&mut self, messages: &mut Messages, wanted: Option<Request>) {
        self.find_senders();
        for index in 0..self.active.len() {
            self.drain(messages, self.active[index], wanted);
        }
        if !self.co_copies.is_empty() {
            self.poll_co_copies(messages);
        }
        if !self.queued.is_empty() {
            self.push_queued(messages);
        }
    }

    /// Finds ranks that have begun to send.
    #[inline]
    fn find_senders(&mut self) {
        for word in 0..self.ranks().div_ceil(64) {
            let mut senders = self.segment.block(self.me).senders(word);
            while senders != 0 {
                let sender = Untrusted::new(word * 64 + senders.trailing_zeros() as usize);
                senders &= senders - 1;
                // Every rank can write the bits of ranks that there are not.
                let Some(sender) = sender.below(self.inbound.len()) else { continue };
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

#[cfg(all(test, not(loom)))]
mod corrupt;
#[cfg(all(test, loom))]
mod tests;
