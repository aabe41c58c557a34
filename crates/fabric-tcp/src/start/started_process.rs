//! A started process, on this host or by an agent: a rank, or a host that starts ranks itself.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use crate::control::{Inbox, Message, Received, send};

/// Time limit for a process whose connection has ended to end itself, before its end remains undescribed.
const END_LIMIT: Duration = Duration::from_millis(300);

pub(super) struct StartedProcess {
    pub(super) host: String,
    pub(super) ranks: Vec<usize>,
    child: Child,
    status: Option<ExitStatus>,
    /// The connection of a host.
    stream: Option<TcpStream>,
    inbox: Inbox,
    is_notified: bool,
    /// True if a host has connected and its connection is gone.
    is_gone: bool,
}

impl StartedProcess {
    pub(super) fn new(host: String, ranks: Vec<usize>, child: Child) -> Self {
        let inbox = Inbox::default();
        StartedProcess {
            host,
            ranks,
            child,
            status: None,
            stream: None,
            inbox,
            is_notified: false,
            is_gone: false,
        }
    }

    /// Records its connection as a host.
    pub(super) fn connected(&mut self, stream: TcpStream) {
        self.stream.get_or_insert(stream);
    }

    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// Returns its next message as a host.
    pub(super) fn receive(&mut self) -> Received {
        let Some(stream) = &self.stream else { return Received::Nothing };
        let received = self.inbox.receive(stream);
        if received == Received::Closed {
            self.stream = None;
            self.is_gone = true;
        }
        received
    }

    /// Sends a connected host the message that the run is aborted, once.
    pub(super) fn send_once(&mut self, message: &Message) {
        if let Some(stream) = self.stream.as_ref().filter(|_| !self.is_notified) {
            // The end of its stream shows if it is gone.
            let _ = send(stream, message);
            self.is_notified = true;
        }
    }

    /// Sends a connected host a message. Returns whether it is connected; one that has not connected yet has no ranks.
    pub(super) fn send(&self, message: &Message) -> bool {
        // The end of its stream shows if it is gone.
        self.stream.as_ref().is_some_and(|stream| send(stream, message).is_ok())
    }

    /// Returns whether it has ended, and everything that it sent was read.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().unwrap_or(None);
        }
        self.status.is_some() && self.stream.is_none()
    }

    /// Returns whether nothing more can arrive from it.
    pub(super) fn is_silent(&mut self) -> bool {
        self.is_gone || self.has_ended()
    }

    /// Returns whether it has ended with status 0.
    pub(super) fn ended_well(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    pub(super) fn kill(&mut self) {
        if self.status.is_none() {
            // An error means that it has ended.
            let _ = self.child.kill();
        }
        self.stream = None;
    }

    /// Describes how it ended.
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
