//! The parameters of rings.

use contract::TimeSpan;

use super::error::SettingsError;
use super::packet::SYMBOL_BYTES;
use super::shape::Shape;

/// All parameters of rings and their nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct RingSettings {
    /// The rings, their nodes and the agents between them.
    pub shape: Shape,
    /// Time of a symbol of 16 bits on a link: 16 ns at 1 Gbit/s, 2 ns at 8 Gbit/s.
    pub symbol: TimeSpan,
    /// Delays of nodes and links.
    pub delays: Delays,
    /// Number of packets of each class that a node's output queue holds, including sent ones without their echo.
    pub output_packets: u32,
    /// Number of packets of each class that a node's input queue holds.
    pub input_packets: u32,
    /// Number of symbols that a bypass FIFO holds beyond one longest packet. Only preempting packets use it.
    pub bypass_spare_symbols: u32,
    /// The moments at which a node may send.
    pub access: Access,
    /// The treatment of refused packets.
    pub retry: Retry,
    /// The way in which urgent packets overtake others.
    pub urgency: Urgency,
    /// Maximum length in bytes of urgent messages and accesses of ranks. [`Traffic`](super::Traffic) has priorities of
    /// its own.
    pub urgent_bytes: Option<u64>,
}

/// The delays of the SCALE paper's table 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Time from a packet's arrival until its target and kind are known.
    pub stripping: TimeSpan,
    /// Time to find the target in a routing table of a switch.
    pub routing: TimeSpan,
    /// Time to pass address and data between a node and its host, a packet at a time.
    pub host: TimeSpan,
    /// Time of the responder to make a response.
    pub responder: TimeSpan,
    /// Time to enter the bypass FIFO.
    pub bypass: TimeSpan,
    /// Time from one end of a link to the other.
    pub transmission: TimeSpan,
}

/// The moments at which a node may send a packet of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whenever its bypass FIFO is empty. A node behind one that sends without pause never sends.
    Free,
    /// Pass transmission: after an idle symbol whose go bit is set. A node whose bypass FIFO has filled clears the go
    /// bits until it is empty again, which stops the nodes before it.
    GoBits,
    /// While it holds the train, up to a number of packets. Then the train continues to the next node.
    Train {
        /// Maximum number of packets of a node while it holds the train.
        seats: u32,
    },
}

/// The treatment of a packet for which the input queue of its target has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Its sender sends it again when it may, behind others that wait. A free place goes to the first packet that
    /// arrives.
    Again,
    /// The standard's queue allocation: refused packets are labelled A or B. The target takes all that were refused
    /// before others, and labels packets that arrive meanwhile for the next turn. The sender sends a refused packet
    /// again when it may.
    Aged,
    /// Its sender waits until the target reports that a place is kept for it (directed flow control).
    Directed,
}

/// The way in which urgent packets, those of a priority above 0, overtake others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Not at all.
    None,
    /// A node sends the most urgent packet first, without waiting for a go bit. Its own packet goes before less urgent
    /// ones of its bypass FIFO as long as that has room (preemptive priority queue).
    Preempt,
    /// Idle symbols have two bits of priority: the highest of all packets that wait at any node. Packets below it wait.
    TwoBits,
}

/// Default number of packets that a node sends while it holds a train.
pub const TRAIN_SEATS: u32 = 2;

impl RingSettings {
    /// Returns the settings of a ring as the standard's first chips made it: 1 Gbit/s links, queues of four packets, go
    /// bits.
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

    /// Returns the time of a symbol on a link of `gbit_per_s` Gbit/s.
    pub fn symbol_at(gbit_per_s: f64) -> TimeSpan {
        TimeSpan::from_ps((f64::from(SYMBOL_BYTES * 8) * 1000.0 / gbit_per_s).round() as u64)
    }

    /// Returns the time from the moment when a symbol leaves a node until the next node decides about it.
    pub fn hop(&self) -> TimeSpan {
        self.delays.transmission + self.delays.stripping + self.delays.bypass
    }

    /// Checks whether the settings can be simulated.
    ///
    /// # Errors
    /// Names the parameter and its permitted values.
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
