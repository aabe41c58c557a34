//! One rank as the process that started it sees it: an agent's process, and a connection.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use crate::control::{Inbox, Message, Received, send};

/// How long a process whose connection ended may take to end itself, before its end goes undescribed.
const END_LIMIT: Duration = Duration::from_millis(300);

/// How far a rank has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankState {
    /// Its process was started, and has not connected yet.
    Started,
    /// It has connected.
    Joined,
    /// Its part is over, well or not.
    Done,
}

pub(super) struct RankProcess {
    pub(super) host: String,
    pub(super) state: RankState,
    /// Where other ranks reach it.
    pub(super) address: Option<String>,
    stream: Option<TcpStream>,
    inbox: Inbox,
    child: Child,
    status: Option<ExitStatus>,
}

impl RankProcess {
    pub(super) fn new(host: String, child: Child) -> Self {
        RankProcess {
            host,
            state: RankState::Started,
            address: None,
            stream: None,
            inbox: Inbox::default(),
            child,
            status: None,
        }
    }

    /// It has connected, and proved that it knows the secret. A second connection for the same rank is dropped.
    pub(super) fn connected(&mut self, stream: TcpStream) {
        if self.state == RankState::Started {
            self.state = RankState::Joined;
            self.stream = Some(stream);
        }
    }

    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// Its next message, if its part is not over.
    pub(super) fn receive(&mut self) -> Received {
        let Some(stream) = &self.stream else { return Received::Nothing };
        let received = self.inbox.receive(stream);
        match &received {
            Received::Message(Message::Listening(address)) => self.address = Some(address.clone()),
            Received::Message(Message::Ended | Message::Failed { .. }) => {
                self.state = RankState::Done;
            }
            Received::Closed => {
                self.stream = None;
                if self.state == RankState::Done {
                    return Received::Nothing;
                }
                self.state = RankState::Done;
            }
            _ => {}
        }
        received
    }

    /// Sends it a message, if it is connected.
    pub(super) fn send(&self, message: &Message) {
        if let Some(stream) = &self.stream {
            // The end of its stream tells if it has gone.
            let _ = send(stream, message);
        }
    }

    /// Whether its process has ended, and everything that it sent was read.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().unwrap_or(None);
        }
        self.status.is_some() && self.stream.is_none()
    }

    pub(super) fn kill(&mut self) {
        if self.status.is_none() {
            // An error means that it has ended.
            let _ = self.child.kill();
        }
        self.stream = None;
        self.state = RankState::Done;
    }

    /// How its process ended, in words.
    pub(super) fn describe_end(&mut self) -> String {
        let until = Instant::now() + END_LIMIT;
        while self.status.is_none() && Instant::now() < until {
            self.has_ended();
            std::thread::sleep(Duration::from_millis(1));
        }
        match self.status {
            None => format!("on {} lost its connection", self.host),
            Some(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("was killed by signal {signal}"),
                (None, code) => format!(
                    "ended with status {} without finishing its part",
                    code.unwrap_or_default()
                ),
            },
        }
    }
}
