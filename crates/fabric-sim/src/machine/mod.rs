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
pub use built_in::{built_in, built_in_names, built_in_text, find, find_built_in};
pub use error::MachineError;
pub use fault::{Broken, Fault};
pub use file::{add_faults, parse};
pub use network::{InnerNetwork, MergePolicy, Network, Switching};
pub use show::show;
pub use source::NumberSource;
pub use windows::{AccessPath, Windows};

/// Maximum number of ranks of any machine. Handles of posted operations hold the rank in 20 bits.
pub const RANKS_MAX: usize = 1 << 20;

/// A message-passing computer.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The name by which `sim:NAME` selects it.
    pub name: String,
    /// Description in one line.
    pub title: String,
    /// The level of its simulation, unless the user selects another.
    pub level: Level,
    /// Maximum number of processors, if there is a limit. It is also the maximum number of ranks unless several share a
    /// processor.
    pub ranks_max: Option<usize>,
    /// Number of ranks that share a processor, unless the user selects another number. Rank r is on processor r divided
    /// by it.
    pub ranks_per_processor: usize,
    /// Its processors.
    pub processor: Processor,
    /// Costs of a message at its ends.
    pub endpoint: NodeCosts,
    /// The lengths of eager messages, and the costs of a rendezvous.
    pub protocol: Protocol,
    /// The network that joins all nodes.
    pub network: Network,
    /// Rings of SCI, which then carry the messages. `network` then has the same links without rings.
    pub sci: Option<RingSettings>,
    /// Further networks, each within groups of nodes, from the innermost outwards.
    pub inner_networks: Vec<InnerNetwork>,
    /// The parts that break, and when.
    pub faults: Vec<Fault>,
    /// Collectives around its ring, if it has them.
    pub ring_collectives: Option<RingCollectives>,
    /// Boards in shared memory, if it has them. Collectives then use them.
    pub board: Option<Arc<Board>>,
    /// Costs of accesses to memory of other ranks, if the machine carries them out without the target's participation.
    /// Otherwise windows use messages.
    pub windows: Option<Windows>,
    /// Its processors at the level of words, if they are described so.
    pub array: Option<Array>,
    /// Pauses by its operating system, by kind.
    pub pauses: Vec<Pause>,
    /// The source of each number.
    pub sources: Vec<NumberSource>,
}

/// The detail of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// L1: end points and an unloaded network. Messages delay each other only at the ends.
    LogGp,
    /// L2: packets over links. Messages delay each other wherever they meet.
    Packets,
}

/// The processors, all alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processor {
    /// Time for each kind of work by its amount, if known. Work of other kinds takes no time.
    pub work: Vec<(WorkKind, Piecewise)>,
    /// Time of one poll.
    pub polling: TimeSpan,
    /// Time after which a rank without a fixed priority yields to the next rank on its processor.
    pub time_slice: TimeSpan,
    /// Time of a switch to another rank on the same processor.
    pub switch: TimeSpan,
}

