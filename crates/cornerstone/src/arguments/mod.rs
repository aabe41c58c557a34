//! The command line: the arguments of each subcommand, and their help.

mod compare;
mod fabric;
mod generate;
mod given;
mod history;
mod hosts;
mod launch;
mod mpiexec;
mod observation;
mod pattern;
mod pipeline;
mod placement;
mod prediction;
mod reading;
mod real_time;
mod recorded;
mod run;
mod sci;
mod simulation;
mod streams;
mod tradeoff;
mod traffic;
mod values;

use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::STATUS_USAGE;
use crate::progress::{note, say};
pub(crate) use benchmark::Sizes;
pub(crate) use compare::{CompareArguments, StageChoice};
pub(crate) use fabric::FabricChoice;
pub(crate) use generate::{GenerateArguments, Generated};
pub(crate) use history::{CheckArguments, HistoryArguments, Publication};
pub(crate) use hosts::HostsArguments;
pub(crate) use launch::{HangAction, LaunchArguments, LaunchFabric};
pub(crate) use mpiexec::{Mpiexec, MpiexecArguments, read_launch};
pub(crate) use observation::ObservationArguments;
pub(crate) use pattern::{CornerTurnArguments, PmpArguments};
pub(crate) use pipeline::PipelineArguments;
pub(crate) use placement::{Bind, MapBy, PlacementArguments};
pub(crate) use prediction::{Compute, PredictionArguments, ReplayArguments};
pub(crate) use reading::{
    CalibrateArguments, FitArguments, ListArguments, MachinesAction, MachinesArguments,
    ReportArguments, ReproduceArguments,
};
pub(crate) use real_time::{RealTimeArguments, TaskArguments};
pub(crate) use recorded::{Typed, command_to_resume, shown, words_of_this_process};
pub(crate) use run::{RunArguments, RunFormat};
pub(crate) use sci::{
    AccessChoice, DelayArguments, LinkRate, PaceChoice, RetryChoice, SciArguments, UrgencyChoice,
};
pub(crate) use simulation::{Answer, SimulationArguments};
pub(crate) use streams::{Readers, StreamArguments};
pub(crate) use tradeoff::TradeoffArguments;
pub(crate) use traffic::TrafficArguments;
pub(crate) use values::{AlgorithmNames, Format, Only, RankCounts, Seconds, Share, Variable};

/// Heading of the options on the place of results.
const RESULTS: &str = "Results";

/// Version of this build and the revision that it was made from.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("CORNERSTONE_REVISION"), ")");

const EXAMPLES: &str = "\
Examples:
  cornerstone run                        an overview of this machine in about a minute
  cornerstone run ping-pong --ranks 2    one benchmark, at its default sizes
  cornerstone list                       what can be measured
  cornerstone pmp patterns/ring.pmp      the shortest period of a pattern of messages
  cornerstone corner-turn --ranks 4      the shortest period of a distributed corner turn
  cornerstone pipeline pipelines/fft-corner-turn-fft.toml    the shortest period of processing stages
  cornerstone report results/RUN.jsonl   make the HTML report again
  cornerstone compare OLD NEW            faster, slower, the same, or undecided
  cornerstone history                    the numbers of results/ over time, and their changes
  cornerstone check --against results 'cornerstone run ping-pong'    status 1 if it got slower
  cornerstone fit results/RUN.jsonl      the models: start-up time, rate, where no line fits
  cornerstone reproduce mitre-1995/4.4   a published table, recomputed
  cornerstone machines                   the simulated machines that --fabric sim:NAME takes
  cornerstone sci                        throughput and delay of SCI rings under load
  cornerstone tradeoff sharc-ring --clock 2 --links 4   the gain of faster processors or links

Exit status:
  0    what was asked holds, or was done
  1    it does not hold, or the command failed: a --period or --require is refused, a pause
       exceeded the --limit of `clock`, `compare` or `check` found a regression beyond the threshold, --check or
       --check-leaks found something in a program that ended with 0
  2    the command line, or a file named on it, is wrong
  3    undecided: a --period or --require is neither refused nor proven, a search found no period,
       numbers of `compare` or `check` may have regressed, or --check has checked nothing
  122  the ranks of the program that `launch` has started waited for each other for ever
  124  they had not ended after --timeout
  126  the program of `launch` cannot be executed
  127  the program of `launch` was not found
  130  Ctrl-C; the results so far are kept, and `cornerstone run --resume FILE` continues the run";

