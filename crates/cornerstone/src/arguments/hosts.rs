//! The options of a run over TCP: its hosts, and how they are reached.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Hosts (--fabric tcp)")]
pub(crate) struct HostsArguments {
    /// Hosts of a run over TCP, one a line: NAME or NAME:SLOTS, the first ranks on the first; ranks of
    /// one host have a processor each while there are enough [default: this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,

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
            agent: self.agent.or(earlier.agent),
            listen: self.listen.or(earlier.listen),
        }
    }
}
