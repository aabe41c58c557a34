//! The gain of a parallel program over a serial one, and its losses.
//!
//! The time P T of P ranks that take the time T together consists of three parts: computing, waiting for a rank that
//! computes more than the mean, and communication, the rest even at the rank that computes most. With the serial time S
//! and the computing C of all ranks together the efficiency is S / (P T) = (S / C) (1 - uneven - communication).

use std::fmt;

/// Metrics of a parallel program that follow from its time, in the order of output.
pub const SPEED_UP: &str = "speed-up";
/// The speed-up as a share of the number of ranks, in percent.
pub const EFFICIENCY: &str = "efficiency";
/// The time of the best serial program.
pub const SERIAL: &str = "serial";
/// The computing of all ranks as a share of the serial time, in percent.
pub const WORK: &str = "work";
/// The time in which the mean rank does not compute while the busiest does, as a share of the time, in percent.
pub const UNEVEN: &str = "uneven";
/// The time in which not even the busiest rank computes, as a share of the time, in percent.
pub const COMMUNICATION: &str = "communication";

/// Largest share that is an error of rounding.
const ROUNDING: f64 = 1e-12;

/// The times of a parallel program, all in the same unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// Time of the best serial program.
    pub serial: f64,
    /// Time of the parallel program, from the first rank's beginning to the last one's end.
    pub time: f64,
    /// Time of computing at each rank.
    pub computing: Vec<f64>,
}

impl Parallel {
    /// Returns the factor by which it is faster than the serial program.
    pub fn speed_up(&self) -> f64 {
        self.serial / self.time
    }

    /// Returns the speed-up as a share of the number of ranks.
    pub fn efficiency(&self) -> f64 {
        self.speed_up() / self.computing.len() as f64
    }

    /// Returns the computing of all ranks as a share of the serial time.
    pub fn work(&self) -> f64 {
        self.computing.iter().sum::<f64>() / self.serial
    }

    /// Returns the share of the time in which not even the busiest rank computes.
    pub fn communication(&self) -> f64 {
        (1.0 - self.busiest() / self.time).max(0.0)
    }

    /// Returns the share of the time in which the mean rank does not compute while the busiest does.
    pub fn uneven(&self) -> f64 {
        let mean = self.computing.iter().sum::<f64>() / self.computing.len() as f64;
        let share = (self.busiest() - mean) / self.time;
        // The mean of equal times may differ from them by rounding.
        if share < ROUNDING { 0.0 } else { share }
    }

    fn busiest(&self) -> f64 {
        self.computing.iter().copied().fold(0.0, f64::max)
    }
}

/// The reason why a parallel program is slower than its ideal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Its ranks together compute longer than the serial program: they do more, or do it slower.
    Work,
    /// Some ranks compute more than others.
    Uneven,
    /// Messages, and waits for them.
    Communication,
}

/// Efficiency from which no explanation is needed.
const NEARLY_ALL: f64 = 0.95;

impl Loss {
    /// Returns the largest of the three losses, from the metrics in percent; `None` if the loss is small.
    pub fn largest(efficiency: f64, work: f64, uneven: f64, communication: f64) -> Option<Loss> {
        if efficiency >= 100.0 * NEARLY_ALL {
            return None;
        }
        let more = if work > 100.0 { 100.0 - 1e4 / work } else { 0.0 };
        let losses =
            [(Loss::Work, more), (Loss::Uneven, uneven), (Loss::Communication, communication)];
        losses.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(loss, _)| loss)
    }
}

impl fmt::Display for Loss {
    /// Formats the loss to follow `bound by`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::Work => "more or slower computing than the best serial program's",
            Loss::Uneven => "ranks that wait while another computes",
            Loss::Communication => "communication",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests shares that are derived by hand: 4 ranks take 10, one takes 24. They compute 8, 6, 6 and 4: 24 in all, as
    /// much as the one.
    #[test]
    fn the_shares_explain_the_efficiency() {
        let parallel = Parallel { serial: 24.0, time: 10.0, computing: vec![8.0, 6.0, 6.0, 4.0] };
        assert!((parallel.speed_up() - 2.4).abs() < 1e-12);
        assert!((parallel.efficiency() - 0.6).abs() < 1e-12);
        assert!((parallel.work() - 1.0).abs() < 1e-12);
        // In two of ten no rank computes; the mean rank computes 6, the busiest 8.
        assert!((parallel.communication() - 0.2).abs() < 1e-12);
        assert!((parallel.uneven() - 0.2).abs() < 1e-12);
        let busy = 1.0 - parallel.uneven() - parallel.communication();
        assert!((parallel.efficiency() - busy / parallel.work()).abs() < 1e-12);
    }

    #[test]
    fn the_largest_loss_is_named() {
        assert_eq!(Loss::largest(96.0, 104.0, 0.0, 0.0), None);
        // Work of 200 % is half of the time lost.
        assert_eq!(Loss::largest(30.0, 200.0, 20.0, 20.0), Some(Loss::Work));
        assert_eq!(Loss::largest(60.0, 90.0, 30.0, 10.0), Some(Loss::Uneven));
        assert_eq!(Loss::largest(60.0, 100.0, 10.0, 30.0), Some(Loss::Communication));
    }
}
