//! The message engine: started operations, matching, and the protocols that move the bytes.
//!
//! It knows raw memory, ranks, contexts and tags, and no interface: the contract's endpoint is one layer over it. One engine belongs to one thread; everything it shares lies in the segment.
//!
//! How a message travels, by its length:
//! * up to 108 bytes ([`SHORT_BYTES`](crate::ring::SHORT_BYTES)): in the cell itself, from 49 bytes on in two;
//! * up to [`EAGER_LIMIT_BYTES`](limits::EAGER_LIMIT_BYTES) (less where a shorter way is open: `limits`): at once, through the byte ring, in fragments if need be; a receiver that has posted
//!   nothing keeps a copy;
//! * longer: the sender offers it; once the receive is known, it is copied straight from memory to memory where one side
//!   reaches the other's (`transfer`), else it follows in fragments.
//!
//! The way of a short message is forced into one function (`inline(always)`). What is handed from function to function in memory is
//! written in small parts and read at once in larger ones, which the processor does only when all stores before have left it, those
//! to cells too, for each of which a line has to come from the other processor (two processors of a Zen 5: 17 of the 50 ns
//! that a message of a stream took).

mod arrive;
mod blocking;
mod calls;
mod copy;
mod lending;
mod limits;
mod matching;
mod message;
mod operation;
mod send;
mod transfer;

use std::collections::BTreeMap;

use contract::record::FabricDescription;
use contract::{Request, Result};

pub(crate) use blocking::FIRST_LOOKS;
pub(crate) use calls::{
    Collective, describe, differ_in_length_only, mismatch, signature, unequal_lengths,
};
pub(crate) use lending::Loan;

use crate::ring::{Consumer, Producer};
use crate::segment::{Choices, Segment};
use crate::team::{Sharing, Team};
use crate::{system, wait};
use arrive::Stream;
use calls::Calls;
use copy::{Attach, Probe};
use limits::{DIRECT_FROM_BYTES, EAGER_LIMIT_BYTES, SHARED_FROM_BYTES};
use matching::{PostedQueue, UnexpectedQueue};
use operation::Operations;
use send::Outgoing;
use transfer::Transfer;

/// The engine of one rank.
pub(crate) struct Engine {
    me: usize,
    choices: Choices,
    /// By source; none until that rank has sent something.
    inbound: Vec<Inbound>,
    /// By destination.
    outbound: Vec<Outbound>,
    /// The sources that have ever sent something, in the order in which they were noticed.
    active: Vec<usize>,
    /// The destinations with something queued.
    queued: Vec<usize>,
    operations: Operations,
    posted: PostedQueue,
    unexpected: UnexpectedQueue,
    attach: Attach,
    transfers: Vec<Transfer>,
    /// Messages in place whose receives have not been asked for their end.
    loans: Vec<(Request, Loan)>,
    calls: Calls,
    /// How many looks in a row have moved nothing.
    fruitless_looks: u32,
    /// Whether this look may leave messages in their rings.
    may_leave: bool,
    /// Set by the first error that cannot be mended; every later call returns it.
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
    /// Whether the receiver has been told to look at this ring.
    announced: bool,
    /// Messages that were offered and not yet answered.
    offered: u32,
    queue: std::collections::VecDeque<Outgoing>,
}

