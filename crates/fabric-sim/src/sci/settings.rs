//! The parameters of rings.

use contract::TimeSpan;

use super::mistake::SettingsError;
use super::packet::SYMBOL_BYTES;
use super::shape::Shape;

/// All parameters of rings and their nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct RingSettings {
    /// The rings, their nodes and what joins them.
    pub shape: Shape,
    /// The time of a symbol of 16 bits on a link: 16 ns at 1 Gbit/s, 2 ns at 8 Gbit/s.
    pub symbol: TimeSpan,
    /// The delays of nodes and links.
    pub delays: Delays,
    /// Packets of each class that a node's output queue holds, sent ones without their echo included.
    pub output_packets: u32,
    /// Packets of each class that a node's input queue holds.
    pub input_packets: u32,
    /// What a bypass FIFO holds beyond one longest packet, in symbols. Only preempting packets use it.
    pub bypass_spare_symbols: u32,
    /// When a node may send.
    pub access: Access,
    /// What becomes of a refused packet.
    pub retry: Retry,
    /// How urgent packets get ahead.
    pub urgency: Urgency,
    /// Messages and accesses of ranks are urgent up to so many bytes. [`Traffic`](super::Traffic) has priorities of its
    /// own.
    pub urgent_bytes: Option<u64>,
}

/// The delays of the SCALE paper's table 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// From a packet's arrival until its target and kind are known.
    pub stripping: TimeSpan,
    /// To find the target in a routing table of a switch.
    pub routing: TimeSpan,
    /// To pass address and data between a node and its host, a packet at a time.
    pub host: TimeSpan,
    /// Until the responder has made a response.
    pub responder: TimeSpan,
    /// To enter the bypass FIFO.
    pub bypass: TimeSpan,
    /// From one end of a link to the other.
    pub transmission: TimeSpan,
}

/// When a node may send a packet of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whenever its bypass FIFO is empty. A node behind one that sends without pause never gets on.
    Free,
    /// Pass transmission: after an idle symbol whose go bit is set. A node whose bypass FIFO has filled clears the go
    /// bits until it is empty again, which stops those before it.
    GoBits,
    /// While it holds the train, for at most so many packets; then the train goes on to the next node.
    Train {
        /// Packets of a node while it holds the train.
        seats: u32,
    },
}

/// What becomes of a packet for which the input queue of its target has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Its sender sends it again when it may, behind others that wait. Whichever comes first when there is a place gets
    /// it.
    Again,
    /// The standard's queue allocation: refused packets are labelled A or B. The target takes all that were refused
    /// before others, and labels what comes meanwhile for the next turn. Its sender sends it again when it may.
    Aged,
    /// Its sender waits until the target tells it that a place is kept for it (directed flow control).
    Directed,
}

/// How urgent packets, those of a priority above 0, get ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// They do not.
    None,
    /// A node sends the most urgent packet first, its own before less urgent ones of its bypass FIFO as long as that
    /// has room, and without waiting for a go bit (preemptive priority queue).
    Preempt,
    /// Idle symbols have two bits of priority: the highest that any node waits with. Packets below it wait.
    TwoBits,
}

/// The packets that a node sends while it holds a train, unless others are asked for.
pub const TRAIN_SEATS: u32 = 2;

impl RingSettings {
    /// A ring as the standard's first chips made it: 1 Gbit/s links, queues of four packets, go bits.
    pub fn ring(nodes: u32) -> Self {
        let symbol = TimeSpan::from_ns(16);
        RingSettings {
            shape: Shape::Ring { nodes },
            symbol,
            delays: Delays {
                stripping: TimeSpan::from_ns(32),
                routing: TimeSpan::from_ns(64),
                host: TimeSpan::from_ns(100),
                responder: TimeSpan::from_ns(200),
                bypass: TimeSpan::from_ns(16),
                transmission: TimeSpan::from_ns(16),
            },
            output_packets: 4,
            input_packets: 4,
            bypass_spare_symbols: 160,
            access: Access::GoBits,
            retry: Retry::Aged,
            urgency: Urgency::None,
            urgent_bytes: None,
        }
    }

    /// The time of a symbol on a link of so many Gbit/s.
    pub fn symbol_at(gbit_per_s: f64) -> TimeSpan {
        TimeSpan::from_ps((f64::from(SYMBOL_BYTES * 8) * 1000.0 / gbit_per_s).round() as u64)
    }

    /// The time from a symbol's leaving a node until the next node decides what to do with it.
    pub fn hop(&self) -> TimeSpan {
        self.delays.transmission + self.delays.stripping + self.delays.bypass
    }

    /// Whether they can be simulated.
    ///
    /// # Errors
    /// Names the parameter and what it may be.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.shape.check()?;
        if self.symbol == TimeSpan::ZERO {
            return Err(SettingsError::new("the time of a symbol is zero"));
        }
        if self.hop() < self.symbol {
            let what =
                "transmission, stripping and bypass delay together are below the time of a symbol";
            return Err(SettingsError::new(what));
        }
        for (name, packets) in [("output", self.output_packets), ("input", self.input_packets)] {
            if packets == 0 {
                return Err(SettingsError::new(format!("the {name} queues hold no packet")));
            }
        }
        match (self.access, self.shape) {
            (Access::Train { seats: 0 }, _) => {
                Err(SettingsError::new("a train of no seats carries nothing"))
            }
            (Access::Train { .. }, Shape::MultiService { .. }) => {
                let what = "rings that a crossbar joins would have two trains; take go bits";
                Err(SettingsError::new(what))
            }
            _ => Ok(()),
        }
    }
}
