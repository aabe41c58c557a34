//! A first guess at the period: the rate at which instances can follow each other.

use contract::{Rank, Result, TimeSpan};

use super::command::Command;
use super::segment::TrialSegments;

/// Maximum number of instances of a guess. In a guess of few instances the first one, which is slow, would decide.
const INSTANCES_MAX: u64 = 256;
/// Time of a guess, as a share of a trial.
const SHARE: f64 = 1.0 / 8.0;

/// Runs more and more instances back to back until they take long enough, and returns the mean time of one. Collective;
/// the result is the same at every rank. It also serves as the warm-up.
pub(super) fn measure(
    rank: &mut dyn Rank,
    segments: &mut TrialSegments<'_>,
    trial_s: f64,
) -> Result<TimeSpan> {
    let root = rank.rank() == 0;
    let enough = TimeSpan::from_s(trial_s * SHARE);
    let mut instances = 1;
    loop {
        let segment = segments.run(rank, TimeSpan::ZERO, instances)?;
        let span = TimeSpan::from_ps(segment.responses_ps.iter().copied().max().unwrap_or(0));
        let over = span.times(4) > enough || instances >= INSTANCES_MAX;
        let command = match over {
            true => Command::End { period: Some(mean(span, instances)) },
            false => Command::Segment { period: TimeSpan::ZERO, instances: 4 * instances },
        };
        let command =
            if root { command.send(rank).map(|()| command) } else { Command::receive(rank) }?;
        match command {
            Command::Segment { instances: more, .. } => instances = more,
            Command::End { period } => return Ok(period.unwrap_or_default()),
        }
    }
}

/// Returns the mean, at least a picosecond, because the guess is the unit of the search.
fn mean(span: TimeSpan, instances: u64) -> TimeSpan {
    TimeSpan::from_ps((span.as_ps() / instances).max(1))
}