impl Engine {
    /// Joins the run as rank `me`; returns once all ranks have.
    pub(crate) fn new(mut segment: Segment, me: usize) -> Self {
        segment.open_arenas(me);
        let choices = segment.header().choices();
        let probe = Probe::publish(&segment, me);
        segment.block(me).set_processor(system::only_processor());
        segment.header().count_attached();
        segment.header().wait_for_all(segment.ranks());
        let attach = match choices.cross_memory_attach {
            true => probe.try_neighbour(&segment, me),
            false => Attach::Forbidden,
        };
        // From here on nobody reads what was published.
        let attach = attach.agree(&segment);
        let ranks = segment.ranks();
        let outbound = (0..ranks)
            .map(|receiver| Outbound {
                // SAFETY: the segment maps the ring, outlives the engine's use of it, and gave it to no other sender.
                ring: unsafe { Producer::new(segment.ring(me, receiver)) },
                announced: false,
                offered: 0,
                queue: Default::default(),
            })
            .collect();
        Engine {
            me,
            choices,
            inbound: (0..ranks).map(|_| Inbound::default()).collect(),
            outbound,
            // Room for all at once: whichever of them is busy first, nothing is allocated in the midst of messages.
            active: Vec::with_capacity(ranks),
            queued: Vec::with_capacity(ranks),
            operations: Operations::default(),
            posted: PostedQueue::default(),
            unexpected: UnexpectedQueue::with_room(),
            attach,
            transfers: Vec::new(),
            loans: Vec::new(),
            calls: Calls::default(),
            fruitless_looks: 0,
            may_leave: false,
            failure: None,
            segment,
        }
    }

    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.me
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.inbound.len()
    }

    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    /// The team of all ranks, which a process may have once.
    pub(crate) fn world(&self) -> Team {
        let members: Vec<usize> = (0..self.segment.ranks()).collect();
        let boards = members.iter().map(|&rank| self.segment.board(rank)).collect();
        let sharing = self.sharing(&members);
        // SAFETY: the layout has a board for every rank, of zeros when the launcher made it, and the mapping outlives the
        // engine, beside which the team is kept.
        unsafe { Team::new(members, self.me, boards, sharing) }
    }

    /// Whether ranks have to take turns.
    #[inline]
    pub(crate) fn shares_processors(&self) -> bool {
        !self.choices.every_rank_has_a_processor
    }

    /// What a team of these ranks knows of their processors.
    pub(crate) fn sharing(&self, members: &[usize]) -> Sharing {
        let processor = |place: usize| self.segment.block(members[place]).processor();
        if !self.shares_processors() {
            return Sharing::No;
        }
        let all: Option<Vec<u32>> = (0..members.len()).map(processor).collect();
        all.map_or(Sharing::Anyhow, Sharing::Bound)
    }

    /// The choices that a reader of measurements wants to know.
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
                format!("{eager_limit_bytes} bytes; {DIRECT_FROM_BYTES} from an arena"),
            ),
            (
                "ring".into(),
                format!(
                    "{} cells and {} bytes for each pair of ranks",
                    layout.cells_per_ring(),
                    ring_bytes
                ),
            ),
            ("cross-memory attach".into(), self.attach.describe()),
            (
                "shared arenas".into(),
                if self.segment.has_arenas() { "yes" } else { "no (limit on addresses)" }.into(),
            ),
            (
                FabricDescription::ONE_COPY_FROM.into(),
                format!("{} bytes, from an arena", DIRECT_FROM_BYTES + 1),
            ),
            (FabricDescription::BOTH_COPY_FROM.into(), format!("{SHARED_FROM_BYTES} bytes")),
        ])
    }

    /// Refuses every call after a failure that cannot be mended: memory of the call that failed may be gone, and must not
    /// be touched any more.
    #[inline]
    pub(crate) fn check_alive(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    pub(crate) fn fail(&mut self, error: contract::Error) -> contract::Error {
        self.close_transfers();
        self.failure.get_or_insert(error).clone()
    }

    /// Wakes `rank` if it may sleep.
    #[inline]
    fn wake(&self, rank: usize) {
        if !self.choices.every_rank_has_a_processor {
            wait::wake_if_asleep(self.segment.block(rank).sleep_word());
        }
    }

    /// Takes in what has arrived, until `wanted` has ended, and sends on what is queued.
    fn progress(&mut self, wanted: Option<Request>) {
        self.may_leave = false;
        self.move_messages(wanted);
    }

    /// The same for a look of which many follow: it may leave a message in its ring for a while that no receive accepts. Where
    /// something depends on one look having seen everything, it is not enough.
    fn progress_in_a_wait(&mut self, wanted: Option<Request>) {
        self.may_leave = true;
        self.fruitless_looks = self.fruitless_looks.saturating_add(1);
        self.move_messages(wanted);
    }

    #[inline]
    fn move_messages(&mut self, wanted: Option<Request>) {
        self.find_senders();
        for index in 0..self.active.len() {
            self.drain(self.active[index], wanted);
        }
        if !self.transfers.is_empty() {
            self.look_at_transfers();
        }
        if !self.queued.is_empty() {
            self.push_queued();
        }
    }

    /// Notices ranks that have begun to send.
    #[inline]
    fn find_senders(&mut self) {
        for word in 0..self.size().div_ceil(64) {
            let mut senders = self.segment.block(self.me).senders(word);
            while senders != 0 {
                let sender = word * 64 + senders.trailing_zeros() as usize;
                senders &= senders - 1;
                if self.inbound[sender].ring.is_none() {
                    let place = self.segment.ring(sender, self.me);
                    let answers = self.segment.ring(self.me, sender);
                    // SAFETY: as for the producers; we are the only receiver.
                    self.inbound[sender].ring = Some(unsafe { Consumer::new(place, answers) });
                    self.active.push(sender);
                }
            }
        }
    }
}
