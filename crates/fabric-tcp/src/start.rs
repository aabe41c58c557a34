//! Starting ranks on several hosts, and supervising the run until the last rank has ended.

mod agent;
mod rank_process;

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fabric_shm::LaunchError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::control::{Message, Received};
use crate::handshake::{Acceptor, Purpose};
use crate::hosts_file::{Host, places};
use crate::secret::Secret;
use rank_process::{RankProcess, RankState};

/// The most ranks of a run: each has a connection to each.
pub const RANKS_MAX: usize = 256;
/// How long ranks may take to connect. An agent may have to log in somewhere first.
const CONNECT_LIMIT: Duration = Duration::from_secs(60);
/// How long ranks may take to end by themselves once the run is given up, before their agents are killed.
const GRACE: Duration = Duration::from_secs(2);
/// Agents and signals are checked this often.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// What to start, and where.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// The hosts, the first ranks on the first.
    pub hosts: Vec<Host>,
    /// How many ranks, 1 to [`RANKS_MAX`].
    pub ranks: usize,
    /// The program that reaches other hosts: it is called as `AGENT HOST PROGRAM ARGUMENTS...`, as `ssh` is. Ranks on
    /// `localhost` or a loopback address are started without it.
    pub agent: PathBuf,
    /// Where this process listens for its ranks; port 0 lets the system choose. If it is not given, the address from
    /// which the first host that is not this one is reached, and no other.
    pub listen: Option<SocketAddr>,
    /// The program of a rank, by the same path on all hosts. It must read the secret, a line, from its standard input
    /// ([`Secret::from_line`]), and call [`remote::join`](crate::remote::join).
    pub program: PathBuf,
    /// Its arguments. Behind them come the address to connect to, the rank, and the processor that it is for, `-` for
    /// any.
    pub arguments: Vec<String>,
    /// For which of the processors of its host each rank is ([`remote::bind`](crate::remote::bind)). A rank beyond the
    /// list is for any.
    pub processors: Vec<Option<usize>>,
    /// Bytes that every rank gets when it joins.
    pub job: Vec<u8>,
}

/// A run on several hosts.
struct Run<'a> {
    acceptor: Acceptor,
    /// The process of each rank.
    processes: Vec<RankProcess>,
    job: &'a [u8],
    begun: bool,
    connect_until: Instant,
    failure: Option<LaunchError>,
    /// Whether the failure is only what a rank reported of another.
    is_secondhand: bool,
    kill_at: Option<Instant>,
}

/// Starts the ranks, hands their reports to `on_report` as a launcher does, and returns when all have ended.
/// `interrupted` is asked now and then whether a signal has asked this process to end.
///
/// # Errors
/// The first thing that went wrong; by then all ranks have ended, or their agents have been killed.
pub fn start(
    options: &StartOptions,
    interrupted: &mut dyn FnMut() -> Option<i32>,
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
        job: &options.job,
        begun: false,
        connect_until: Instant::now() + CONNECT_LIMIT,
        failure: None,
        is_secondhand: false,
        kill_at: None,
    };
    for (rank, host) in places.into_iter().enumerate() {
        match agent::start(options, host, rank, address, &secret) {
            Ok(child) => run.processes.push(RankProcess::new(host.name.clone(), child)),
            Err(error) => {
                let what = format!("starting rank {rank} on {}", host.name);
                run.fail(None, system(&what, error), false);
                break;
            }
        }
    }
    run.supervise(interrupted, on_report);
    run.failure.map_or(Ok(()), Err)
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

/// The address of this host from which the first other host is reached.
fn address_towards(places: &[&Host]) -> Result<SocketAddr, LaunchError> {
    let Some(host) = places.iter().find(|host| !host.is_here()) else {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    };
    // A name with a user before it, as agents take it.
    let name = host.name.rsplit('@').next().unwrap_or_default();
    let what = format!("finding the way to {name}");
    let mut found = (name, 9).to_socket_addrs().map_err(|error| system(&what, error))?;
    let to = found.next().ok_or_else(|| system(&what, std::io::ErrorKind::NotFound.into()))?;
    let any: SocketAddr = if to.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
    };
    // Connecting a datagram socket sends nothing; the system only chooses the route.
    let socket = UdpSocket::bind(any).map_err(|error| system(&what, error))?;
    let own = socket.connect(to).and_then(|()| socket.local_addr());
    own.map(|own| SocketAddr::new(own.ip(), 0)).map_err(|error| system(&what, error))
}

fn system(what: &str, error: std::io::Error) -> LaunchError {
    LaunchError::System { what: what.into(), reason: error.to_string() }
}

