//! Writes costs as a machine file, each with its source.

use std::fmt::Write;

use record::Run;

use crate::boards::BoardCosts;
use crate::costs::{Costs, Ends, NO_LIMIT_MB_PER_S};
use crate::curve::Curve;
use crate::pauses::TwinPauses;
use crate::states::TwinState;
use crate::work::WorkRates;

/// First line of each twin, by which a later twin may replace it.
pub const MARK: &str = "# The twin of a measured machine, made by `cornerstone calibrate`.";

/// Returns the machine file of a twin named `name` with these costs and pauses.
pub(crate) fn describe(
    name: &str,
    run: &Run,
    states: &TwinState,
    costs: &Costs,
    pauses: &TwinPauses,
) -> String {
    let environment = &run.header().environment;
    let (processor, host) = (&environment.processor, &environment.host);
    let title = format!("Twin of {host} ({processor}) on the fabric {}", run.header().fabric.name);
    let mut text = format!("{MARK}\n# Measured: {states}.\nname = {name:?}\ntitle = {title:?}\n");
    let from = format!("the run {}", run.label);
    let rates = WorkRates::of(run, |bytes| costs.copy_us(bytes));
    for section in [
        processor_section(costs) + &rates.text(),
        ends_section(costs),
        protocol_section(costs),
        network_section(costs),
        board_section(costs),
        costs.windows.as_ref().map_or(String::new(), |windows| windows.text(pieces)),
    ] {
        if !section.is_empty() {
            text.push('\n');
            text.push_str(&section);
        }
    }
    text.push_str(&pauses.text());
    text.push_str(&sources(costs, pauses, &from));
    text
}

fn processor_section(costs: &Costs) -> String {
    let polling_us = costs.clock_us.map_or(0.1, |us| us.max(0.001));
    let mut text = format!("[processor]\npolling_us = {polling_us:.6}\n");
    if let [_, _, ..] = costs.copy.pieces[..] {
        let _ = write!(text, "{}", pieces("copy", &costs.copy));
    } else if let Some((size_bytes, us)) = costs.one_copy.filter(|(_, us)| *us > 0.0) {
        let _ = writeln!(text, "copy_mb_per_s = {:.3}", size_bytes as f64 / us);
    }
    if let Some(mops) = costs.reduction_mops {
        let _ = writeln!(text, "reduction_mops = {mops:.3}");
    }
    text
}

fn ends_section(costs: &Costs) -> String {
    let post_us = costs.post_us.unwrap_or(0.0);
    let mut text = format!("[endpoint]\npost_us = {post_us:.6}\n");
    if let Some(copies) = &costs.copies {
        for (name, curve) in [
            ("send", &copies.send),
            ("receive", &copies.receive),
            ("setup", &copies.setup),
            ("gap", &copies.gap),
        ] {
            text.push_str(&pieces(name, curve));
        }
        if let Some(from) = copies.both_from_bytes {
            let _ = writeln!(text, "simplex_from_bytes = {from}");
        }
        text.push_str("posted_in_memory = true\nlibrary_posts = true\n");
        return text;
    }
    let curve = |us: fn(&Ends) -> f64| {
        let points = costs.ends.iter().map(|ends| (ends.size_bytes, us(ends))).collect();
        Curve::through(&points, &[])
    };
    text.push_str(&pieces("setup", &curve(|ends| ends.setup_us)));
    text.push_str(&pieces("receive", &curve(|ends| ends.receive_us)));
    let simplex = costs.simplex();
    let _ = write!(text, "simplex = {simplex}\nsend_waits_for_link = {simplex}\n");
    text
}

fn board_section(costs: &Costs) -> String {
    let Some(board) = &costs.board else { return String::new() };
    let BoardCosts { ranks_max, bytes_max, piece_bytes, slot_bytes, places, .. } = board;
    let BoardCosts { see_us, look_us, .. } = board;
    let crowding = 1e3 * (board.crowding - 1.0);
    let mut text = format!(
        "[board]\nranks_max = {ranks_max}\nbytes_max = {bytes_max}\npiece_bytes = {piece_bytes}\nslot_bytes = {slot_bytes}\nplaces = {places}\nsee_us = {see_us:.6}\nlook_us = {look_us:.6}\ncrowding_permille = {crowding:.0}\n"
    );
    if let Some(line_bytes) = board.line_bytes {
        let _ = writeln!(text, "line_bytes = {line_bytes}");
    }
    for (name, curve) in [("put", &board.put), ("take", &board.take), ("combine", &board.combine)] {
        text.push_str(&pieces(name, curve));
    }
    text
}