/// Costs of a message at its ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeCosts {
    /// Time of the sender's processor for each message.
    pub send: Piecewise,
    /// Time of the receiver's processor for each message that has arrived.
    pub receive: Piecewise,
    /// Additional time of the receiver's processor for an unexpected message.
    pub unexpected: Piecewise,
    /// Time of the sender's packet engine. The fixed part counts for each packet after the first of a message.
    pub packet_send: Cost,
    /// Time of the receiver's packet engine, counted in the same way.
    pub packet_receive: Cost,
    /// Time of the processor to post an operation that does not block it.
    pub post: TimeSpan,
    /// True if the steps of collectives cost this time, too, as the operations of a program do.
    pub library_posts: bool,
    /// Time of the sender's engine before the first packet of a message, by the message's length.
    pub setup: Piecewise,
    /// From this number of bytes on, a node either sends or takes in a message, not both at once. At level L1 this
    /// holds for the message as a whole, and taking in takes as long as sending; at L2 for each packet at its ends.
    /// `None` if the node always does both at once.
    pub simplex_from_bytes: Option<u64>,
    /// The gap: the shortest time between two messages that a node sends, and between two that it takes in, by the
    /// length of the first (level L1).
    pub gap: Piecewise,
    /// True if messages are copies in memory. Messages that are posted together and exceed the caches then take longer,
    /// by the additional time of copies in that amount of memory.
    pub posted_in_memory: bool,
    /// True if the packet engine prepares the next packet while the link still carries the last.
    pub engine_overlaps_link: bool,
    /// True if a co-processor handles packets, so that sending and receiving do not delay each other.
    pub co_processor: bool,
    /// True if the packet engine takes packets from all messages of a node in turn, and not one message after the other
    /// (level L2).
    pub interleaves_messages: bool,
    /// True if the processor forwards the messages of other nodes. It takes [`Network::forward`](Network) for each, in
    /// preference to its own program, and queues it at the next link, as it does its own messages (level L2). Otherwise
    /// the network forwards them, independently of the processor.
    pub processor_forwards: bool,
    /// True if a blocking send returns when the last byte has left. Otherwise it returns when the message has started.
    pub send_waits_for_link: bool,
}

/// The lengths of eager messages, and the costs of a rendezvous.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Protocol {
    /// Maximum length in bytes of eager messages. Longer ones wait for the receiver's CTS.
    pub eager_bytes: u64,
    /// Cost of the RTS.
    pub announcement: Announcement,
    /// Length in bytes of an RTS and of a CTS on the network.
    pub control_bytes: u32,
    /// Time of the receiver's engine to send a CTS.
    pub answer: TimeSpan,
}

/// Cost of the RTS of a rendezvous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Announcement {
    /// The cost of a message.
    #[default]
    Message,
    /// None: only the CTS is a message. The CTS precedes every message, even a short one, and the sender's overhead
    /// follows it.
    Free,
}

/// Barrier, broadcast and allgather around a ring without headers (the ring protocol of SHARC).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RingCollectives {
    /// Time before a node joins the barrier.
    pub barrier_entry: TimeSpan,
    /// Time of a node to take the barrier's token and pass it on, without the link's time.
    pub barrier_hop: TimeSpan,
    /// Time of an inner node to pass on the first packet of a broadcast.
    pub forward: TimeSpan,
    /// Time between two packets of a broadcast at a node.
    pub packet: TimeSpan,
    /// Time of an allgather in addition to the barrier and its steps.
    pub allgather_entry: TimeSpan,
    /// Time of a node for each step of an allgather.
    pub allgather_step: TimeSpan,
}

/// Memory in which each rank publishes its part of a collective to the others. A board has several slots, which are
/// used in turn. A rank writes its part to a slot, the others read it there, and the slot is written again after all
/// have read it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// Maximum number of ranks of a collective over boards. Collectives of more ranks use messages.
    pub ranks_max: usize,
    /// Maximum length in bytes of a collective over boards. Longer ones use messages.
    pub bytes_max: u64,
    /// Length in bytes of the longest part that fits the line which announces it. Longer parts are in other lines.
    /// Reading or writing any share of such a longer part takes at least as long as a part of one byte more than this.
    pub line_bytes: u64,
    /// Length in bytes of the longest piece. Longer parts consist of several pieces.
    pub piece_bytes: u64,
    /// Length in bytes of the longest piece of collectives of few ranks, which use longer pieces, as the fabric does.
    pub slot_bytes: u64,
    /// Number of slots of a board. A rank fills half of them before it reads those of the others.
    pub places: u64,
    /// Time from the writing of a piece until another rank sees it.
    pub see: TimeSpan,
    /// Time to poll each further board of those that a rank waits for.
    pub further_board: TimeSpan,
    /// Time to write a piece that others will read, by its length.
    pub put: Piecewise,
    /// Time to read another rank's piece.
    pub take: Piecewise,
    /// Time to combine another rank's piece with the rank's own. If several are combined, the time of the shortest
    /// length is spent once.
    pub combine: Piecewise,
    /// Increase of these times, and of copies, while other ranks work at the same time, in thousandths.
    pub crowding_permille: u64,
}

