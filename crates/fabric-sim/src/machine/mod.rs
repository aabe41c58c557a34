//! The description of a message-passing computer from which it is simulated.

mod array;
mod built_in;
mod error;
mod fault;
mod file;
mod network;
mod scaled;
mod sci;
mod shaped;
mod show;
mod source;
mod windows;

use std::sync::Arc;

use collectives::plan::{Boards, Capabilities};
use contract::{TimeSpan, WorkKind};

use crate::quantity::{Cost, Piecewise};
use crate::sci::RingSettings;

pub use array::{Array, WordCost};
pub use built_in::{built_in, built_in_names, find};
pub use error::MachineError;
pub use fault::{Broken, Fault};
pub use file::{add_faults, parse};
pub use network::{InnerNetwork, MergePolicy, Network, Switching};
pub use show::show;
pub use source::NumberSource;
pub use windows::{AccessPath, Windows};

/// The most ranks of any machine. Handles of posted operations hold the rank in 20 bits.
pub const RANKS_MAX: usize = 1 << 20;

/// A message-passing computer.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The name by which `sim:NAME` selects it.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The level at which it is simulated unless the user asks for another.
    pub level: Level,
    /// The greatest number of processors, if there is a limit. It is the greatest number of ranks unless several share
    /// a processor.
    pub ranks_max: Option<usize>,
    /// How many ranks share a processor unless the user asks for another number: rank r is on processor r divided by
    /// it.
    pub ranks_per_processor: usize,
    /// Its processors.
    pub processor: Processor,
    /// What a message costs at its ends.
    pub endpoint: NodeCosts,
    /// From which length on messages use a rendezvous.
    pub protocol: Protocol,
    /// What lies between the ends: the network that joins all nodes.
    pub network: Network,
    /// Rings of SCI, which then are what lies between the ends; `network` has the same links without rings.
    pub sci: Option<RingSettings>,
    /// Further networks, each within groups of nodes, from the innermost outwards.
    pub inner_networks: Vec<InnerNetwork>,
    /// What breaks, and when.
    pub faults: Vec<Fault>,
    /// Collectives around its ring, if it has them.
    pub ring_collectives: Option<RingCollectives>,
    /// Boards in shared memory, if it has them. Collectives then go over them.
    pub board: Option<Arc<Board>>,
    /// What accesses to memory of other ranks cost, if it carries them out without the target's taking part. Otherwise
    /// windows go by messages.
    pub windows: Option<Windows>,
    /// Its processors word by word, if it is described so.
    pub array: Option<Array>,
    /// Pauses by its operating system, by kind.
    pub pauses: Vec<Pause>,
    /// Where each number comes from.
    pub sources: Vec<NumberSource>,
}

/// How much detail is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// L1: end points and an unloaded network. Messages delay each other at the ends only.
    LogGp,
    /// L2: packets over links. Messages delay each other wherever they meet.
    Packets,
}

/// The processors, all alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processor {
    /// The time for each kind of work by its amount, where it is known; work of other kinds takes no time.
    pub work: Vec<(WorkKind, Piecewise)>,
    /// The time of one poll.
    pub polling: TimeSpan,
    /// The time after which a rank without a fixed priority yields to the next rank on its processor.
    pub time_slice: TimeSpan,
    /// The time of a switch to another rank on the same processor.
    pub switch: TimeSpan,
}

