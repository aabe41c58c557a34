//! The hosts of a run: from the command line, or from a batch system.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use fabric_tcp::{Host, Interface, OfThisProcess, hosts_of_job};

use crate::arguments::HostsArguments;
use crate::failure::Failure;

/// Program that reaches another host by default.
const AGENT: &str = "ssh";

/// Hosts of a run, and the means to reach them.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    pub(super) hosts: Vec<Host>,
    pub(super) agent: PathBuf,
    pub(super) listen: Option<SocketAddr>,
    pub(super) reconnect: Option<Duration>,
    pub(super) interfaces: Vec<Interface>,
}

impl Hosts {
    /// Returns the hosts that the command line names. Without such hosts, returns those of a batch system if the fabric
    /// `wants` hosts, or `None` if there are none.
    pub(crate) fn new(arguments: &HostsArguments, wants: bool) -> Result<Option<Hosts>, Failure> {
        let hosts = match (&arguments.hosts, &arguments.host) {
            (Some(path), _) => {
                let cannot = |why: String| Failure::usage(format!("'{}': {why}", path.display()));
                let text =
                    definition_files::read_text(path).map_err(|error| cannot(error.to_string()))?;
                Host::parse_all(&text).map_err(|why| {
                    cannot(why).hint(
                        "write a host a line, as NAME, NAME:SLOTS or NAME:SLOTS@ADDRESS,ADDRESS",
                    )
                })?
            }
            (None, Some(list)) => Host::parse_list(list).map_err(|why| {
                Failure::usage(format!("--host: {why}"))
                    .hint("write hosts as NAME or NAME:SLOTS, with commas between them")
            })?,
            (None, None) => match hosts_of_job(&OfThisProcess).filter(|_| wants) {
                Some(hosts) => hosts.map(|(hosts, _)| hosts).map_err(Failure::usage)?,
                None => return arguments.mean_nothing().map_or(Ok(None), Err),
            },
        };
        let agent = arguments.agent.clone().unwrap_or_else(|| AGENT.into());
        let reconnect = arguments.reconnect.map(|limit| Duration::from_secs_f64(limit.0));
        let interfaces = arguments.interfaces.clone();
        Ok(Some(Hosts { hosts, agent, listen: arguments.listen, reconnect, interfaces }))
    }

    /// Returns whether a batch job has several hosts, and this host cannot take all of `ranks` as the first of them: it
    /// has too few slots, or it is the host from which the job was submitted. A list that cannot be read counts as no
    /// hosts.
    pub(crate) fn of_job_are_needed(ranks: usize) -> bool {
        let Some(Ok((hosts, _))) = hosts_of_job(&OfThisProcess) else { return false };
        let fit = hosts.first().is_some_and(|first| first.is_here() && ranks <= first.slots);
        hosts.len() > 1 && !fit
    }

    /// Returns this host alone, with `ranks` slots.
    pub(crate) fn this_one(ranks: usize) -> Hosts {
        let host = Host { name: "localhost".into(), slots: ranks, addresses: Vec::new() };
        Hosts {
            hosts: vec![host],
            agent: AGENT.into(),
            listen: None,
            reconnect: None,
            interfaces: Vec::new(),
        }
    }

    /// Returns the slots of each host, in the order in which hosts are filled, or nothing if there is one host.
    pub(crate) fn slots_of_each(&self) -> Vec<usize> {
        let slots = self.hosts.iter().map(|host| host.slots).collect();
        if self.hosts.len() > 1 { slots } else { Vec::new() }
    }

    /// Returns the number of ranks for which they have slots.
    pub(crate) fn slots(&self) -> usize {
        self.hosts.iter().map(|host| host.slots).sum()
    }
}

impl HostsArguments {
    /// Returns the mistake of an option for hosts without hosts, if there is one.
    fn mean_nothing(&self) -> Option<Failure> {
        let given = [
            (self.agent.is_some(), "--agent"),
            (self.listen.is_some(), "--listen"),
            (self.reconnect.is_some(), "--reconnect"),
            (!self.interfaces.is_empty(), "--interfaces"),
        ];
        let (_, alone) = given.into_iter().find(|(is_given, _)| *is_given)?;
        Some(Failure::usage(format!("{alone} means nothing without --hosts")))
    }
}
