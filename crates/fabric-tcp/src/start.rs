//! Starts ranks on several hosts, and supervises the run until the last rank has ended.

mod agent;
mod hangs;
mod quiet;
mod rank_connection;
mod started_process;
mod supervise;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use launcher::{LaunchError, Watch};
use rustix::event::Timespec;

use crate::control::Message;
use crate::handshake::Acceptor;
use crate::hosts_file::{Host, places};
use crate::interface::Interface;
use crate::secret::Secret;
pub use agent::for_shell;
use hangs::Hangs;
use rank_connection::RankConnection;
use started_process::StartedProcess;

/// Maximum number of ranks of a run: each has a connection to each.
pub const RANKS_MAX: usize = 256;
/// Default time for which another host may be unreachable.
pub const REACH_LIMIT: Duration = Duration::from_secs(5);
/// Time limit for ranks to connect. An agent may have to log in somewhere first.
const CONNECT_LIMIT: Duration = Duration::from_secs(60);
/// Time in which ranks may end by themselves after the run is aborted, before their agents are killed.
const GRACE: Duration = Duration::from_secs(2);
/// Time in which the process of a host must report how a rank with a broken connection ended: it ends the host's other
/// ranks first.
const WORD_LIMIT: Duration = Duration::from_secs(5);
/// Interval of the checks of agents and signals.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The kind of the processes that are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Starting {
    /// A rank. It must read the secret, one line, from its standard input ([`Secret::from_line`]), and call
    /// [`remote::join`](crate::remote::join). Its arguments are the address to connect to, the rank, and its processor,
    /// `-` for any.
    EachRank,
    /// A host, which starts its ranks itself ([`HostPart`](crate::HostPart)). Its arguments are the address to connect
    /// to and the ranks, separated by commas.
    EachHost {
        /// Task of the host: a line that it reads.
        task: String,
        /// True if the ranks are any program: one that may never join, writes to this process's standard output and
        /// error, and whose rank 0 reads this process's standard input.
        any_program: bool,
    },
}

/// The program, its hosts and its ranks.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// The hosts, with the first ranks on the first.
    pub hosts: Vec<Host>,
    /// Number of ranks, 1 to [`RANKS_MAX`].
    pub ranks: usize,
    /// The program that reaches other hosts: it is called as `AGENT HOST PROGRAM ARGUMENTS...`, as `ssh` is. Ranks on
    /// `localhost` or a loopback address are started without it.
    pub agent: PathBuf,
    /// Address at which this process listens for its ranks; port 0 lets the system choose. By default only the address
    /// from which the first host other than this one is reached.
    pub listen: Option<SocketAddr>,
    /// The program, which has the same path on all hosts.
    pub program: PathBuf,
    /// Its arguments, before those that [`Starting`] adds.
    pub arguments: Vec<String>,
    /// The kind of its processes.
    pub starting: Starting,
    /// Processor of each rank among those of its host ([`remote::bind`](crate::remote::bind)). Ranks beyond the list
    /// are not bound.
    pub processors: Vec<Option<usize>>,
    /// Bytes that every rank gets when it joins.
    pub job: Vec<u8>,
    /// Time for which another host may be unreachable, while connections to it are made again. `None` if no connection
    /// is made again, unless a host has several addresses: then [`REACH_LIMIT`].
    pub reconnect: Option<Duration>,
    /// Interfaces at whose addresses the ranks listen on hosts without addresses of their own; the first interfaces of
    /// all hosts form a path, the second ones another, and so on. Each host looks for its own. Empty for the address by
    /// which the host reaches this process.
    pub interfaces: Vec<Interface>,
    /// What happens on a hang of the ranks that processes of hosts start, if these have a
    /// [`HostWatch`](crate::HostWatch).
    pub watch: Option<Watch>,
}

/// What a signal of the user to this process requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserSignal {
    /// The run must end, for the signal of this number.
    End(i32),
    /// Each host must print what its ranks do ([`LaunchOptions::watch`](launcher::LaunchOptions::watch)).
    ReportRanks,
}

/// A run on several hosts.
struct Run<'a> {
    acceptor: Acceptor,
    /// The started processes.
    processes: Vec<StartedProcess>,
    ranks: Vec<RankConnection>,
    starting: &'a Starting,
    job: &'a [u8],
    /// Addresses at which each rank must listen, and for how many milliseconds a host may be unreachable.
    listening: Vec<Message>,
    begun: bool,
    connect_until: Instant,
    failure: Option<LaunchError>,
    /// True if the failure is only a rank's report about another rank.
    is_secondhand: bool,
    kill_at: Option<Instant>,
    /// The rank that died or failed, if one did, and the reason why the run was aborted.
    abort_reason: Option<(Option<u32>, String)>,
    hangs: Option<Hangs>,
}

