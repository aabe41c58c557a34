//! The gain of faster processors and faster links on a simulated machine, as in MPI-SHARC section 6: the times of calls
//! over message sizes and over ranks, beside those of the machine as it is.

use benchmark::{Settings, Sizes, Step};
use fabric_sim::Machine;
use record::Parameters;
use serde::Serialize;

use crate::simulated::predict;

/// Request for a comparison.
#[derive(Clone, Debug)]
pub struct TradeoffQuestion {
    /// Factor by which processors become faster.
    pub clock: f64,
    /// Factor by which links become faster.
    pub links: f64,
    /// Benchmarks of the calls.
    pub calls: Vec<String>,
    /// Sizes at which all are timed, ascending.
    pub sizes_bytes: Vec<u64>,
    /// Number of ranks at which sizes are compared.
    pub ranks_of_sizes: usize,
    /// Numbers of ranks at which all are timed, ascending.
    pub ranks: Vec<usize>,
    /// Sizes at which numbers of ranks are compared.
    pub sizes_of_ranks: Vec<u64>,
}

/// The systems, in the order of all lists of times here.
pub const SYSTEMS: [&str; 4] = ["as it is", "faster clock", "faster links", "both"];

/// Times of the systems at one size or number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemTimes {
    /// The size in bytes, or the number of ranks.
    pub at: u64,
    /// Microseconds, system by system.
    pub time_us: [f64; SYSTEMS.len()],
}

/// The point at which the faster of two improvements becomes the slower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// Size in bytes or number of ranks at which both take the same time, between two that were timed.
    pub at: f64,
    /// True if faster links are better beyond it, and a faster clock below it.
    pub links_beyond: bool,
}

/// Times over sizes or over numbers of ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemCurve {
    /// Quantity that is constant along the curve: the number of ranks if sizes grow, the size in bytes if ranks do.
    pub fixed: u64,
    /// The times, in ascending order.
    pub points: Vec<SystemTimes>,
    /// Points at which a faster clock and faster links take the same time.
    pub crossings: Vec<Crossing>,
    /// Slope of each system's time, by least squares, over that of the machine as it is; `None` if that is zero.
    pub slopes: Option<[f64; SYSTEMS.len()]>,
}

/// Gain of the improvements for a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallTradeoff {
    /// The benchmark.
    pub call: String,
    /// Over sizes.
    pub over_sizes: SystemCurve,
    /// Over ranks, for each size.
    pub over_ranks: Vec<SystemCurve>,
}

/// Simulates each system and returns its times.
///
/// # Errors
/// The rank that failed, and the reason.
pub fn tradeoff(
    machine: &Machine,
    question: &TradeoffQuestion,
) -> Result<Vec<CallTradeoff>, String> {
    let TradeoffQuestion { clock, links, .. } = *question;
    let systems = [(1.0, 1.0), (clock, 1.0), (1.0, links), (clock, links)];
    let systems = systems.map(|(clock, links)| machine.scaled(clock, links));
    let of_call = |call: &String| -> Result<CallTradeoff, String> {
        let times = |at: u64, ranks: usize, size_bytes: u64| -> Result<SystemTimes, String> {
            let mut time_us = [0.0; SYSTEMS.len()];
            for (time, system) in time_us.iter_mut().zip(&systems) {
                *time = time_of(system, call, ranks, size_bytes)?;
            }
            Ok(SystemTimes { at, time_us })
        };
        let ranks = question.ranks_of_sizes;
        let sizes = whole_sizes(call, &question.sizes_bytes);
        let over_sizes = sizes.iter().map(|&size| times(size, ranks, size));
        let over_sizes = SystemCurve::new(ranks as u64, over_sizes.collect::<Result<_, _>>()?);
        let over_ranks = whole_sizes(call, &question.sizes_of_ranks).into_iter().map(|size| {
            let points = question.ranks.iter().map(|&ranks| times(ranks as u64, ranks, size));
            Ok(SystemCurve::new(size, points.collect::<Result<_, String>>()?))
        });
        let over_ranks = over_ranks.collect::<Result<_, String>>()?;
        Ok(CallTradeoff { call: call.clone(), over_sizes, over_ranks })
    };
    question.calls.iter().map(of_call).collect()
}

/// Number of ranks for which sizes are rounded; any number rounds them in the same way.
const RANKS: usize = 2;

/// Returns the sizes as a measurement of the call rounds them.
fn whole_sizes(call: &str, sizes_bytes: &[u64]) -> Vec<u64> {
    let wanted = Sizes::new(sizes_bytes.to_vec()).ok();
    match (benchmark::find(call), wanted) {
        (Some(one), Some(wanted)) => {
            one.measured_sizes(RANKS, Some(wanted), &Settings::default()).into_iter().collect()
        }
        _ => sizes_bytes.to_vec(),
    }
}

