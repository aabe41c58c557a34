//! A rank that sends over libfabric what no rank sends, by the provider `tcp`.

use std::sync::mpsc::channel;
use std::time::Instant;

use contract::{Completion, Destination, Selector};
use contract::{Readable, Writable};
use engine::MessageEngine;
use fabric_tcp::{Secret, TcpProcess, local};
use launcher::Room;
use random::SplitMix64;

use super::*;
use crate::provider::Provider;
use crate::slots::Token;
use crate::tags::ImmediateData;

/// Number of attacks in `make test`, and in `make test-all`.
const ATTACKS: u64 = 40;
const MANY_ATTACKS: u64 = 4_000;

/// Length of the memory on both sides of a receive's room, which no message may change.
const GUARD_BYTES: usize = 64;
const UNTOUCHED: u8 = 0xa5;
const ROOM_BYTES: usize = 40;
/// A message that needs a CTS.
const LONG: usize = EAGER_MAX + 100;
/// The tag of the last message, which shows that the others have arrived.
const LAST: u32 = 99;
const HANG: Duration = Duration::from_secs(60);

/// Rank 1, which is the test itself.
struct Corrupt {
    objects: Objects,
    slots: Slots,
    /// What it sends, until the endpoint is closed.
    data: Vec<Vec<u8>>,
}

impl Corrupt {
    fn send(
        &mut self,
        victim: &mut MessageEngine<Libfabric>,
        tag: u64,
        word: u64,
        bytes: usize,
    ) -> Result<()> {
        self.data.push(vec![7; bytes]);
        let data = &self.data[self.data.len() - 1];
        // SAFETY: `data` keeps it as long as the endpoint.
        let data = unsafe { Readable::new(data.as_ptr(), bytes) };
        let number = self.slots.add(Slot::Word);
        let token: Token = self.slots.token(number);
        while !self.objects.send(0, tag, data, word, token).unwrap() {
            self.objects.completed(&mut Vec::new()).unwrap();
            poll_once(victim)?;
        }
        self.objects.completed(&mut Vec::new())
    }

    /// Sends a message or a word whose numbers may be right.
    fn send_random(
        &mut self,
        victim: &mut MessageEngine<Libfabric>,
        random: &mut SplitMix64,
    ) -> Result<()> {
        let tags = self.objects.provider.tags;
        let sender = if random.below(16) == 0 { random.bits() as u32 & 0xff } else { 1 };
        let number = random.below(4) as u32;
        let bytes = match random.below(4) {
            0 => random.edge() & ImmediateData::BYTES_MAX,
            _ => random.pick(&[8, ROOM_BYTES as u64, LONG as u64]),
        };
        let tag = tags.message(sender, random.below(2) as u32, random.below(4) as u32, false);
        let rts = tags.message(sender, 0, random.below(4) as u32, true);
        let (tag, word, length) = match random.below(8) {
            0 | 1 => (tag?, ImmediateData::Sender(sender), random.below(200)),
            2 => (rts?, ImmediateData::Rts { sender, number, bytes }, 0),
            3 | 4 => (
                tags.data(1, number),
                ImmediateData::Sender(sender),
                random.pick(&[8, ROOM_BYTES, 50]),
            ),
            5 | 6 => (tags.word(), ImmediateData::Cts { sender, number, bytes }, 0),
            _ => (tags.word(), ImmediateData::Left(sender), 0),
        };
        let changed = |random: &mut SplitMix64, word: u64| {
            let mut bytes = word.to_le_bytes().to_vec();
            if random.below(8) == 0 {
                random.mutate(&mut bytes);
                bytes.resize(8, 0);
            }
            u64::from_le_bytes(std::array::from_fn(|index| bytes[index]))
        };
        let (tag, word) = (changed(random, tag), changed(random, word.to_word()));
        let length = if random.below(64) == 0 { LONG } else { length };
        self.send(victim, tag, word, length)
    }
}

/// Polls as the engine does, except that the endpoint stays open after an error.
fn poll_once(victim: &mut MessageEngine<Libfabric>) -> Result<()> {
    let (messages, transport) = victim.parts_mut();
    transport.make_progress(messages)
}

/// Returns a rank's connections to the other, which is a thread of this process.
fn joined(memory: OwnedFd, rank: usize) -> TcpProcess {
    let seat = Seat::in_this_process(memory, rank).unwrap();
    local::join(seat, &Secret::from_bytes([7; Secret::BYTES])).unwrap()
}

