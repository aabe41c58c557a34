//! From a measured run to a machine: the twin of the machine that was measured.
//!
//! A ping-pong says what a message of each measured length takes from end to end, T; a stream of such messages says what it
//! takes the busier of the two ends, B. So the sender gets the smaller of B and T, and the receiver the rest; between
//! measured lengths both are straight lines. Without a stream each end gets half. What the machine does to agree on long
//! messages is part of these times, so the twin sends everything at once.

use std::collections::BTreeMap;
use std::fmt::Write;

use contract::record::{Measurement, Run};

use crate::machine::{self, MachineError};
use crate::{Kind, Machine, unloaded};

/// A machine made from a run, and how well it meets what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The machine file.
    pub text: String,
    /// For each measured length of the ping-pong.
    pub residuals: Vec<Residual>,
}

/// A measured time and the twin's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// The message size in bytes.
    pub size_bytes: u64,
    /// The median of the measurement in microseconds.
    pub measured_us: f64,
    /// The twin's in microseconds.
    pub twin_us: f64,
}

/// Why a run cannot be made into a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    /// It does not hold what is needed.
    #[error(
        "the run holds {found} sizes of `ping-pong` between 2 ranks; at least 2 are needed (measure with `cornerstone run ping-pong bandwidth copy --ranks 2`)"
    )]
    TooLittle {
        /// How many sizes there are.
        found: usize,
    },
    /// The machine made from it is refused, by a rule of machine files.
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// What a message of some length takes.
#[derive(Clone, Copy)]
struct Ends {
    size_bytes: u64,
    send_us: f64,
    receive_us: f64,
}

/// A twin named `name` of the machine that `run` measured.
///
/// # Errors
/// A run without a ping-pong of at least two sizes.
pub fn calibrate(name: &str, run: &Run) -> Result<Calibration, CalibrationError> {
    let whole = medians_us(run, "ping-pong");
    if whole.len() < 2 {
        return Err(CalibrationError::TooLittle { found: whole.len() });
    }
    let text = describe(name, run, &ends(&whole, &medians_us(run, "bandwidth")));
    let machine = machine::parse(name, &text)?;
    let residual = |(&size_bytes, &measured_us): (&u64, &f64)| Residual {
        size_bytes,
        measured_us,
        twin_us: end_to_end_us(&machine, size_bytes),
    };
    Ok(Calibration { residuals: whole.iter().map(residual).collect(), text })
}

/// A message that finds its receiver waiting, from end to end.
fn end_to_end_us(machine: &Machine, bytes: u64) -> f64 {
    let ends = machine.endpoint.send.of(bytes) + machine.endpoint.receive.of(bytes);
    (ends + unloaded::transfer(machine, bytes, 2, Kind::Data)).as_us()
}

/// The median time of a benchmark between two ranks, by size.
fn medians_us(run: &Run, benchmark: &str) -> BTreeMap<u64, f64> {
    let wanted = |measurement: &&Measurement| {
        measurement.benchmark == benchmark && measurement.metric == "time" && measurement.ranks == 2
    };
    run.measurements.iter().filter(wanted).map(|m| (m.size_bytes, m.summary.median)).collect()
}

/// The two ends' shares. A longer message costs neither end less than a shorter one: where a measurement says so, it is
/// noise, or the shorter one's measurement is.
fn ends(whole: &BTreeMap<u64, f64>, stream: &BTreeMap<u64, f64>) -> Vec<Ends> {
    let mut last = (0.0f64, 0.0f64);
    whole
        .iter()
        .map(|(&size_bytes, &us)| {
            let busier_us = stream.get(&size_bytes).copied().unwrap_or(us / 2.0);
            let send_us = busier_us.min(us);
            last = (last.0.max(send_us), last.1.max(us - send_us));
            Ends { size_bytes, send_us: last.0, receive_us: last.1 }
        })
        .collect()
}

