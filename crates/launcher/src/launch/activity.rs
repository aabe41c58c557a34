//! The activity of ranks, described for people.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use crate::page::{Answer, AnsweredWait, split_place};

/// The activity of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankActivity {
    /// The rank.
    pub rank: usize,
    /// Name of the host that it runs on, if the ranks of several hosts are reported together.
    pub host: Option<String>,
    /// Activity of the rank.
    pub activity: Activity,
}

/// Activity of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It has not joined the run yet, or never will.
    NotJoined,
    /// It is outside of calls that wait, or has not waited for long. The string is the system's name of its state:
    /// running, sleeping, stopped.
    Runs(String),
    /// It has ended its part of the run.
    Finished,
    /// It waits in a call, or in one for each of several threads.
    Waits {
        /// The waits of its threads.
        waits: Vec<ThreadWait>,
        /// Remarks about the rank.
        remarks: Vec<WaitLine>,
    },
    /// It polls in a call, and may do something else at any time.
    Polls(ThreadWait),
    /// What another host has found out about it: a line without its subject, and remarks.
    Described(Vec<String>),
}

/// The wait of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadWait {
    /// Name of the function, if it is one of MPI's.
    pub call: Option<String>,
    /// Call sites, the innermost first.
    pub sites: Vec<CallSite>,
    /// Operations for which it waits.
    pub lines: Vec<WaitLine>,
}

/// A line about a wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitLine {
    /// The line.
    pub words: String,
    /// Call sites of the call that the line ends with, the innermost first; empty if it ends with none.
    pub sites: Vec<CallSite>,
}

/// A place in the code of a program: the call before a return address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// File of the program or the library.
    pub object: PathBuf,
    /// Address of the call in the process.
    pub address: u64,
    /// First address in the process at which the file is mapped.
    pub base: u64,
}

impl fmt::Display for RankActivity {
    /// Omits the names of the program's functions and the lines of its source, which require debug information.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} ", self.rank)?;
        match &self.activity {
            Activity::NotJoined => write!(f, "has not joined"),
            Activity::Runs(state) => write!(f, "does not wait for others ({state})"),
            Activity::Finished => write!(f, "has finished"),
            Activity::Described(lines) => write!(f, "{}", lines.join("; ")),
            Activity::Polls(poll) => {
                write!(f, "polls in {}", poll.call.as_deref().unwrap_or("a call"))
            }
            Activity::Waits { waits, remarks } => {
                for (index, wait) in waits.iter().enumerate() {
                    let call = wait.call.as_deref().unwrap_or("a call");
                    write!(f, "{}waits in {call}", if index == 0 { "" } else { "; " })?;
                    wait.lines.iter().try_for_each(|line| write!(f, "; {}", line.words))?;
                }
                remarks.iter().try_for_each(|line| write!(f, "; {}", line.words))
            }
        }
    }
}

impl Activity {
    /// Returns the activity that a rank has answered: waits, or polls of its program.
    pub(super) fn of_answer(answer: &Answer, process: u32, is_of_program: bool) -> Self {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let sites = |callers: &[u64]| callers.iter().filter_map(|&one| site(&maps, one)).collect();
        let line = |line: &String| {
            let (words, callers) = split_place(line);
            WaitLine { words: words.into(), sites: sites(&callers) }
        };
        let wait = |wait: &AnsweredWait| ThreadWait {
            call: (!wait.call.is_empty()).then(|| wait.call.clone()),
            sites: sites(&wait.callers),
            lines: wait.lines.iter().map(line).collect(),
        };
        let mut waits = answer.waits.iter().map(wait);
        if is_of_program {
            return Activity::Polls(waits.next().unwrap_or_default());
        }
        Activity::Waits {
            waits: waits.collect(),
            remarks: answer.remarks.iter().map(line).collect(),
        }
    }

    /// Returns the activity of a process according to the system.
    pub(super) fn of_process(process: u32) -> Self {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The name of the program, in brackets, may contain anything.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        let word = match state {
            Some('R') => "running",
            Some('S') => "sleeping",
            Some('D') => "waiting for a device",
            Some('T' | 't') => "stopped",
            _ => "ending",
        };
        Activity::Runs(word.into())
    }
}

/// Returns the place before a return address according to the system's list of a process's mappings.
fn site(maps: &str, return_address: u64) -> Option<CallSite> {
    // A call may be the last instruction of its function.
    let address = return_address.checked_sub(1)?;
    let mapping = |line: &str| -> Option<(u64, u64, String)> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let path = rest.splitn(5, ' ').nth(4)?.trim_start();
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some((number(start)?, number(end)?, path.into()))
    };
    let mappings: Vec<_> = maps.lines().filter_map(mapping).collect();
    let (_, _, path) = mappings.iter().find(|(start, end, _)| (*start..*end).contains(&address))?;
    let base = mappings.iter().filter(|(_, _, other)| other == path).map(|one| one.0).min()?;
    path.starts_with('/').then(|| CallSite { object: path.into(), address, base })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0a0000000-55d0a0001000 r--p 00000000 08:01 131 /home/me/my program
55d0a0001000-55d0a0003000 r-xp 00001000 08:01 131 /home/me/my program
7f0000000000-7f0000001000 rw-p 00000000 00:00 0
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
";

    #[test]
    fn addresses_are_found_in_the_file_that_is_mapped_there() {
        let found = site(MAPS, 0x55d0_a000_1235).unwrap();
        assert_eq!(found.object, PathBuf::from("/home/me/my program"));
        assert_eq!((found.address, found.base), (0x55d0_a000_1234, 0x55d0_a000_0000));
        for address in [0, 0x7f00_0000_0010, 0x7ffd_0000_0010, 1 << 40] {
            assert_eq!(site(MAPS, address), None);
        }
        // The call is in the first page, its return address in the second.
        assert_eq!(site(MAPS, 0x55d0_a000_1000).unwrap().address, 0x55d0_a000_0fff);
    }

    #[test]
    fn an_answer_has_the_waits_of_all_threads() {
        let wait = |call: &str, line: &str| AnsweredWait {
            call: call.into(),
            lines: vec![line.into()],
            ..AnsweredWait::default()
        };
        let of = |waits: &[AnsweredWait]| {
            let answer = Answer { waits: waits.to_vec(), remarks: vec!["one more thread".into()] };
            let of = |is_of_program| {
                let activity = Activity::of_answer(&answer, 0, is_of_program);
                RankActivity { rank: 3, host: None, activity }.to_string()
            };
            [of(false), of(true)]
        };
        assert_eq!(
            of(&[wait("MPI_Recv", "for tag 7 of rank 1"), wait("", "for rank 2")]),
            [
                "rank 3 waits in MPI_Recv; for tag 7 of rank 1; waits in a call; for rank 2; one more thread",
                "rank 3 polls in MPI_Recv"
            ]
        );
    }

    #[test]
    fn a_process_that_is_there_has_a_state_and_one_that_is_not_ends() {
        let of = |process| match Activity::of_process(process) {
            Activity::Runs(word) => word,
            other => panic!("{other:?}"),
        };
        // The first thread of a test program waits for the others.
        assert!(["running", "sleeping"].contains(&of(std::process::id()).as_str()));
        assert_eq!(of(u32::MAX), "ending");
    }
}
