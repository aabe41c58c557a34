//! A rank that writes into the shared memory what no rank writes: its cells, its credits, and every word beside them.

use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use contract::{Arenas, Completion, Destination, Error, Readable, Selector, Writable};
use random::SplitMix64;

use super::*;
use crate::ring::LINE_BYTES;
use crate::segment::room;

/// Number of attacks in `make test`, and in `make test-all`.
const ATTACKS: u64 = 2_000;
const MANY_ATTACKS: u64 = 200_000;

/// Length of the memory on both sides of a receive's room, which nothing may change.
const GUARD_BYTES: usize = 64;
const UNTOUCHED: u8 = 0xa5;
/// A message for which a receiver asks for help.
const LONG: usize = RECEIVER_ASKS_HELP_FROM_BYTES + 100;
const WORDS: usize = LINE_BYTES / 4;

/// The engine of rank 0, and the memory as rank 1 sees it.
struct Victim {
    engine: Engine,
    corrupt: Segment,
    /// Number of cells that rank 1 has written.
    cells: u32,
}

impl Victim {
    /// Returns two ranks that have not sent anything.
    fn new() -> Self {
        let memory = Seat::memory_in_this_process(2, room(2)).unwrap();
        let segment = |rank| {
            Segment::of(Seat::in_this_process(memory.try_clone().unwrap(), rank).unwrap()).unwrap()
        };
        Victim { engine: engine_of(segment(0)), corrupt: segment(1), cells: 0 }
    }

    /// Returns them with fresh memory.
    fn again(self) -> Self {
        let segment = self.engine.into_transport().segment;
        let whole = segment.seat().room(room(2)).unwrap();
        // SAFETY: the room is mapped, this long, and nobody else uses it: all is in this thread.
        unsafe { whole.write_bytes(0, room(2).bytes) };
        Victim { engine: engine_of(segment), corrupt: self.corrupt, cells: 0 }
    }

    /// Writes a cell of rank 1: the kind with two lengths, the tag, the context and the payload.
    fn write_cell(&mut self, words: [u32; WORDS - 1]) {
        let place = self.corrupt.ring(1, 0);
        let index = (self.cells % place.cell_count) as usize;
        self.cells = self.cells.wrapping_add(1);
        // SAFETY: the cell lies in the ring, and rank 0 reads it in this thread only.
        unsafe {
            let cell = place.cells.add(index).cast_mut().cast::<u32>();
            cell.add(1).copy_from_nonoverlapping(words.as_ptr(), words.len());
            (*cell.cast::<AtomicU32>()).store(self.cells, std::sync::atomic::Ordering::Release);
        }
        self.corrupt.block(0).add_sender(1);
    }

    /// Writes a number into one of the words that rank 0 reads, other than cells.
    fn write_word(&self, random: &mut SplitMix64) {
        let credit = self.corrupt.ring(0, 1).credit.cast_mut().cast::<u64>();
        let blocks = std::ptr::from_ref(self.corrupt.block(0)).cast_mut().cast::<u64>();
        let block_words = 2 * launcher::system::PAGE_BYTES / size_of::<u64>();
        let place = match random.below(2) {
            0 => credit,
            _ => blocks.wrapping_add(random.below(block_words)),
        };
        // SAFETY: both lie in the room, aligned, and rank 0 reads them in this thread only.
        unsafe { place.write(random.edge()) };
    }

    fn lend(&mut self, tag: Option<u32>, room: &mut [u8]) {
        let selector = Selector { context: 0, source: Some(1), tag };
        // SAFETY: every test keeps the memory until the engine has gone.
        let room = unsafe { Writable::new(room.as_mut_ptr(), room.len()) };
        self.engine.post_receive(selector, room, false).unwrap();
    }

    fn send(&mut self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: as above.
        let data = unsafe { Readable::new(memory.as_ptr(), bytes) };
        let to = Destination { rank: 1, context: 0, tag: 5 };
        self.engine.post_send(to, data, Completion::Synchronous).unwrap();
    }

