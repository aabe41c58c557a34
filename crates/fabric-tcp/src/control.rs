//! The messages between a rank and the process that started the run, which may be on different hosts.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use contract::{Error, Result};
use launcher::{Amounts, Word};
use rustix::event::{PollFd, PollFlags, poll};

use crate::socket::Socket;

/// A message of the control connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// To the starter: the address at which the others can reach this rank.
    Listening(String),
    /// To the starter: a report of the program.
    Report(Vec<u8>),
    /// To the starter: this rank's part has ended successfully.
    Ended,
    /// To the starter: this rank's part has failed, with the reason, and whether another rank caused it.
    Failed { by_another: bool, why: String },
    /// To the starter, from a host: this rank died or failed there, with this status.
    RankFailed { rank: u32, status: u8, how: String },
    /// To a rank: the addresses at which it must listen, empty for the one by which it reaches the starter; and for how
    /// many milliseconds another host may be unreachable before it counts as gone, 0 if no connection is made again.
    Listen { addresses: String, limit_ms: u32 },
    /// To a rank: the addresses of all ranks.
    Addresses(String),
    /// To a rank: the job of its program, which may begin.
    Job(Vec<u8>),
    /// To a rank or a host: the run was aborted, with the rank that died or failed, if one did.
    GiveUp { died: Option<u32>, why: String },
    /// To a host: the user asks what the ranks do; ranks that have a handler for SIGUSR1 get it.
    ReportRanks,
    /// To the starter, from a host: what its launcher announces in the search for a hang.
    LauncherWord(Word),
    /// To a host: the next round of that search.
    Round(u32),
    /// To a host: what do its ranks do?
    RequestActivities,
    /// To the starter, from a host: the answer, as [`activities`](crate::activities) writes it.
    Activities(String),
}

/// Length of the longest message: enough for any job, address list or report, and too little to exhaust the memory by
/// mistake.
const MESSAGE_MAX: usize = 1 << 28;
const HEAD_BYTES: usize = 5;

impl Message {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (kind, body) = match self {
            Message::Listening(address) => (1, address.clone().into_bytes()),
            Message::Report(bytes) => (2, bytes.clone()),
            Message::Ended => (3, Vec::new()),
            Message::Failed { by_another, why } => {
                (4, [&[u8::from(*by_another)], why.as_bytes()].concat())
            }
            Message::Addresses(list) => (5, list.clone().into_bytes()),
            Message::Job(bytes) => (6, bytes.clone()),
            Message::GiveUp { died, why } => {
                let rank = died.unwrap_or(u32::MAX).to_le_bytes();
                (7, [&rank[..], why.as_bytes()].concat())
            }
            Message::RankFailed { rank, status, how } => {
                (8, [&rank.to_le_bytes()[..], &[*status], how.as_bytes()].concat())
            }
            Message::Listen { addresses, limit_ms } => {
                (9, [&limit_ms.to_le_bytes()[..], addresses.as_bytes()].concat())
            }
            Message::ReportRanks => (10, Vec::new()),
            Message::LauncherWord(Word::Move) => (11, Vec::new()),
            Message::LauncherWord(Word::Stand { round, amounts: Amounts { sent, received } }) => {
                let both = [sent.to_le_bytes(), received.to_le_bytes()].concat();
                (12, [&round.to_le_bytes()[..], &both].concat())
            }
            Message::Round(round) => (13, round.to_le_bytes().to_vec()),
            Message::RequestActivities => (14, Vec::new()),
            Message::Activities(text) => (15, text.clone().into_bytes()),
            Message::LauncherWord(Word::Quiet { waits }) => (16, vec![u8::from(*waits)]),
        };
        [&[kind][..], &(body.len() as u32).to_le_bytes(), &body].concat()
    }

    fn from_parts(kind: u8, body: &[u8]) -> Option<Message> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(match kind {
            1 => Message::Listening(text(body)),
            2 => Message::Report(body.to_vec()),
            3 => Message::Ended,
            4 => Message::Failed { by_another: *body.first()? != 0, why: text(&body[1..]) },
            5 => Message::Addresses(text(body)),
            6 => Message::Job(body.to_vec()),
            7 => {
                let (rank, why) = body.split_first_chunk::<4>()?;
                let rank = u32::from_le_bytes(*rank);
                Message::GiveUp { died: (rank != u32::MAX).then_some(rank), why: text(why) }
            }
            8 => {
                let (rank, rest) = body.split_first_chunk::<4>()?;
                let (&status, how) = rest.split_first()?;
                let rank = u32::from_le_bytes(*rank);
                Message::RankFailed { rank, status, how: text(how) }
            }
            9 => {
                let (limit, addresses) = body.split_first_chunk::<4>()?;
                let limit_ms = u32::from_le_bytes(*limit);
                Message::Listen { addresses: text(addresses), limit_ms }
            }
            10 => Message::ReportRanks,
            11 => Message::LauncherWord(Word::Move),
            12 => {
                let (round, both) = body.split_first_chunk::<4>()?;
                let (sent, received) = both.split_first_chunk::<8>()?;
                let (sent, received) = (u64::from_le_bytes(*sent), received.as_array()?);
                let amounts = Amounts { sent, received: u64::from_le_bytes(*received) };
                Message::LauncherWord(Word::Stand { round: u32::from_le_bytes(*round), amounts })
            }
            13 => Message::Round(u32::from_le_bytes(*body.as_array()?)),
            14 => Message::RequestActivities,
            15 => Message::Activities(text(body)),
            16 => Message::LauncherWord(Word::Quiet { waits: *body.first()? != 0 }),
            _ => return None,
        })
    }
}

