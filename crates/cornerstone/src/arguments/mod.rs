//! The command line as typed: what each subcommand takes, and how it is explained.

mod hosts;
mod pattern;
mod pipeline;
mod real_time;
mod simulation;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::failure::STATUS_USAGE;
pub(crate) use benchmark::Sizes;
use benchmark::{CornerTurn, PatternText, Pipeline};
pub(crate) use hosts::HostsArguments;
pub(crate) use pattern::{CornerTurnArguments, PmpArguments};
pub(crate) use pipeline::PipelineArguments;
pub(crate) use real_time::RealTimeArguments;
pub(crate) use simulation::{Answer, SimulationArguments};
pub(crate) use values::{FabricChoice, RankCounts, Seconds, Share};

/// The version of this build and the revision it was made from.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("CORNERSTONE_REVISION"), ")");

const EXAMPLES: &str = "\
Examples:
  cornerstone run                        measure this machine in about a minute
  cornerstone run ping-pong --ranks 2    one benchmark, at the sizes it comes with
  cornerstone list                       what can be measured
  cornerstone pmp patterns/ring.pmp      the shortest period of a pattern of messages
  cornerstone corner-turn --ranks 4      the shortest period of a distributed corner turn
  cornerstone pipeline pipelines/fft-corner-turn-fft.toml    that of a chain of processing stages
  cornerstone report results/RUN.jsonl   make the HTML report again
  cornerstone compare OLD NEW            faster, slower, the same, or cannot tell
  cornerstone fit results/RUN.jsonl      the models: start-up time, rate, where the line fails
  cornerstone reproduce mitre-1995/4.4   a published table, recomputed
  cornerstone machines                   the simulated machines that --fabric sim:NAME takes

Exit status:
  0    done
  1    the run failed on the way, or `compare` found a regression beyond the threshold
  2    the command line, or a file named on it, is wrong
  130  Ctrl-C; what was measured is kept, and `cornerstone run --resume FILE` goes on";

const RUN_EXAMPLES: &str = "\
Examples:
  cornerstone run                                   the quick suite, about a minute
  cornerstone run ping-pong barrier --ranks 2,4,8   two benchmarks, at three numbers of ranks
  cornerstone run collectives --sizes 0..1MiB       a whole group, sizes doubling from 0 to 1 MiB
  cornerstone run ping-pong --sizes 8,1KiB,3000     just these sizes
  cornerstone run --precision 1% --time-limit 10s   narrower intervals, and more time to reach them
  cornerstone run --format json | jq .median        one object a line on standard output
  mpiexec -n 4 cornerstone run --fabric mpi                 on an MPI, which is loaded when the run begins
  cornerstone run ping-pong --fabric mpi:mpich --format osu the launcher started for you; printed as by osu_latency
  cornerstone run ping-pong --fabric tcp --hosts HOSTS      over TCP, on the hosts of a file
  cornerstone run sharc --fabric sim:sharc-ring --ranks 4   on a simulated machine, in virtual time
  cornerstone run all-to-all --fabric sim:cluster --ranks 512 --level packets   packets over every link
  cornerstone run hartstone --duration 5s           the shortest period, each trial of 5 s
  cornerstone run hartstone --period 5ms            how often that period is missed
  cornerstone run --resume results/RUN.jsonl        go on with a run that was ended

Sizes are in bytes, or with a unit: 64KiB is 65536 bytes, 64kB is 64000.
A range doubles: 0..1KiB is 0, 1, 2, 4 ... 1024. Ranks may be written the same way: 2..16.

A number stops being sampled when the interval of its median is as narrow as --precision asks,
or at --time-limit; the second case is marked in every output, for that number did not converge.

Standard output carries the results and nothing else; progress goes to standard error. Every
result is also written to the results file at once, so a run that is ended keeps what it had.";

/// Measures the message passing of this machine, and explains what it found.
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
    /// Measure: the quick suite, or the benchmarks or groups that are named
    Run(RunArguments),
    /// Run a message-passing pattern from a file: the shortest period that is kept, or one that is asked for
    Pmp(PmpArguments),
    /// Turn the corners of a matrix that lies over the ranks, or make the pattern for it
    CornerTurn(CornerTurnArguments),
    /// Run a chain of processing stages from a file: its shortest period, latency and jitter
    Pipeline(PipelineArguments),
    /// List the benchmarks by group, or explain one
    List(ListArguments),
    /// Make the HTML report of one run, or of several side by side
    Report(ReportArguments),
    /// Compare two runs number by number: faster, slower, the same, or cannot tell
    Compare(CompareArguments),
    /// Start an MPI program as several ranks, as mpiexec does
    Launch(LaunchArguments),
    /// Make a machine file from a measured run: the measured machine's twin, to predict with
    Calibrate(CalibrateArguments),
    /// Recompute the papers' tables on the simulated machines, beside what was published
    Reproduce(ReproduceArguments),
    /// List the simulated machines, or explain one in words
    Machines(MachinesArguments),
    /// Print the models fitted to a run: start-up time, rate, half-performance size
    Fit(FitArguments),
}

