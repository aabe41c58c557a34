//! How fast instances can follow each other, as a first guess at their period.

use contract::{Rank, Result, TimeSpan};

use super::command::Command;
use super::segment::TrialSegments;

/// Instances back to back; a guess from fewer is a guess at their first, which is slow.
const INSTANCES_MAX: u64 = 256;
/// Enough time to guess from, as a share of a trial.
const SHARE: f64 = 1.0 / 8.0;

/// Runs ever more instances back to back until they take a while; the mean time of one. All ranks call it alike, and
/// get the same. It is the warm-up, too.
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

/// At least a picosecond, for the guess is the unit of the search.
fn mean(span: TimeSpan, instances: u64) -> TimeSpan {
    TimeSpan::from_ps((span.as_ps() / instances).max(1))
}
