//! LogGP's parameters from measured times of one call, over message sizes and few numbers of ranks, to predict more.
//!
//! A call between P ranks with messages of k bytes takes
//!
//! t = o + o' n + f (g + g' n) + p o_p + r (G + G' n)
//!
//! where f are the bytes of the first packet beyond the smallest, p the packets after it and r their bytes, as in
//! [`loggp`](super::loggp), and n grows with the ranks: by P - 2, as around a ring, or by log2 P - 1, as in a tree.
//! Overheads of sender and receiver, and latencies there and back, occur only as sums in such times, so only the sums
//! are found. No parameter is below zero. The set of parameters with the least relative error is selected.

use serde::Serialize;

use super::loggp::Packet;

/// Time of a call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallTime {
    /// Number of ranks.
    pub ranks: usize,
    /// Length of the message.
    pub size_bytes: u64,
    /// Time in microseconds.
    pub time_us: f64,
}

/// Growth of the time with the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// By as much for each rank.
    Ranks,
    /// By as much for each doubling of the ranks.
    Doublings,
}

/// Parameters of one call, in microseconds and microseconds a byte.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallModel {
    /// The growth of the time with the ranks.
    pub growth: Growth,
    /// The division of messages into packets.
    pub packet: Packet,
    /// o: between two ranks.
    pub overhead_us: f64,
    /// o': for each further rank or doubling.
    pub overhead_us_each_more: f64,
    /// g: for each byte of the first packet.
    pub gap_us_per_byte: f64,
    /// g': for each of them and each further rank or doubling.
    pub gap_us_per_byte_each_more: f64,
    /// o_p: for each packet after the first.
    pub packet_overhead_us: f64,
    /// G: for each byte after the first packet.
    pub long_gap_us_per_byte: f64,
    /// G': for each of them and each further rank or doubling.
    pub long_gap_us_per_byte_each_more: f64,
}

/// The largest deviation of a model from a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LargestError {
    /// The time.
    pub at: CallTime,
    /// (model - time) / time.
    pub relative: f64,
}

/// Number of parameters of a model.
const PARAMETERS: usize = 7;

/// The reason why there is no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFitError {
    /// All times are of one number of ranks, or of one length.
    OneOnly {
        /// `number of ranks` or `message size`.
        what: &'static str,
    },
    /// A time that is not above 0, or of fewer than two ranks.
    BadTime {
        /// The number of ranks.
        ranks: usize,
        /// The length.
        size_bytes: u64,
    },
}

impl std::fmt::Display for CallFitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallFitError::OneOnly { what } => write!(f, "the times are of one {what} only"),
            CallFitError::BadTime { ranks, size_bytes } => {
                write!(f, "the time for {size_bytes} bytes between {ranks} ranks cannot be fitted")
            }
        }
    }
}

impl std::error::Error for CallFitError {}

/// Fits the model to times of one call, by least squares of relative errors.
///
/// # Errors
/// [`CallFitError`].
pub fn fit(times: &[CallTime], packet: Packet) -> Result<CallModel, CallFitError> {
    let unsound =
        |time: &&CallTime| time.ranks < 2 || !(time.time_us > 0.0 && time.time_us.is_finite());
    if let Some(&CallTime { ranks, size_bytes, .. }) = times.iter().find(unsound) {
        return Err(CallFitError::BadTime { ranks, size_bytes });
    }
    let varied =
        |of: fn(&CallTime) -> u64| times.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]));
    if !varied(|time| time.ranks as u64) {
        return Err(CallFitError::OneOnly { what: "number of ranks" });
    }
    if !varied(|time| time.size_bytes) {
        return Err(CallFitError::OneOnly { what: "message size" });
    }
    let best = [Growth::Ranks, Growth::Doublings].map(|growth| {
        let rows: Vec<_> = times.iter().map(|time| weighted(time, growth, packet)).collect();
        let (parameters, error) = non_negative(&rows);
        (CallModel::new(growth, packet, parameters), error)
    });
    let [ranks, doublings] = best;
    Ok(if ranks.1 <= doublings.1 { ranks.0 } else { doublings.0 })
}

/// Returns the factor of each parameter, divided by the time. The sum of all should be 1.
fn weighted(time: &CallTime, growth: Growth, packet: Packet) -> [f64; PARAMETERS] {
    factors(time.size_bytes, time.ranks, growth, packet).map(|factor| factor / time.time_us)
}