/// How results are written to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: tables at the end
    #[default]
    Table,
    /// One JSON object a line, as each number is made
    Json,
    /// Comma-separated values with a header, as each number is made
    Csv,
}

/// How `run` writes its results to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunFormat {
    /// For people: tables at the end
    #[default]
    Table,
    /// One JSON object a line, as each number is made
    Json,
    /// Comma-separated values with a header, as each number is made
    Csv,
    /// What the OSU micro-benchmarks print (with our medians), for scripts that read them
    Osu,
}

/// What `run` takes. Nearly all is optional: what is not given comes from the run that is resumed, or is the default.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArguments {
    /// Benchmarks or groups, as `cornerstone list` names them; none means the quick suite
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Numbers of ranks, such as 2 or 2,4,8 or 2..16 [default: what each benchmark comes with]
    #[arg(long, value_name = "LIST")]
    pub(crate) ranks: Option<RankCounts>,

    /// Message sizes, such as 0..1MiB (doubling) or 8,1KiB,64KiB [default: what each benchmark comes with]
    #[arg(long, value_name = "LIST")]
    pub(crate) sizes: Option<Sizes>,

    /// Stop a measurement when the interval is within this share of the median [default: 5%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) precision: Option<Share>,

    /// Confidence of the intervals [default: 95%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) confidence: Option<Share>,

    /// Longest time for one measurement, such as 5s or 500ms [default: 2s; less in the quick suite]
    #[arg(long, value_name = "TIME")]
    pub(crate) time_limit: Option<Seconds>,

    /// Seed of everything random, such as the data that are sent [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// What carries the messages: local (our own shared memory), or tcp (on this host, or on --hosts), or sim:MACHINE (simulated; the name of one of
    /// `cornerstone machines`, or a machine file), or mpi (under mpiexec), or mpi:NAME (starts the launcher
    /// itself: mpich, intel, openmpi, or cornerstone for our own library) [default: local]
    #[arg(long, value_name = "NAME[:ARG]")]
    pub(crate) fabric: Option<FabricChoice>,

    /// The MPI's library, such as /opt/mpich/lib/libmpi_abi.so.1 [default: the loader's libmpi_abi.so.1, or the launcher's]
    #[arg(long, value_name = "FILE")]
    pub(crate) mpi_library: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) hosts: HostsArguments,

    #[command(flatten)]
    pub(crate) real_time: RealTimeArguments,

    /// Results file to make [default: results/TIME-HOST.jsonl]; the report goes beside it as .html
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,

    /// Go on with the run in this results file: measure what it lacks, and append. Options not given here are the file's
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,

    /// How to write the results to standard output
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: RunFormat,

    #[command(flatten)]
    pub(crate) simulation: SimulationArguments,

    /// The pattern of `pmp`, once its file has been read.
    #[arg(skip)]
    pub(crate) pattern: Option<PatternText>,

    /// What `corner-turn` turns, where that was said.
    #[arg(skip)]
    pub(crate) corner_turn: Option<CornerTurn>,

    /// The chain of `pipeline`, once its file has been read, and how it is run.
    #[arg(skip)]
    pub(crate) pipeline: Option<Pipeline>,
}

#[derive(Args, Debug)]
pub(crate) struct ListArguments {
    /// A benchmark or group to explain
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// Results files
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,

    /// HTML file to make [default: beside the first results file]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// The results file to compare with
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,

    /// The results files that are judged, each beside A
    #[arg(value_name = "B", required = true)]
    pub(crate) after: Vec<PathBuf>,

    /// Exit with status 1 if a number is slower by more than this share; changes within it count as the same
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) threshold: Share,
}

#[derive(Args, Debug)]
pub(crate) struct CalibrateArguments {
    /// The results file: ping-pong between 2 ranks over sizes; better with bandwidth, two-way-bandwidth, copy and
    /// clock-cost, and with clock for a twin that pauses as the machine does
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// The machine file to make, ending in .toml; its name is the machine's
    #[arg(short, long, value_name = "FILE", required_unless_present = "validate")]
    pub(crate) output: Option<PathBuf>,

