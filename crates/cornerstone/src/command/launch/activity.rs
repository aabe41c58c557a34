//! The state of the ranks of a run, with one line for ranks in the same state.

use std::io::Write;

use contract::name_ranks;
use fabric_shm::{Activity, RankActivity};

use super::call_sites::CallSites;

/// The maximum of lines; further ranks are only counted.
const MOST_LINES: usize = 40;
/// The beginning of lines about messages that were not received.
const REMARK: &str = "unexpected";

/// Writes the state of the ranks to standard error, on request.
pub(super) fn tell(what: &str, ranks: &[RankActivity]) {
    let words = format!("cornerstone: {what}\n{}\n", describe(ranks));
    // A failed write does not end the run. There is one write, because other processes write there too.
    let _ = std::io::stderr().write_all(words.as_bytes());
}

/// The state of the ranks, in indented lines.
pub(super) fn describe(ranks: &[RankActivity]) -> String {
    let mut sites = CallSites::default();
    let mut kinds: Vec<(Vec<usize>, Vec<String>)> = Vec::new();
    for RankActivity { rank, activity } in ranks {
        let lines = lines(activity, &mut sites);
        match kinds.iter_mut().find(|(_, known)| *known == lines) {
            Some((ranks, _)) => ranks.push(*rank),
            None => kinds.push((vec![*rank], lines)),
        }
    }
    let mut told = Vec::new();
    let mut left = 0;
    for (ranks, lines) in &kinds {
        if told.len() + lines.len() > MOST_LINES {
            left += ranks.len();
            continue;
        }
        let [first, rest @ ..] = &lines[..] else { continue };
        let verb = if ranks.len() == 1 { first.clone() } else { plural(first) };
        told.push(format!("  {} {verb}", name_ranks(ranks)));
        told.extend(rest.iter().map(|line| format!("    {line}")));
    }
    if left > 0 {
        told.push(format!("  and {left} ranks that do other things"));
    }
    told.join("\n")
}

/// The same words for several ranks.
fn plural(line: &str) -> String {
    let verbs = [("waits ", "wait "), ("has ", "have "), ("is ", "are ")];
    let found = verbs.iter().find_map(|(one, many)| Some((line.strip_prefix(one)?, many)));
    found.map_or_else(|| line.into(), |(rest, many)| format!("{many}{rest}"))
}

/// The state of a rank: a line without its subject, and remarks.
fn lines(activity: &Activity, sites: &mut CallSites) -> Vec<String> {
    match activity {
        Activity::NotJoined => vec!["has not called MPI_Init".into()],
        Activity::Finished => vec!["has finished".into()],
        Activity::Runs(state) => vec![format!("is not in a call that waits for others ({state})")],
        Activity::Waits { call, sites: callers, lines } => {
            let call = call.as_deref().unwrap_or("a call");
            let place = sites.name(callers).map(|place| format!(" ({place})"));
            let (remarks, awaited): (Vec<&String>, Vec<&String>) =
                lines.iter().partition(|line| line.starts_with(REMARK));
            let awaited: Vec<&str> = awaited.into_iter().map(String::as_str).collect();
            let waits =
                format!("waits in {call}{} {}", place.unwrap_or_default(), awaited.join("; "));
            let first = waits.trim_end().to_string();
            std::iter::once(first).chain(remarks.into_iter().cloned()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(rank: usize, lines: &[&str]) -> RankActivity {
        let lines = lines.iter().map(|line| line.to_string()).collect();
        let activity = Activity::Waits { call: Some("MPI_Recv".into()), sites: Vec::new(), lines };
        RankActivity { rank, activity }
    }

    #[test]
    fn ranks_that_do_the_same_are_told_in_one_line() {
        let runs = Activity::Runs("running".into());
        let ranks = [
            waits(0, &["for tag 7 of rank 3", "unexpected there: 1 message"]),
            waits(1, &["for tag 7 of rank 3"]),
            waits(2, &["for tag 7 of rank 3"]),
            RankActivity { rank: 3, activity: runs.clone() },
            RankActivity { rank: 4, activity: runs },
        ];
        assert_eq!(
            describe(&ranks),
            "  rank 0 waits in MPI_Recv for tag 7 of rank 3\n    unexpected there: 1 message\n  \
             ranks 1, 2 wait in MPI_Recv for tag 7 of rank 3\n  \
             ranks 3, 4 are not in a call that waits for others (running)"
        );
    }

    #[test]
    fn of_very_many_ranks_that_do_different_things_the_rest_is_counted() {
        let ranks: Vec<_> =
            (0..100).map(|rank| waits(rank, &[&format!("for tag {rank} of rank 0")])).collect();
        let told = describe(&ranks);
        assert_eq!(told.lines().count(), MOST_LINES + 1);
        assert!(told.ends_with("and 60 ranks that do other things"), "{told}");
    }
}