fn protocol_section(costs: &Costs) -> String {
    costs.rendezvous.map_or(String::new(), |found| {
        let (eager_bytes, answer_us) = (found.eager_bytes, found.answer_us);
        format!("[protocol]\neager_bytes = {eager_bytes}\nanswer_us = {answer_us:.6}\n")
    })
}

fn network_section(costs: &Costs) -> String {
    // A message between two nodes passes two links, one into the switch and one out of it.
    let latency_us = costs.latency_us / 2.0;
    // Copies occupy the ends only.
    let link_mb_per_s =
        if costs.copies.is_some() { NO_LIMIT_MB_PER_S } else { costs.link_mb_per_s };
    format!(
        "[network]\nshape = \"switch\"\nlink_mb_per_s = {link_mb_per_s:.3}\nlatency_us = {latency_us:.6}\nswitching = \"cut-through\"\n"
    )
}

fn sources(costs: &Costs, pauses: &TwinPauses, from: &str) -> String {
    let mut all = vec![
        (
            "processor",
            "measured",
            format!(
                "copy, clock-cost and reduce of {from}, and the serial programs of its applications at the largest size, if it has them; 0.1 µs to poll where the clock's cost was not measured."
            ),
        ),
        ("endpoint", "measured", ends_source(costs, from)),
        (
            "network",
            "measured",
            format!(
                "The fastest stream of {from}, or no limit where messages are copies; the latency is what a ping-pong of up to 256 bytes takes longer than a message of a stream. That all ranks are joined by one switch is assumed."
            ),
        ),
    ];
    if let Some(rendezvous) = costs.rendezvous {
        let step = format!(
            "The ping-pong of {from} takes {:.3} µs more beyond {} bytes than lines through its neighbours.",
            rendezvous.handshake_us, rendezvous.eager_bytes
        );
        all.push(("protocol", "derived", step));
    }
    if costs.board.is_some() {
        let how = format!(
            "broadcast and reduce between 2 ranks of {from}; sizes and number of pieces are the fabric's own words. Assumed for more ranks than two: a look at one more board takes what the shortest message of a stream does (bandwidth), for both are one line from another's cache; all read a line as fast as one does; ranks are no more in each other's way than two; what the shortest reduction takes is spent once, not for each part."
        );
        all.push(("board", "measured", how));
    }
    if costs.windows.is_some() {
        let how = format!(
            "put, get, accumulate and notified-put between 2 ranks of {from}: ranks see each other's memory, so all of an access is the origin's work. A notice is an update of no elements; what half a round trip takes besides it, the put and a look is the time until it is seen."
        );
        all.push(("windows", "measured", how));
    }
    all.extend(pauses.source(from));
    let mut text = String::new();
    for (of, kind, from) in all {
        let _ = write!(text, "\n[[source]]\nof = [{of:?}]\nkind = {kind:?}\nfrom = {from:?}\n");
    }
    text
}

fn ends_source(costs: &Costs, from: &str) -> String {
    let measured =
        format!("ping-pong and bandwidth between 2 ranks of {from}, exact at each measured size.");
    if let Some(copies) = &costs.copies {
        let together = match copies.both_from_bytes {
            Some(from) => format!("from {from} bytes on by both ends at once"),
            None => "and long messages both ways take no longer than one way: each end copies what it receives".into(),
        };
        return format!(
            "{measured} The fabric says that messages are copies in memory, {together}. Posting is what short streams both ways (two-way-bandwidth) take longer than sending and receiving; that a collective's steps between more ranks than boards are for post as a program does is the fabric's way."
        );
    }
    let both_ways = match costs.both_ways {
        Some(ratio) => format!(
            "A message each way at once takes {ratio:.2} times one message (two-way-bandwidth over bandwidth, median from 16 KiB on; below, what it takes longer is posting)"
        ),
        None => "Streams both ways were not measured: as on a machine whose processors copy".into(),
    };
    let does = if costs.simplex() {
        "so an end sends or receives, but not both"
    } else {
        "so an end sends and receives at once"
    };
    format!("{measured} {both_ways}, {does}.")
}

/// Returns a field of the machine file that contains the pieces of a curve.
fn pieces(name: &str, curve: &Curve) -> String {
    let mut text = format!("{name} = [\n");
    for piece in &curve.pieces {
        let (from_bytes, us, ns_per_byte) = (piece.from_bytes, piece.us, 1e3 * piece.us_per_byte);
        let _ = writeln!(
            text,
            "    {{ from_bytes = {from_bytes}, us = {us:.6}, ns_per_byte = {ns_per_byte:.9} }},"
        );
    }
    text.push_str("]\n");
    text
}