/// Measures, explains and predicts the performance of message passing
#[derive(Debug, Parser)]
#[command(
    name = "cornerstone",
    version = VERSION,
    after_help = EXAMPLES,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, once")]
pub(crate) enum Command {
    /// Measure an overview of this machine, or the named benchmarks or groups
    Run(RunArguments),
    /// Measure a message-passing pattern from a file: its shortest sustained period, or a given one
    Pmp(PmpArguments),
    /// Measure the corner turn of a distributed matrix, or write its pattern to a file
    CornerTurn(CornerTurnArguments),
    /// Measure a chain of processing stages from a file: its shortest period, latency and jitter
    Pipeline(PipelineArguments),
    /// List the benchmarks by group, or explain one
    List(ListArguments),
    /// Make the HTML report of one run or of several side by side
    Report(ReportArguments),
    /// Compare two runs number by number: faster, slower, the same, or undecided
    #[command(visible_alias = "verdict")]
    Compare(CompareArguments),
    /// Show the results of a folder over time: each number, and when it changed
    History(HistoryArguments),
    /// Measure, compare with a history, and fail if a number is slower in two measurements: for CI
    Check(CheckArguments),
    /// Start an MPI program as several ranks, as mpiexec does
    Launch(LaunchArguments),
    /// Replay a recorded MPI program on a simulated machine
    Replay(ReplayArguments),
    /// Start MPI programs with the usual options of mpiexec: -n, -host, -genv, and ':' between programs
    Mpiexec(MpiexecArguments),
    /// Make a machine file from a measured run: a twin of the measured machine, for predictions
    Calibrate(CalibrateArguments),
    /// Recompute the tables of the papers on simulated machines, beside the published ones
    Reproduce(ReproduceArguments),
    /// List the simulated machines, or explain one
    Machines(MachinesArguments),
    /// Fit models to a run: start-up time, rate, half-performance size
    Fit(FitArguments),
    /// Write man pages or shell completions
    Generate(GenerateArguments),
    /// Simulate rings of the Scalable Coherent Interface packet by packet: throughput and delay over load
    Sci(SciArguments),
    /// Compare the gain of faster processors and faster links on a simulated machine
    Tradeoff(TradeoffArguments),
}

/// Reads the command line of this process. Writes help and versions to standard output, and errors to standard error.
/// In these cases the result is the exit status.
pub(crate) fn read() -> Result<Arguments, ExitCode> {
    Arguments::try_parse().map_err(|error| {
        if error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && error.use_stderr()
        {
            // It may quote a file that an option names. Without colours, because their escapes could not be told from
            // those of the file.
            say(&format!("cornerstone: {}", error.render()));
        } else {
            // Errors of writing are ignored, because they could not be reported anywhere.
            let _ = error.print();
        }
        let words: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(hint) = hint(&error, &words) {
            note(&format!("hint: {hint}"));
        }
        if error.use_stderr() { ExitCode::from(STATUS_USAGE) } else { ExitCode::SUCCESS }
    })
}

/// Returns a hint at the command line that the user may have meant.
fn hint(error: &clap::Error, words: &[String]) -> Option<String> {
    if let Some(name) = benchmark_named(error) {
        return Some(format!(
            "{name} is measured by `cornerstone run {name}`; `cornerstone list {name}` explains it"
        ));
    }
    separate_value(error, words)
}