/// From each length on its cost, and a straight line to the next; the last line goes on.
fn pieces(ends: &[Ends], us: fn(&Ends) -> f64) -> String {
    let mut text = String::new();
    let mut ns_per_byte = 0.0;
    for (index, from) in ends.iter().enumerate() {
        if let Some(next) = ends.get(index + 1) {
            ns_per_byte = 1e3 * (us(next) - us(from)) / (next.size_bytes - from.size_bytes) as f64;
        }
        // Shorter messages than the shortest measured cost as much as it.
        let (from_bytes, slope) =
            if index == 0 { (0, 0.0) } else { (from.size_bytes, ns_per_byte) };
        let slope = if from.size_bytes == 0 { ns_per_byte } else { slope };
        let _ = writeln!(
            text,
            "    {{ from_bytes = {from_bytes}, us = {:.6}, ns_per_byte = {slope:.9} }},",
            us(from)
        );
        if index == 0 && from.size_bytes > 0 {
            let start = from.size_bytes;
            let _ = writeln!(
                text,
                "    {{ from_bytes = {start}, us = {:.6}, ns_per_byte = {ns_per_byte:.9} }},",
                us(from)
            );
        }
    }
    text
}

fn describe(name: &str, run: &Run, ends: &[Ends]) -> String {
    let environment = &run.header().environment;
    let (processor, host) = (&environment.processor, &environment.host);
    let fabric = &run.header().fabric.name;
    let copy = medians_us_of_one(run, "copy").map_or(String::new(), |(size_bytes, us)| {
        format!("copy_mb_per_s = {:.3}\n", size_bytes as f64 / us)
    });
    let polling_us = medians_us_of_one(run, "clock-cost").map_or(0.1, |(_, us)| us.max(0.001));
    let (send, receive) = (pieces(ends, |ends| ends.send_us), pieces(ends, |ends| ends.receive_us));
    let from = format!("The run {}, by `cornerstone calibrate`.", run.label);
    format!(
        "# The twin of a measured machine, made by `cornerstone calibrate`.\nname = {name:?}\n\
         title = {:?}\n\n[processor]\npolling_us = {polling_us:.6}\n{copy}\n[endpoint]\nsend = [\n{send}]\n\
         receive = [\n{receive}]\n\n[network]\nshape = \"switch\"\nlink_mb_per_s = 1000000000\n\
         switching = \"cut-through\"\n\n[[source]]\nof = [\"processor\", \"endpoint\"]\nkind = \"measured\"\n\
         from = {from:?}\n\n[[source]]\nof = [\"network\"]\nkind = \"assumed\"\nfrom = \"All that a message costs is \
         at its ends: memory is between them, and no pair disturbs another.\"\n",
        format!("Twin of {host} ({processor}) on the fabric {fabric}"),
    )
}

/// The median of a benchmark on one rank, at the size nearest to what fits a cache of any machine.
fn medians_us_of_one(run: &Run, benchmark: &str) -> Option<(u64, f64)> {
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

    fn shares(whole: &[(u64, f64)], stream: &[(u64, f64)]) -> Vec<(u64, f64, f64)> {
        let (whole, stream) = (whole.iter().copied().collect(), stream.iter().copied().collect());
        ends(&whole, &stream).iter().map(|e| (e.size_bytes, e.send_us, e.receive_us)).collect()
    }

    #[test]
    fn the_stream_says_how_the_ends_share_a_message() {
        assert_eq!(shares(&[(8, 3.0)], &[(8, 1.0)]), [(8, 1.0, 2.0)]);
        assert_eq!(shares(&[(8, 3.0)], &[]), [(8, 1.5, 1.5)]);
        // Noise: a longer message never costs an end less.
        assert_eq!(shares(&[(8, 4.0), (9, 2.0)], &[]), [(8, 2.0, 2.0), (9, 2.0, 2.0)]);
    }

    #[test]
    fn pieces_go_through_the_measured_sizes_and_begin_at_zero() {
        let ends = |size_bytes, send_us| Ends { size_bytes, send_us, receive_us: 0.0 };
        let text = pieces(&[ends(10, 2.0), ends(30, 6.0)], |ends| ends.send_us);
        let expected = "    { from_bytes = 0, us = 2.000000, ns_per_byte = 0.000000000 },\n    \
                        { from_bytes = 10, us = 2.000000, ns_per_byte = 200.000000000 },\n    \
                        { from_bytes = 30, us = 6.000000, ns_per_byte = 200.000000000 },\n";
        assert_eq!(text, expected);
    }
}