fn factors(size_bytes: u64, ranks: usize, growth: Growth, packet: Packet) -> [f64; PARAMETERS] {
    let (first, rest, packets) = packet.split(size_bytes);
    let n = match growth {
        Growth::Ranks => ranks as f64 - 2.0,
        Growth::Doublings => (ranks as f64).log2() - 1.0,
    };
    [1.0, n, first, first * n, packets, rest, rest * n]
}

/// Returns the parameters, none below zero, for which the products with `rows` are nearest to 1, and the remaining sum
/// of squares. There are few parameters, so all sets of them are tried: the best is the least-squares solution of one
/// set.
fn non_negative(rows: &[[f64; PARAMETERS]]) -> ([f64; PARAMETERS], f64) {
    let mut best = ([0.0; PARAMETERS], rows.len() as f64);
    for set in 1u32..1 << PARAMETERS {
        let chosen: Vec<usize> = (0..PARAMETERS).filter(|at| set & (1 << at) != 0).collect();
        let Some(solution) = least_squares(rows, &chosen) else { continue };
        if solution.iter().any(|parameter| *parameter < 0.0) {
            continue;
        }
        let left = |row: &[f64; PARAMETERS]| {
            let sum: f64 =
                row.iter().zip(&solution).map(|(factor, parameter)| factor * parameter).sum();
            (sum - 1.0).powi(2)
        };
        let error: f64 = rows.iter().map(left).sum();
        if error < best.1 {
            best = (solution, error);
        }
    }
    best
}