impl Board {
    /// Returns the boards' limits and lengths that plans of collectives use.
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

    /// Returns the number of bytes that determines the cost of writing or reading `bytes` bytes of a part of
    /// `part_bytes`.
    pub fn counted(&self, bytes: usize, part_bytes: usize) -> u64 {
        if part_bytes as u64 <= self.line_bytes {
            return bytes as u64;
        }
        (bytes as u64).max(self.line_bytes.saturating_add(1))
    }

    /// Returns the time of work on the boards while other ranks use them, if the work alone takes `alone`.
    pub fn crowded(&self, alone: TimeSpan) -> TimeSpan {
        let ps = u128::from(alone.as_ps()) * u128::from(1000 + self.crowding_permille) / 1000;
        TimeSpan::from_ps(ps as u64)
    }
}

/// A kind of pause by the operating system, which recurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Time from one pause to the next.
    pub period: TimeSpan,
    /// Length of a pause.
    pub length: TimeSpan,
    /// Maximum delay of its beginning. Delays are evenly distributed from zero to this.
    pub period_jitter: TimeSpan,
    /// Maximum difference of a pause's length from `length`, evenly distributed in both directions.
    pub length_jitter: TimeSpan,
    /// True if all processors have it at the same moments. Otherwise each has its own.
    pub at_once: bool,
    /// The processors that have it. `None`: all.
    pub processors: Option<Vec<usize>>,
}

impl Machine {
    /// Returns the maximum number of ranks with `ranks_per_processor` on each processor.
    pub fn most_ranks(&self, ranks_per_processor: usize) -> usize {
        let processors = self.ranks_max.unwrap_or(RANKS_MAX);
        processors.saturating_mul(ranks_per_processor).min(RANKS_MAX)
    }
}

impl Pause {
    /// Returns whether this processor has it.
    pub fn applies_to(&self, processor: usize) -> bool {
        self.processors.as_ref().is_none_or(|listed| listed.contains(&processor))
    }
}

impl Processor {
    /// Returns the time for `amount` units of `kind`.
    pub fn time(&self, kind: WorkKind, amount: u64) -> TimeSpan {
        let cost = self.work.iter().find(|(its_kind, _)| *its_kind == kind);
        cost.map_or(TimeSpan::ZERO, |(_, cost)| cost.of(amount))
    }

    /// Returns the kinds of work without a rate, which take no time.
    pub fn without_rate(&self) -> Vec<WorkKind> {
        let has_rate = |kind: &WorkKind| self.work.iter().any(|(its_kind, _)| its_kind == kind);
        WorkKind::ALL.into_iter().filter(|kind| !has_rate(kind)).collect()
    }

    /// Returns the additional time of a copy of `bytes` bytes as part of `footprint_bytes` bytes of memory, compared
    /// with a copy that is repeated in the same memory. A copy of n bytes touches 2 n bytes.
    pub fn time_beyond_caches(&self, bytes: u64, footprint_bytes: u64) -> TimeSpan {
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
    /// Returns whether a node that sends or takes in a message of `bytes` bytes can do nothing else at the same time.
    pub fn is_simplex(&self, bytes: u64) -> bool {
        self.simplex_from_bytes.is_some_and(|from| bytes >= from)
    }
}

impl Protocol {
    /// Returns whether a message of `bytes` bytes is eager.
    pub fn sends_at_once(&self, bytes: u64) -> bool {
        self.announcement == Announcement::Message && bytes <= self.eager_bytes
    }
}

impl Level {
    /// Returns the level's name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Level::LogGp => "loggp",
            Level::Packets => "packets",
        }
    }
}