/// Returns a hint at a value of an option that may also have none. Only a '=' makes a word its value.
fn separate_value(error: &clap::Error, words: &[String]) -> Option<String> {
    let command = Arguments::command();
    let subcommand = command.find_subcommand(words.get(1)?)?;
    let has_optional_value = |word: &str| {
        let mut options = subcommand.get_arguments().filter(|one| one.is_require_equals_set());
        options.any(|one| one.get_long() == word.strip_prefix("--"))
    };
    let refused = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    };
    let is_value = |word: &String| refused == Some(word) || is_page(word.as_ref());
    let hint = words.windows(2).find(|pair| has_optional_value(&pair[0]) && is_value(&pair[1]))?;
    Some(format!("write {}={}: a word after a blank is not its value", hint[0], hint[1]))
}

/// Returns whether a word may be the file of a report.
pub(crate) fn is_page(word: &Path) -> bool {
    word.extension().is_some_and(|extension| extension == "html" || extension == "json")
}

/// Returns the benchmark or group that was given instead of a subcommand.
fn benchmark_named(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidSubcommand)? {
        ContextValue::String(name) => {
            benchmark::select(std::slice::from_ref(name)).is_ok().then_some(name)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_has_its_options_under_their_own_headings_and_fits_80_columns() {
        let mut command = Arguments::command().term_width(80);
        // `build` sets the width of the subcommands.
        command.build();
        for name in ["run", "pmp", "corner-turn", "pipeline"] {
            let help = command.find_subcommand_mut(name).unwrap().render_long_help().to_string();
            let too_long: Vec<&str> =
                help.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(too_long.is_empty(), "{name}: {too_long:#?}");
            let heading_of = |option: &str| {
                let before = help.find(option).map(|place| &help[..place]).unwrap_or_default();
                let is_heading = |line: &&str| !line.starts_with(' ') && line.ends_with(':');
                before.lines().rfind(is_heading).unwrap_or_default().to_string()
            };
            let hosts = heading_of("      --hosts <FILE>");
            assert_eq!(hosts, "Hosts (--fabric cluster, tcp or ofi):", "{name}");
            assert_eq!(heading_of("      --out <FILE>"), "Results:", "{name}");
            assert_eq!(heading_of("      --confirm <TIMES>"), "Periods (real-time benchmarks):");
        }
    }

    #[test]
    fn what_only_hartstone_and_clock_take_is_offered_by_run_alone() {
        let mut command = Arguments::command();
        command.build();
        let takes = |name: &str, option: &str| {
            let subcommand = command.find_subcommand(name);
            subcommand
                .is_some_and(|one| one.get_arguments().any(|one| one.get_long() == Some(option)))
        };
        for option in ["load", "threshold"] {
            let taken = ["run", "pmp", "corner-turn", "pipeline"].map(|name| takes(name, option));
            assert_eq!(taken, [true, false, false, false], "{option}");
        }
    }

    #[test]
    fn a_benchmark_typed_as_a_subcommand_is_known_for_what_it_is() {
        let named = |word: &str| {
            let error = Arguments::try_parse_from(["cornerstone", word]).unwrap_err();
            benchmark_named(&error).map(String::from)
        };
        assert_eq!(named("hartstone").as_deref(), Some("hartstone"));
        assert_eq!(named("hearthstone"), None);
    }

    #[test]
    fn a_value_that_may_be_missing_follows_a_sign() {
        let mut command = Arguments::command();
        command.build();
        for subcommand in command.get_subcommands() {
            for option in subcommand.get_arguments().filter(|one| !one.is_positional()) {
                let may_be_missing = option.get_num_args().is_some_and(|n| n.min_values() == 0)
                    && option.get_action().takes_values();
                let place = format!("{} {option}", subcommand.get_name());
                assert_eq!(may_be_missing, option.is_require_equals_set(), "{place}");
            }
        }
    }

    #[test]
    fn a_value_that_was_written_apart_is_noticed() {
        let hint_of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            let error = Arguments::try_parse_from(&words).unwrap_err();
            hint(&error, &words)
        };
        let hint = hint_of("cornerstone launch --report page.html -n 2 ./program").unwrap();
        assert!(hint.contains("--report=page.html"), "{hint}");
        assert_eq!(hint_of("cornerstone launch --report=page.html ./program"), None);
        let hint = hint_of("cornerstone pipeline chain.toml --granularity 4,16").unwrap();
        assert!(hint.contains("--granularity=4,16"), "{hint}");
    }
}
