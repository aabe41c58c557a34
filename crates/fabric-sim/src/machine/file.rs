//! Machine files: TOML, with the source of every number.

use contract::{TimeSpan, WorkKind};
use serde::Deserialize;

use super::{
    Announcement, Endpoint, Level, Machine, MergePolicy, Network, Pause, Processor, Protocol,
    RingCollectives, Source, Switching,
};
use crate::quantity::{Cost, PerUnit, Piecewise};
use crate::topology::Shape;

/// Why a machine cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// There is no such machine, built in or in a file.
    #[error(
        "there is no machine `{name}`{suggestion}; `cornerstone machines` lists those built in, and a path ending in .toml names a file"
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// The nearest names, in words.
        suggestion: String,
    },
    /// The file cannot be read.
    #[error("cannot read the machine file {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
    /// The file does not describe a machine.
    #[error("{file}, line {line}: {problem}")]
    Invalid {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The field, what is wrong, and what is allowed.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    #[serde(default)]
    level: FileLevel,
    ranks_max: Option<usize>,
    #[serde(default)]
    processor: FileProcessor,
    #[serde(default)]
    endpoint: FileEndpoint,
    #[serde(default)]
    protocol: FileProtocol,
    network: FileNetwork,
    ring_collectives: Option<FileRing>,
    #[serde(default)]
    pause: Vec<FilePause>,
    #[serde(default)]
    source: Vec<Source>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileLevel {
    #[default]
    Loggp,
    Packets,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileProcessor {
    polling_us: Option<f64>,
    floating_point_mflops: Option<f64>,
    fft_mflops: Option<f64>,
    copy_mb_per_s: Option<f64>,
    corner_turn_mb_per_s: Option<f64>,
    reduction_mops: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEndpoint {
    send_us: Option<f64>,
    send_ns_per_byte: Option<f64>,
    #[serde(default)]
    send: Vec<FilePiece>,
    receive_us: Option<f64>,
    receive_ns_per_byte: Option<f64>,
    #[serde(default)]
    receive: Vec<FilePiece>,
    unexpected_us: Option<f64>,
    unexpected_ns_per_byte: Option<f64>,
    packet_send_us: Option<f64>,
    packet_send_ns_per_byte: Option<f64>,
    packet_receive_us: Option<f64>,
    packet_receive_ns_per_byte: Option<f64>,
    setup_us: Option<f64>,
    #[serde(default)]
    simplex: bool,
    gap_us: Option<f64>,
    #[serde(default = "yes")]
    engine_overlaps_link: bool,
    #[serde(default)]
    co_processor: bool,
    #[serde(default)]
    send_waits_for_link: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePiece {
    from_bytes: u64,
    us: f64,
    ns_per_byte: f64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileProtocol {
    eager_bytes: Option<u64>,
    announcement: Option<FileAnnouncement>,
    control_bytes: Option<u32>,
    answer_us: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileAnnouncement {
    Message,
    Free,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileNetwork {
    shape: FileShape,
    #[serde(default)]
    one_way: bool,
    #[serde(default)]
    extents: Vec<usize>,
    arity: Option<usize>,
    #[serde(default)]
    links: Vec<(usize, usize)>,
    packet_bytes: Option<u32>,
    header_bytes: Option<u32>,
    link_mb_per_s: f64,
    latency_us: Option<f64>,
    forward_us: Option<f64>,
    forward_control_us: Option<f64>,
    switching: Option<FileSwitching>,
    merge: Option<FileMerge>,
    buffer_packets: Option<u32>,
    slot_us: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileShape {
    Line,
    Ring,
    Mesh,
    Torus,
    EightNeighbours,
    Hypercube,
    Bus,
    Switch,
    FatTree,
    Graph,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileSwitching {
    StoreAndForward,
    CutThrough,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileMerge {
    RoundRobin,
    Age,
    FixedPriority,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRing {
    barrier_entry_us: f64,
    barrier_hop_us: f64,
    forward_us: f64,
    packet_us: f64,
    allgather_entry_us: f64,
    allgather_step_us: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePause {
    period_us: f64,
    length_us: f64,
}

fn yes() -> bool {
    true
}

/// The packet of a network that does not say how long its packets are: whole messages, short of the field's limit.
pub(super) const WHOLE_MESSAGE_BYTES: u32 = 1 << 30;
const BUFFER_PACKETS: u32 = 4;
const POLLING_US: f64 = 0.1;

/// Reads a machine file; `file` names it in messages.
///
/// # Errors
/// [`MachineError::Invalid`] with the line and the field, and what is allowed there.
pub fn parse(file: &str, text: &str) -> Result<Machine, MachineError> {
    let place = Place { file, text };
    let read: File = toml::from_str(text).map_err(|error| place.syntax(&error))?;
    check_sources(&place, &read.source)?;
    let network = network(&place, &read.network)?;
    Ok(Machine {
        level: match read.level {
            FileLevel::Loggp => Level::LogGp,
            FileLevel::Packets => Level::Packets,
        },
        ranks_max: read.ranks_max,
        processor: processor(&place, &read.processor)?,
        endpoint: endpoint(&place, &read.endpoint)?,
        protocol: protocol(&place, &read.protocol)?,
        network,
        ring_collectives: read
            .ring_collectives
            .map(|ring| ring_collectives(&place, &ring))
            .transpose()?,
        pauses: read
            .pause
            .iter()
            .map(|pause| self::pause(&place, pause))
            .collect::<Result<_, _>>()?,
        sources: read.source,
        name: read.name,
        title: read.title,
    })
}

/// The file, to say where in it something is wrong.
struct Place<'a> {
    file: &'a str,
    text: &'a str,
}

impl Place<'_> {
    fn invalid(&self, line: usize, problem: impl Into<String>) -> MachineError {
        MachineError::Invalid { file: self.file.into(), line, problem: problem.into() }
    }

    fn syntax(&self, error: &toml::de::Error) -> MachineError {
        let at = error.span().map_or(0, |span| span.start);
        let line = self.text[..at.min(self.text.len())].matches('\n').count() + 1;
        let key = self.text.lines().nth(line - 1).and_then(|line| line.split_once('='));
        let field = key.map(|(key, _)| format!("`{}`: ", key.trim())).unwrap_or_default();
        let message = error.message();
        let named = message.contains("field `");
        self.invalid(line, format!("{}{message}", if named { "" } else { &field }))
    }

    /// The line of `section.field`, or of the section, or the first.
    fn line(&self, field: &str) -> usize {
        let (section, key) = field.rsplit_once('.').unwrap_or(("", field));
        let (mut inside, mut found) = (section.is_empty(), 1);
        for (index, line) in self.text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with('[') {
                inside = line.trim_matches(['[', ']']) == section;
                if inside {
                    found = index + 1;
                }
            } else if inside && line.split(['=', ' ']).next() == Some(key) {
                return index + 1;
            }
        }
        found
    }

    fn refuse(&self, field: &str, problem: &str) -> MachineError {
        self.invalid(self.line(field), format!("`{field}` {problem}"))
    }

    /// A number that is zero or more.
    fn number(&self, field: &str, value: Option<f64>) -> Result<f64, MachineError> {
        let value = value.unwrap_or(0.0);
        if value.is_finite() && (0.0..1e12).contains(&value) {
            Ok(value)
        } else {
            Err(self.refuse(field, &format!("is {value}; it must be a number from 0 up to 10^12")))
        }
    }

    fn span(&self, field: &str, us: Option<f64>) -> Result<TimeSpan, MachineError> {
        Ok(span(self.number(field, us)?))
    }

    fn rate(&self, field: &str, per_us: f64) -> Result<PerUnit, MachineError> {
        if self.number(field, Some(per_us))? > 0.0 {
            Ok(PerUnit::from_rate_per_us(per_us))
        } else {
            Err(self.refuse(field, "is 0; a rate must be above it"))
        }
    }

    fn cost(
        &self,
        field: &str,
        us: Option<f64>,
        ns_per_byte: Option<f64>,
    ) -> Result<Cost, MachineError> {
        let ns = self.number(&format!("{field}_ns_per_byte"), ns_per_byte)?;
        let fixed = self.span(&format!("{field}_us"), us)?;
        Ok(Cost { fixed, per_byte: PerUnit::from_us(ns / 1e3) })
    }

    /// A cost as one line or as pieces, but not both.
    fn pieces(
        &self,
        field: &str,
        line: (Option<f64>, Option<f64>),
        pieces: &[FilePiece],
    ) -> Result<Piecewise, MachineError> {
        if pieces.is_empty() {
            return Ok(Piecewise::line(self.cost(field, line.0, line.1)?));
        }
        if line != (None, None) {
            let both = format!(
                "stands beside `{field}_us` or `{field}_ns_per_byte`; give one line or pieces"
            );
            return Err(self.refuse(field, &both));
        }
        let piece = |piece: &FilePiece| {
            let fixed = span(self.number(field, Some(piece.us))?);
            let per_byte = PerUnit::from_us(self.number(field, Some(piece.ns_per_byte))? / 1e3);
            Ok((piece.from_bytes, Cost { fixed, per_byte }))
        };
        let pieces = pieces.iter().map(piece).collect::<Result<Vec<_>, _>>()?;
        Piecewise::new(pieces).ok_or_else(|| {
            self.refuse(field, "must have pieces with `from_bytes` ascending from 0")
        })
    }
}

fn span(us: f64) -> TimeSpan {
    TimeSpan::from_ps((us * 1e6).round() as u64)
}

/// Each number in the tables of costs must say where it comes from.
fn check_sources(place: &Place<'_>, sources: &[Source]) -> Result<(), MachineError> {
    let table: toml::Table = toml::from_str(place.text).map_err(|error| place.syntax(&error))?;
    for section in ["processor", "endpoint", "protocol", "network", "ring_collectives", "pause"] {
        let fields = match table.get(section) {
            Some(toml::Value::Table(fields)) => {
                fields.keys().map(|key| format!("{section}.{key}")).collect()
            }
            Some(toml::Value::Array(_)) => vec![section.to_string()],
            _ => vec![],
        };
        for field in fields {
            let numeric = field.rsplit_once('.').is_none_or(|(_, key)| {
                table[section]
                    .get(key)
                    .is_none_or(|value| value.is_integer() || value.is_float() || value.is_array())
            });
            if numeric && !sources.is_empty() && !sources.iter().any(|source| source.covers(&field))
            {
                return Err(place.refuse(
                    &field,
                    "has no source; add it to `of` of a [[source]] with `kind` (published, derived, fitted, measured or assumed) and `from`",
                ));
            }
        }
    }
    if sources.is_empty() {
        return Err(place
            .invalid(1, "the file has no [[source]]; every number must say where it comes from"));
    }
    Ok(())
}

fn processor(place: &Place<'_>, file: &FileProcessor) -> Result<Processor, MachineError> {
    let mut work = Vec::new();
    for (kind, key, rate) in [
        (WorkKind::FloatingPoint, "floating_point_mflops", file.floating_point_mflops),
        (WorkKind::Fft, "fft_mflops", file.fft_mflops),
        (WorkKind::CopyBytes, "copy_mb_per_s", file.copy_mb_per_s),
        (WorkKind::CornerTurnBytes, "corner_turn_mb_per_s", file.corner_turn_mb_per_s),
        (WorkKind::Reduction, "reduction_mops", file.reduction_mops),
    ] {
        if let Some(rate) = rate {
            work.push((kind, place.rate(&format!("processor.{key}"), rate)?));
        }
    }
    let polling = place.span("processor.polling_us", file.polling_us.or(Some(POLLING_US)))?;
    if polling == TimeSpan::ZERO {
        return Err(
            place.refuse("processor.polling_us", "is 0; a program that polls would never get on")
        );
    }
    Ok(Processor { work, polling })
}

fn endpoint(place: &Place<'_>, file: &FileEndpoint) -> Result<Endpoint, MachineError> {
    Ok(Endpoint {
        send: place.pieces("endpoint.send", (file.send_us, file.send_ns_per_byte), &file.send)?,
        receive: place.pieces(
            "endpoint.receive",
            (file.receive_us, file.receive_ns_per_byte),
            &file.receive,
        )?,
        unexpected: place.pieces(
            "endpoint.unexpected",
            (file.unexpected_us, file.unexpected_ns_per_byte),
            &[],
        )?,
        packet_send: place.cost(
            "endpoint.packet_send",
            file.packet_send_us,
            file.packet_send_ns_per_byte,
        )?,
        packet_receive: place.cost(
            "endpoint.packet_receive",
            file.packet_receive_us,
            file.packet_receive_ns_per_byte,
        )?,
        setup: place.span("endpoint.setup_us", file.setup_us)?,
        simplex: file.simplex,
        gap: place.span("endpoint.gap_us", file.gap_us)?,
        engine_overlaps_link: file.engine_overlaps_link,
        co_processor: file.co_processor,
        send_waits_for_link: file.send_waits_for_link,
    })
}

fn protocol(place: &Place<'_>, file: &FileProtocol) -> Result<Protocol, MachineError> {
    Ok(Protocol {
        eager_bytes: file.eager_bytes.unwrap_or(u64::MAX),
        announcement: match file.announcement {
            Some(FileAnnouncement::Free) => Announcement::Free,
            Some(FileAnnouncement::Message) | None => Announcement::Message,
        },
        control_bytes: file.control_bytes.unwrap_or(0),
        answer: place.span("protocol.answer_us", file.answer_us)?,
    })
}

fn network(place: &Place<'_>, file: &FileNetwork) -> Result<Network, MachineError> {
    let at_least = |field: &str, value: u32, least: u32| {
        if value >= least {
            Ok(value)
        } else {
            Err(place.refuse(field, &format!("is {value}; it must be at least {least}")))
        }
    };
    let shape = shape(place, file)?;
    // Bubble flow control needs two places for a packet that enters a ring.
    let closed = matches!(shape, Shape::Ring { .. } | Shape::Torus(_) | Shape::EightNeighbours(_));
    let forward = place.span("network.forward_us", file.forward_us)?;
    Ok(Network {
        shape,
        packet_bytes: at_least(
            "network.packet_bytes",
            file.packet_bytes.unwrap_or(WHOLE_MESSAGE_BYTES),
            1,
        )?,
        header_bytes: file.header_bytes.unwrap_or(0),
        byte_time: place.rate("network.link_mb_per_s", file.link_mb_per_s)?,
        latency: place.span("network.latency_us", file.latency_us)?,
        forward,
        forward_control: match file.forward_control_us {
            Some(us) => place.span("network.forward_control_us", Some(us))?,
            None => forward,
        },
        switching: match file.switching {
            Some(FileSwitching::CutThrough) => Switching::CutThrough,
            Some(FileSwitching::StoreAndForward) | None => Switching::StoreAndForward,
        },
        merge: match file.merge {
            Some(FileMerge::Age) => MergePolicy::Age,
            Some(FileMerge::FixedPriority) => MergePolicy::FixedPriority,
            Some(FileMerge::RoundRobin) | None => MergePolicy::RoundRobin,
        },
        buffer_packets: at_least(
            "network.buffer_packets",
            file.buffer_packets.unwrap_or(BUFFER_PACKETS),
            if closed { 2 } else { 1 },
        )?,
        slot: place.span("network.slot_us", file.slot_us)?,
    })
}

fn shape(place: &Place<'_>, file: &FileNetwork) -> Result<Shape, MachineError> {
    // Which shapes take which of the fields that only some take.
    let takers: [(&str, bool, &[FileShape]); 4] = [
        ("one_way", file.one_way, &[FileShape::Ring]),
        (
            "extents",
            !file.extents.is_empty(),
            &[FileShape::Mesh, FileShape::Torus, FileShape::EightNeighbours],
        ),
        ("arity", file.arity.is_some(), &[FileShape::FatTree]),
        ("links", !file.links.is_empty(), &[FileShape::Graph]),
    ];
    for (field, given, shapes) in takers {
        if given && !shapes.contains(&file.shape) {
            return Err(place.refuse(&format!("network.{field}"), "does not belong to this shape"));
        }
    }
    let extents = if file.extents.is_empty() { vec![0, 0] } else { file.extents.clone() };
    Ok(match file.shape {
        FileShape::Line => Shape::Line,
        FileShape::Ring => Shape::Ring { one_way: file.one_way },
        FileShape::Mesh => Shape::Mesh(extents),
        FileShape::Torus => Shape::Torus(extents),
        FileShape::EightNeighbours => Shape::EightNeighbours(extents),
        FileShape::Hypercube => Shape::Hypercube,
        FileShape::Bus => Shape::Bus,
        FileShape::Switch => Shape::Switch,
        FileShape::FatTree => match file.arity {
            Some(arity) if arity >= 2 => Shape::FatTree { arity },
            _ => {
                return Err(
                    place.refuse("network.arity", "must be given for a fat tree, and at least 2")
                );
            }
        },
        FileShape::Graph if file.links.is_empty() => {
            return Err(
                place.refuse("network.links", "must be given for a graph: pairs of node numbers")
            );
        }
        FileShape::Graph => Shape::Graph(file.links.clone()),
    })
}

fn ring_collectives(place: &Place<'_>, file: &FileRing) -> Result<RingCollectives, MachineError> {
    let span = |key: &str, us| place.span(&format!("ring_collectives.{key}"), Some(us));
    Ok(RingCollectives {
        barrier_entry: span("barrier_entry_us", file.barrier_entry_us)?,
        barrier_hop: span("barrier_hop_us", file.barrier_hop_us)?,
        forward: span("forward_us", file.forward_us)?,
        packet: span("packet_us", file.packet_us)?,
        allgather_entry: span("allgather_entry_us", file.allgather_entry_us)?,
        allgather_step: span("allgather_step_us", file.allgather_step_us)?,
    })
}

fn pause(place: &Place<'_>, file: &FilePause) -> Result<Pause, MachineError> {
    let period = place.span("pause.period_us", Some(file.period_us))?;
    let length = place.span("pause.length_us", Some(file.length_us))?;
    if length < period {
        Ok(Pause { period, length })
    } else {
        Err(place.refuse("pause.length_us", "must be less than `period_us`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name = \"x\"\ntitle = \"a machine\"\n[endpoint]\nsend_us = 2.5\n[network]\nshape = \"ring\"\n\
                        one_way = true\nlink_mb_per_s = 40\n[[source]]\nof = [\"endpoint\", \"network\"]\n\
                        kind = \"assumed\"\nfrom = \"a test\"\n";

    fn problem(text: &str) -> String {
        parse("m.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_says_what_the_machine_costs() {
        let machine = parse("m.toml", GOOD).unwrap();
        assert_eq!(machine.endpoint.send.of(100), TimeSpan::from_ns(2500));
        assert_eq!(machine.network.shape, Shape::Ring { one_way: true });
        assert_eq!(machine.network.byte_time.rate_per_us(), 40.0);
    }

    #[test]
    fn mistakes_are_named_with_their_line_and_what_is_allowed() {
        let wrong = |from: &str, to: &str| problem(&GOOD.replace(from, to));
        let unknown = wrong("send_us", "sned_us");
        assert!(
            unknown
                .starts_with("m.toml, line 4: unknown field `sned_us`, expected one of `send_us`"),
            "{unknown}"
        );
        let shape = wrong("\"ring\"", "\"rign\"");
        assert!(
            shape.starts_with(
                "m.toml, line 6: `shape`: unknown variant `rign`, expected one of `line`"
            ),
            "{shape}"
        );
        let kind = wrong("2.5", "\"fast\"");
        assert!(kind.starts_with("m.toml, line 4: `send_us`: invalid type: string"), "{kind}");
        assert_eq!(
            wrong("send_us = 2.5", "send_us = -1"),
            "m.toml, line 4: `endpoint.send_us` is -1; it must be a number from 0 up to 10^12"
        );
        assert_eq!(
            wrong("= 40", "= 0"),
            "m.toml, line 8: `network.link_mb_per_s` is 0; a rate must be above it"
        );
        assert_eq!(
            wrong("one_way = true", "arity = 4"),
            "m.toml, line 7: `network.arity` does not belong to this shape"
        );
    }

    #[test]
    fn a_number_without_a_source_is_refused() {
        let text = GOOD.replace("\"endpoint\", ", "");
        assert!(
            problem(&text).starts_with("m.toml, line 4: `endpoint.send_us` has no source"),
            "{}",
            problem(&text)
        );
    }

    #[test]
    fn pieces_and_a_line_exclude_each_other() {
        let text = GOOD.replace(
            "send_us = 2.5",
            "send_us = 1\nsend = [{ from_bytes = 0, us = 1, ns_per_byte = 0 }]",
        );
        assert!(
            problem(&text).starts_with("m.toml, line 5: `endpoint.send` stands beside"),
            "{}",
            problem(&text)
        );
    }
}
