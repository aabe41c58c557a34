//! Tests the limits of an invented machine against values derived by hand.

use record::{Measurement, ParameterValue, Parameters, Run};

use super::*;
use crate::records::{measurement, run};

fn limit(benchmark: &str, size_bytes: u64, unit: &str, value: f64) -> Measurement {
    let mut limit = measurement(benchmark, size_bytes, &[value]);
    (limit.group, limit.unit) = (GROUP.into(), unit.into());
    if unit == "MB/s" {
        limit.metric = "rate".into();
    }
    limit
}

fn hand_over(from: u64, to: u64, time_us: f64) -> Measurement {
    let mut limit = limit(HAND_OVER, 0, "us", time_us);
    limit.parameters.insert("from".into(), from.into());
    limit.parameters.insert("to".into(), to.into());
    limit
}

/// Returns a run of a machine with 0.1 us a hand-over and 2 us a switch, copies of 1 KiB at 8000 and of 64 KiB at 32000
/// MB/s, and two cores, with `others`.
fn machine(others: Vec<Measurement>) -> Run {
    let mut measurements = vec![
        hand_over(0, 1, 0.3),
        hand_over(0, 2, 0.1),
        limit(COPY, 65536, "MB/s", 32000.0),
        limit(COPY, 1024, "MB/s", 8000.0),
        limit(CLOCK_COST, 0, "us", 0.02),
        Measurement { metric: "resolution".into(), ..limit(CLOCK_COST, 0, "us", 0.04) },
        limit(PROCESS_SWITCH, 0, "us", 2.0),
    ];
    measurements.extend(others);
    let mut run = run(measurements);
    run.headers[0].environment.processors_available = 2;
    run
}

/// Returns the declarations of the benchmarks of these tests.
fn rules(benchmark: &str) -> BoundRule {
    let side = |parameters: &Parameters| match parameters.get("side") {
        Some(ParameterValue::Number(side)) => Some(side * side * 8),
        _ => None,
    };
    match benchmark {
        "ping-pong" => BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
        "bandwidth" => BoundRule::Pair(|_| Traffic { hand_overs: 0, blocks: 1 }),
        "barrier" => BoundRule::AllRanks(|_| Traffic { hand_overs: 1, blocks: 0 }),
        "fft" => BoundRule::Peak(Precision::Single),
        "linpack" => BoundRule::Peak(Precision::Double),
        "corner-turn-memory" => BoundRule::Copy { bytes: side, counted: 1 },
        "stream" => BoundRule::Copy { bytes: |_| Some(64 << 20), counted: 2 },
        _ => BoundRule::None,
    }
}

fn share(measured: Measurement) -> Option<Share> {
    let run = machine(vec![measured.clone()]);
    Shares::of(&run, rules).share(run.measurements.last().unwrap())
}

#[test]
fn limits_are_found_among_the_measurements() {
    let limits = Limits::of(&machine(vec![hand_over(0, 1, 0.2)]));
    assert_eq!(limits.hand_overs.len(), 2);
    assert_eq!(limits.hand_overs[1], HandOver { from: 0, to: 1, time_us: 0.2 });
    assert_eq!(limits.fastest_hand_over_us(), Some(0.1));
    assert_eq!((limits.clock_cost_us, limits.cores), (Some(0.02), 2));
    assert_eq!(Limits::of(&run(Vec::new())), Limits::default());
}

#[test]
fn copy_rates_lie_between_their_neighbours_and_keep_the_last() {
    let limits = Limits::of(&machine(Vec::new()));
    assert_eq!(limits.copy_mb_per_s(1024), Some(8000.0));
    assert_eq!(limits.copy_mb_per_s(8), Some(8000.0));
    assert_eq!(limits.copy_mb_per_s(1 << 30), Some(32000.0));
    // 8 KiB is halfway between 1 and 64 KiB: the geometric mean of 8000 and 32000.
    assert!((limits.copy_mb_per_s(8192).unwrap() - 16000.0).abs() < 1e-6);
}

#[test]
fn a_small_message_is_held_against_a_hand_over() {
    let found = share(measurement("ping-pong", 8, &[0.16])).unwrap();
    assert!((found.share - 0.1 / 0.16).abs() < 1e-12);
    assert_eq!(found.limit, 0.1);
    assert_eq!(found.to_string(), "62 % of 1 hand-over + 0.5 copies");
}

#[test]
fn a_long_message_is_held_against_a_copy_too() {
    // Each of two cores copies 32 KiB, five sixths of the way from 1 to 64 KiB on a logarithmic scale, at
    // 8000^(1/6) 32000^(5/6) = 25398.4 MB/s: 0.1 + (65536 - 64) / 2 / 25398.4 = 1.38890 us.
    let found = share(measurement("ping-pong", 65536, &[2.7778])).unwrap();
    assert!((found.limit - 1.38890).abs() < 1e-5, "{}", found.limit);
    assert!((found.share - 0.5).abs() < 1e-5);
}