/// Assembles messages from the pieces that a stream delivers.
#[derive(Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
}

/// The result of reading a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Message(Message),
    /// There is no complete message yet.
    Nothing,
    /// The other end has closed the stream, or sent something that is not a message.
    Closed,
}

impl Inbox {
    /// Returns the next message. Waits for one only if the stream is blocking.
    pub(crate) fn receive(&mut self, mut stream: &TcpStream) -> Received {
        let mut room = [0; 16 << 10];
        loop {
            match self.next() {
                Some(Some(message)) => return Received::Message(message),
                Some(None) => return Received::Closed,
                None => {}
            }
            match stream.read(&mut room) {
                Ok(0) => return Received::Closed,
                Ok(bytes) => self.bytes.extend_from_slice(&room[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Received::Nothing,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Received::Closed,
            }
        }
    }

    /// Returns the next complete message, or `Some(None)` if the bytes are not a message.
    fn next(&mut self) -> Option<Option<Message>> {
        let (head, rest) = self.bytes.split_first_chunk::<HEAD_BYTES>()?;
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if length > MESSAGE_MAX {
            return Some(None);
        }
        let message = Message::from_parts(head[0], rest.get(..length)?);
        self.bytes.drain(..HEAD_BYTES + length);
        Some(message)
    }
}

/// Writes a complete message, even if the stream is non-blocking.
pub(crate) fn send(stream: &TcpStream, message: &Message) -> io::Result<()> {
    let bytes = message.to_bytes();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        match Socket(stream).write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let _ = poll(&mut [PollFd::new(stream, PollFlags::OUT)], None);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A rank's end of its control connection.
pub(crate) struct Control {
    stream: Rc<TcpStream>,
    inbox: Inbox,
    abort_reason: Option<Error>,
    finished: bool,
}

impl Control {
    pub(crate) fn new(stream: TcpStream, inbox: Inbox) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Control { stream: Rc::new(stream), inbox, abort_reason: None, finished: false })
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Returns the connection, for reports.
    pub(crate) fn stream(&self) -> Rc<TcpStream> {
        Rc::clone(&self.stream)
    }

    pub(crate) fn abort_reason(&mut self) -> Option<Error> {
        while self.abort_reason.is_none() {
            self.abort_reason = match self.inbox.receive(&self.stream) {
                Received::Message(Message::GiveUp { died: Some(rank), why }) => {
                    Some(Error::RankDied { rank: rank as usize, how: why })
                }
                Received::Message(Message::GiveUp { died: None, why }) => {
                    Some(Error::Aborted { why })
                }
                Received::Message(_) => continue,
                Received::Nothing => return None,
                Received::Closed => {
                    Some(Error::Aborted { why: "the process that started the run has gone".into() })
                }
            };
        }
        self.abort_reason.clone()
    }

    /// Reports the outcome of this rank's part, and returns the status that the process should exit with.
    pub(crate) fn finish(mut self, outcome: Result<()>) -> i32 {
        self.finished = true;
        let (message, status) = match outcome {
            Ok(()) => (Message::Ended, 0),
            Err(error) => {
                let by_another = error.is_by_another();
                (Message::Failed { by_another, why: error.to_string() }, 1)
            }
        };
        // If the starter has gone, nobody needs the message.
        let _ = send(&self.stream, &message);
        status
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if !self.finished {
            let how = if std::thread::panicking() { "panicked" } else { "ended without finish()" };
            let why = format!("its program {how}");
            let _ = send(&self.stream, &Message::Failed { by_another: false, why });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (one, listener.accept().unwrap().0)
    }

    #[test]
    fn messages_arrive_whole_however_the_stream_splits_them() {
        let messages = [
            Message::Listening("10.0.0.1:77".into()),
            Message::Report(vec![9; 40_000]),
            Message::Failed { by_another: true, why: "wörds".into() },
            Message::RankFailed { rank: 258, status: 139, how: "died".into() },
            Message::Addresses(String::new()),
            Message::Listen { addresses: "10.0.0.1 ::1".into(), limit_ms: 5000 },
            Message::Job(vec![]),
            Message::GiveUp { died: Some(3), why: "killed".into() },
            Message::GiveUp { died: None, why: "stopped".into() },
            Message::ReportRanks,
            Message::LauncherWord(Word::Move),
            Message::LauncherWord(Word::Stand {
                round: 3,
                amounts: Amounts { sent: 1 << 40, received: 7 },
            }),
            Message::Round(1 << 20),
            Message::RequestActivities,
            Message::Activities("waits".into()),
            Message::Ended,
        ];
        let (mut one, other) = pair();
        let bytes: Vec<u8> = messages.iter().flat_map(Message::to_bytes).collect();
        let writer = std::thread::spawn(move || {
            bytes.chunks(997).for_each(|part| one.write_all(part).unwrap());
        });
        let mut inbox = Inbox::default();
        for message in messages {
            assert_eq!(inbox.receive(&other), Received::Message(message));
        }
        writer.join().unwrap();
        assert_eq!(inbox.receive(&other), Received::Closed);
    }

    #[test]
    fn an_implausible_length_is_no_message() {
        let (mut one, other) = pair();
        one.write_all(&[2, 255, 255, 255, 255]).unwrap();
        assert_eq!(Inbox::default().receive(&other), Received::Closed);
    }

    #[test]
    fn a_rank_learns_that_the_run_is_aborted_and_why() {
        let (starter, rank) = pair();
        let mut control = Control::new(rank, Inbox::default()).unwrap();
        assert_eq!(control.abort_reason(), None);
        send(&starter, &Message::GiveUp { died: Some(2), why: "was killed".into() }).unwrap();
        let error = loop {
            if let Some(error) = control.abort_reason() {
                break error;
            }
        };
        assert_eq!(error, Error::RankDied { rank: 2, how: "was killed".into() });
        drop(starter);
        assert_eq!(control.abort_reason(), Some(error), "the first word counts");
    }

    #[test]
    fn a_rank_that_leaves_without_a_goodbye_is_still_reported() {
        let (starter, rank) = pair();
        drop(Control::new(rank, Inbox::default()).unwrap());
        let why = "its program ended without finish()".into();
        let said = Received::Message(Message::Failed { by_another: false, why });
        assert_eq!(Inbox::default().receive(&starter), said);
    }
}
