//! Commands that measure, and that other commands run: `cornerstone run ...` of any build, or a program that prints
//! tables of the form of the OSU micro-benchmarks.

mod child;
mod osu_table;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use analysis::launches::pooled;
use benchmark::{Benchmark, EVERYTHING, RunOption, select};
use record::{Measurement, Run};
use tempfile::TempDir;

use crate::arguments::Typed;
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::period_verdict;
use crate::results;

use child::{Child, Finished};

/// The variable that names the number of launches which were made before a run for the same comparison. A build that
/// deals places accordingly repeats it in its header. Builds that are compared may be older, and an option that they do
/// not know would end them.
pub(crate) const LAUNCHES_BEFORE: &str = "CORNERSTONE_LAUNCHES_BEFORE";

/// A command line that measures.
pub(crate) struct MeasuredCommand {
    line: String,
    /// True if it is a `cornerstone run`, or another command of it that measures and writes a results file.
    of_cornerstone: bool,
}

/// Reason why a command left no numbers.
pub(crate) enum Unmeasured {
    /// This process received this signal to end.
    Interrupted(i32),
    /// The time was over, and the command was ended.
    TimeOver,
    /// The command failed, printed nothing, or left output that cannot be read.
    Failed(String),
}

impl MeasuredCommand {
    /// Creates the command from a line for the shell.
    pub(crate) fn new(line: &str) -> Result<Self, Failure> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            return Err(Failure::usage("a command to measure with is empty")
                .hint("write it as one word, such as 'cornerstone run ping-pong'"));
        }
        let of_cornerstone = words.windows(2).any(|pair| is_run(pair[0], pair[1]));
        let takes = |option: &str| words.iter().any(|word| word.split('=').next() == Some(option));
        if let Some(option) =
            ["--out", "--resume"].into_iter().find(|option| of_cornerstone && takes(option))
        {
            return Err(Failure::usage(format!("'{line}' says where its results go, by {option}"))
                .hint(format!("leave {option} out: each launch gets a file of its own, which is read and put together")));
        }
        Ok(MeasuredCommand { line: line.into(), of_cornerstone })
    }

    /// Returns the command as it was given.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// Returns whether the command line contains this option.
    pub(crate) fn gives(&self, option: &str) -> bool {
        self.line.split_whitespace().any(|word| word.split('=').next() == Some(option))
    }

    /// Returns whether it is a `cornerstone run` that this build can parse, that sets no time for each case, and that
    /// measures neither everything, which has its own times, nor only what takes its own time.
    pub(crate) fn has_ordinary_times(&self) -> bool {
        let words: Vec<String> = self.line.split_whitespace().map(String::from).collect();
        let begin = words.windows(2).position(|pair| is_run(&pair[0], &pair[1]));
        let typed = begin.and_then(|begin| Typed::read(&words[begin..]));
        let run = typed.and_then(|typed| typed.arguments());
        run.is_some_and(|run| {
            let has_limit = |one: &&Benchmark| one.uses(RunOption::TimeLimit);
            !run.names.iter().any(|name| name == EVERYTHING)
                && run.time_limit.is_none()
                && select(&run.names).is_ok_and(|selection| selection.iter().any(has_limit))
        })
    }

    /// Runs it once and reads what it measured. A command of Cornerstone gets `more` words, and the number of launches
    /// before it unless it is to keep its first places.
    pub(crate) fn measure(
        &self,
        more: &[&str],
        launches_before: Option<u32>,
        until: Instant,
        interruption: &Interruption,
    ) -> Result<Run, Unmeasured> {
        let scratch = Scratch::new().map_err(Unmeasured::Failed)?;
        let path = scratch.results().display().to_string();
        let words: Vec<&str> = match self.of_cornerstone {
            true => more.iter().copied().chain(["--out", &path]).collect(),
            false => Vec::new(),
        };
        let child =
            Child::start(&self.line, &words, launches_before).map_err(Unmeasured::Failed)?;
        let Finished { status, stdout, stderr } = child.wait(until, interruption)?;
        let run = match (self.of_cornerstone, status) {
            (true, Some(0)) => return read(&scratch.results()),
            // A period that does not hold is a result, which is compared with others.
            (true, Some(code)) => {
                read(&scratch.results()).ok().filter(|run| tells_of_periods(run, code))
            }
            (false, Some(0)) => {
                return osu_table::read(&self.line, &stdout).map_err(Unmeasured::Failed);
            }
            _ => None,
        };
        run.ok_or_else(|| Unmeasured::Failed(format!("{}{}", ended(status), last_words(&stderr))))
    }
}

/// Subcommands that measure.
const MEASURING: [&str; 4] = ["run", "pipeline", "pmp", "corner-turn"];

