//! Reads rings of SCI from a file.

use contract::TimeSpan;
use definition_files::FileError;

use super::place::Place;
use super::schema::File;
use super::sci_schema::{FileSci, FileSciAccess, FileSciRetry, FileSciUrgency};
use crate::machine::{Level, Network};
use crate::sci::{Access, Delays, Retry, RingSettings, TRAIN_SEATS, Urgency};

/// Fields that rings of SCI do not have: they have fields of their own in their place, or no such parts. An empty list
/// refuses the whole section.
const REFUSED: [(&str, &[&str]); 6] = [
    ("network", &[]),
    ("inner_network", &[]),
    ("fault", &[]),
    ("ring_collectives", &[]),
    (
        "endpoint",
        &[
            "packet_send_us",
            "packet_send_ns_per_byte",
            "packet_receive_us",
            "packet_receive_ns_per_byte",
            "setup_us",
            "setup",
            "gap_us",
            "gap",
            "simplex",
            "simplex_from_bytes",
            "engine_overlaps_link",
            "co_processor",
            "processor_forwards",
        ],
    ),
    (
        "windows",
        &[
            "path",
            "target_us",
            "target_ns_per_byte",
            "target_update_us",
            "target_update_ns_per_byte",
            "request_bytes",
            "answer_bytes",
        ],
    ),
];

/// Returns the rings, and their links as a network.
pub(super) fn rings(
    place: &Place<'_>,
    file: &File,
    read: &FileSci,
) -> Result<(RingSettings, Network), FileError> {
    check_others(place)?;
    let refuse = |field: &str, why: String| Err(place.refuse(field, &why));
    let shape = match read.shape.parse() {
        Ok(shape) => shape,
        Err(why) => return refuse("sci.shape", format!("is `{}`: {why}", read.shape)),
    };
    let defaults = RingSettings { shape, ..RingSettings::ring(1) };
    if let Err(why) = defaults.check() {
        return refuse("sci.shape", format!("is `{}`: {why}", read.shape));
    }
    let symbol = match read.link_gbit_per_s {
        None => defaults.symbol,
        Some(rate) => {
            place.rate("sci.link_gbit_per_s", rate)?;
            RingSettings::symbol_at(rate)
        }
    };
    let queue = match read.queue_packets {
        Some(0) => return refuse("sci.queue_packets", "is 0; it must be at least 1".into()),
        given => given.unwrap_or(defaults.input_packets),
    };
    let settings = RingSettings {
        symbol,
        delays: delays(place, read, &defaults.delays)?,
        output_packets: queue,
        input_packets: queue,
        access: access(place, read)?,
        retry: match read.retry {
            FileSciRetry::Aged => Retry::Aged,
            FileSciRetry::Again => Retry::Again,
            FileSciRetry::Directed => Retry::Directed,
        },
        urgency: urgency(place, read)?,
        urgent_bytes: read.urgent_bytes,
        ..defaults
    };
    if let Err(why) = settings.check() {
        return refuse("sci", format!("cannot be simulated: {why}"));
    }
    let nodes = settings.shape.hosts();
    if let Some(most) = file.ranks_max.filter(|&most| most != nodes as usize) {
        let why =
            format!("is {most}; the rings of [sci] have {nodes} nodes, and need no such limit");
        return refuse("ranks_max", why);
    }
    let network = Network::of_rings(&settings);
    Ok((settings, network))
}

/// Checks the level: rings exist only at the level at which packets wait for each other.
pub(super) fn level(place: &Place<'_>, level: Option<Level>) -> Result<Level, FileError> {
    match level {
        Some(Level::LogGp) => Err(place.refuse(
            "level",
            "must be \"packets\", or be left out: rings of SCI are simulated packet by packet",
        )),
        _ => Ok(Level::Packets),
    }
}

fn access(place: &Place<'_>, read: &FileSci) -> Result<Access, FileError> {
    match (read.access, read.seats) {
        (FileSciAccess::Train, seats) => Ok(Access::Train { seats: seats.unwrap_or(TRAIN_SEATS) }),
        (_, Some(_)) => Err(place.refuse("sci.seats", "belongs to `access = \"train\"`")),
        (FileSciAccess::Free, None) => Ok(Access::Free),
        (FileSciAccess::GoBits, None) => Ok(Access::GoBits),
    }
}

/// Reads which packets are urgent and how they overtake others. The two must be given together or not at all.
fn urgency(place: &Place<'_>, read: &FileSci) -> Result<Urgency, FileError> {
    match (read.urgency, read.urgent_bytes) {
        (None, None) => Ok(Urgency::None),
        (Some(FileSciUrgency::Preempt), Some(_)) => Ok(Urgency::Preempt),
        (Some(FileSciUrgency::TwoBits), Some(_)) => Ok(Urgency::TwoBits),
        (Some(_), None) => Err(place.refuse(
            "sci.urgency",
            "needs `urgent_bytes`, the length up to which messages and accesses are urgent",
        )),
        (None, Some(_)) => {
            let why =
                "needs `urgency = \"preempt\"` or `\"two-bits\"`: how urgent packets get ahead";
            Err(place.refuse("sci.urgent_bytes", why))
        }
    }
}

fn delays(place: &Place<'_>, read: &FileSci, defaults: &Delays) -> Result<Delays, FileError> {
    let span = |field: &str, us: Option<f64>, default: TimeSpan| match us {
        None => Ok(default),
        given => place.span(&format!("sci.{field}"), given),
    };
    Ok(Delays {
        stripping: span("stripping_us", read.stripping_us, defaults.stripping)?,
        routing: span("routing_us", read.routing_us, defaults.routing)?,
        host: span("host_us", read.host_us, defaults.host)?,
        responder: span("responder_us", read.responder_us, defaults.responder)?,
        bypass: span("bypass_us", read.bypass_us, defaults.bypass)?,
        transmission: span("transmission_us", read.transmission_us, defaults.transmission)?,
    })
}

/// Refuses fields that the rings do not have. They would otherwise be ignored without a message.
fn check_others(place: &Place<'_>) -> Result<(), FileError> {
    let table = place.table()?;
    for (section, fields) in REFUSED {
        let Some(found) = table.get(section) else { continue };
        if fields.is_empty() {
            let why = match section {
                "inner_network" => {
                    "stands beside [sci]: rings of SCI are not simulated together with other networks. A machine of several \
                     networks has the ring as one of them, with `shape = \"ring\"` and `one_way = true` (as scale-cluster)"
                }
                _ => {
                    "stands beside [sci], which is the only network of its machine, without faults"
                }
            };
            return Err(place.refuse(section, why));
        }
        if let Some(field) = fields.iter().find(|&&field| found.get(field).is_some()) {
            let why = "belongs to other networks; the packets and delays of [sci] take its place";
            return Err(place.refuse(&format!("{section}.{field}"), why));
        }
    }
    Ok(())
}