/// What a message costs at its ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeCosts {
    /// The time of the sender's processor for each message.
    pub send: Piecewise,
    /// The time of the receiver's processor for each message that has arrived.
    pub receive: Piecewise,
    /// The additional time of the receiver's processor for an unexpected message.
    pub unexpected: Piecewise,
    /// The time of the sender's packet engine. The fixed part counts for each packet after the first of a message.
    pub packet_send: Cost,
    /// The time of the receiver's packet engine, counted in the same way.
    pub packet_receive: Cost,
    /// The processor's time to post an operation that it does not block in.
    pub post: TimeSpan,
    /// Whether the steps of collectives cost this time, too, as the operations of a program do.
    pub library_posts: bool,
    /// The time of the sender's engine before the first packet of a message, by the message's length.
    pub setup: Piecewise,
    /// From this many bytes on a node either sends or takes in a message, not both at once (level L1: as a whole, and
    /// taking in takes as long as sending; L2: packet by packet at its ends). `None` if it always does both at once.
    pub simplex_from_bytes: Option<u64>,
    /// The gap: the shortest time between two messages that a node sends, and between two that it takes in, by the
    /// length of the first (level L1).
    pub gap: Piecewise,
    /// Whether messages are copies in memory. Messages that are posted together and exceed the caches then take longer,
    /// by as much as copies in so much memory do.
    pub posted_in_memory: bool,
    /// Whether the packet engine prepares the next packet while the link still carries the last.
    pub engine_overlaps_link: bool,
    /// Whether a co-processor handles packets, so that sending and receiving do not delay each other.
    pub co_processor: bool,
    /// Whether the packet engine takes packets from all messages of a node in turn, and not one message after the other
    /// (level L2).
    pub interleaves_messages: bool,
    /// Whether the processor passes on the messages of others: it takes [`Network::forward`](Network) for each, in
    /// preference to its own program, and queues it at its next link, as it does its own messages (level L2). Otherwise
    /// the network does that, beside the processor.
    pub processor_forwards: bool,
    /// Whether a blocking send returns when the last byte has left. Otherwise it returns when the message has started.
    pub send_waits_for_link: bool,
}

/// Which messages are eager, and what a rendezvous costs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Protocol {
    /// Messages up to this length are eager. Longer ones wait for the receiver's CTS.
    pub eager_bytes: u64,
    /// What the RTS costs.
    pub announcement: Announcement,
    /// The length of an RTS and of a CTS on the network.
    pub control_bytes: u32,
    /// The time of the receiver's engine to send a CTS.
    pub answer: TimeSpan,
}

/// What the RTS of a rendezvous costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Announcement {
    /// It is a message.
    #[default]
    Message,
    /// It costs nothing. Only the CTS is a message. It precedes every message however short, and the sender's overhead
    /// follows it.
    Free,
}

/// Barrier, broadcast and allgather around a ring without headers (the ring protocol of SHARC).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RingCollectives {
    /// The time before a node joins the barrier.
    pub barrier_entry: TimeSpan,
    /// The time of a node to take the barrier's token and pass it on, without the link's time.
    pub barrier_hop: TimeSpan,
    /// The time of an inner node to pass the first packet of a broadcast on.
    pub forward: TimeSpan,
    /// The time between two packets of a broadcast at a node.
    pub packet: TimeSpan,
    /// The time of an allgather beyond the barrier and its steps.
    pub allgather_entry: TimeSpan,
    /// The time of a node for each step of an allgather.
    pub allgather_step: TimeSpan,
}

/// Memory in which each rank shows the others its part of a collective. A board has several slots, which are used in
/// turn. A rank writes its part to a slot, the others read it there, and the slot is written again after all have read
/// it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// The most ranks of a collective over boards. Collectives of more ranks use messages.
    pub ranks_max: usize,
    /// The most bytes of a collective over boards. Longer ones use messages.
    pub bytes_max: u64,
    /// The longest part that lies in the line which announces it. Longer parts lie in other lines. To read or write any
    /// share of such a part takes as long as the shortest part that is longer than this.
    pub line_bytes: u64,
    /// The longest piece. Longer parts go in several pieces.
    pub piece_bytes: u64,
    /// The longest piece of those that collectives of few ranks make longer, as the fabric does.
    pub slot_bytes: u64,
    /// The number of slots of a board. A rank fills half of them before it reads those of the others.
    pub places: u64,
    /// The time from the writing of a piece until another rank sees it.
    pub see: TimeSpan,
    /// The time to poll each further board, of those that a rank waits for.
    pub further_board: TimeSpan,
    /// The time to write a piece that others will read, by its length.
    pub put: Piecewise,
    /// The time to read another rank's piece.
    pub take: Piecewise,
    /// The time to combine another rank's piece with one's own. Where several are combined, the time of the shortest
    /// length is spent once.
    pub combine: Piecewise,
    /// By how much these times, and copies, are longer while other ranks work at the same time, in thousandths.
    pub crowding_permille: u64,
}

