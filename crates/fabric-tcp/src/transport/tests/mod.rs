//! Engines of one process, connected over the loopback interface. Each test polls them itself.

mod corrupt;
mod matching;

use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use contract::{
    Claim, Completion, Destination, Envelope, Error, Readable, Request, Selector, Writable,
};

use super::*;
use crate::control::{Control, Inbox};
use crate::frame::{Header, Kind};

/// Nothing here takes seconds; a test that waits longer has found a hang.
const HANG: Duration = Duration::from_secs(600);
const LONG: usize = EAGER_MAX + 1;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

/// The connections with which a thread becomes a rank. The other end of the control connection is kept open.
struct Wires {
    rank: usize,
    streams: Vec<Option<TcpStream>>,
    control: (TcpStream, TcpStream),
}

fn wires(size: usize) -> Vec<Wires> {
    let none = || (0..size).map(|_| None).collect();
    let mut all: Vec<Wires> =
        (0..size).map(|rank| Wires { rank, streams: none(), control: pair() }).collect();
    for high in 0..size {
        for low in 0..high {
            let (one, other) = pair();
            all[high].streams[low] = Some(one);
            all[low].streams[high] = Some(other);
        }
    }
    all
}

/// Returns an engine, and the starter's end of its control connection.
fn engine(wires: Wires) -> (Engine, TcpStream) {
    let (own, starter) = wires.control;
    let control = Control::new(own, Inbox::default()).unwrap();
    let streams = wires.streams.into_iter().map(|one| one.map(|one| Stream::one(one).unwrap()));
    let engine =
        Connections::begin(wires.rank, streams.collect(), Supervision::Remote(control), None);
    (engine, starter)
}

struct Ranks {
    engines: Vec<Engine>,
    _starters: Vec<TcpStream>,
}

impl Ranks {
    fn new(size: usize) -> Self {
        let (engines, starters) = wires(size).into_iter().map(engine).unzip();
        Ranks { engines, _starters: starters }
    }

    /// Polls all ranks until `done`.
    fn poll_until(&mut self, what: &str, done: impl Fn(&[Engine]) -> bool) {
        let begin = Instant::now();
        while !done(&self.engines) {
            for engine in &mut self.engines {
                engine.poll().unwrap();
            }
            assert!(begin.elapsed() < HANG, "{what} does not come");
        }
    }
}

#[allow(unsafe_code)]
fn lend(data: &[u8]) -> Readable {
    // SAFETY: every test keeps its data until the engines are dropped.
    unsafe { Readable::new(data.as_ptr(), data.len()) }
}

#[allow(unsafe_code)]
fn lend_mut(room: &mut [u8]) -> Writable {
    // SAFETY: as above; no test reads the room before the receive is done.
    unsafe { Writable::new(room.as_mut_ptr(), room.len()) }
}

/// Returns the numbers of posted receives and of unexpected messages.
fn waiting(engine: &Engine) -> (usize, usize) {
    let messages = engine.messages();
    (messages.posted.len(), messages.unexpected.envelopes().count())
}

fn selector(context: u32, source: Option<u32>, tag: Option<u32>) -> Selector {
    Selector { context, source, tag }
}

fn send(engine: &mut Engine, to: usize, tag: u32, data: &[u8], how: Completion) -> Request {
    engine.post_send(Destination { rank: to, context: 0, tag }, lend(data), how).unwrap()
}

#[test]
fn a_synchronous_send_is_done_only_when_a_receive_has_taken_it() {
    for to in [0, 1] {
        let mut ranks = Ranks::new(2);
        let data = [1, 2, 3];
        let sent = send(&mut ranks.engines[0], to, 5, &data, Completion::Synchronous);
        let any = selector(0, None, None);
        ranks.poll_until("the RTS", |engines| waiting(&engines[to]).1 == 1);
        let head = ranks.engines[to].probe(&any, None).unwrap().unwrap();
        assert_eq!((head.source, head.tag, head.bytes), (0, 5, 3));
        assert!(!ranks.engines[0].is_done(sent));
        let mut room = [0; 4];
        let received = ranks.engines[to].post_receive(any, lend_mut(&mut room), false).unwrap();
        ranks.poll_until("the message", |engines| {
            engines[0].is_done(sent) && engines[to].is_done(received)
        });
        ranks.engines[0].end(sent);
        let expected = Envelope { context: 0, source: 0, tag: 5, bytes: 3, room: 4 };
        assert_eq!(ranks.engines[to].end(received), expected);
        assert_eq!(room, [1, 2, 3, 0]);
    }
}

#[test]
fn a_claimed_message_is_found_by_its_new_context_and_tag_alone() {
    for bytes in [3, LONG] {
        let mut ranks = Ranks::new(2);
        let data = vec![7; bytes];
        let sent = send(&mut ranks.engines[0], 1, 5, &data, Completion::Local);
        ranks.poll_until("the head", |engines| waiting(&engines[1]).1 == 1);
        let any = selector(0, None, None);
        let before =
            ranks.engines[1].probe(&any, Some(Claim { context: 9, tag: 77 })).unwrap().unwrap();
        assert_eq!((before.context, before.tag, before.bytes), (0, 5, bytes));
        assert_eq!(ranks.engines[1].probe(&any, None), Ok(None));
        assert_eq!(ranks.engines[1].probe(&any, Some(Claim { context: 9, tag: 78 })), Ok(None));
        let mut room = vec![0; bytes];
        let claimed = selector(9, Some(0), Some(77));
        let received = ranks.engines[1].post_receive(claimed, lend_mut(&mut room), false).unwrap();
        ranks.poll_until("the message", |engines| {
            engines[0].is_done(sent) && engines[1].is_done(received)
        });
        assert_eq!(room, data);
    }
}

