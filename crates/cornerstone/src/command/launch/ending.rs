//! The mistake that has ended a program: the failure of a rank, or ranks that wait for each other.

use launcher::{Activity, LaunchError, RankActivity};

use super::not_started;
use crate::activity;
use crate::call_sites::CallSites;
use crate::failure::{Failure, STATUS_HANG, STATUS_OUT_OF_TIME};
use crate::mistakes::{Mistake, Mistakes, Side, kind_named, kind_of};
use crate::source_place::SourcePlace;

/// Kind of a run in which no rank can ever continue.
const HANG: &str = "deadlock";

/// How a rank reports an error of its own calls.
const FAILED: &str = "failed: ";

/// Returns the failure of a run, and adds the mistake that has ended it.
pub(super) fn explain(error: LaunchError, mistakes: &mut Mistakes) -> Failure {
    match error {
        LaunchError::Hang { ref ranks } => {
            mistakes.add(of_hang(ranks));
            Failure::status(format!("{error}\n{}", activity::describe(ranks)), STATUS_HANG)
        }
        LaunchError::OutOfTime { ref ranks, .. } => {
            Failure::status(format!("{error}\n{}", activity::describe(ranks)), STATUS_OUT_OF_TIME)
        }
        LaunchError::RankFailed { rank, ref reason, status } => {
            let mistake = of_rank(rank, reason);
            let reason = named(reason, &mistake);
            mistakes.add(mistake);
            let words = LaunchError::RankFailed { rank, reason, status }.to_string();
            let failure = Failure::status(words, status);
            match not_started::hint_of_status(status) {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
        LaunchError::Interrupted { signal } => Failure::signal(error.to_string(), signal),
        LaunchError::BadOptions(message) => Failure::usage(message),
        LaunchError::CannotExecute { ref program, is_missing, .. } => {
            let status = LaunchError::status_of_missing(is_missing);
            Failure::status(error.to_string(), status).hint(not_started::hint(program, is_missing))
        }
        other => Failure::failed(other.to_string()),
    }
}

/// Returns the mistake for which a rank has failed, with the places of its calls named.
fn of_rank(rank: usize, reason: &str) -> Mistake {
    let words = reason.strip_prefix(FAILED).unwrap_or(reason);
    Mistake::reported(kind_of(words), rank, CallSites::default().name_places(words))
}

/// Returns the reason of a mistake with the places of its calls named.
fn named(reason: &str, mistake: &Mistake) -> String {
    let begin = if reason.starts_with(FAILED) { FAILED } else { "" };
    format!("{begin}{}", mistake.message)
}

/// Returns the mistake for which no rank can continue.
fn of_hang(ranks: &[RankActivity]) -> Mistake {
    let mut sites = CallSites::default();
    let is_waiting = |one: &&RankActivity| match &one.activity {
        Activity::Waits { .. } => true,
        Activity::Described(lines) => lines.iter().any(|line| line.starts_with("waits ")),
        Activity::NotJoined | Activity::Runs(_) | Activity::Finished | Activity::Polls(_) => false,
    };
    let waiting: Vec<&RankActivity> = ranks.iter().filter(is_waiting).collect();
    let mut sides: Vec<Side> = Vec::new();
    for RankActivity { rank, activity, .. } in &waiting {
        let of_rank = match activity {
            Activity::Waits { waits, .. } => {
                let side = |(call, place)| Side { rank: Some(*rank), call, place };
                let named = |wait: &launcher::ThreadWait| {
                    Some((wait.call.clone(), sites.name(&wait.sites)?))
                };
                waits.iter().filter_map(named).map(side).collect()
            }
            Activity::Described(lines) => {
                lines.first().and_then(|line| of_line(*rank, line)).into_iter().collect()
            }
            _ => Vec::new(),
        };
        // Ranks in the same state are told by one of them, as in the message.
        let is_new =
            |side: &Side| !sides.iter().any(|old| old.call == side.call && old.place == side.place);
        let new: Vec<Side> = of_rank.into_iter().filter(is_new).collect();
        sides.extend(new);
    }
    Mistake {
        kind: kind_named(HANG).expect("the table has it"),
        message: format!("{}\n{}", launcher::HANG, activity::describe(ranks)),
        sides,
        ranks: waiting.iter().map(|one| one.rank).collect(),
        times: 1,
    }
}

/// Returns the call of a line of another host, which has named it: `waits in MPI_Recv (main, program.c:12) for`.
fn of_line(rank: usize, line: &str) -> Option<Side> {
    let (before, after) = line.split_once(" (")?;
    let place = SourcePlace::noted(after.split_once(')')?.0);
    let call = before.rsplit(' ').next().filter(|word| word.starts_with("MPI_"));
    place.line.is_some().then(|| Side { rank: Some(rank), call: call.map(str::to_owned), place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_other_hosts_have_named_the_places_of_their_waits() {
        let of = |rank, lines: &[&str]| RankActivity {
            rank,
            host: Some("one".into()),
            activity: Activity::Described(lines.iter().map(|line| line.to_string()).collect()),
        };
        let mistake = of_hang(&[
            of(
                0,
                &[
                    "waits in MPI_Recv (receive, a.c:26) for tag 7 of rank 1",
                    "not received there so far: 1 message",
                ],
            ),
            of(1, &["waits in MPI_Recv (receive, a.c:26) for tag 9 of rank 0"]),
            of(2, &["waits in MPI_Barrier for ranks 0, 1"]),
            of(3, &["has finished"]),
        ]);
        assert_eq!(mistake.ranks, [0, 1, 2]);
        let line = Some(("a.c".into(), 26));
        let place = SourcePlace { function: Some("receive".into()), line, code: None };
        assert_eq!(mistake.sides, [Side { rank: Some(0), call: Some("MPI_Recv".into()), place }]);
        assert!(mistake.message.starts_with("deadlock: all ranks wait"), "{}", mistake.message);
    }

    #[test]
    fn the_kind_of_a_failure_follows_from_its_words() {
        for (reason, kind) in [
            ("failed: MPI_Send: MPI_ERR_TAG: tag -5", "invalid-tag"),
            ("was killed by SIGSEGV", "crash"),
            ("ended with status 3", "failed"),
            ("failed: the program called MPI_Abort with error code 7", "abort"),
            ("failed: MPI_Finalize: MPI_ERR_OTHER: datatypes do not match: rank 0", "types-differ"),
            ("failed: MPI_Comm_spawn: MPI_ERR_SPAWN: no such program", "other-error"),
        ] {
            assert_eq!(of_rank(1, reason).kind.name, kind, "{reason}");
        }
        assert_eq!(
            of_rank(1, "failed: MPI_Send: MPI_ERR_TAG: tag -5").message,
            "MPI_Send: MPI_ERR_TAG: tag -5"
        );
    }
}