#[test]
fn a_hand_over_measured_again_bounds_the_group_before_it() {
    let again = |after: &str, time_us| {
        let mut again = hand_over(0, 1, time_us);
        again.parameters.insert("after".into(), after.into());
        again
    };
    // The first pair took 0.3 at first. The virtual cores are moved during `second` and back during `third`.
    let run = machine(vec![again("first", 0.3), again("second", 1.2), again("third", 0.6)]);
    let limits = Limits::of(&run);
    assert_eq!(limits.hand_overs.len(), 2, "a repeat is no other pair");
    let during = |group| limits.hand_over_during_us(group, 2).unwrap();
    // The shortest of all pairs is 0.1; before and after `third` the first pair took 1.2 and 0.6, twice 0.3.
    assert_eq!((during("first"), during("second")), (0.1, 0.1));
    assert!((during("third") - 0.2).abs() < 1e-12);
    assert_eq!(limits.hand_over_during_us("third", 8), Some(0.1), "not measured with 8 ranks");
    assert_eq!(during("elsewhere"), 0.1);
    assert_eq!(limits.hand_over_drift_us(), Some((0.3, 1.2)));
    assert_eq!(limits.moved_us(), Some((0.3, 1.2)));
    let still = Limits::of(&machine(vec![again("first", 0.44)]));
    assert_eq!((still.hand_over_drift_us(), still.moved_us()), (Some((0.3, 0.44)), None));
    assert_eq!(Limits::of(&machine(Vec::new())).hand_over_drift_us(), None);
}

#[test]
fn ranks_that_share_cores_are_held_against_switches() {
    // Eight ranks on two cores: three switches and a hand-over, 6.1 us.
    let barrier = Measurement { ranks: 8, ..measurement("barrier", 0, &[12.2]) };
    let found = share(barrier).unwrap();
    assert!((found.limit - 6.1).abs() < 1e-12 && (found.share - 0.5).abs() < 1e-12);
    assert_eq!(found.to_string(), "50 % of 1 hand-over + 3 switches");
}

#[test]
fn a_rate_has_the_share_of_its_time() {
    let time = measurement("bandwidth", 65536, &[2.56]);
    let mut rate = measurement("bandwidth", 65536, &[25600.0]);
    (rate.metric, rate.unit) = ("rate".into(), "MB/s".into());
    let run = machine(vec![time, rate.clone()]);
    let found = Shares::of(&run, rules).share(run.measurements.last().unwrap()).unwrap();
    // Two cores copy 32 KiB each at 25398.4 MB/s (see above), 50796.8 MB/s together. 25600 is a share of 0.50397 of it.
    assert!((found.share - 0.50397).abs() < 1e-5, "{}", found.share);
    assert!((found.limit - 50796.8).abs() < 0.1, "{}", found.limit);
    assert_eq!(share(rate), None);
}

#[test]
fn what_has_no_bound_has_no_share() {
    assert_eq!(share(hand_over(0, 1, 0.2)), None);
    assert_eq!(share(measurement("no-such-benchmark", 8, &[1.0])), None);
    // An empty message in a stream needs none of the limits.
    assert_eq!(share(measurement("bandwidth", 0, &[1.0])), None);
    let without = run(vec![measurement("ping-pong", 8, &[1.0])]);
    assert_eq!(Shares::of(&without, rules).share(&without.measurements[0]), None);
}

fn rate(benchmark: &str, unit: &str, value: f64) -> Measurement {
    let mut rate = measurement(benchmark, 0, &[value]);
    (rate.metric, rate.unit, rate.ranks) = ("rate".into(), unit.into(), 1);
    rate
}

fn with(mut measurement: Measurement, name: &str, value: ParameterValue) -> Measurement {
    measurement.parameters.insert(name.into(), value);
    measurement
}

#[test]
fn floating_point_rates_are_held_against_the_peak_of_their_precision() {
    let peak =
        |precision: &str, value| with(rate(PEAK, "MFLOP/s", value), PRECISION, precision.into());
    let time = Measurement { ranks: 1, ..measurement("fft", 0, &[4.0]) };
    let run = machine(vec![
        peak("single", 200_000.0),
        peak("double", 100_000.0),
        time,
        rate("fft", "MFLOP/s", 50_000.0),
        rate("linpack", "MFLOP/s", 30_000.0),
        Measurement { unit: "roundings".into(), ..rate("linpack", "", 2.0) },
    ]);
    let shares = Shares::of(&run, rules);
    let found: Vec<Option<Share>> = run.measurements[7..].iter().map(|m| shares.share(m)).collect();
    assert_eq!(&found[..2], [None, None], "the peak is no share of itself");
    // A quarter of the peak in single precision: four times the rate, or a quarter of the time.
    let [time, fft, linpack] = [2, 3, 4].map(|at| found[at].unwrap());
    assert_eq!((time.share, time.limit), (0.25, 1.0));
    assert_eq!((fft.share, fft.limit), (0.25, 200_000.0));
    assert_eq!(fft.to_string(), "25 % of this core's peak in single precision");
    assert_eq!((linpack.share, linpack.limit), (0.3, 100_000.0));
    assert_eq!(found[5], None, "a residual is no rate");
}

#[test]
fn rates_of_bytes_in_memory_are_held_against_a_copy() {
    // The machine copies 8 KiB, 32 x 32 elements of 8 bytes, at 16000 MB/s.
    let turned = with(rate("corner-turn-memory", "MB/s", 12_000.0), "side", 32.into());
    let found = share(turned).unwrap();
    assert!((found.share - 0.75).abs() < 1e-9 && (found.limit - 16000.0).abs() < 1e-6);
    assert_eq!(found.to_string(), "75 % of a plain copy of the same bytes");
    // 64 MiB are copied at 32000 MB/s. STREAM counts each byte twice: once read, once written.
    let found = share(rate("stream", "MB/s", 48_000.0)).unwrap();
    assert_eq!((found.share, found.limit), (0.75, 64_000.0));
}