impl Board {
    /// What a plan has to know of the boards.
    pub fn capabilities(&self) -> Capabilities {
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let boards = Boards {
            most_ranks: self.ranks_max,
            most_bytes: bytes(self.bytes_max),
            slots: bytes(self.places),
            slot_bytes: bytes(self.slot_bytes),
            piece_bytes: bytes(self.piece_bytes),
        };
        Capabilities { boards, cma: false }
    }

    /// The number of bytes that the writing or reading of `bytes` bytes costs, in a part of `part_bytes`.
    pub fn counted(&self, bytes: usize, part_bytes: usize) -> u64 {
        if part_bytes as u64 <= self.line_bytes {
            return bytes as u64;
        }
        (bytes as u64).max(self.line_bytes.saturating_add(1))
    }

    /// The time of work on the boards while other ranks work there, for work that takes `alone` without them.
    pub fn crowded(&self, alone: TimeSpan) -> TimeSpan {
        let ps = u128::from(alone.as_ps()) * u128::from(1000 + self.crowding_permille) / 1000;
        TimeSpan::from_ps(ps as u64)
    }
}

/// A kind of pause by the operating system, which recurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The time from one to the next.
    pub period: TimeSpan,
    /// How long it is.
    pub length: TimeSpan,
    /// The greatest delay of its beginning. Delays are evenly distributed from zero to this.
    pub period_jitter: TimeSpan,
    /// By how much it may be shorter or longer, evenly distributed.
    pub length_jitter: TimeSpan,
    /// Whether all processors have it at the same moments. Otherwise each has its own.
    pub at_once: bool,
    /// The processors that have it. `None`: all.
    pub processors: Option<Vec<usize>>,
}

impl Machine {
    /// The greatest number of ranks with so many on each processor.
    pub fn most_ranks(&self, ranks_per_processor: usize) -> usize {
        let processors = self.ranks_max.unwrap_or(RANKS_MAX);
        processors.saturating_mul(ranks_per_processor).min(RANKS_MAX)
    }
}

impl Pause {
    /// Whether this processor has it.
    pub fn concerns(&self, processor: usize) -> bool {
        self.processors.as_ref().is_none_or(|listed| listed.contains(&processor))
    }
}

impl Processor {
    /// The time for `amount` units of `kind`.
    pub fn time(&self, kind: WorkKind, amount: u64) -> TimeSpan {
        let cost = self.work.iter().find(|(known, _)| *known == kind);
        cost.map_or(TimeSpan::ZERO, |(_, cost)| cost.of(amount))
    }

    /// The kinds of work without a rate: they take no time.
    pub fn without_rate(&self) -> Vec<WorkKind> {
        let known = |kind: &WorkKind| self.work.iter().any(|(known, _)| known == kind);
        WorkKind::ALL.into_iter().filter(|kind| !known(kind)).collect()
    }

    /// How much longer a copy of `bytes` bytes takes as part of `footprint_bytes` bytes of memory than when it is
    /// repeated in the same memory. A copy of n bytes touches 2 n bytes.
    pub fn beyond_caches(&self, bytes: u64, footprint_bytes: u64) -> TimeSpan {
        let copied = footprint_bytes / 2;
        if copied <= bytes {
            return TimeSpan::ZERO;
        }
        let whole_ps = u128::from(self.time(WorkKind::CopyBytes, copied).as_ps());
        let share = TimeSpan::from_ps((whole_ps * u128::from(bytes) / u128::from(copied)) as u64);
        share - self.time(WorkKind::CopyBytes, bytes)
    }
}

impl NodeCosts {
    /// Whether a node that sends or takes in a message of `bytes` bytes can do nothing else at the same time.
    pub fn is_simplex(&self, bytes: u64) -> bool {
        self.simplex_from_bytes.is_some_and(|from| bytes >= from)
    }
}

impl Protocol {
    /// Whether a message of `bytes` bytes is eager.
    pub fn sends_at_once(&self, bytes: u64) -> bool {
        self.announcement == Announcement::Message && bytes <= self.eager_bytes
    }
}

impl Level {
    /// The level's name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Level::LogGp => "loggp",
            Level::Packets => "packets",
        }
    }
}
