//! The state of the ranks of a run, with one line for ranks in the same state.

use contract::name_ranks;
use launcher::{Activity, RankActivity, ThreadWait, WaitLine};

use crate::call_sites::CallSites;
use crate::progress::say;

/// Maximum number of lines. Further ranks are only counted.
const MOST_LINES: usize = 40;

/// Writes the state of the ranks to standard error, at the user's request.
pub(crate) fn report(what: &str, ranks: &[RankActivity]) {
    say(&format!("cornerstone: {what}\n{}\n", describe(ranks)));
}

/// Returns the state of each rank: a line without its subject, and remarks.
pub(crate) fn lines_of_each(ranks: &[RankActivity]) -> Vec<Vec<String>> {
    let mut sites = CallSites::default();
    ranks.iter().map(|one| lines(&one.activity, &mut sites)).collect()
}

/// Returns the state of the ranks, in indented lines.
pub(crate) fn describe(ranks: &[RankActivity]) -> String {
    let mut kinds: Vec<(Vec<usize>, &Option<String>, Vec<String>)> = Vec::new();
    for (RankActivity { rank, host, .. }, lines) in ranks.iter().zip(lines_of_each(ranks)) {
        match kinds.iter_mut().find(|(_, on, its_lines)| *on == host && *its_lines == lines) {
            Some((ranks, ..)) => ranks.push(*rank),
            None => kinds.push((vec![*rank], host, lines)),
        }
    }
    let mut words = Vec::new();
    let mut left = 0;
    for (ranks, host, lines) in &kinds {
        if words.len() + lines.len() > MOST_LINES {
            left += ranks.len();
            continue;
        }
        let [first, rest @ ..] = &lines[..] else { continue };
        let verb = if ranks.len() == 1 { first.clone() } else { plural(first) };
        let place = host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
        words.push(format!("  {}{place} {verb}", name_ranks(ranks)));
        words.extend(rest.iter().map(|line| format!("    {line}")));
    }
    if left > 0 {
        words.push(format!("  and {left} ranks that do other things"));
    }
    words.join("\n")
}

/// Returns the words of a line for several ranks.
fn plural(line: &str) -> String {
    let verbs = [("waits ", "wait "), ("polls ", "poll "), ("has ", "have "), ("is ", "are ")];
    let found = verbs.iter().find_map(|(one, many)| Some((line.strip_prefix(one)?, many)));
    found.map_or_else(|| line.into(), |(rest, many)| format!("{many}{rest}"))
}

/// Returns the state of a rank: a line without its subject, and remarks.
fn lines(activity: &Activity, sites: &mut CallSites) -> Vec<String> {
    match activity {
        Activity::NotJoined => vec!["has not called MPI_Init".into()],
        Activity::Finished => vec!["has finished".into()],
        Activity::Described(lines) => lines.clone(),
        Activity::Runs(state) => vec![format!("is not in a call that waits for others ({state})")],
        Activity::Polls(poll) => vec![format!("polls in {}", describe_wait(poll, sites))],
        Activity::Waits { waits, remarks } => {
            let mut lines: Vec<String> =
                waits.iter().map(|wait| describe_wait(wait, sites)).collect();
            match &mut lines[..] {
                [only] => *only = format!("waits in {only}"),
                all => {
                    all.sort_unstable();
                    lines.insert(0, format!("waits in {} threads", waits.len()));
                }
            }
            lines.extend(remarks.iter().map(|line| describe_line(line, sites)));
            lines
        }
    }
}

/// Returns the call of a wait, and its awaited events.
fn describe_wait(wait: &ThreadWait, sites: &mut CallSites) -> String {
    let call = wait.call.as_deref().unwrap_or("a call");
    let place = sites.name(&wait.sites).map(|place| format!(" ({place})"));
    let lines: Vec<String> = wait.lines.iter().map(|line| describe_line(line, sites)).collect();
    let wait = format!("{call}{} {}", place.unwrap_or_default(), lines.join("; "));
    wait.trim_end().to_string()
}

fn describe_line(line: &WaitLine, sites: &mut CallSites) -> String {
    let place = sites.name(&line.sites).map(|place| format!(" ({place})"));
    format!("{}{}", line.words, place.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(line: &str) -> ThreadWait {
        let call = Some("MPI_Recv".into());
        ThreadWait { call, sites: Vec::new(), lines: vec![words(line)] }
    }

    fn words(line: &str) -> WaitLine {
        WaitLine { words: line.into(), sites: Vec::new() }
    }

    fn waits(rank: usize, line: &str, remarks: &[&str]) -> RankActivity {
        let remarks = remarks.iter().map(|line| words(line)).collect();
        let activity = Activity::Waits { waits: vec![wait(line)], remarks };
        RankActivity { rank, host: None, activity }
    }

    #[test]
    fn ranks_that_do_the_same_are_told_in_one_line() {
        let runs = Activity::Runs("running".into());
        let ranks = [
            waits(0, "for tag 7 of rank 3", &["not received there so far: 1 message"]),
            waits(1, "for tag 7 of rank 3", &[]),
            waits(2, "for tag 7 of rank 3", &[]),
            RankActivity { rank: 3, host: None, activity: runs.clone() },
            RankActivity { rank: 4, host: None, activity: runs },
        ];
        assert_eq!(
            describe(&ranks),
            "  rank 0 waits in MPI_Recv for tag 7 of rank 3\n    not received there so far: 1 message\n  \
             ranks 1, 2 wait in MPI_Recv for tag 7 of rank 3\n  \
             ranks 3, 4 are not in a call that waits for others (running)"
        );
    }

    #[test]
    fn ranks_of_different_hosts_are_told_apart_where_hosts_are_named() {
        let on = |rank, host: &str| RankActivity {
            host: Some(host.into()),
            ..waits(rank, "for tag 7 of rank 3", &[])
        };
        assert_eq!(
            describe(&[on(0, "one"), on(1, "two"), on(2, "one")]),
            "  ranks 0, 2 on one wait in MPI_Recv for tag 7 of rank 3\n  \
             rank 1 on two waits in MPI_Recv for tag 7 of rank 3"
        );
    }

    #[test]
    fn each_wait_of_several_threads_has_a_line() {
        let remarks = vec![words("another thread of the process may still act")];
        let waits = vec![wait("for tag 8 of rank 1"), wait("for tag 7 of rank 1")];
        let of = |rank| RankActivity {
            rank,
            host: None,
            activity: Activity::Waits { waits: waits.clone(), remarks: remarks.clone() },
        };
        assert_eq!(
            describe(&[of(0), of(2)]),
            "  ranks 0, 2 wait in 2 threads\n    MPI_Recv for tag 7 of rank 1\n    \
             MPI_Recv for tag 8 of rank 1\n    another thread of the process may still act"
        );
    }

    #[test]
    fn of_very_many_ranks_that_do_different_things_the_rest_is_counted() {
        let ranks: Vec<_> =
            (0..100).map(|rank| waits(rank, &format!("for tag {rank} of rank 0"), &[])).collect();
        let words = describe(&ranks);
        assert_eq!(words.lines().count(), MOST_LINES + 1);
        assert!(words.ends_with("and 60 ranks that do other things"), "{words}");
    }
}