#[test]
fn a_cancelled_receive_is_removed_and_a_matched_one_is_not_cancelled() {
    let mut ranks = Ranks::new(2);
    let mut cancelled_room = [0; 4];
    let any = selector(0, None, None);
    let cancelled =
        ranks.engines[1].post_receive(any, lend_mut(&mut cancelled_room), false).unwrap();
    assert!(ranks.engines[1].cancel_receive(cancelled));
    let mut room = vec![0; LONG];
    let received = ranks.engines[1].post_receive(any, lend_mut(&mut room), false).unwrap();
    assert_eq!(received, cancelled, "its number is free again");
    let data = vec![6; LONG];
    let sent = send(&mut ranks.engines[0], 1, 5, &data, Completion::Local);
    ranks.poll_until("the RTS", |engines| waiting(&engines[1]).0 == 0);
    assert!(!ranks.engines[1].cancel_receive(received));
    ranks.poll_until("the message", |engines| {
        engines[0].is_done(sent) && engines[1].is_done(received)
    });
    assert_eq!((cancelled_room, room), ([0; 4], data));
}

#[test]
fn a_rank_that_waits_for_itself_learns_that_it_would_wait_for_ever() {
    let mut ranks = Ranks::new(2);
    let engine = &mut ranks.engines[0];
    let data = [1];
    let own = send(engine, 0, 5, &data, Completion::Synchronous);
    assert!(!engine.cannot_complete(own), "it may still be received");
    assert!(matches!(engine.wait_any(&[own]), Err(Error::Deadlock { .. })));
}

#[test]
fn after_a_failure_no_memory_is_used() {
    let mut wires = wires(2).into_iter();
    let (first, other) = (wires.next().unwrap(), wires.next().unwrap());
    let (mut engine, _starter) = engine(first);
    let mut room = [0; 4];
    let posted = engine.post_receive(selector(0, None, None), lend_mut(&mut room), false).unwrap();
    let mut stream = other.streams[0].as_ref().unwrap();
    let eager = Header { bytes: 4, ..Header::new(Kind::Eager) }.to_bytes();
    let bytes = [&[99; crate::frame::HEADER_BYTES][..], &eager, &[1, 2, 3, 4]].concat();
    std::io::Write::write_all(&mut stream, &bytes).unwrap();
    let failed = engine.wait_any(&[posted]).unwrap_err();
    assert!(matches!(failed, Error::System { .. }), "{failed}");
    let (to, data) = (Destination { rank: 1, context: 0, tag: 0 }, [9]);
    let attempts = [
        engine.poll(),
        engine.probe(&selector(0, None, None), None).map(drop),
        engine.probe(&selector(0, None, None), Some(Claim { context: 1, tag: 1 })).map(drop),
        engine.wait_any(&[posted]).map(drop),
        engine.post_send(to, lend(&data), Completion::Local).map(drop),
        engine.post_receive(selector(0, None, None), Writable::empty(), false).map(drop),
        engine.leave(),
        engine.end_together(),
    ];
    attempts.into_iter().for_each(|attempt| assert_eq!(attempt, Err(failed.clone())));
    assert_eq!(room, [0; 4]);
    stream.set_nonblocking(true).unwrap();
    let mut nothing = [0; 1];
    let read = std::io::Read::read(&mut stream, &mut nothing);
    assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "something was written");
}

#[test]
fn a_rank_that_has_left_sends_no_messages_of_its_own_but_joint_work_continues() {
    let mut ranks = Ranks::new(3);
    let (one, all) = (selector(0, Some(1), None), selector(0, None, None));
    let mut room = [0; 4];
    let received = ranks.engines[0].post_receive(one, lend_mut(&mut room), false).unwrap();
    assert!(!ranks.engines[0].any_has_left() && !ranks.engines[0].cannot_complete(received));
    ranks.engines[1].leave().unwrap();
    ranks.poll_until("rank 1's leave", |engines| engines[0].any_has_left());
    assert!(ranks.engines[0].cannot_complete(received));
    assert!(ranks.engines[0].none_will_send(&one) && !ranks.engines[0].none_will_send(&all));
    ranks.engines[2].leave().unwrap();
    ranks.poll_until("rank 2's leave", |engines| engines[0].none_will_send(&all));
    ranks.engines[0].leave().unwrap();
    assert!(!ranks.engines[0].cannot_complete(received), "all go through one more barrier");
    let data = [1, 2, 3, 4];
    let sent = send(&mut ranks.engines[1], 0, 5, &data, Completion::Local);
    ranks.engines[0].wait_any(&[received]).unwrap();
    assert!(ranks.engines[1].is_done(sent));
    assert_eq!(room, data);
}

#[test]
fn a_request_that_only_ranks_that_left_could_end_is_an_error_by_name() {
    let mut ranks = Ranks::new(2);
    let mut room = [0; 4];
    let received =
        ranks.engines[0].post_receive(selector(0, Some(1), None), lend_mut(&mut room), false);
    ranks.engines[1].leave().unwrap();
    let failed = ranks.engines[0].wait_any(&[received.unwrap()]).unwrap_err();
    assert!(matches!(failed, Error::RankEnded { rank: 1, .. }), "{failed}");
}

#[test]
fn ranks_with_unreceived_sends_still_end() {
    let ranks = wires(2).into_iter().map(|wires| {
        std::thread::spawn(move || {
            let (mut engine, _starter) = engine(wires);
            let data = vec![1; LONG];
            let other = 1 - engine.rank();
            send(&mut engine, other, 5, &data, Completion::Local);
            let ended = engine.end_together();
            (ended, data.len())
        })
    });
    for rank in ranks.collect::<Vec<_>>() {
        assert_eq!(rank.join().unwrap(), (Ok(()), LONG));
    }
}
