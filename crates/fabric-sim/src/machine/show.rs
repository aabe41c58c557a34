//! Describes a machine in words.

mod network;
mod sci;
mod windows;

use contract::{TimeSpan, WorkKind};

use super::{Announcement, Array, Board, Machine, Pause, RANKS_MAX, WordCost};
use crate::message_kind::MessageKind;
use crate::quantity::{Cost, Piecewise};
use crate::unloaded;

/// Describes a machine and its costs in words.
pub fn show(machine: &Machine) -> String {
    let mut text = format!("{}\n  {}\n", machine.name, machine.title);
    let mut paragraph = |heading: &str, lines: Vec<String>| {
        text.push_str(&format!("\n{heading}\n"));
        lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    };
    network::paragraphs(machine)
        .into_iter()
        .for_each(|(heading, lines)| paragraph(&heading, lines));
    paragraph("A message", message(machine));
    let collectives = collectives(machine);
    if !collectives.is_empty() {
        paragraph("Collectives", collectives);
    }
    if let Some(windows) = &machine.windows {
        paragraph("Memory of other ranks", windows::lines(windows, machine.sci.is_some()));
    }
    paragraph("The processors", processor(machine));
    if let Some(array) = &machine.array {
        paragraph("Word by word", words(array));
    }
    paragraph("A message that meets no other, between neighbours", examples(machine));
    paragraph("Where the numbers come from", sources(machine));
    text
}

/// Maximum number of pieces of a cost that is shown in full. Costs of more pieces are shown at a few lengths only.
const PIECES_SPELT_OUT: usize = 4;

/// Returns a time in microseconds, milliseconds or seconds.
fn us(span: TimeSpan) -> String {
    match span.as_us() {
        us if us >= 1e6 => format!("{} s", trimmed(us / 1e6)),
        us if us >= 1e3 => format!("{} ms", trimmed(us / 1e3)),
        us => format!("{} µs", trimmed(us)),
    }
}

