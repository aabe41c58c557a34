//! The options of a study of SCI rings.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fabric_sim::sci::{Destination, Shape, TransactionKind};

const EXAMPLES: &str = "\
Examples:
  cornerstone sci                                        a ring of 8, five rules of destination, increasing load
  cornerstone sci --shape inner-ring:4x8 --destinations random
  cornerstone sci --access free --destinations fixed:0   the share of a saturating neighbour without go bits
  cornerstone sci --urgent 4 --urgency preempt           the delay of urgent packets under load
  cornerstone sci --machine sci-ring                     the rings that programs use on a machine";

const DELAYS: &str = "Delays in nanoseconds (table 3 of the SCALE paper)";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SciArguments {
    /// The rings: ring:8, bridge:4+4 (two rings with a dual-ported bridge), inner-ring:4x8 (four rings of eight around
    /// an inner one) or multi-service:4x8 (the same with a crossbar, which joins rings 0 and 1 here)
    #[arg(long, value_name = "SHAPE", default_value = "ring:8")]
    pub(crate) shape: Shape,

    /// The rings of a machine with a section [sci], by its name or file, instead of the options for rings
    #[arg(
        long,
        value_name = "MACHINE",
        conflicts_with_all = ["shape", "link_rate", "access", "retry", "urgency", "seats", "queue", "stripping", "routing", "host", "responder", "bypass", "transmission"]
    )]
    pub(crate) machine: Option<String>,

    /// The targets of requests: downstream, random, upstream, self, fixed:NODE; several with commas
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        default_value = "downstream,random,upstream,self,fixed:0",
        value_parser = destination
    )]
    pub(crate) destinations: Vec<Destination>,

    /// The operation: move:BYTES, event:BYTES, write:BYTES, read:BYTES (16, 64 or 256) or lock
    #[arg(long, value_name = "OPERATION", default_value = "move:64", value_parser = operation)]
    pub(crate) operation: TransactionKind,

    /// The times of requests; `available` fills every free place of the output queues, and ignores --loads
    #[arg(long, value_enum, default_value_t = PaceChoice::Poisson)]
    pub(crate) pace: PaceChoice,

    /// The load of each node, as a percentage of the capacity of a link; several with commas
    #[arg(
        long,
        value_name = "PERCENT",
        value_delimiter = ',',
        default_value = "1,2,5,10,15,20,30,40,50,60,80,100",
        value_parser = clap::value_parser!(u32).range(1..=200)
    )]
    pub(crate) loads: Vec<u32>,

    /// The rate of a link in Gbit/s
    #[arg(long, value_enum, default_value_t = LinkRate::One)]
    pub(crate) link_rate: LinkRate,

    /// The rule by which a node may send
    #[arg(long, value_enum, default_value_t = AccessChoice::GoBits)]
    pub(crate) access: AccessChoice,

    /// The action for a packet whose target has no space
    #[arg(long, value_enum, default_value_t = RetryChoice::Aged)]
    pub(crate) retry: RetryChoice,

    /// The rule for urgent packets
    #[arg(long, value_enum, default_value_t = UrgencyChoice::None)]
    pub(crate) urgency: UrgencyChoice,

    /// A node that additionally moves 16 urgent bytes every 20 us, by the first rule of --destinations
    #[arg(long, value_name = "NODE")]
    pub(crate) urgent: Option<u32>,

    /// The packets that a node may send while it holds the train [default: 2]
    #[arg(long, value_name = "PACKETS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seats: Option<u32>,

    #[command(flatten)]
    pub(crate) delays: DelayArguments,

    /// The length of input and output queues in packets
    #[arg(long, value_name = "PACKETS", default_value_t = 4)]
    pub(crate) queue: u32,

    /// The simulated time of each load, in microseconds
    #[arg(long, value_name = "TIME", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) duration_us: u32,

    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The results file, from which `cornerstone report` draws [default: results/TIME-HOST.jsonl]
    #[arg(short, long, value_name = "FILE", help_heading = super::RESULTS)]
    pub(crate) out: Option<PathBuf>,
}

