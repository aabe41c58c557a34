//! The options of a run on several hosts: which these are, and how they are reached.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::values::Seconds;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Hosts (--fabric cluster or tcp)")]
pub(crate) struct HostsArguments {
    /// Hosts of a run on several, one a line: NAME, NAME:SLOTS or NAME:SLOTS@ADDRESS,ADDRESS for ranks that are reached over
    /// several networks; the first ranks on the first [default: with --fabric cluster those that SLURM, PBS or LSF has
    /// given to this job; else this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,

    /// The same in one word, with commas between the hosts, as alpha:4,beta:4 or alpha:4@10.0.0.1,10.1.0.1,beta:4@10.0.0.2,10.1.0.2
    #[arg(long, value_name = "LIST", conflicts_with = "hosts")]
    pub(crate) host: Option<String>,

    /// What reaches another of the --hosts, called as ssh is: PROGRAM HOST COMMAND... [default: ssh]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) agent: Option<PathBuf>,

    /// Where to listen for the ranks on --hosts [default: a free port at the address from which the first other host is
    /// reached]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,

    /// Make connections between --hosts again when they break; a host that is out of reach for so long, such as 5s, counts
    /// as gone [default: 5s where a host has several addresses; else a connection that breaks ends the run]
    #[arg(long, value_name = "TIME")]
    pub(crate) reconnect: Option<Seconds>,
}

impl HostsArguments {
    /// These arguments, completed with those of `earlier`.
    pub(crate) fn or(self, earlier: HostsArguments) -> HostsArguments {
        HostsArguments {
            hosts: self.hosts.or(earlier.hosts),
            host: self.host.or(earlier.host),
            agent: self.agent.or(earlier.agent),
            listen: self.listen.or(earlier.listen),
            reconnect: self.reconnect.or(earlier.reconnect),
        }
    }
}
