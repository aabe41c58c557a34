//! A process that sends what no process sends, after it has proved that it belongs to the run or knows a port.

use std::io::Write;
use std::net::Shutdown;

use random::SplitMix64;

use super::*;
use crate::frame::HEADER_BYTES;

/// Number of streams of frames in `make test`, and in `make test-all`.
const STREAMS: u64 = 400;
const MANY_STREAMS: u64 = 80_000;

/// Length of the memory on both sides of a receive's room, which no frame may change.
const GUARD_BYTES: usize = 64;
const UNTOUCHED: u8 = 0xa5;

/// An engine with one other process, which is the test itself.
struct Victim {
    engine: Engine,
    other: TcpStream,
}

impl Victim {
    fn new() -> Self {
        let (own, other) = pair();
        let streams = vec![None, Some(Stream::one(own).unwrap())];
        Victim { engine: Connections::begin(0, streams, Supervision::Nobody, None), other }
    }

    fn send(&mut self, header: Header, body: &[u8]) {
        // The connection may be closed already.
        let _ = self.other.write_all(&[&header.to_bytes()[..], body].concat());
    }

    /// Ends the stream, polls until the engine has handled all of it, and returns why it has closed the connection.
    fn fault(&mut self) -> Option<String> {
        let _ = self.other.shutdown(Shutdown::Write);
        let begin = Instant::now();
        while !self.engine.transport().has_ended(1) {
            assert!(begin.elapsed() < HANG, "the connection is not closed");
            self.engine.poll().unwrap();
        }
        engine::Transport::fault(self.engine.transport(), 1).map(str::to_owned)
    }
}

#[test]
fn a_malformed_frame_closes_the_connection_and_calls_that_need_it_name_the_reason() {
    let mut victim = Victim::new();
    let mut room = [0; 4];
    let any = selector(0, Some(1), None);
    let received = victim.engine.post_receive(any, lend_mut(&mut room), false).unwrap();
    victim.other.write_all(&[99; HEADER_BYTES]).unwrap();
    let begin = Instant::now();
    while !victim.engine.cannot_complete(received) {
        assert!(begin.elapsed() < HANG, "the connection is not closed");
        victim.engine.poll().unwrap();
    }
    let error = victim.engine.give_up_on(received);
    assert!(matches!(error, Error::RankDied { rank: 1, .. }), "{error}");
    assert!(error.to_string().contains("a frame that begins [63, 63"), "{error}");
    // This process goes on: others may still call it.
    assert_eq!(victim.engine.poll(), Ok(()));
}

#[test]
fn a_sender_beyond_its_credit_is_closed() {
    let mut victim = Victim::new();
    let longest = Header { bytes: EAGER_MAX as u64, ..Header::new(Kind::Eager) };
    let body = vec![1; EAGER_MAX];
    let allowed = CREDIT_BYTES / (EAGER_MAX + HEADER_BYTES);
    for _ in 0..allowed {
        victim.send(longest, &body);
        let begin = Instant::now();
        let before = waiting(&victim.engine).1;
        while waiting(&victim.engine).1 == before {
            assert!(begin.elapsed() < HANG, "a message within the credit is taken");
            victim.engine.poll().unwrap();
        }
    }
    victim.send(longest, &body);
    let fault = victim.fault().expect("it has no credit left");
    assert!(fault.contains(&format!("{EAGER_MAX} bytes")) && fault.contains("credit"), "{fault}");
    assert_eq!(waiting(&victim.engine).1, allowed, "nothing beyond the credit is kept");
}

