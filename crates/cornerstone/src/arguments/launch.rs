//! The arguments of `launch`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use fabric_cluster::OuterFabric;

use super::fabric::FabricChoice;
use super::hosts::HostsArguments;
use super::observation::ObservationArguments;
use super::placement::PlacementArguments;
use super::prediction::PredictionArguments;
use super::streams::StreamArguments;
use super::values::{Seconds, Variable};

const LAUNCH_EXAMPLES: &str = "\
Examples:
  cornerstone launch -n 4 ./program input.txt            four ranks of an MPI program
  cornerstone launch -n 2 --bind core ./program          rank 0 on the first processor, rank 1 on the second
  cornerstone launch -n 2 --prefix python3 program.py    [0] or [1] before each line of output
  cornerstone launch -n 4 --fabric tcp ./program         messages over TCP on the loopback interface
  cornerstone launch -n 4 --fabric ofi ./program         messages over libfabric's first suitable provider
  cornerstone launch -n 4 --watch 60s ./program          print what ranks do after a minute without progress
  cornerstone launch --fabric sim:fat-tree -n 64 ./program  the time that it would take on a simulated machine
  cornerstone launch -n 4 --report ./program             where its time goes: text and program-report.html
  cornerstone launch --hosts hosts.txt -n 16 ./program   on several hosts
  cornerstone launch --hosts hosts.txt --fabric cluster:ofi -n 16 ./program  the same, libfabric between them

The program must use libmpi_abi.so.1 of this build, which the loader finds by LD_LIBRARY_PATH or the
program's own run path. Options of the program follow its name.

Standard input goes to rank 0. SIGINT, SIGTERM and SIGHUP are forwarded and end the ranks. SIGUSR2
is forwarded. On SIGUSR1 this command prints what every rank does, and forwards it to ranks that
have a handler for it. No rank outlives this command.

If all ranks wait and no message is under way, the program is deadlocked. Within some seconds this
command prints what each rank waits for, and ends the ranks. It prints source lines of programs that
were compiled with -g. On several hosts SIGUSR2 reaches no rank.

Exit status: that of the first rank that failed, or 128 plus the number of the signal; 122 after a
deadlock; 124 after the time of --timeout; 127 if the program was not found and 126 if it cannot be executed; 2 if the command line is
wrong; 1 for other failures, and if --check or --check-leaks found something in a program that ended
well; 3 if --check has checked nothing; else 0.";

/// The action after a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HangAction {
    /// Print what each rank waits for, and end the ranks
    #[default]
    End,
    /// Print it once, and leave the ranks as they are, for a debugger
    #[value(name = "tell")]
    Report,
}

/// Fabric that carries the messages of a launched program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum LaunchFabric {
    /// Shared memory.
    #[default]
    Local,
    /// TCP on the loopback interface.
    Tcp,
    /// Shared memory inside hosts, this fabric between them.
    Cluster(OuterFabric),
    /// libfabric: over this provider, or over the first one.
    Ofi(Option<String>),
    /// A simulated machine, by its name or the path of its file.
    Simulated(String),
}

impl FromStr for LaunchFabric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.split(':').next().unwrap_or_default();
        match (text, name) {
            ("local", _) => Ok(LaunchFabric::Local),
            ("tcp", _) => Ok(LaunchFabric::Tcp),
            (_, "local" | "tcp") => Err(format!("the fabric '{name}' takes no argument")),
            (_, "cluster") => match text.parse::<FabricChoice>()? {
                FabricChoice::Cluster(outer) => Ok(LaunchFabric::Cluster(outer)),
                other => Err(format!("'{other}' is not on several hosts")),
            },
            (_, "ofi") => match text.parse::<FabricChoice>()? {
                FabricChoice::Ofi(provider) => Ok(LaunchFabric::Ofi(provider)),
                other => Err(format!("'{other}' is not over libfabric")),
            },
            (_, "sim") => match text.parse::<FabricChoice>()? {
                FabricChoice::Simulated(machine) => Ok(LaunchFabric::Simulated(machine)),
                other => Err(format!("'{other}' is no simulated machine")),
            },
            (_, "mpi") => {
                Err("programs run on Cornerstone's own MPI; start a program on another MPI \
                 with that one's launcher, such as `mpiexec -n 4 PROGRAM`"
                    .into())
            }
            _ => Err(format!(
                "there is no fabric '{name}' for programs; there are: local, tcp, cluster, cluster:ofi, \
                 cluster:ofi:PROVIDER, ofi, ofi:PROVIDER, sim:MACHINE"
            )),
        }
    }
}

