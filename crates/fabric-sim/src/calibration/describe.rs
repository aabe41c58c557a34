//! A calibration as a machine file, with where each number comes from.

use std::fmt::Write;

use contract::record::{Measurement, Run};

use super::{Ends, Found, TwinPauses};

/// The machine file of what was found.
pub(super) fn describe(name: &str, run: &Run, found: &Found, pauses: &TwinPauses) -> String {
    let environment = &run.header().environment;
    let (processor, host) = (&environment.processor, &environment.host);
    let title = format!("Twin of {host} ({processor}) on the fabric {}", run.header().fabric.name);
    let mut text = format!(
        "# The twin of a measured machine, made by `cornerstone calibrate`.\nname = {name:?}\ntitle = {title:?}\n"
    );
    let from = format!("the run {}", run.label);
    for section in [
        processor_section(run, found),
        ends_section(found),
        protocol_section(found),
        network_section(found),
    ] {
        text.push('\n');
        text.push_str(&section);
    }
    text.push_str(&pauses.text());
    text.push_str(&sources(found, pauses, &from));
    text
}

fn processor_section(run: &Run, found: &Found) -> String {
    let polling_us = median_of_one(run, "clock-cost").map_or(0.1, |(_, us)| us.max(0.001));
    let mut text = format!("[processor]\npolling_us = {polling_us:.6}\n");
    if let Some((size_bytes, us)) = median_of_one(run, "copy").filter(|(_, us)| *us > 0.0) {
        let _ = writeln!(text, "copy_mb_per_s = {:.3}", size_bytes as f64 / us);
    }
    if let Some(mops) = found.reduction_mops {
        let _ = writeln!(text, "reduction_mops = {mops:.3}");
    }
    text
}

fn ends_section(found: &Found) -> String {
    let setup = pieces(&found.ends, |ends| ends.setup_us);
    let receive = pieces(&found.ends, |ends| ends.receive_us);
    let simplex = found.simplex();
    let post_us = found.post_us.unwrap_or(0.0);
    format!(
        "[endpoint]\npost_us = {post_us:.6}\nsetup = [\n{setup}]\nreceive = [\n{receive}]\nsimplex = {simplex}\nsend_waits_for_link = {simplex}\n"
    )
}

fn protocol_section(found: &Found) -> String {
    found.rendezvous.map_or(String::new(), |found| {
        let (eager_bytes, answer_us) = (found.eager_bytes, found.answer_us);
        format!("[protocol]\neager_bytes = {eager_bytes}\nanswer_us = {answer_us:.6}\n")
    })
}

fn network_section(found: &Found) -> String {
    // A message between two nodes passes two links, into the switch and out of it.
    let latency_us = found.latency_us / 2.0;
    format!(
        "[network]\nshape = \"switch\"\nlink_mb_per_s = {:.3}\nlatency_us = {latency_us:.6}\nswitching = \"cut-through\"\n",
        found.link_mb_per_s
    )
}

fn sources(found: &Found, pauses: &TwinPauses, from: &str) -> String {
    let both_ways = match found.both_ways {
        Some(ratio) => format!(
            "A message each way at once takes {ratio:.2} times one message (two-way-bandwidth over bandwidth, median from 16 KiB on; below, what it takes longer is posting)"
        ),
        None => "Streams both ways were not measured: as on a machine whose processors copy".into(),
    };
    let does = if found.simplex() {
        "so an end sends or receives, but not both"
    } else {
        "so an end sends and receives at once"
    };
    let mut all = vec![
        (
            "processor",
            "measured",
            format!(
                "copy (the size nearest to 64 KiB), clock-cost and reduce of {from}; 0.1 µs to poll where the clock's cost was not measured."
            ),
        ),
        (
            "endpoint",
            "measured",
            format!(
                "ping-pong and bandwidth between 2 ranks of {from}, exact at each measured size. {both_ways}, {does}."
            ),
        ),
        (
            "network",
            "measured",
            format!(
                "The fastest stream of {from}; the latency is what a ping-pong of up to 256 bytes takes longer than a message of a stream. That all ranks are joined by one switch is assumed."
            ),
        ),
    ];
    if let Some(rendezvous) = found.rendezvous {
        let step = format!(
            "The ping-pong of {from} takes {:.3} µs more beyond {} bytes than lines through its neighbours.",
            rendezvous.handshake_us, rendezvous.eager_bytes
        );
        all.push(("protocol", "derived", step));
    }
    all.extend(pauses.source(from));
    let mut text = String::new();
    for (of, kind, from) in all {
        let _ = write!(text, "\n[[source]]\nof = [{of:?}]\nkind = {kind:?}\nfrom = {from:?}\n");
    }
    text
}

/// From each length on its cost, and a straight line to the next; the last line goes on. Where the next costs less, the
/// cost stays until there: a byte more never costs less than nothing.
fn pieces(ends: &[Ends], us: fn(&Ends) -> f64) -> String {
    let mut text = String::new();
    let mut piece = |from_bytes: u64, us: f64, ns_per_byte: f64| {
        let _ = writeln!(
            text,
            "    {{ from_bytes = {from_bytes}, us = {us:.6}, ns_per_byte = {ns_per_byte:.9} }},"
        );
    };
    // Shorter messages than the shortest measured cost as much as it.
    if let Some(first) = ends.first().filter(|first| first.size_bytes > 0) {
        piece(0, us(first), 0.0);
    }
    let mut ns_per_byte = 0.0;
    for (index, from) in ends.iter().enumerate() {
        if let Some(next) = ends.get(index + 1) {
            let rise_ns = 1e3 * (us(next) - us(from));
            ns_per_byte = (rise_ns / (next.size_bytes - from.size_bytes) as f64).max(0.0);
        }
        piece(from.size_bytes, us(from), ns_per_byte);
    }
    text
}

/// The median of a benchmark on one rank, at the size nearest to what fits a cache of any machine.
fn median_of_one(run: &Run, benchmark: &str) -> Option<(u64, f64)> {
    const NEAR_BYTES: u64 = 64 * 1024;
    let wanted = |m: &&Measurement| m.benchmark == benchmark && m.metric == "time";
    let measured = run.measurements.iter().filter(wanted);
    measured
        .min_by_key(|m| m.size_bytes.abs_diff(NEAR_BYTES))
        .map(|m| (m.size_bytes, m.summary.median))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_go_through_the_measured_sizes_and_begin_at_zero() {
        let ends = |size_bytes, setup_us| Ends { size_bytes, setup_us, receive_us: 0.0 };
        let text = pieces(&[ends(10, 2.0), ends(30, 6.0), ends(50, 5.0)], |ends| ends.setup_us);
        let expected = "    { from_bytes = 0, us = 2.000000, ns_per_byte = 0.000000000 },\n    \
                        { from_bytes = 10, us = 2.000000, ns_per_byte = 200.000000000 },\n    \
                        { from_bytes = 30, us = 6.000000, ns_per_byte = 0.000000000 },\n    \
                        { from_bytes = 50, us = 5.000000, ns_per_byte = 0.000000000 },\n";
        assert_eq!(text, expected);
    }
}