fn time_of(machine: &Machine, call: &str, ranks: usize, size_bytes: u64) -> Result<f64, String> {
    let parameters = Parameters::new();
    let step =
        Step { benchmark: call.into(), parameters, size_bytes, estimate_s: 0.0, repetition: 1 };
    let measured = predict(machine, ranks, step)?;
    let time = measured.iter().find(|measurement| measurement.metric == "time");
    let time = time.ok_or_else(|| format!("`{call}` is no call that takes a time"))?;
    Ok(time.summary.median)
}

impl SystemCurve {
    fn new(fixed: u64, points: Vec<SystemTimes>) -> Self {
        let slopes = [0, 1, 2, 3].map(|system| slope(&points, system));
        let base = slopes[0];
        let slopes = (base.abs() > f64::EPSILON).then(|| slopes.map(|slope| slope / base));
        SystemCurve { fixed, crossings: crossings(&points), slopes, points }
    }
}

/// Returns the slope of a system's times.
fn slope(points: &[SystemTimes], system: usize) -> f64 {
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&SystemTimes) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (mean_at, mean_us) = (mean(&|point| point.at as f64), mean(&|point| point.time_us[system]));
    let from_mean = |point: &SystemTimes| point.at as f64 - mean_at;
    let squares: f64 = points.iter().map(|point| from_mean(point).powi(2)).sum();
    let products = points.iter().map(|point| from_mean(point) * (point.time_us[system] - mean_us));
    if squares > 0.0 { products.sum::<f64>() / squares } else { 0.0 }
}

/// Returns the points at which the times of a faster clock and of faster links cross, as straight lines between the
/// points.
fn crossings(points: &[SystemTimes]) -> Vec<Crossing> {
    // Above zero if links are better.
    let better = |point: &SystemTimes| point.time_us[1] - point.time_us[2];
    let crossing = |pair: &[SystemTimes]| {
        let (before, after) = (better(&pair[0]), better(&pair[1]));
        let crosses = (before <= 0.0) != (after <= 0.0);
        crosses.then(|| Crossing {
            at: pair[0].at as f64 + (pair[1].at - pair[0].at) as f64 * before / (before - after),
            links_beyond: after > 0.0,
        })
    };
    points.windows(2).filter_map(crossing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sharc(call: &str) -> CallTradeoff {
        let question = TradeoffQuestion {
            clock: 3.75,
            links: 3.75,
            calls: vec![call.into()],
            sizes_bytes: vec![4, 1024, 2048, 32768],
            ranks_of_sizes: 8,
            ranks: vec![2, 8, 16],
            sizes_of_ranks: vec![128, 4096],
        };
        let ring = fabric_sim::machine::find("sharc-ring").unwrap();
        tradeoff(&ring, &question).unwrap().remove(0)
    }

    #[test]
    fn a_faster_clock_is_better_for_short_broadcasts_and_faster_links_for_long_ones() {
        let found = sharc("broadcast");
        // By tables 8 and 10, on 8 nodes: 11/15 of 63.25 + 6 x 24.7 = 211.45 us are as much as 11/15 of 7 x 0.025 us a
        // byte at 4 + 211.45 / 0.175 = 1212 bytes.
        let [crossing] = found.over_sizes.crossings[..] else { panic!("{found:#?}") };
        assert!(crossing.links_beyond && (crossing.at - 1212.0).abs() < 40.0, "{crossing:?}");
        let point = &found.over_sizes.points[0];
        assert!((point.time_us[0] / point.time_us[3] - 3.75).abs() < 1e-3, "{point:?}");
        let slopes = found.over_ranks[0].slopes.unwrap();
        assert!((slopes[3] - 1.0 / 3.75).abs() < 1e-3, "{slopes:?}");
    }

    #[test]
    fn long_allgathers_gain_by_links_from_11_nodes_on() {
        // Section 6 finds the crossing at 11 nodes.
        let found = sharc("allgather");
        let [crossing] = found.over_ranks[1].crossings[..] else { panic!("{found:#?}") };
        assert!(crossing.links_beyond && crossing.at > 10.0 && crossing.at <= 11.0, "{crossing:?}");
        assert!(found.over_ranks[0].crossings.is_empty(), "{found:#?}");
    }

    #[test]
    fn a_call_of_whole_elements_is_compared_at_whole_sizes() {
        // 4 bytes are half of a number of 8.
        let found = sharc("allreduce");
        let sizes: Vec<u64> = found.over_sizes.points.iter().map(|point| point.at).collect();
        assert_eq!(sizes, [8, 1024, 2048, 32768]);
    }

    #[test]
    fn what_is_no_call_is_told() {
        let mut question = TradeoffQuestion {
            clock: 2.0,
            links: 2.0,
            calls: vec!["clock-cost".into()],
            sizes_bytes: vec![0],
            ranks_of_sizes: 2,
            ranks: vec![2],
            sizes_of_ranks: Vec::new(),
        };
        let ring = fabric_sim::machine::find("sharc-ring").unwrap();
        assert!(tradeoff(&ring, &question).is_err());
        question.calls = Vec::new();
        assert_eq!(tradeoff(&ring, &question), Ok(Vec::new()));
    }
}