    /// Polls, and returns the message of the error if the run has failed.
    fn refusal(&mut self) -> Option<String> {
        match self.engine.poll() {
            Ok(()) => None,
            Err(Error::System { what, reason }) => Some(format!("{what}: {reason}")),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Returns the engine of rank 0. Without cross-memory attach: its addresses would be those of this very process.
fn engine_of(segment: Segment) -> Engine {
    let choices = segment.seat().choices();
    Engine::new(0, Rings::with(segment, 0, choices, Cma::Forbidden), true)
}

/// Returns the words of a cell.
fn cell(kind: u8, lines: u32, payload: &[u32]) -> [u32; WORDS - 1] {
    let mut words = [0; WORDS - 1];
    words[0] = u32::from(kind) | lines << 16;
    words[3..3 + payload.len()].copy_from_slice(payload);
    words
}

#[test]
fn what_no_rank_sends_is_refused_by_name_and_memory_for_it_is_not_taken() {
    use message::kind;
    let huge = 1 << 20;
    let cases: [(&str, [u32; WORDS - 1]); 14] = [
        ("an unknown kind", cell(99, 0, &[])),
        ("a short message that is too long", cell(kind::SHORT, 0, &[]).map(|w| w | 255 << 8)),
        ("an eager message of 4 PiB", cell(kind::EAGER, 1, &[0, huge, 64])),
        ("an eager message that is longer than a ring", cell(kind::EAGER, 1, &[1 << 30, 0, 64])),
        ("an eager message of nothing", cell(kind::EAGER, 0, &[0, 0, 0])),
        ("more bytes than lines", cell(kind::EAGER, 1, &[200, 0, 65])),
        ("more lines than a ring has", cell(kind::EAGER, 65_535, &[200, 0, 200])),
        ("more bytes than the message", cell(kind::EAGER, 2, &[100, 0, 128])),
        ("the rest of no message", cell(kind::MORE, 1, &[64])),
        ("an RTS of impossible length", cell(kind::RTS, 0, &[0, u32::MAX, 7, 1, 0, 0])),
        ("a CTS for no RTS", cell(kind::CTS, 0, &[0, 0])),
        ("a FIN for no RTS", cell(kind::FIN, 0, &[1])),
        ("data for no CTS", cell(kind::DATA, 1, &[0, 64])),
        ("help for no RTS", cell(kind::HELP, 0, &[0, 0, 1, 64, 0, 1, 0, 0])),
    ];
    let mut victim = Victim::new();
    for (what, words) in cases {
        let mut room = [0; 8];
        victim.lend(Some(3), &mut room);
        victim.write_cell(words);
        let refusal = victim.refusal().unwrap_or_else(|| panic!("{what} is taken"));
        assert!(refusal.contains("rank 1 sent what no rank sends"), "{what}: {refusal}");
        victim = victim.again();
    }
}

#[test]
fn a_message_outside_the_arenas_is_refused_when_it_is_received() {
    let mut victim = Victim::new();
    assert!(victim.corrupt.seat().has_arenas());
    for is_posted in [true, false] {
        let mut room = [0; 64];
        let rts = cell(message::kind::RTS, 0, &[64, 0, 7, 1, u32::MAX, u32::MAX]);
        if is_posted {
            victim.lend(None, &mut room);
        }
        victim.write_cell(rts);
        let refusal = victim.refusal();
        assert_eq!(refusal.is_some(), is_posted, "an unexpected RTS needs no memory");
        let refusal = refusal.or_else(|| {
            victim.lend(None, &mut room);
            victim.refusal()
        });
        assert!(refusal.unwrap().contains("rank 1 sent what no rank sends"));
        victim = victim.again();
    }
}

#[test]
fn an_rts_is_answered_once() {
    let mut data = [1; 8];
    let mut victim = Victim::new();
    victim.send(NonNull::from(&mut data).cast(), 8);
    victim.write_cell(cell(message::kind::FIN, 0, &[0]));
    assert_eq!(victim.refusal(), None);
    victim.write_cell(cell(message::kind::FIN, 0, &[0]));
    assert!(victim.refusal().is_some());
}

#[test]
fn a_helper_claims_no_chunk_that_there_is_not() {
    let mut victim = Victim::new();
    let memory = victim.corrupt.seat().allocate(2 * LONG).expect("this rank has an arena");
    let place = victim.corrupt.seat().place_of(memory.as_ptr(), LONG).unwrap();
    victim.send(memory, LONG);
    // Far more chunks than the message has: the first one to claim lies gigabytes behind its end.
    let generation = victim.corrupt.block(1).help_slot(3).open(1 << 20);
    let requested = [0, 3, generation, LONG as u32, 0, 1, place as u32, (place >> 32) as u32];
    victim.write_cell(cell(message::kind::HELP, 0, &requested));
    assert!(victim.refusal().is_some_and(|why| why.contains("rank 1 sent what no rank sends")));
}

#[test]
fn credits_for_more_than_was_sent_are_refused_by_name() {
    let mut victim = Victim::new();
    let data = [1; 8];
    let to = Destination { rank: 1, context: 0, tag: 5 };
    let credit = victim.corrupt.ring(0, 1).credit.cast_mut().cast::<u64>();
    // SAFETY: it lies in the room, and rank 0 reads it in this thread only. Nothing of this was sent.
    unsafe { credit.write(300) };
    let mut sent = 0;
    let refusal = loop {
        // SAFETY: the data outlive the engine.
        let lent = unsafe { Readable::new(data.as_ptr(), data.len()) };
        victim.engine.post_send(to, lent, Completion::Local).unwrap();
        sent += 1;
        assert!(sent <= 2 * victim.corrupt.layout().cells_per_ring(), "the ring takes no more");
        if let Some(refusal) = victim.refusal() {
            break refusal;
        }
    };
    assert!(refusal.contains("rank 1") && refusal.contains("credits"), "{refusal}");
}

/// Writes a cell whose numbers may be right.
fn write_random_cell(victim: &mut Victim, random: &mut SplitMix64) {
    let mut words = [0; WORDS - 1];
    for word in &mut words {
        *word = match random.below(8) {
            0 => random.edge() as u32,
            _ => random.below(4) as u32,
        };
    }
    let kind = match random.below(32) {
        0 => random.bits() as u32 & 0xff,
        _ => 1 + random.below(8) as u32,
    };
    let inline = if random.below(4) == 0 { random.bits() as u32 & 0xff } else { 8 };
    let lines = if random.below(2) == 0 { random.below(3) as u32 } else { 0 };
    words[0] = kind | inline << 8 | lines << 16;
    // A length that fits the lines, in the place where this kind has it.
    if kind != u32::from(message::kind::SHORT) && random.below(2) == 0 {
        let bytes = lines * LINE_BYTES as u32;
        let long = random.pick(&[bytes, bytes, 200, LONG as u32]);
        match random.below(3) {
            0 => (words[3], words[4], words[5]) = (long, 0, bytes),
            1 => words[3] = bytes,
            _ => {
                (words[3], words[4], words[6], words[8]) = (random.below(4) as u32, bytes, long, 1)
            }
        }
    }
    victim.write_cell(words);
}

/// Attacks rank 0, which sends and receives messages of all lengths.
fn attack(mut victim: Victim, seed: u64) -> Victim {
    let mut random = SplitMix64::new(seed);
    let mut memory = [[UNTOUCHED; GUARD_BYTES + 40 + GUARD_BYTES]; 3];
    let mut long = vec![UNTOUCHED; LONG];
    let arena = victim.corrupt.seat().allocate(LONG).expect("this rank has an arena");
    for (index, memory) in memory.iter_mut().enumerate() {
        let tag = (index < 2).then_some(index as u32);
        victim.lend(tag, &mut memory[GUARD_BYTES..GUARD_BYTES + 40]);
        let heap = NonNull::from(&mut long[..]).cast();
        victim.send(random.pick(&[heap, arena]), random.pick(&[8, 20_000, LONG]));
    }
    if random.below(16) == 0 {
        victim.lend(Some(2), &mut long);
    }
    for _ in 0..1 + random.below(24) {
        match random.below(4) {
            0 => victim.write_word(&mut random),
            _ => write_random_cell(&mut victim, &mut random),
        }
        if let Some(refusal) = victim.refusal() {
            assert!(refusal.contains("rank 1"), "seed {seed}: {refusal}");
            break;
        }
    }
    let next = victim.again();
    // SAFETY: the engine that used it has gone.
    unsafe { next.corrupt.seat().release(arena, LONG) };
    for memory in memory {
        let guards = [&memory[..GUARD_BYTES], &memory[GUARD_BYTES + 40..]].concat();
        assert!(guards.iter().all(|&byte| byte == UNTOUCHED), "seed {seed}: memory beside a room");
    }
    next
}

#[test]
fn no_word_of_a_corrupt_rank_reaches_other_memory() {
    (0..ATTACKS).fold(Victim::new(), attack);
}

#[test]
#[ignore = "long"]
fn no_word_of_many_of_a_corrupt_rank_reaches_other_memory() {
    (ATTACKS..MANY_ATTACKS).fold(Victim::new(), attack);
}
