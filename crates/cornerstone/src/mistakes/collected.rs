//! The mistakes of a run: collected, told, judged and written.

use std::process::ExitCode;
use std::time::Instant;

use contract::name_ranks;

use super::kind::{Found, MistakeKind};
use super::mistake::Mistake;
use super::report::{About, Report};
use super::report_file::ReportFile;
use super::suppressions::Suppressions;
use super::table::all;
use crate::arguments::LaunchArguments;
use crate::failure::Failure;
use crate::own_line;
use crate::progress::{note, say};
use crate::utc;
use crate::wording::counted;

/// What was found in a run so far, and what is to be done with it.
pub(crate) struct Mistakes {
    all: Vec<Mistake>,
    /// Errors of calls after MPI_Finalize.
    late: Vec<Mistake>,
    suppressions: Option<Suppressions>,
    files: Vec<ReportFile>,
    /// What was asked for.
    checks: bool,
    leaks: bool,
    checked: Checked,
    about: About,
}

/// What `--check` has looked at.
#[derive(Default)]
pub(crate) struct Checked {
    /// Number of ranks of which it has seen calls.
    pub(crate) ranks: usize,
    /// Why it has seen none of ranks that have called MPI_Init.
    pub(crate) unseen: Option<&'static str>,
    /// True if the order of accesses to windows was looked at.
    pub(crate) compares_windows: bool,
}

/// Kind of a rank that ended with a status, which a late error explains.
const ENDED: &str = "failed";

/// Kind of accesses to windows.
const UNORDERED: &str = "unordered-accesses";

impl Mistakes {
    /// Prepares what the arguments request. Files that cannot be written are refused.
    pub(crate) fn prepare(arguments: &LaunchArguments) -> Result<Self, Failure> {
        let options = &arguments.observation;
        let (checks, leaks) = (options.check, arguments.check_leaks);
        if options.suppressions.is_some() && !checks && !leaks {
            let why = "--suppressions is for what --check and --check-leaks find";
            return Err(Failure::usage(why).hint("add one of the two, or leave --suppressions out"));
        }
        let suppressions = options.suppressions.as_deref().map(Suppressions::read).transpose()?;
        let words: Vec<_> = arguments.program.iter().map(|word| word.to_string_lossy()).collect();
        Ok(Mistakes {
            all: Vec::new(),
            late: Vec::new(),
            suppressions,
            files: ReportFile::prepare(&options.check_report)?,
            checks,
            leaks,
            checked: Checked::default(),
            about: About {
                program: words[0].clone().into_owned(),
                command: words.join(" "),
                fabric: arguments.fabric().to_string(),
                ranks: arguments.ranks,
                started: utc::now(),
                began: Instant::now(),
            },
        })
    }

    /// Adds a mistake, which may be one that another rank has reported.
    pub(crate) fn add(&mut self, mistake: Mistake) {
        if !self.all.iter_mut().any(|earlier| earlier.merge(&mistake)) {
            self.all.push(mistake);
        }
    }

    /// Adds a mistake that a rank has noted when it had left the run. An error is why the rank has ended with a status.
    pub(crate) fn add_noted(&mut self, mistake: Mistake) {
        if mistake.kind.goes_on() {
            return self.add(mistake);
        }
        if !self.late.iter_mut().any(|earlier| earlier.merge(&mistake)) {
            self.late.push(mistake);
        }
    }

    /// Records what `--check` has looked at.
    pub(crate) fn set_checked(&mut self, checked: Checked) {
        self.checked = checked;
    }