fn kind_in_words(kind: WorkKind) -> (&'static str, &'static str) {
    match kind {
        WorkKind::FloatingPoint => ("Computing", "million floating-point operations a second"),
        WorkKind::Fft => ("A Fourier transform", "million operations a second"),
        WorkKind::CopyBytes => ("A copy", "MB/s"),
        WorkKind::CornerTurnBytes => ("A corner turn in memory", "MB/s"),
        WorkKind::Reduction => ("Combining what a reduction gets", "million operations a second"),
        WorkKind::MatrixMultiply => {
            ("A blocked product of matrices", "million floating-point operations a second")
        }
        WorkKind::Sort => ("Sorting", "million comparisons a second"),
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn cost(cost: Cost) -> String {
    let ns = cost.per_byte.as_fs() as f64 / 1e6;
    match (cost.fixed, cost.per_byte.as_fs()) {
        (TimeSpan::ZERO, 0) => "nothing".into(),
        (fixed, 0) => us(fixed),
        (TimeSpan::ZERO, _) => format!("{} ns a byte", trimmed(ns)),
        (fixed, _) => format!("{} and {} ns a byte", us(fixed), trimmed(ns)),
    }
}

fn piecewise(costs: &Piecewise) -> String {
    match costs.pieces() {
        [] => "nothing".into(),
        [(_, line)] => cost(*line),
        pieces if pieces.len() <= PIECES_SPELT_OUT => {
            let words =
                pieces.iter().map(|(from, line)| format!("{} from {from} B on", cost(*line)));
            words.collect::<Vec<_>>().join(", ")
        }
        pieces => {
            let at = |bytes: u64| format!("{} at {bytes} B", us(costs.of(bytes)));
            let some = [0, 1 << 10, 32 << 10, 1 << 20].map(at).join(", ");
            format!("{some} ({} pieces)", pieces.len())
        }
    }
}

fn message(machine: &Machine) -> Vec<String> {
    let (endpoint, protocol) = (&machine.endpoint, &machine.protocol);
    let mut lines = vec![
        format!("Sending takes the processor {}.", piecewise(&endpoint.send)),
        format!("Receiving takes it {}.", piecewise(&endpoint.receive)),
    ];
    if endpoint.unexpected != Piecewise::line(Cost::default()) {
        let more = piecewise(&endpoint.unexpected);
        lines.push(format!("A message that comes before it is asked for takes {more} more."));
    }
    if endpoint.setup != Piecewise::line(Cost::default()) {
        lines.push(format!("On its way it waits {}.", piecewise(&endpoint.setup)));
    }
    if endpoint.gap != Piecewise::line(Cost::default()) {
        lines.push(format!(
            "A node sends the next message no sooner than {} after one, and takes the next one in no sooner.",
            piecewise(&endpoint.gap)
        ));
    }
    lines.extend(endpoint.simplex_from_bytes.map(simplex));
    if endpoint.library_posts {
        lines.push(format!(
            "Posting one takes {}, in a collective's steps, too.",
            us(endpoint.post)
        ));
    }
    if endpoint.posted_in_memory {
        lines.push(
            "Of messages posted at once in more memory than caches hold, each takes as much longer as copies there do."
                .into(),
        );
    }
    if !endpoint.packet_send.is_zero() {
        let own = if endpoint.co_processor { "a co-processor" } else { "the processor" };
        lines.push(format!("Each further packet takes {own} {}.", cost(endpoint.packet_send)));
    }
    if endpoint.processor_forwards {
        lines.push(
            "The processor passes messages of others on, before it goes on with its own program."
                .into(),
        );
    }
    if endpoint.interleaves_messages {
        lines.push("Messages that a node sends at once take turns, packet by packet.".into());
    }
    if protocol.announcement == Announcement::Free {
        lines.push("Data are sent when the receiver has said that it is ready.".into());
    } else if protocol.eager_bytes != u64::MAX {
        let limit = protocol.eager_bytes;
        lines.push(format!(
            "Messages above {limit} B are announced, and sent when the receiver has answered."
        ));
    }
    lines
}

/// Returns the statement that messages from a length on occupy both their nodes.
fn simplex(from_bytes: u64) -> String {
    match from_bytes {
        0 => "A node sends or takes in, but not both at once.".into(),
        from => format!(
            "From {from} B on a message occupies both its nodes, which then send or take in, but not both at once."
        ),
    }
}

/// Returns the costs of an array, word by word.
fn words(array: &Array) -> Vec<String> {
    let cost = |cost: WordCost| format!("{} and {} a word", us(cost.fixed), us(cost.word));
    vec![
        format!(
            "A link carries a word in {}; its FIFO holds {} words.",
            us(array.link_word),
            array.link_fifo_words
        ),
        format!(
            "The bus carries a word in {}; FIFOs hold {} words towards it and {} from it.",
            us(array.bus_word),
            array.bus_out_words,
            array.bus_in_words
        ),
        format!("SEND takes {}.", cost(array.send_call)),
        format!(
            "RECV takes {}; of the latest buffer {}.",
            cost(array.receive_call),
            cost(array.latest_call)
        ),
        format!("The send interrupt takes {}.", cost(array.send_interrupt)),
        format!("The receive interrupt takes {}.", cost(array.receive_interrupt)),
    ]
}

fn collectives(machine: &Machine) -> Vec<String> {
    if machine.ring_collectives.is_some() {
        let around = "Barrier, broadcast and allgather go around the ring, without headers.";
        return vec![around.into()];
    }
    let Some(board) = &machine.board else { return vec![] };
    let limit = match (board.ranks_max, board.bytes_max) {
        (RANKS_MAX, u64::MAX) => String::new(),
        (ranks, u64::MAX) => format!(", of up to {ranks} ranks"),
        (ranks, bytes) => format!(", of up to {ranks} ranks and {bytes} B; others by messages"),
    };
    let Board { piece_bytes, slot_bytes, places, .. } = &**board;
    let longest = match slot_bytes > piece_bytes {
        true => format!(" ({slot_bytes} B at most)"),
        false => String::new(),
    };
    vec![
        format!("They go over boards in memory that all ranks see{limit}."),
        format!("A rank has up to {places} pieces of {piece_bytes} B{longest} on its board."),
        format!("Others notice a piece {} after it is written.", us(board.see)),
        format!("Each further board that a rank looks at takes it {}.", us(board.further_board)),
        format!("Writing one takes {}.", piecewise(&board.put)),
        format!("Reading one takes {}.", piecewise(&board.take)),
        format!("Combining one with one's own takes {}.", piecewise(&board.combine)),
        format!(
            "While several ranks are at it, each takes {} % longer.",
            trimmed(board.crowding_permille as f64 / 10.0)
        ),
    ]
}

fn processor(machine: &Machine) -> Vec<String> {
    let mut lines: Vec<String> = machine
        .processor
        .work
        .iter()
        .map(|(kind, costs)| match (kind_in_words(*kind), costs.pieces()) {
            ((what, unit), [(_, line)]) if line.fixed == TimeSpan::ZERO => {
                format!("{what}: {} {unit}.", trimmed(line.per_byte.rate_per_us()))
            }
            ((what, _), _) => format!("{what} takes {}.", piecewise(costs)),
        })
        .collect();
    lines.push(format!(
        "Asking whether something has happened takes {}.",
        us(machine.processor.polling)
    ));
    if machine.ranks_per_processor > 1 {
        lines.push(format!("{} ranks share a processor.", machine.ranks_per_processor));
    }
    lines.push(format!(
        "Ranks that share one take turns of {}; going over to another takes {}.",
        us(machine.processor.time_slice),
        us(machine.processor.switch)
    ));
    lines.extend(machine.pauses.iter().map(pause));
    lines
}

fn pause(pause: &Pause) -> String {
    let jitter = |span: TimeSpan, words: &str| match span {
        TimeSpan::ZERO => String::new(),
        span => format!(" ({words} {})", us(span)),
    };
    let whom = match (&pause.processors, pause.at_once) {
        (None, false) => String::new(),
        (None, true) => ", all processors at once".into(),
        (Some(listed), _) => {
            let listed: Vec<String> = listed.iter().map(usize::to_string).collect();
            format!(", on processors {}", listed.join(", "))
        }
    };
    format!(
        "The operating system pauses {}{} every {}{}{whom}.",
        us(pause.length),
        jitter(pause.length_jitter, "give or take"),
        us(pause.period),
        jitter(pause.period_jitter, "late by up to"),
    )
}

fn examples(machine: &Machine) -> Vec<String> {
    [0, 1024, 16 * 1024, 256 * 1024]
        .iter()
        .map(|&bytes| {
            let ends = machine.endpoint.send.of(bytes) + machine.endpoint.receive.of(bytes);
            let transfer = match &machine.sci {
                Some(rings) => crate::network::unloaded_on_rings(rings, machine, bytes),
                None => unloaded::transfer(machine, bytes, 1, MessageKind::Data),
            };
            let total = ends + transfer;
            format!("{bytes:>7} B: {} once the receiver is ready.", us(total))
        })
        .collect()
}

fn sources(machine: &Machine) -> Vec<String> {
    machine
        .sources
        .iter()
        .map(|source| format!("{} ({}): {}", source.of.join(", "), source.kind, source.from))
        .collect()
}