/// Starts the ranks, passes their reports to `on_report` as a launcher does, and returns when all have ended.
/// `user_signal` is called from time to time, and returns what a signal to this process requests, if any has arrived.
///
/// # Errors
/// The first failure. By then all ranks have ended, or their agents have been killed.
pub fn start(
    options: &StartOptions,
    user_signal: &mut dyn FnMut() -> Option<UserSignal>,
    on_report: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), LaunchError> {
    let places = checked_places(options)?;
    let secret = Secret::generate().map_err(|error| system("making a secret", error))?;
    let address = match options.listen {
        Some(address) => address,
        None => address_towards(&places)?,
    };
    let acceptor = Acceptor::listen(address, secret.clone())
        .map_err(|error| system(&format!("listening at {address}"), error))?;
    let address = acceptor.address().map_err(|error| system("listening", error))?;
    let mut run = Run {
        acceptor,
        processes: Vec::new(),
        ranks: Vec::new(),
        starting: &options.starting,
        job: &options.job,
        listening: listening(options, &places),
        begun: false,
        connect_until: Instant::now() + CONNECT_LIMIT,
        failure: None,
        is_secondhand: false,
        kill_at: None,
        abort_reason: None,
        hangs: None,
    };
    let groups = groups(&options.starting, &places);
    run.hangs = Hangs::new(options.watch, groups.len());
    for (rank, host) in places.iter().enumerate() {
        let process = groups.iter().position(|(_, ranks)| ranks.contains(&rank)).unwrap_or(0);
        run.ranks.push(RankConnection::new(host.name.clone(), process));
    }
    for (host, ranks) in groups {
        match agent::start(options, host, &ranks, address, &secret) {
            Ok(child) => run.processes.push(StartedProcess::new(host.name.clone(), ranks, child)),
            Err(error) => {
                let what = format!("starting rank {} on {}", ranks[0], host.name);
                run.fail(None, system(&what, error), false);
                break;
            }
        }
    }
    run.supervise(user_signal, on_report);
    run.failure.map_or(Ok(()), Err)
}

/// Returns the message to each rank about its addresses.
fn listening(options: &StartOptions, places: &[&Host]) -> Vec<Message> {
    let words: Vec<Vec<String>> =
        places.iter().map(|host| listening_words(host, &options.interfaces)).collect();
    let has_several = words.iter().any(|host| host.len() > 1);
    let limit = options.reconnect.or(has_several.then_some(REACH_LIMIT));
    let limit_ms = limit.map_or(0, |limit| limit.as_millis().clamp(1, u32::MAX.into()) as u32);
    words.iter().map(|host| Message::Listen { addresses: host.join(" "), limit_ms }).collect()
}

/// Returns the addresses or interfaces at which the ranks of a host listen, as words without spaces.
fn listening_words(host: &Host, interfaces: &[Interface]) -> Vec<String> {
    match host.addresses.is_empty() {
        true => interfaces.iter().map(Interface::to_string).collect(),
        false => host.addresses.iter().map(IpAddr::to_string).collect(),
    }
}

/// Returns the ranks of each process to start, in their order, and its host.
fn groups<'a>(starting: &Starting, places: &[&'a Host]) -> Vec<(&'a Host, Vec<usize>)> {
    let mut groups: Vec<(&Host, Vec<usize>)> = Vec::new();
    for (rank, &host) in places.iter().enumerate() {
        let same = |(other, _): &&mut (&Host, Vec<usize>)| other.name == host.name;
        let group = groups.iter_mut().find(same).filter(|_| *starting != Starting::EachRank);
        match group {
            Some((_, ranks)) => ranks.push(rank),
            None => groups.push((host, vec![rank])),
        }
    }
    groups
}

fn checked_places(options: &StartOptions) -> Result<Vec<&Host>, LaunchError> {
    let bad = |why: String| Err(LaunchError::BadOptions(why));
    if options.ranks == 0 || options.ranks > RANKS_MAX {
        return bad(format!("a run over TCP has 1 to {RANKS_MAX} ranks, not {}", options.ranks));
    }
    match places(&options.hosts, options.ranks) {
        Some(places) => Ok(places),
        None => {
            let slots: usize = options.hosts.iter().map(|host| host.slots).sum();
            bad(format!("the hosts take {slots} ranks, not {}", options.ranks))
        }
    }
}

/// Returns the address of this host from which the first other host is reached.
fn address_towards(places: &[&Host]) -> Result<SocketAddr, LaunchError> {
    let Some(host) = places.iter().find(|host| !host.is_here()) else {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    };
    // A name may have a user before it, as agents have it.
    let name = host.name.rsplit('@').next().unwrap_or_default();
    let what = format!("finding the way to {name}");
    let mut found = (name, 9).to_socket_addrs().map_err(|error| system(&what, error))?;
    let to = found.next().ok_or_else(|| system(&what, std::io::ErrorKind::NotFound.into()))?;
    let any: SocketAddr = if to.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
    };
    // Connecting a datagram socket sends nothing; the system only selects the route.
    let socket = UdpSocket::bind(any).map_err(|error| system(&what, error))?;
    let own = socket.connect(to).and_then(|()| socket.local_addr());
    own.map(|own| SocketAddr::new(own.ip(), 0)).map_err(|error| system(&what, error))
}

fn system(what: &str, error: std::io::Error) -> LaunchError {
    LaunchError::System { what: what.into(), reason: error.to_string() }
}

fn failed(rank: usize, reason: String) -> LaunchError {
    LaunchError::RankFailed { rank, reason, status: 1 }
}
