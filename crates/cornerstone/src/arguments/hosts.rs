//! The options of a run on several hosts: which these are, and how they are reached.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Hosts (--fabric cluster or tcp)")]
pub(crate) struct HostsArguments {
    /// Hosts of a run on several, one a line: NAME or NAME:SLOTS, the first ranks on the first [default: with --fabric
    /// cluster those that SLURM, PBS or LSF has given to this job; else this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,

    /// The same in one word, with commas between the hosts, as alpha:4,beta:4
    #[arg(long, value_name = "LIST", conflicts_with = "hosts")]
    pub(crate) host: Option<String>,

    /// What reaches another of the --hosts, called as ssh is: PROGRAM HOST COMMAND... [default: ssh]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) agent: Option<PathBuf>,

    /// Where to listen for the ranks on --hosts [default: a free port at the address from which the first other host is
    /// reached]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
}

impl HostsArguments {
    /// These arguments, completed with those of `earlier`.
    pub(crate) fn or(self, earlier: HostsArguments) -> HostsArguments {
        HostsArguments {
            hosts: self.hosts.or(earlier.hosts),
            host: self.host.or(earlier.host),
            agent: self.agent.or(earlier.agent),
            listen: self.listen.or(earlier.listen),
        }
    }
}
