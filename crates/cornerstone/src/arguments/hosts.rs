//! The options of a run on several hosts: their names, and the means to reach them.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use fabric_tcp::Interface;

use super::values::Seconds;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Hosts (--fabric cluster, tcp or ofi)")]
pub(crate) struct HostsArguments {
    /// A file with one host per line: NAME, NAME:SLOTS, or NAME:SLOTS@ADDRESS,ADDRESS for hosts with several networks;
    /// the first ranks run on the first host [default: with --fabric cluster the hosts of the SLURM, PBS or LSF job;
    /// else this host]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,

    /// The same as a list with commas, such as alpha:4,beta:4 or alpha:4@10.0.0.1,10.1.0.1,beta:4@10.0.0.2,10.1.0.2
    #[arg(long, value_name = "LIST", conflicts_with = "hosts")]
    pub(crate) host: Option<String>,

    /// The program that starts commands on other hosts, called as PROGRAM HOST COMMAND... [default: ssh]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) agent: Option<PathBuf>,

    /// The address at which to listen for ranks on other hosts [default: a free port at the address from which the
    /// first other host is reached]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,

    /// Re-establish broken connections between hosts; a host that is unreachable for this time, such as 5s, counts as
    /// dead [default: 5s if a host has several addresses; else a broken connection ends the run]
    #[arg(long, value_name = "TIME")]
    pub(crate) reconnect: Option<Seconds>,

    /// The networks between hosts that are listed without addresses: interfaces by name, such as eth1, or networks,
    /// such as
    /// 10.1.0.0/16, with commas. Each host looks for its own addresses on them; several are used together, and for each
    /// other [default: the network by which the host reaches this one]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) interfaces: Vec<Interface>,
}

impl HostsArguments {
    /// Returns these arguments, completed with those of `earlier` that a results file may set.
    pub(crate) fn or(self, earlier: HostsArguments) -> HostsArguments {
        HostsArguments { reconnect: self.reconnect.or(earlier.reconnect), ..self }
    }
}
