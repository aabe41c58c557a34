//! The arguments of `run`, and those that a resumed run takes from the earlier one.

use std::path::PathBuf;

use benchmark::{CornerTurn, PatternText, Pipeline};
use clap::{Args, ValueEnum};

use super::{
    AlgorithmNames, FabricChoice, HostsArguments, Only, RESULTS, RankCounts, RealTimeArguments,
    Seconds, Share, SimulationArguments, Sizes, TaskArguments, TrafficArguments,
};

const RUN_EXAMPLES: &str = "\
Examples:
  cornerstone run
      an overview: 15 headline numbers, in about a minute
  cornerstone run everything
      every benchmark, in about two minutes; few numbers become precise
  cornerstone run ping-pong barrier --ranks 2,4,8
      two benchmarks, with three numbers of ranks
  cornerstone run collectives --sizes 0..1MiB
      a whole group, with sizes doubling from 0 to 1 MiB
  cornerstone run allreduce --algorithm all --fabric tcp
      all algorithms over messages, beside the default choice
  cornerstone run multiply --ranks 1,2,4,8 --only form=blocks
      a whole program: its speed-up and what limits it
  cornerstone run ping-pong --sizes 8,1KiB,3000
      only these sizes
  cornerstone run barrier --precision 1% --time-limit 10s
      a narrower interval, with more time
  cornerstone run ping-pong --out before.jsonl
  cornerstone run ping-pong --out after.jsonl
  cornerstone compare before.jsonl after.jsonl
      before and after a change: ten launches or more of each
  cornerstone run --format json | jq .median
      one JSON object per line on standard output
  mpiexec -n 4 cornerstone run --fabric mpi
      over an MPI, which is loaded at run time
  cornerstone run ping-pong --fabric mpi:mpich --format osu
      starts MPICH's launcher; prints the table of osu_latency
  cornerstone run ping-pong --fabric tcp --hosts HOSTS
      over TCP, on the hosts of a file
  cornerstone run sharc --fabric sim:sharc-ring --ranks 4
      on a simulated machine, in virtual time
  cornerstone run all-to-all --fabric sim:cluster --ranks 512 --level packets
      simulates every packet on every link
  cornerstone run traffic --fabric sim:ipsc --ranks 16 --rule sphere:1,uniform --hits 0,0.9
      messages drawn from a model of a program's locality, and the queue of each link
  cornerstone run hartstone --duration 5s
      the shortest period, with trials of 5 s
  cornerstone run hartstone --period 5ms
      how often that period is missed
  cornerstone run --ranks 4 --explain-plan
      which way collectives of 4 ranks go here, for every length
  cornerstone run --resume results/RUN.jsonl
      continues an interrupted run

Sizes are in bytes, or with a unit: 64KiB is 65536 bytes, 64kB is 64000.
A range doubles: 0..1KiB is 0, 1, 2, 4 ... 1024. Ranks may be written the same
way: 2..16.

A case is measured in several launches, and its interval is over launches. A
launch stops sampling when the interval of its median is as narrow as
--precision, or at its share of --time-limit. Every output marks numbers whose
interval over all launches is wider, because they did not converge.

Standard output has only the results; progress goes to standard error. Every
result is also written to the results file at once, so an interrupted run keeps
its results.";

/// How `run` writes its results to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunFormat {
    /// For people: tables at the end
    #[default]
    Table,
    /// One JSON object per line, for each launch, as soon as each number is measured
    Json,
    /// Comma-separated values with a header, for each launch, as soon as each number is measured
    Csv,
    /// Tables like those of the OSU micro-benchmarks (with our medians), at the end, for scripts that read them
    Osu,
}

