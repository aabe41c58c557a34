//! The connection of the starting process to one rank.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use crate::control::{Inbox, Message, Received, send};

/// The progress of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankState {
    /// Its process was started, and has not connected yet.
    Started,
    /// It has connected.
    Joined,
    /// Its part has ended, successfully or not.
    Done,
}

pub(super) struct RankConnection {
    pub(super) host: String,
    /// Index of its process, or of the process that has started it.
    pub(super) process: usize,
    pub(super) state: RankState,
    /// Address at which other ranks reach it.
    pub(super) address: Option<String>,
    /// Time since when its connection is gone for an unknown reason.
    pub(super) lost: Option<Instant>,
    stream: Option<TcpStream>,
    inbox: Inbox,
}

impl RankConnection {
    pub(super) fn new(host: String, process: usize) -> Self {
        RankConnection {
            host,
            process,
            state: RankState::Started,
            address: None,
            lost: None,
            stream: None,
            inbox: Inbox::default(),
        }
    }

    /// Records its verified connection. A second connection for the same rank is dropped.
    pub(super) fn connected(&mut self, stream: TcpStream) {
        if self.state == RankState::Started {
            self.state = RankState::Joined;
            self.stream = Some(stream);
        }
    }

    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// Returns its next message, if its part has not ended.
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

    /// Sends it a message if it is connected.
    pub(super) fn send(&self, message: &Message) {
        if let Some(stream) = &self.stream {
            // The end of its stream shows if it is gone.
            let _ = send(stream, message);
        }
    }

    /// Drops the connection, because its process is being killed and nothing more is expected of it.
    pub(super) fn drop_connection(&mut self) {
        self.stream = None;
        self.lost = None;
        self.state = RankState::Done;
    }
}