/// Returns whether these two words of a line are `cornerstone run` or another command that measures. Compared builds may
/// be files in one folder, such as `cornerstone-old` and `cornerstone.new`.
fn is_run(program: &str, command: &str) -> bool {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let suffix = name.strip_prefix("cornerstone");
    suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with(['-', '.', '_']))
        && MEASURING.contains(&command)
}

/// Returns a run's measurements as those of launch `number` of several runs. If the run has several launches, they stay
/// separate.
pub(crate) fn as_launch(run: Run, number: u32) -> Vec<Measurement> {
    let own = run.measurements.iter().map(|m| m.launch + 1).max().unwrap_or(1);
    let numbered = |m: Measurement| Measurement { launch: number * own + m.launch, ..m };
    run.measurements.into_iter().map(numbered).collect()
}

fn read(path: &Path) -> Result<Run, Unmeasured> {
    let bytes = definition_files::read_bytes(path)
        .map_err(|_| Unmeasured::Failed("it ended well and left no results".into()))?;
    let run = results::parse(path, &bytes)
        .map_err(|failure| Unmeasured::Failed(failure.message().into()))?;
    match run.measurements.is_empty() {
        true => Err(Unmeasured::Failed("it ended well and measured nothing".into())),
        false => Ok(run),
    }
}

/// Returns whether a run came to its end, and its exit status is the verdict on its periods.
fn tells_of_periods(run: &Run, status: i32) -> bool {
    let verdict = || period_verdict::held(&pooled(run.clone())).err();
    run.ended && verdict().is_some_and(|verdict| i32::from(verdict.code()) == status)
}

fn ended(status: Option<i32>) -> String {
    status.map_or_else(
        || "a signal ended it".into(),
        |status| format!("it ended with status {status}"),
    )
}

/// Returns the most informative line of standard error: the first about an error, or else the last.
fn last_words(stderr: &str) -> String {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let chosen = lines().find(|line| line.contains("error")).or_else(|| lines().next_back());
    chosen.map_or_else(String::new, |line| format!(": {line}"))
}

/// A folder for the results file of one launch, which is removed with all that is in it. Nobody else can predict its name
/// or enter it.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Result<Scratch, String> {
        let only_this_user = Permissions::from_mode(0o700);
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix("cornerstone-").permissions(only_this_user).tempdir();
        folder.map(Scratch).map_err(|error| format!("no folder for its results: {error}"))
    }

    fn results(&self) -> PathBuf {
        self.0.path().join("results.jsonl")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_may_enter_the_folder_of_results() {
        let scratch = Scratch::new().unwrap();
        assert_eq!(scratch.0.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn commands_of_cornerstone_are_known_and_must_not_name_their_results() {
        let is_ours = |line: &str| MeasuredCommand::new(line).map(|command| command.of_cornerstone);
        assert!(is_ours("old/cornerstone run ping-pong").unwrap());
        assert!(is_ours("env A=1 nice cornerstone run").unwrap());
        assert!(is_ours("./cornerstone-old run ping-pong").unwrap());
        assert!(is_ours("builds/cornerstone.new run").unwrap());
        assert!(is_ours("cornerstone pipeline chain.toml --require period=20ms").unwrap());
        assert!(!is_ours("cornerstones run").unwrap());
        assert!(!is_ours("mpiexec -n 2 osu_latency").unwrap());
        assert!(!is_ours("cornerstone launch -n 2 osu_latency --out x").unwrap());
        for refused in ["", "  ", "cornerstone run --out x", "cornerstone run --resume=x"] {
            assert!(is_ours(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn launches_are_short_where_the_command_leaves_their_time_open() {
        let is_open = |line: &str| MeasuredCommand::new(line).unwrap().has_ordinary_times();
        assert!(is_open("old/cornerstone run ping-pong --sizes 8"));
        assert!(is_open("env A=1 cornerstone run barrier"));
        assert!(!is_open("cornerstone run ping-pong --time-limit 1s"));
        assert!(!is_open("cornerstone run everything"));
        assert!(!is_open("cornerstone run clock hartstone"));
        assert!(!is_open("mpiexec -n 2 osu_latency"));
        assert!(!is_open("cornerstone run ping-pong --an-option-of-another-build"));
    }

    #[test]
    fn the_error_of_a_command_is_told_before_its_last_line() {
        assert_eq!(
            last_words("note: a\ncornerstone: error: b\n  hint: c\n"),
            ": cornerstone: error: b"
        );
        assert_eq!(last_words("one\ntwo\n\n"), ": two");
        assert_eq!(last_words(" \n"), "");
    }
}