#[test]
fn what_was_not_announced_is_not_answered() {
    let (room, data) = (&mut [0; 8], [1; 8]);
    // By the number of the request, and the length.
    let cleared = |kind, request, bytes| Header { kind, request, bytes, ..Header::new(kind) };
    let cases = [
        (cleared(Kind::Cts, 0, 8), "a CTS for a message without an RTS"),
        (cleared(Kind::Cts, 77, 0), "a CTS for a message without an RTS"),
        (cleared(Kind::Data, 1, 8), "data that were not cleared"),
        (cleared(Kind::Rts, 0, u64::MAX), "an RTS of impossible length"),
        (cleared(Kind::Collective, 0, u64::MAX), "a call of impossible length"),
        // The message of 8 bytes has used 36, with its header.
        (Header { credit: 37, ..Header::new(Kind::Credit) }, "37 bytes of credit"),
    ];
    for (header, expected) in cases {
        let mut victim = Victim::new();
        let _eager = send(&mut victim.engine, 1, 5, &data, Completion::Local);
        let any = selector(0, Some(1), Some(3));
        victim.engine.post_receive(any, lend_mut(room), false).unwrap();
        victim.send(header, &[]);
        let fault = victim.fault().expect(expected);
        assert!(fault.contains(expected), "{fault}");
    }
}

#[test]
fn a_message_is_asked_for_once() {
    let mut victim = Victim::new();
    let data = [1; 8];
    let sent = send(&mut victim.engine, 1, 5, &data, Completion::Synchronous);
    let cts = Header { request: sent.0, bytes: 8, ..Header::new(Kind::Cts) };
    victim.send(cts, &[]);
    victim.send(cts, &[]);
    assert!(victim.fault().is_some_and(|fault| fault.contains("a CTS for a message")));
}

/// Sends a frame of any kind with numbers that may be right, and a body of about its length.
fn random_frame(victim: &mut Victim, random: &mut SplitMix64) {
    let kinds = [
        Kind::Eager,
        Kind::Eager,
        Kind::Rts,
        Kind::Rts,
        Kind::Cts,
        Kind::Cts,
        Kind::Data,
        Kind::Data,
        Kind::Credit,
        Kind::Collective,
        Kind::CollectiveQuestion,
        Kind::CollectiveAnswer,
        Kind::Leaving,
    ];
    let bytes = match random.below(4) {
        0 => random.edge(),
        _ => random.below(80) as u64,
    };
    let header = Header {
        kind: random.pick(&kinds),
        context: random.below(2) as u32,
        tag: random.below(4) as u32,
        bytes,
        request: match random.below(8) {
            0 => random.edge() as u32,
            _ => random.below(6) as u32,
        },
        credit: if random.below(8) == 0 { random.edge() as u32 } else { 0 },
    };
    let mut frame = header.to_bytes().to_vec();
    if matches!(header.kind, Kind::Eager | Kind::Data) {
        frame.extend(vec![7; bytes.min(EAGER_MAX as u64) as usize]);
    }
    if random.below(16) == 0 {
        random.mutate(&mut frame);
    }
    let _ = victim.other.write_all(&frame);
}

/// Sends one stream of random frames to an engine with posted receives and sends.
fn attack(seed: u64) {
    let mut random = SplitMix64::new(seed);
    let mut victim = Victim::new();
    let mut memory = [[UNTOUCHED; GUARD_BYTES + 40 + GUARD_BYTES]; 3];
    let data = vec![3; LONG];
    for (index, memory) in memory.iter_mut().enumerate() {
        let room = lend_mut(&mut memory[GUARD_BYTES..GUARD_BYTES + 40]);
        let tag = (index < 2).then_some(index as u32);
        victim.engine.post_receive(selector(0, Some(1), tag), room, false).unwrap();
        let bytes = random.pick(&[8, LONG]);
        send(&mut victim.engine, 1, 5, &data[..bytes], Completion::Synchronous);
    }
    for _ in 0..1 + random.below(24) {
        random_frame(&mut victim, &mut random);
        victim.engine.poll().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    victim.fault();
    drop(victim);
    for memory in memory {
        let guards = [&memory[..GUARD_BYTES], &memory[GUARD_BYTES + 40..]].concat();
        assert!(guards.iter().all(|&byte| byte == UNTOUCHED), "seed {seed}: memory beside a room");
    }
}

#[test]
fn no_stream_of_frames_reaches_other_memory_or_hangs() {
    (0..STREAMS).for_each(attack);
}

#[test]
#[ignore = "long"]
fn no_stream_of_many_frames_reaches_other_memory_or_hangs() {
    (STREAMS..MANY_STREAMS).for_each(attack);
}