impl std::fmt::Display for LaunchFabric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LaunchFabric::Local => f.write_str("local"),
            LaunchFabric::Tcp => f.write_str("tcp"),
            LaunchFabric::Cluster(outer) => FabricChoice::Cluster(outer.clone()).fmt(f),
            LaunchFabric::Ofi(provider) => FabricChoice::Ofi(provider.clone()).fmt(f),
            LaunchFabric::Simulated(machine) => write!(f, "sim:{machine}"),
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = LAUNCH_EXAMPLES)]
pub(crate) struct LaunchArguments {
    /// The number of ranks
    #[arg(short = 'n', long = "ranks", value_name = "NUMBER")]
    pub(crate) ranks: usize,

    /// The fabric that carries messages: local (shared memory), tcp (the loopback interface of this host), cluster
    /// (shared memory inside hosts, TCP between them), cluster:ofi or cluster:ofi:PROVIDER (shared memory inside hosts,
    /// libfabric between them), ofi or ofi:PROVIDER (libfabric) or sim:MACHINE (a simulated machine, in virtual time)
    /// [default: cluster if hosts are named, or if this host has not enough slots in a job of SLURM, PBS or LSF on
    /// several hosts; else local]
    #[arg(long, value_name = "FABRIC")]
    fabric: Option<LaunchFabric>,

    #[command(flatten)]
    pub(crate) hosts: HostsArguments,

    /// An environment variable of the ranks; without a value, the value in this process, for ranks on other hosts
    #[arg(
        long = "env",
        value_name = "NAME[=VALUE]",
        value_parser = OsStringValueParser::new().try_map(Variable::read)
    )]
    pub(crate) variables: Vec<Variable>,

    /// End the run if it has not ended after this time, such as 90s, print what the ranks do, and end with status 124
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Seconds>,

    /// The working directory of the ranks [default: the current one]
    #[arg(long = "wdir", value_name = "FOLDER")]
    pub(crate) directory: Option<PathBuf>,

    /// List at MPI_Finalize the requests, communicators, datatypes and other objects that were not freed (our library
    /// only), and end with status 1 if there are any
    #[arg(long)]
    pub(crate) check_leaks: bool,

    /// The action after a deadlock [default: end]
    #[arg(long, value_enum, value_name = "ACTION")]
    pub(crate) on_hang: Option<HangAction>,

    /// Also print what all ranks do whenever none has made progress for this time, such as 60s, without ending the run
    #[arg(long, value_name = "TIME")]
    pub(crate) watch: Option<Seconds>,

    /// Record what the ranks do, for `cornerstone replay` (with --fabric sim:MACHINE)
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) placement: PlacementArguments,

    #[command(flatten)]
    pub(crate) streams: StreamArguments,

    #[command(flatten)]
    pub(crate) prediction: PredictionArguments,

    #[command(flatten)]
    pub(crate) observation: ObservationArguments,

    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    pub(crate) program: Vec<OsString>,
}

impl LaunchArguments {
    /// Returns the fabric that carries the messages.
    pub(crate) fn fabric(&self) -> LaunchFabric {
        let default = match self.names_hosts() {
            true => LaunchFabric::Cluster(OuterFabric::Tcp),
            false => LaunchFabric::Local,
        };
        self.fabric.clone().unwrap_or(default)
    }

    fn names_hosts(&self) -> bool {
        self.hosts.hosts.is_some() || self.hosts.host.is_some()
    }

    /// Returns whether the user has chosen the place of the ranks.
    pub(crate) fn has_place(&self) -> bool {
        self.fabric.is_some() || self.names_hosts()
    }

    /// Lets the ranks run on the hosts of the batch job.
    pub(crate) fn use_hosts_of_job(&mut self) {
        self.fabric = Some(LaunchFabric::Cluster(OuterFabric::Tcp));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fabrics_that_cannot_run_programs_are_refused_with_what_to_do_instead() {
        let ofi = [None, Some("verbs".to_owned())].map(LaunchFabric::Ofi);
        let over_ofi = OuterFabric::Ofi { provider: Some("verbs".into()) };
        let clusters = [OuterFabric::Tcp, over_ofi].map(LaunchFabric::Cluster);
        let others = [LaunchFabric::Local, LaunchFabric::Tcp];
        for fabric in others.into_iter().chain(clusters).chain(ofi) {
            assert_eq!(fabric.to_string().parse(), Ok(fabric));
        }
        let cluster = LaunchFabric::Simulated("cluster".into());
        assert_eq!(cluster.to_string().parse(), Ok(cluster));
        for (text, words) in [
            ("tcp:7000", "'tcp' takes no argument"),
            ("cluster:tcp", "alone uses TCP there, 'cluster:ofi' and"),
            ("sim:paragon-osf9", "there is no machine `paragon-osf9`"),
            ("sim", "needs a machine"),
            ("mpi", "mpiexec"),
            ("mpi:openmpi", "mpiexec"),
            ("pigeon:3", "no fabric 'pigeon' for programs; there are: local, tcp"),
            ("", "there are: local, tcp"),
        ] {
            let refusal = text.parse::<LaunchFabric>().unwrap_err();
            assert!(refusal.contains(words), "{text}: {refusal}");
        }
    }
}
