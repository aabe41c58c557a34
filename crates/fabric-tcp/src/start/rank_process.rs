//! One rank as the process that started it sees it: an agent's process, and a connection.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use crate::control::{Heard, Inbox, Message, say};

/// How long a process whose connection ended may take to end itself, before its end goes undescribed.
const END_LIMIT: Duration = Duration::from_millis(300);

/// How far a rank has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It has not called yet.
    Expected,
    /// It has called.
    Joined,
    /// Its part is over, well or not.
    Done,
}

pub(super) struct Member {
    pub(super) host: String,
    pub(super) part: Part,
    /// Where other ranks reach it.
    pub(super) address: Option<String>,
    stream: Option<TcpStream>,
    inbox: Inbox,
    child: Child,
    status: Option<ExitStatus>,
}

impl Member {
    pub(super) fn new(host: String, child: Child) -> Self {
        Member {
            host,
            part: Part::Expected,
            address: None,
            stream: None,
            inbox: Inbox::default(),
            child,
            status: None,
        }
    }

    /// It has called, and proved itself. Whoever calls again for the same rank is not heard.
    pub(super) fn joins(&mut self, stream: TcpStream) {
        if self.part == Part::Expected {
            self.part = Part::Joined;
            self.stream = Some(stream);
        }
    }

    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// What it says next, if its part is not over.
    pub(super) fn hear(&mut self) -> Heard {
        let Some(stream) = &self.stream else { return Heard::Nothing };
        let heard = self.inbox.hear(stream);
        match &heard {
            Heard::Message(Message::Listening(address)) => self.address = Some(address.clone()),
            Heard::Message(Message::Ended | Message::Failed { .. }) => self.part = Part::Done,
            Heard::Gone => {
                self.stream = None;
                if self.part == Part::Done {
                    return Heard::Nothing;
                }
                self.part = Part::Done;
            }
            _ => {}
        }
        heard
    }

    /// Says something to it, if it listens.
    pub(super) fn say(&self, message: &Message) {
        if let Some(stream) = &self.stream {
            // One that has gone is noticed by its silence.
            let _ = say(stream, message);
        }
    }

    /// Whether its process has ended.
    pub(super) fn has_left(&mut self) -> bool {
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
        self.part = Part::Done;
    }

    /// How its process ended, in words.
    pub(super) fn how_it_ended(&mut self) -> String {
        let until = Instant::now() + END_LIMIT;
        while self.status.is_none() && Instant::now() < until {
            self.has_left();
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
