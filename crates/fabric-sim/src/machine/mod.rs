//! A machine, as the simulator needs to know it.

mod built_in;
mod error;
mod file;
mod show;
mod source;

use std::sync::Arc;

use contract::{TimeSpan, WorkKind};

use crate::network::Kind;
use crate::quantity::{Cost, PerUnit, Piecewise};
use crate::topology::Shape;

pub use built_in::{built_in, built_in_names, find};
pub use error::MachineError;
pub use file::parse;
pub use show::show;
pub use source::Source;

/// A message-passing computer.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The name that `sim:NAME` takes.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The level at which it is simulated unless the user asks for another.
    pub level: Level,
    /// How many processors it has at most, if there is a limit: as many ranks, unless several share one.
    pub ranks_max: Option<usize>,
    /// How many ranks share a processor unless the user asks for another number: rank r is on processor r divided by it.
    pub ranks_per_processor: usize,
    /// Its processors.
    pub processor: Processor,
    /// What a message costs at its ends.
    pub endpoint: Endpoint,
    /// How long messages are agreed upon.
    pub protocol: Protocol,
    /// What lies between the ends.
    pub network: Network,
    /// Collectives around its ring, if it has them.
    pub ring_collectives: Option<RingCollectives>,
    /// Boards in memory that all its processors share, if it has them: collectives go over them.
    pub board: Option<Arc<Board>>,
    /// Pauses by its operating system, by kind.
    pub pauses: Vec<Pause>,
    /// Where each number comes from.
    pub sources: Vec<Source>,
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
    /// What it takes to ask whether something has happened.
    pub polling: TimeSpan,
    /// After which a rank without a fixed priority lets the next one run that shares its processor.
    pub time_slice: TimeSpan,
    /// What it takes to go over to another rank that shares it.
    pub switch: TimeSpan,
}

/// What a message costs at its ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoint {
    /// The sender's processor, for each message.
    pub send: Piecewise,
    /// The receiver's processor, for each message, once it is there.
    pub receive: Piecewise,
    /// The receiver's processor, on top, for a message that came before it was asked for.
    pub unexpected: Piecewise,
    /// The sender's packet engine. The fixed part counts for each packet after a message's first.
    pub packet_send: Cost,
    /// The receiver's packet engine, likewise.
    pub packet_receive: Cost,
    /// The processor's time to post an operation and go on, where it would otherwise block in it.
    pub post: TimeSpan,
    /// Whether steps of collectives are posted as a program's own operations are; else they are spared that time.
    pub library_posts: bool,
    /// What a message takes the sender's engine before its first packet, by its length.
    pub setup: Piecewise,
    /// From this many bytes on a node can only send or only take in a message at a time, and taking in takes as long as
    /// sending (level L1); `None`: it does both at once.
    pub simplex_from_bytes: Option<u64>,
    /// The shortest time from one message that a node sends to the next, by the length of the first, and from one that it
    /// takes in to the next, by the length of the second (level L1).
    pub gap: Piecewise,
    /// Whether messages are copies in memory, so that those of which many are posted at once, in more memory than the caches
    /// hold, take as much longer as copies in so much memory do.
    pub posted_in_memory: bool,
    /// Whether the packet engine prepares the next packet while the link still carries the last.
    pub engine_overlaps_link: bool,
    /// Whether a processor of its own handles packets: then sending and receiving do not slow each other.
    pub co_processor: bool,
    /// Whether the packet engine sends the messages that a node has under way in turns, packet by packet, and not one after
    /// the other (level L2).
    pub interleaves_messages: bool,
    /// Whether a blocking send waits until the last byte has left, and not only until the message is under way.
    pub send_waits_for_link: bool,
}

/// How long messages are agreed upon before they are sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Protocol {
    /// Messages up to this length are sent at once; longer ones wait for the receiver's answer.
    pub eager_bytes: u64,
    /// How the receiver learns that a long message waits.
    pub announcement: Announcement,
    /// The length of an announcement and of an answer on the network.
    pub control_bytes: u32,
    /// What the receiver's engine takes to answer.
    pub answer: TimeSpan,
}

/// How the receiver learns that a long message waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Announcement {
    /// A message of its own: the classic rendezvous.
    #[default]
    Message,
    /// At no cost that was published: the answer alone is a message, and precedes every message however short. The
    /// sender's overhead follows the answer.
    Free,
}

/// What lies between the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Which nodes are joined by links.
    pub shape: Shape,
    /// The longest packet, in bytes of payload.
    pub packet_bytes: u32,
    /// What each packet carries besides.
    pub header_bytes: u32,
    /// The time of a byte on a link.
    pub byte_time: PerUnit,
    /// From a link's one end to the other.
    pub latency: TimeSpan,
    /// What a node takes to pass a data packet on.
    pub forward: TimeSpan,
    /// What a node takes to pass a control packet on.
    pub forward_control: TimeSpan,
    /// Whether a packet is passed on whole.
    pub switching: Switching,
    /// Which of several waiting packets a link takes first.
    pub merge: MergePolicy,
    /// How many packets wait at each input of a node.
    pub buffer_packets: u32,
    /// Packets start only at multiples of this time (a bus with slots); zero: at any time.
    pub slot: TimeSpan,
}

/// Whether a packet is passed on whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// A node passes a packet on when all of it is there.
    StoreAndForward,
    /// A node passes a packet on as soon as its header is there.
    CutThrough,
}

/// Which of several waiting packets a link takes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergePolicy {
    /// Its inputs in turn: fair locally, and unfair to those far away.
    RoundRobin,
    /// A packet of the message that was sent first.
    Age,
    /// Passing traffic before the node's own.
    FixedPriority,
}