/// The arguments of `run`. Nearly all are optional: missing ones are taken from the resumed run, or have defaults.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArguments {
    /// Benchmarks or groups, as listed by `cornerstone list` or `everything` [default: an overview of 15 numbers]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Numbers of ranks, such as 2 or 2,4,8 or 2..16 [default: those of each benchmark]
    #[arg(long, value_name = "LIST")]
    pub(crate) ranks: Option<RankCounts>,

    /// Message sizes, such as 0..1MiB (doubling) or 8,1KiB,64KiB [default: those of each benchmark]
    #[arg(long, value_name = "LIST")]
    pub(crate) sizes: Option<Sizes>,

    /// Stop a measurement when the interval is within this share of the median [default: 5%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) precision: Option<Share>,

    /// Confidence of the intervals [default: 95%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) confidence: Option<Share>,

    /// Maximum time of one measurement, such as 5s or 500ms; of virtual time on a simulated machine [default: 2s; 4s in
    /// the overview, less in `everything`]
    #[arg(long, value_name = "TIME")]
    pub(crate) time_limit: Option<Seconds>,

    /// Start the ranks N times, and measure every case in each launch with its share of the time limit; intervals are
    /// over launches [default: 10, fewer if there is no time for them, and up to 100 for a case while there is time and
    /// until its interval is within half of --precision; 6 in `everything`; wake-up and --period 1]. Searches for a
    /// period and clock have one launch, and so has a simulated machine, whose numbers are exact. docs/results.md has
    /// the rule
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) launches: Option<u32>,

    /// Distribute the launches over this time, with nothing done in between, so that they cover several performance
    /// states of a machine whose speed changes by itself [default: one launch after the other]
    #[arg(long, value_name = "TIME", conflicts_with = "turns")]
    pub(crate) spread: Option<Seconds>,

    /// Make each measurement in N turns, distributed over the run: all measurements have their first turn, then all
    /// their second, each with its share of the time limit. For `calibrate`, on machines whose speed changes by itself;
    /// there is then one launch [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "launches", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) turns: Option<u32>,

    /// Execute collectives by these algorithms over messages, such as ring or binomial,scatter-ring, instead of the
    /// fabric's own choice; `all` means that choice and all algorithms. `cornerstone list` names them
    #[arg(long, value_name = "LIST")]
    pub(crate) algorithm: Option<AlgorithmNames>,

    /// Measure only cases with these values of a parameter, such as form=blocks or grain=1,8; may be given several
    /// times
    #[arg(long, value_name = "NAME=LIST")]
    pub(crate) only: Vec<Only>,

    /// Seed of everything random, such as the data that are sent [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// The fabric that carries messages: local (our own shared memory), tcp (on this host, or on --hosts), cluster
    /// (shared memory inside hosts, TCP between them), cluster:ofi or cluster:ofi:PROVIDER (shared memory inside hosts,
    /// libfabric between them), ofi or ofi:PROVIDER (libfabric), sim:MACHINE (simulated: a name from `cornerstone
    /// machines`, or a machine file), mpi (under mpiexec), or mpi:NAME (starts the launcher of that MPI: mpich, intel,
    /// openmpi, or cornerstone for our own library) [default: local]
    #[arg(long, value_name = "NAME[:ARG]")]
    pub(crate) fabric: Option<FabricChoice>,

    /// The library of the MPI, such as /opt/mpich/lib/libmpi_abi.so.1 [default: the loader's libmpi_abi.so.1, or the
    /// launcher's]
    #[arg(long, value_name = "FILE")]
    pub(crate) mpi_library: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) hosts: HostsArguments,

    #[command(flatten)]
    pub(crate) real_time: RealTimeArguments,

    #[command(flatten)]
    pub(crate) tasks: TaskArguments,

    #[command(flatten)]
    pub(crate) traffic: TrafficArguments,

    /// Results file to make [default: results/TIME-HOST.jsonl]; the report is written beside it as .html
    #[arg(long, value_name = "FILE", conflicts_with = "resume", help_heading = RESULTS)]
    pub(crate) out: Option<PathBuf>,

    /// Continue the run of this results file: measure what is missing, and append it. Options that are not given are
    /// taken from the file, but for those that start a program, load a library, open a connection, name a file or change
    /// the system
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    pub(crate) resume: Option<PathBuf>,

    /// How to write the results to standard output
    #[arg(long, value_enum, default_value_t, help_heading = RESULTS)]
    pub(crate) format: RunFormat,

    /// Print all tables at the end; by default, more than two screens of tables are replaced by a summary
    #[arg(long, help_heading = RESULTS)]
    pub(crate) tables: bool,

    /// Print the plan of each collective between these ranks on this machine at every length, and measure nothing
    #[arg(long, conflicts_with_all = ["resume", "out"], help_heading = RESULTS)]
    pub(crate) explain_plan: bool,

    #[command(flatten)]
    pub(crate) simulation: SimulationArguments,

    /// The pattern of `pmp`, after its file has been read.
    #[arg(skip)]
    pub(crate) pattern: Option<PatternText>,

    /// The settings of `corner-turn`, if they were given.
    #[arg(skip)]
    pub(crate) corner_turn: Option<CornerTurn>,

    /// The chain of `pipeline`, after its file has been read, and how it is run.
    #[arg(skip)]
    pub(crate) pipeline: Option<Pipeline>,
}

impl RunArguments {
    /// Returns these arguments, completed with those of `earlier` that a results file may set.
    pub(crate) fn or(self, earlier: RunArguments) -> RunArguments {
        RunArguments {
            names: if self.names.is_empty() { earlier.names } else { self.names },
            ranks: self.ranks.or(earlier.ranks),
            sizes: self.sizes.or(earlier.sizes),
            precision: self.precision.or(earlier.precision),
            confidence: self.confidence.or(earlier.confidence),
            time_limit: self.time_limit.or(earlier.time_limit),
            launches: self.launches.or(earlier.launches),
            spread: self.spread.or(earlier.spread),
            turns: self.turns.or(earlier.turns),
            algorithm: self.algorithm.or(earlier.algorithm),
            only: if self.only.is_empty() { earlier.only } else { self.only },
            seed: self.seed.or(earlier.seed),
            real_time: self.real_time.or(earlier.real_time),
            tasks: self.tasks.or(earlier.tasks),
            traffic: self.traffic.or(earlier.traffic),
            pattern: self.pattern.or(earlier.pattern),
            corner_turn: self.corner_turn.or(earlier.corner_turn),
            pipeline: self.pipeline.or(earlier.pipeline),
            fabric: self.fabric.or(earlier.fabric),
            simulation: self.simulation.or(earlier.simulation),
            hosts: self.hosts.or(earlier.hosts),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::arguments::Arguments;

    #[test]
    fn a_new_file_and_a_resumed_one_contradict_each_other() {
        let typed = ["cornerstone", "run", "--out", "a", "--resume", "b"];
        assert!(Arguments::try_parse_from(typed).is_err());
    }
}