/// Returns the least-squares solution with the chosen parameters only, by the normal equations of scaled columns;
/// `None` if the times do not distinguish them.
fn least_squares(rows: &[[f64; PARAMETERS]], chosen: &[usize]) -> Option<[f64; PARAMETERS]> {
    /// Share of a pivot's own size below which its column depends linearly on the others.
    const DEPENDENT: f64 = 1e-10;

    let n = chosen.len();
    let scale: Vec<f64> = chosen
        .iter()
        .map(|&at| rows.iter().map(|row| row[at] * row[at]).sum::<f64>().sqrt())
        .collect();
    if scale.contains(&0.0) {
        return None;
    }
    let mut equations = vec![vec![0.0; n + 1]; n];
    for row in rows {
        let scaled: Vec<f64> =
            chosen.iter().zip(&scale).map(|(&at, scale)| row[at] / scale).collect();
        for (equation, x) in equations.iter_mut().zip(&scaled) {
            equation.iter_mut().zip(&scaled).for_each(|(sum, y)| *sum += x * y);
            equation[n] += x;
        }
    }
    for i in 0..n {
        if equations[i][i] < DEPENDENT {
            return None;
        }
        let own = equations[i].clone();
        for equation in equations.iter_mut().skip(i + 1) {
            let factor = equation[i] / own[i];
            equation.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut solution = [0.0; PARAMETERS];
    for i in (0..n).rev() {
        let solved: f64 =
            (i + 1..n).map(|j| equations[i][j] * solution[chosen[j]] * scale[j]).sum();
        solution[chosen[i]] = (equations[i][n] - solved) / equations[i][i] / scale[i];
    }
    Some(solution)
}

impl CallModel {
    fn new(growth: Growth, packet: Packet, parameters: [f64; PARAMETERS]) -> Self {
        let [o, o_more, g, g_more, o_p, long, long_more] = parameters;
        CallModel {
            growth,
            packet,
            overhead_us: o,
            overhead_us_each_more: o_more,
            gap_us_per_byte: g,
            gap_us_per_byte_each_more: g_more,
            packet_overhead_us: o_p,
            long_gap_us_per_byte: long,
            long_gap_us_per_byte_each_more: long_more,
        }
    }

    /// Returns the time of a message of `size_bytes` between `ranks` ranks.
    pub fn time_us(&self, size_bytes: u64, ranks: usize) -> f64 {
        let parameters = [
            self.overhead_us,
            self.overhead_us_each_more,
            self.gap_us_per_byte,
            self.gap_us_per_byte_each_more,
            self.packet_overhead_us,
            self.long_gap_us_per_byte,
            self.long_gap_us_per_byte_each_more,
        ];
        let factors = factors(size_bytes, ranks, self.growth, self.packet);
        factors.iter().zip(parameters).map(|(factor, parameter)| factor * parameter).sum()
    }

    /// Returns the largest deviation of the model from `times`; `None` if there are no times.
    pub fn largest_error(&self, times: &[CallTime]) -> Option<LargestError> {
        let error = |&at: &CallTime| {
            let relative = self.time_us(at.size_bytes, at.ranks) / at.time_us - 1.0;
            LargestError { at, relative }
        };
        let size = |error: &LargestError| error.relative.abs();
        times.iter().map(error).max_by(|a, b| size(a).total_cmp(&size(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::SplitMix64;

    const PACKET: Packet = Packet { payload_min_bytes: 4, payload_max_bytes: 2048 };
    const SIZES: [u64; 8] = [4, 64, 512, 2048, 3000, 4096, 8192, 16384];

    fn times(ranks: &[usize], time: impl Fn(u64, usize) -> f64) -> Vec<CallTime> {
        let one = |ranks: usize, size_bytes: u64| CallTime {
            ranks,
            size_bytes,
            time_us: time(size_bytes, ranks),
        };
        ranks.iter().flat_map(|&ranks| SIZES.map(|size| one(ranks, size))).collect()
    }

    /// Returns the broadcast of table 8: 63.25 + (P - 2) 24.7 + first (P - 1) 0.025 + rest 0.0266.
    fn broadcast(size: u64, ranks: usize) -> f64 {
        let (first, rest, _) = PACKET.split(size);
        let more = ranks as f64 - 2.0;
        63.25 + more * 24.7 + first * (more + 1.0) * 0.025 + rest * 0.0266
    }

    #[test]
    fn exact_times_of_few_ranks_give_the_parameters_back_and_predict_many() {
        let model = fit(&times(&[2, 3, 4], broadcast), PACKET).unwrap();
        assert_eq!(model.growth, Growth::Ranks);
        let found = [model.overhead_us, model.overhead_us_each_more, model.gap_us_per_byte];
        for (found, right) in found.into_iter().zip([63.25, 24.7, 0.025]) {
            assert!((found - right).abs() < 1e-4 * right, "{found} and not {right}");
        }
        let error = model.largest_error(&times(&[8, 32], broadcast)).unwrap();
        assert!(error.relative.abs() < 1e-4, "{error:?}");
    }

    #[test]
    fn a_tree_is_seen_to_be_one() {
        let tree = |size: u64, ranks: usize| (ranks as f64).log2() * (5.0 + size as f64 * 0.01);
        let model = fit(&times(&[2, 3, 4], tree), PACKET).unwrap();
        assert_eq!(model.growth, Growth::Doublings);
        let error = model.largest_error(&times(&[8, 64], tree)).unwrap();
        assert!(error.relative.abs() < 0.01, "{error:?}");
    }

    #[test]
    fn noise_moves_the_model_by_no_more_than_itself() {
        for seed in 1..=20 {
            let mut random = SplitMix64::new(seed);
            let mut noisy = times(&[2, 3, 4], broadcast);
            // Up to 1 % either way.
            for time in &mut noisy {
                time.time_us *= 0.99 + 0.02 * (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
            }
            let model = fit(&noisy, PACKET).unwrap();
            let parameters = [model.overhead_us, model.gap_us_per_byte, model.packet_overhead_us];
            assert!(parameters.iter().all(|parameter| *parameter >= 0.0), "seed {seed}: {model:?}");
            let within = model.largest_error(&times(&[2, 3, 4], broadcast)).unwrap();
            assert!(within.relative.abs() < 0.015, "seed {seed}: {within:?}");
        }
    }

    #[test]
    fn what_cannot_be_fitted_is_told() {
        let refusal = |times: &[CallTime]| fit(times, PACKET).unwrap_err().to_string();
        assert_eq!(refusal(&times(&[2], broadcast)), "the times are of one number of ranks only");
        let mut one_size = times(&[2, 3], broadcast);
        one_size.retain(|time| time.size_bytes == 64);
        assert_eq!(refusal(&one_size), "the times are of one message size only");
        let mut bad = times(&[2, 3], broadcast);
        bad[3].time_us = f64::NAN;
        assert_eq!(refusal(&bad), "the time for 2048 bytes between 2 ranks cannot be fitted");
    }
}