impl Run<'_> {
    fn supervise(
        &mut self,
        interrupted: &mut dyn FnMut() -> Option<i32>,
        on_report: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) {
        let mut stopped = false;
        while !self.processes.iter_mut().all(RankProcess::has_ended) {
            self.wait_for_events();
            if let Some(signal) = interrupted()
                && !matches!(self.failure, Some(LaunchError::Interrupted { .. }))
            {
                self.fail(None, LaunchError::Interrupted { signal }, false);
            }
            self.accept_ranks();
            self.read_messages(&mut |report| stopped = stopped || on_report(report).is_break());
            if stopped && self.kill_at.is_none() {
                self.fail(None, LaunchError::Stopped, false);
            }
            self.check_unconnected();
            self.begin_if_complete();
            if self.kill_at.is_some_and(|at| Instant::now() >= at) {
                self.processes.iter_mut().for_each(RankProcess::kill);
            }
        }
        // All may have ended before the first check.
        self.check_unconnected();
    }

    fn wait_for_events(&self) {
        let streams = self.processes.iter().filter_map(RankProcess::descriptor);
        let all = self.acceptor.descriptors().chain(streams);
        let mut entries: Vec<PollFd<'_>> =
            all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        // An error only makes the wait short.
        let _ = poll(&mut entries, Some(&POLL_INTERVAL));
    }

    fn accept_ranks(&mut self) {
        let verified = match self.acceptor.step() {
            Ok(verified) => verified,
            Err(error) => return self.fail(None, system("listening for ranks", error), false),
        };
        for (caller, stream) in verified {
            if caller.purpose == Purpose::Control
                && let Some(process) = self.processes.get_mut(caller.rank)
            {
                process.connected(stream);
            }
        }
    }

    fn read_messages(&mut self, on_report: &mut dyn FnMut(&[u8])) {
        for rank in 0..self.processes.len() {
            loop {
                match self.processes[rank].receive() {
                    Received::Nothing => break,
                    Received::Message(Message::Report(bytes)) => on_report(&bytes),
                    Received::Message(Message::Failed { by_another, why }) => {
                        let reason = format!("failed: {why}");
                        self.fail(Some(rank), failed(rank, reason), by_another);
                    }
                    Received::Message(_) => {}
                    Received::Closed => {
                        let how = self.processes[rank].describe_end();
                        self.fail(Some(rank), failed(rank, how), false);
                        break;
                    }
                }
            }
        }
    }

    /// Notes the ranks that have ended without ever connecting, and those that take too long.
    fn check_unconnected(&mut self) {
        let late = !self.begun && self.kill_at.is_none() && Instant::now() > self.connect_until;
        for rank in 0..self.processes.len() {
            let process = &mut self.processes[rank];
            if process.state != RankState::Started {
                continue;
            }
            let how = if process.has_ended() {
                let how = process.describe_end();
                format!("on {} did not start: {how}", process.host)
            } else if late {
                format!("on {} did not call within {CONNECT_LIMIT:?}", process.host)
            } else {
                continue;
            };
            process.state = RankState::Done;
            self.fail(Some(rank), failed(rank, how), false);
        }
    }

    fn begin_if_complete(&mut self) {
        if self.begun || self.kill_at.is_some() {
            return;
        }
        let addresses: Option<Vec<&str>> =
            self.processes.iter().map(|process| process.address.as_deref()).collect();
        let Some(addresses) = addresses else { return };
        let addresses = Message::Addresses(addresses.join("\n"));
        let job = Message::Job(self.job.to_vec());
        for process in &self.processes {
            process.send(&addresses);
            process.send(&job);
        }
        self.begun = true;
    }

    /// Gives the run up. What a rank reports of itself counts more than what it reports of another.
    fn fail(&mut self, rank: Option<usize>, failure: LaunchError, is_secondhand: bool) {
        if self.failure.is_none() || self.is_secondhand && !is_secondhand {
            let (died, why) = match &failure {
                LaunchError::RankFailed { reason, .. } => (rank.map(|r| r as u32), reason.clone()),
                other => (None, other.to_string()),
            };
            self.failure = Some(failure);
            self.is_secondhand = is_secondhand;
            let message = Message::GiveUp { died, why };
            self.processes.iter().for_each(|process| process.send(&message));
        }
        self.kill_at.get_or_insert_with(|| Instant::now() + GRACE);
    }
}

fn failed(rank: usize, reason: String) -> LaunchError {
    LaunchError::RankFailed { rank, reason, status: 1 }
}