    /// Tells and writes everything, and returns how the program ends: with its own failure, or with what was found.
    pub(crate) fn end(mut self, ended: Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
        self.all.sort_by_key(|one| std::cmp::Reverse(one.times));
        let before = self.all.len();
        if let Some(suppressions) = &mut self.suppressions {
            self.all.retain(|one| !suppressions.suppress(one));
        }
        let suppressed = before - self.all.len();
        let unused: Vec<String> = self.suppressions.iter().flat_map(Suppressions::unused).collect();
        let mut words: String = self.all.iter().filter_map(line).collect();
        words.extend(self.late.iter().map(|one| {
            format!("cornerstone: error: {}: {}\n", name_ranks(&one.ranks), one.message)
        }));
        let is_explained = |rank: &usize| self.late.iter().any(|late| late.ranks.contains(rank));
        self.all.retain(|one| one.kind.name != ENDED || !one.ranks.iter().all(is_explained));
        self.all.append(&mut self.late);
        if suppressed > 0 {
            words += &format!("cornerstone: {} suppressed\n", counted(suppressed, "finding"));
        }
        words.extend(unused.iter().map(|line| format!("cornerstone: {line}\n")));
        if ended.is_err() || !words.is_empty() || self.checks || !self.files.is_empty() {
            own_line::begin();
        }
        say(&words);
        let outcome = ended.as_ref().err().map(|failure| failure.message().to_owned());
        let fatal = self.all.iter().find(|one| !one.kind.goes_on()).map(|one| one.kind.remedy);
        let ended = match fatal {
            Some(remedy) if !remedy.is_empty() => {
                ended.map_err(|failure| failure.hint_if_none(remedy))
            }
            _ => ended,
        };
        let ended = ended.and_then(|status| self.judge().map(|()| status));
        let status = ended.as_ref().map_or_else(Failure::code, |_| 0);
        let checked = self.kinds_checked();
        let report =
            Report::new(&self.about, outcome, status, checked, self.all, suppressed, unused);
        written(&self.files, &report, ended)
    }

    /// Returns the kinds that were looked for.
    fn kinds_checked(&self) -> Vec<&'static MistakeKind> {
        let was_checked = |kind: &&MistakeKind| match kind.found {
            Found::Always => true,
            Found::Check if kind.name == UNORDERED && !self.checked.compares_windows => false,
            Found::Check => self.checks && self.checked.ranks > 0,
            Found::CheckLeaks => self.leaks,
        };
        all().filter(was_checked).collect()
    }

    /// Returns how a program ends that ended well itself.
    fn judge(&self) -> Result<(), Failure> {
        let count = |found| self.all.iter().filter(|one| one.kind.found == found).count();
        match (count(Found::Check), count(Found::CheckLeaks)) {
            _ if self.checks && self.checked.ranks == 0 => Err(match self.checked.unseen {
                Some(why) => Failure::undecided(format!("--check has checked nothing: {why}")),
                None => Failure::undecided(
                    "--check has checked nothing: no rank has called MPI_Init of Cornerstone's MPI library",
                )
                .hint("build the program against libmpi_abi.so.1 of this build, and let the loader find it"),
            }),
            (0, 0) if self.checks => {
                let objects = if self.leaks { ", and no objects that are not freed" } else { "" };
                note(&format!(
                    "cornerstone: no mistakes found in arguments, messages, collectives and buffers{objects}"
                ));
                Ok(())
            }
            (0, 0) => Ok(()),
            (0, _) => Err(Failure::failed("--check-leaks found objects that were not freed")
                .hint("the lines above name them for each rank")),
            (some, 0) => Err(Failure::failed(format!("--check found {}", counted(some, "mistake")))),
            (some, _) => Err(Failure::failed(format!(
                "--check found {}, and --check-leaks found objects that were not freed",
                counted(some, "mistake")
            ))),
        }
    }
}

/// Writes a report to files, and returns how the program ended, or the failure to write.
fn written(
    files: &[ReportFile],
    report: &Report,
    ended: Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let mut all_written = Ok(());
    for file in files {
        let written = file.write(report);
        if written.is_ok() {
            note(&format!("  {file}: {}", file.path().display()));
        }
        all_written = all_written.and(written);
    }
    Failure::of_both(ended, all_written)
}

/// Returns the line of a mistake that has not ended the program.
fn line(mistake: &Mistake) -> Option<String> {
    let Mistake { kind, message, ranks, times, .. } = mistake;
    let by = name_ranks(ranks);
    match kind.found {
        Found::Always => None,
        Found::Check => {
            let times = match *times {
                few if few == ranks.len() as u64 => String::new(),
                many => format!(" ({many} times)"),
            };
            Some(format!("cornerstone: check: {by}: {message}{times}\n"))
        }
        Found::CheckLeaks => Some(format!("cornerstone: {by}: {message}\n")),
    }
}