/// The delays of table 3 of the SCALE paper, in nanoseconds; those of the simulated machine `sci-ring` if not given.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DelayArguments {
    /// Until the target and the kind of a packet are known [default: 32]
    #[arg(long = "stripping-ns", value_name = "TIME", help_heading = DELAYS)]
    pub(crate) stripping: Option<u32>,
    /// To find the target of a packet in the routing table of a switch [default: 64]
    #[arg(long = "routing-ns", value_name = "TIME", help_heading = DELAYS)]
    pub(crate) routing: Option<u32>,
    /// To pass a packet between a node and its host [default: 100]
    #[arg(long = "host-ns", value_name = "TIME", help_heading = DELAYS)]
    pub(crate) host: Option<u32>,
    /// Until the responder has made a response [default: 200]
    #[arg(long = "responder-ns", value_name = "TIME", help_heading = DELAYS)]
    pub(crate) responder: Option<u32>,
    /// To enter the bypass FIFO [default: 16]
    #[arg(long = "bypass-ns", value_name = "TIME", help_heading = DELAYS)]
    pub(crate) bypass: Option<u32>,
    /// From one end of a link to the other [default: 16]
    #[arg(long = "transmission-ns", value_name = "TIME", help_heading = DELAYS)]
    pub(crate) transmission: Option<u32>,
}

impl DelayArguments {
    /// Returns the given delays, with their names.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, u32)> + use<> {
        let all = [
            ("stripping", self.stripping),
            ("routing", self.routing),
            ("host", self.host),
            ("responder", self.responder),
            ("bypass", self.bypass),
            ("transmission", self.transmission),
        ];
        all.into_iter().filter_map(|(name, ns)| Some((name, ns?)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaceChoice {
    /// After exponentially distributed times
    Poisson,
    /// After equal times
    Uniform,
    /// Whenever there is space
    Available,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkRate {
    #[value(name = "1.0")]
    One,
    #[value(name = "1.6")]
    OnePointSix,
    #[value(name = "8")]
    Eight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AccessChoice {
    /// Whenever its bypass FIFO is empty
    Free,
    /// After an idle symbol whose go bit is set (pass transmission)
    GoBits,
    /// While it holds the train, two packets at most
    Train,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RetryChoice {
    /// It is sent again, and taken before packets that were refused later (the standard's A and B labels)
    Aged,
    /// It is sent again, and whichever comes first gets a free place
    Again,
    /// It waits until its target has kept a place for it (directed flow control)
    Directed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UrgencyChoice {
    /// No priority
    None,
    /// Before less urgent packets, including passing ones (preemptive priority queue)
    Preempt,
    /// By two bits of priority in idle symbols
    TwoBits,
}

fn destination(text: &str) -> Result<Destination, String> {
    let fixed = || text.strip_prefix("fixed:")?.parse().ok().map(Destination::Fixed);
    match text {
        "downstream" => Ok(Destination::Downstream),
        "upstream" => Ok(Destination::Upstream),
        "random" => Ok(Destination::Random),
        "self" => Ok(Destination::Itself),
        _ => fixed()
            .ok_or_else(|| "there are downstream, random, upstream, self and fixed:NODE".into()),
    }
}

fn operation(text: &str) -> Result<TransactionKind, String> {
    let parse = || {
        if text == "lock" {
            return Some(TransactionKind::Lock);
        }
        let (kind, bytes) = text.split_once(':')?;
        let bytes = bytes.parse().ok()?;
        let operation = match kind {
            "move" => TransactionKind::Move(bytes),
            "event" => TransactionKind::Event(bytes),
            "write" => TransactionKind::Write(bytes),
            "read" => TransactionKind::Read(bytes),
            _ => return None,
        };
        operation.has_packets().then_some(operation)
    };
    parse().ok_or_else(|| {
        "write move:64, event:64, write:16, read:256 or lock; packets hold 16, 64 or 256 bytes"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_operations_are_read_or_told() {
        assert_eq!(destination("fixed:7"), Ok(Destination::Fixed(7)));
        assert!(destination("fixed:").is_err() && destination("all").is_err());
        assert_eq!(operation("read:256"), Ok(TransactionKind::Read(256)));
        assert_eq!(operation("event:16"), Ok(TransactionKind::Event(16)));
        assert!(operation("read:100").unwrap_err().contains("16, 64 or 256"));
    }
}