/// Returns rank 0 with these connections, and rank 1.
fn pair(connections: Connections) -> (MessageEngine<Libfabric>, Corrupt) {
    let open = || Objects::open(Provider::find(Some("tcp")).unwrap()).unwrap();
    let (mut own, mut other) = (open(), open());
    let addresses = [own.address().unwrap(), other.address().unwrap()];
    own.know(&addresses).unwrap();
    other.know(&addresses).unwrap();
    let Ok(victim) = Libfabric::begin(own, 0, connections, None) else { panic!("it begins") };
    let corrupt = Corrupt { objects: other, slots: Slots::default(), data: Vec::new() };
    (MessageEngine::new(0, victim, true), corrupt)
}

/// Attacks rank 0, which sends and receives, until it refuses something or has taken all. Returns how it has ended.
fn attacked(
    victim: &mut MessageEngine<Libfabric>,
    corrupt: &mut Corrupt,
    random: &mut SplitMix64,
) -> Result<()> {
    for _ in 0..1 + random.below(24) {
        corrupt.send_random(victim, random)?;
        poll_once(victim)?;
    }
    let tag = corrupt.objects.provider.tags.message(1, 1, LAST, false)?;
    corrupt.send(victim, tag, ImmediateData::Sender(1).to_word(), 0)?;
    let begin = Instant::now();
    let last = Selector { context: 1, source: Some(1), tag: Some(LAST) };
    while victim.messages().unexpected.find(&last).is_none() {
        assert!(begin.elapsed() < HANG, "the last message does not arrive");
        corrupt.objects.completed(&mut Vec::new())?;
        poll_once(victim)?;
    }
    Ok(())
}

/// Makes one attack, and returns the connections, and whether rank 0 has refused something.
fn attack(connections: Connections, seed: u64) -> (Connections, bool) {
    let mut random = SplitMix64::new(seed);
    let mut memory = [[UNTOUCHED; GUARD_BYTES + ROOM_BYTES + GUARD_BYTES]; 3];
    let data = vec![3; LONG];
    let (mut victim, mut corrupt) = pair(connections);
    for (index, memory) in memory.iter_mut().enumerate() {
        let tag = (index < 2).then_some(index as u32);
        let room = &mut memory[GUARD_BYTES..GUARD_BYTES + ROOM_BYTES];
        let selector = Selector { context: 0, source: Some(1), tag };
        // SAFETY: memory and data outlive the endpoints.
        let (room, sent) = unsafe {
            let sent = Readable::new(data.as_ptr(), random.pick(&[8, LONG]));
            (Writable::new(room.as_mut_ptr(), room.len()), sent)
        };
        victim.post_receive(selector, room, false).unwrap();
        let to = Destination { rank: 1, context: 0, tag: 5 };
        victim.post_send(to, sent, Completion::Synchronous).unwrap();
    }
    let ended = attacked(&mut victim, &mut corrupt, &mut random);
    let refused = ended.is_err();
    if let Err(error) = ended {
        let named = ["rank ", "a message of another rank"]
            .iter()
            .any(|name| error.to_string().contains(name));
        assert!(named, "seed {seed}: {error}");
    }
    let (connections, _) = victim.into_transport().into_parts();
    drop(corrupt);
    for memory in memory {
        let guards = [&memory[..GUARD_BYTES], &memory[GUARD_BYTES + ROOM_BYTES..]].concat();
        assert!(guards.iter().all(|&byte| byte == UNTOUCHED), "seed {seed}: memory beside a room");
    }
    (connections, refused)
}

fn attack_all(seeds: std::ops::Range<u64>) {
    if let Err(error) = crate::check(Some("tcp")) {
        println!("skipped: {error}");
        return;
    }
    let attacks = seeds.end - seeds.start;
    let memory = Seat::memory_in_this_process(2, Room::NONE).unwrap();
    let of_other = memory.try_clone().unwrap();
    let (over, is_over) = channel::<()>();
    let other = std::thread::spawn(move || {
        let _joined = joined(of_other, 1);
        // Until the sender is dropped.
        let _ = is_over.recv();
    });
    let (engine, ..) = joined(memory, 0).into_endpoint().into_parts();
    let begin = (engine.into_transport(), 0);
    let (_connections, refused) = seeds.fold(begin, |(connections, all), seed| {
        let (connections, refused) = attack(connections, seed);
        (connections, all + u64::from(refused))
    });
    assert!(0 < refused && refused < attacks, "{refused} of {attacks} attacks are refused");
    drop(over);
    other.join().unwrap();
}

#[test]
fn no_word_of_a_corrupt_rank_over_libfabric_reaches_other_memory_or_hangs() {
    attack_all(0..ATTACKS);
}

#[test]
#[ignore = "long"]
fn no_word_of_many_of_a_corrupt_rank_over_libfabric_reaches_other_memory_or_hangs() {
    attack_all(ATTACKS..MANY_ATTACKS);
}