/// Barrier, broadcast and allgather around a ring without headers (the ring protocol of SHARC).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RingCollectives {
    /// Before a node joins the barrier.
    pub barrier_entry: TimeSpan,
    /// A node's time to take the barrier's token and pass it on, the link's time left out.
    pub barrier_hop: TimeSpan,
    /// An inner node's time to pass the first packet of a broadcast on.
    pub forward: TimeSpan,
    /// Between two packets of a broadcast at a node.
    pub packet: TimeSpan,
    /// An allgather's own time, besides the barrier and its steps.
    pub allgather_entry: TimeSpan,
    /// A node's time for each step of an allgather.
    pub allgather_step: TimeSpan,
}

/// Memory in which each rank shows the others its part of a collective, on places that are used in turn. A rank writes its
/// part to a place, the others read it there, and it is written again once all have read it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// Collectives of more ranks go by messages.
    pub ranks_max: usize,
    /// Longer ones go by messages.
    pub bytes_max: u64,
    /// Longer parts lie apart from the line that says that they are there: however little of one is read or written, it
    /// takes as long as the shortest part that is so long.
    pub line_bytes: u64,
    /// What is written before others read it, at most; longer parts go in several pieces.
    pub piece_bytes: u64,
    /// How many pieces of its own a rank may have on its board; it writes half as many before it reads the others'.
    pub places: u64,
    /// From the moment that a piece is written until another rank notices.
    pub see: TimeSpan,
    /// To look at each further board of those that a rank waits for.
    pub look: TimeSpan,
    /// To write a piece that others will read, by its length.
    pub put: Piecewise,
    /// To read another rank's piece.
    pub take: Piecewise,
    /// To combine another rank's piece with one's own; of several, what the shortest takes is spent once.
    pub combine: Piecewise,
    /// How much longer all of these, and copies, take while other ranks are at it, too: in thousandths.
    pub crowding_permille: u64,
}

impl Board {
    /// What counts as written or read, of a part of `part_bytes`.
    pub fn counted(&self, bytes: usize, part_bytes: usize) -> u64 {
        if part_bytes as u64 <= self.line_bytes {
            return bytes as u64;
        }
        (bytes as u64).max(self.line_bytes.saturating_add(1))
    }

    /// What work on the boards takes while others work there, too.
    pub fn crowded(&self, alone: TimeSpan) -> TimeSpan {
        let ps = u128::from(alone.as_ps()) * u128::from(1000 + self.crowding_permille) / 1000;
        TimeSpan::from_ps(ps as u64)
    }
}

/// A kind of pause that the operating system makes again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// From one to the next.
    pub period: TimeSpan,
    /// How long it is.
    pub length: TimeSpan,
    /// By how much it may begin later: evenly between nothing and this.
    pub period_jitter: TimeSpan,
    /// By how much it may be shorter or longer: evenly between both.
    pub length_jitter: TimeSpan,
    /// Whether it comes to all processors at the same moments, and not to each at its own.
    pub at_once: bool,
    /// The processors that it comes to; all if there is no list.
    pub processors: Option<Vec<usize>>,
}

impl Machine {
    /// The most ranks that it can have, with so many on each processor.
    pub fn most_ranks(&self, ranks_per_processor: usize) -> usize {
        let processors = self.ranks_max.unwrap_or(crate::RANKS_MAX);
        processors.saturating_mul(ranks_per_processor).min(crate::RANKS_MAX)
    }
}

impl Pause {
    /// Whether a processor has it.
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

    /// What `bytes` bytes take longer to copy as part of `footprint_bytes` bytes of memory than over and over again: a copy of
    /// n bytes touches 2 n.
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

impl Endpoint {
    /// Whether a node that sends or takes in a message of `bytes` bytes does nothing else meanwhile.
    pub fn is_simplex(&self, bytes: u64) -> bool {
        self.simplex_from_bytes.is_some_and(|from| bytes >= from)
    }
}

impl Protocol {
    /// Whether a message of `bytes` bytes is sent without being asked for.
    pub fn sends_at_once(&self, bytes: u64) -> bool {
        self.announcement == Announcement::Message && bytes <= self.eager_bytes
    }
}

impl Network {
    /// The time of a packet with `bytes` of payload on a link: in whole slots, where the link has slots.
    pub fn serialisation(&self, bytes: u64, kind: Kind) -> TimeSpan {
        let time = self.byte_time.times(bytes + self.header(kind));
        match self.slot {
            TimeSpan::ZERO => time,
            slot => slot.times(time.as_ps().div_ceil(slot.as_ps())),
        }
    }

    /// The time after which the header of a packet has passed a point, and the next node may pass it on; zero where it
    /// waits for the whole packet.
    pub fn head_time(&self, kind: Kind) -> TimeSpan {
        match self.switching {
            Switching::StoreAndForward => TimeSpan::ZERO,
            Switching::CutThrough => self.byte_time.times(self.header(kind)),
        }
    }

    /// What a node takes to pass a packet on.
    pub fn forwarding(&self, kind: Kind) -> TimeSpan {
        match kind {
            Kind::Data => self.forward,
            Kind::Control => self.forward_control,
            Kind::Bare => TimeSpan::ZERO,
        }
    }

    /// How many packets a message of `bytes` bytes takes.
    pub fn packets(&self, bytes: u64, kind: Kind) -> u64 {
        match kind {
            Kind::Bare => 1,
            Kind::Data | Kind::Control => bytes.div_ceil(u64::from(self.packet_bytes)).max(1),
        }
    }

    fn header(&self, kind: Kind) -> u64 {
        if kind == Kind::Bare { 0 } else { u64::from(self.header_bytes) }
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