    /// Show how well a twin made from every other size predicts the sizes between and the run's other benchmarks
    #[arg(long)]
    pub(crate) validate: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ReproduceArguments {
    /// A paper or one of its tables, such as mitre-1995 or mitre-1995/4.4 [default: all]
    #[arg(value_name = "PAPER[/TABLE]")]
    pub(crate) table: Option<String>,

    /// How to write the cells; json is one list of {id, unit, published, ours, how, error}
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct MachinesArguments {
    /// `show`, to explain a machine; nothing, to list those built in
    #[command(subcommand)]
    pub(crate) action: Option<MachinesAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MachinesAction {
    /// Explain a machine in words: its network, what a message costs, and where each number comes from
    Show {
        /// The name of a machine, or a machine file (ending in .toml)
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct FitArguments {
    /// The results file
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
}

const LAUNCH_EXAMPLES: &str = "\
Examples:
  cornerstone launch -n 4 ./program input.txt            four ranks of an MPI program
  cornerstone launch -n 2 --bind core ./program          rank 0 on the first processor, rank 1 on the second
  cornerstone launch -n 2 --prefix python3 program.py    [0] or [1] before each line of output

The program must use libmpi_abi.so.1 of this build, which the loader finds by LD_LIBRARY_PATH or the
program's own run path. Options of the program follow its name.

Standard input goes to rank 0. SIGINT, SIGTERM and SIGHUP are passed on and end the ranks; SIGUSR1 and
SIGUSR2 are passed on. No rank outlives this command.

Exit status: that of the first rank that failed, or 128 and the number of the signal; else 0.";

/// Where ranks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bind {
    /// Where the system puts them, and it may move them
    #[default]
    None,
    /// Rank r on the r-th processor that this process may use, in turns if there are more ranks
    Core,
    /// All on the first processor that this process may use
    One,
}

#[derive(Args, Debug)]
#[command(after_help = LAUNCH_EXAMPLES)]
pub(crate) struct LaunchArguments {
    /// How many ranks
    #[arg(short = 'n', long = "ranks", value_name = "NUMBER")]
    pub(crate) ranks: usize,

    /// Where the ranks run
    #[arg(long, value_enum, default_value_t)]
    pub(crate) bind: Bind,

    /// Put the rank before each line of output
    #[arg(long)]
    pub(crate) prefix: bool,

    /// At MPI_Finalize, tell which requests, communicators, datatypes and other objects were not freed (our library only)
    #[arg(long)]
    pub(crate) check_leaks: bool,

    /// The program and its arguments
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) program: Vec<OsString>,
}

/// Reads the command line of this process. Help and versions go to standard output; what is wrong with it is said on
/// standard error, and the exit status is given.
pub(crate) fn read() -> Result<Arguments, ExitCode> {
    Arguments::try_parse().map_err(|error| {
        // A closed output is no reason to panic, and there is nowhere left to complain.
        if error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && error.use_stderr()
        {
            use std::io::Write;
            let _ = write!(std::io::stderr(), "cornerstone: ");
        }
        let _ = error.print();
        if error.use_stderr() { ExitCode::from(STATUS_USAGE) } else { ExitCode::SUCCESS }
    })
}

impl RunArguments {
    /// These arguments, with those of `earlier` where they say nothing. Where results go is never taken over.
    pub(crate) fn or(self, earlier: RunArguments) -> RunArguments {
        RunArguments {
            names: if self.names.is_empty() { earlier.names } else { self.names },
            ranks: self.ranks.or(earlier.ranks),
            sizes: self.sizes.or(earlier.sizes),
            precision: self.precision.or(earlier.precision),
            confidence: self.confidence.or(earlier.confidence),
            time_limit: self.time_limit.or(earlier.time_limit),
            seed: self.seed.or(earlier.seed),
            real_time: self.real_time.or(earlier.real_time),
            pattern: self.pattern.or(earlier.pattern),
            corner_turn: self.corner_turn.or(earlier.corner_turn),
            pipeline: self.pipeline.or(earlier.pipeline),
            fabric: self.fabric.or(earlier.fabric),
            mpi_library: self.mpi_library.or(earlier.mpi_library),
            simulation: self.simulation.or(earlier.simulation),
            hosts: self.hosts.or(earlier.hosts),
            ..self
        }
    }

    /// The arguments of `run` in a command as a results file keeps it; none if it holds no such command.
    pub(crate) fn recorded(command: &[String]) -> Option<RunArguments> {
        match Arguments::try_parse_from(command).ok()?.command {
            Command::Run(arguments) => Some(arguments),
            // Its pattern is not in the command; the results keep it.
            Command::Pmp(pmp) => {
                Some(pmp.periodic.run("pmp", pmp.ranks.map(|n| RankCounts(vec![n]))))
            }
            Command::CornerTurn(corner_turn) if corner_turn.messages_only => {
                Some(corner_turn.periodic.run("pmp", Some(corner_turn.ranks)))
            }
            Command::CornerTurn(corner_turn) => Some(corner_turn.run()),
            Command::Pipeline(pipeline) => Some(pipeline.run(None)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(typed: &str) -> RunArguments {
        let command: Vec<String> = typed.split(' ').map(String::from).collect();
        RunArguments::recorded(&command).expect(typed)
    }

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_resumed_run_keeps_what_is_not_given_again() {
        let earlier = run("cornerstone run ping-pong --ranks 2,4 --seed 7 --out x.jsonl");
        let now = run("cornerstone run --resume x.jsonl --seed 9 --format json").or(earlier);
        assert_eq!(now.names, ["ping-pong"]);
        assert_eq!(now.ranks, Some(RankCounts(vec![2, 4])));
        assert_eq!(now.seed, Some(9));
        assert_eq!(now.out, None);
        assert_eq!(now.format, RunFormat::Json);
    }

    #[test]
    fn a_new_file_and_a_resumed_one_contradict_each_other() {
        let typed = ["cornerstone", "run", "--out", "a", "--resume", "b"];
        assert!(Arguments::try_parse_from(typed).is_err());
    }
}
