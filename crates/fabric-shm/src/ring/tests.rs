//! Tests of one direction of a ring: in every order of memory operations (loom), and at random.

use super::byte_ring::ByteRing;
use super::*;

mod reverse_path;

/// A ring with memory of its own.
struct Memory {
    credit: Box<Credit>,
    cells: Box<[Cell]>,
    bytes: Box<[u8]>,
}

/// One end, which a test moves to another thread. The memory outlives both threads.
struct End<T>(T);

// SAFETY: each end is used by one thread, as the ring requires.
unsafe impl<T> Send for End<T> {}

impl Memory {
    fn new(cells: usize, lines: usize) -> Self {
        let cell = || Cell { sequence: AtomicU32::new(0), body: UnsafeCell::new(body(0, 0)) };
        Memory {
            credit: Box::new(Credit(AtomicU64::new(0))),
            cells: (0..cells).map(|_| cell()).collect(),
            bytes: vec![0; lines * LINE_BYTES].into(),
        }
    }

    fn place(&mut self) -> Place {
        Place {
            credit: &raw const *self.credit,
            cells: self.cells.as_ptr(),
            cell_count: self.cells.len() as u32,
            lines: ByteRing {
                start: self.bytes.as_mut_ptr(),
                line_count: (self.bytes.len() / LINE_BYTES) as u32,
            },
        }
    }

    /// Both ends of a ring that carries no reverse-path payloads.
    fn ends(&mut self) -> (End<Producer>, End<Consumer>) {
        let place = self.place();
        // SAFETY: `self` is that memory, zero at first, and has no other ends.
        unsafe { (End(Producer::new(place)), End(Consumer::new(place, place))) }
    }
}

fn body(tag: u32, first: u32) -> Body {
    let mut payload = [0; INLINE_BYTES / 4];
    payload[0] = first;
    Body { kind: 1, inline_bytes: 4, lines: 0, tag, context: 0, payload }
}

/// Removes the oldest message of a ring whose receiver sends nothing.
#[cfg(not(loom))]
fn pop(consumer: &mut Consumer) -> bool {
    let mut unused = Memory::new(2, 8);
    let found = *consumer.peek().unwrap();
    consumer.pop(&found, 0, &mut unused.ends().0.0.lines)
}

/// Waits for the next message and returns it.
#[cfg(loom)]
fn await_next(consumer: &Consumer) -> Body {
    loop {
        match consumer.peek() {
            Some(found) => return *found,
            None => crate::primitive::yield_processor(),
        }
    }
}

/// More messages than cells, so that cells are reused: in every order, each arrives complete and in sequence.
#[cfg(loom)]
#[test]
fn messages_arrive_whole_and_in_order_in_every_interleaving() {
    loom::model(|| {
        let mut memory = Memory::new(2, 4);
        let (producer, mut consumer) = memory.ends();
        let sender = loom::thread::spawn(move || {
            let producer = &mut { producer }.0;
            for number in 0..3 {
                while !producer.has_room() {
                    crate::primitive::yield_processor();
                }
                producer.push(body(number, !number), &[], None);
            }
        });
        let consumer = &mut consumer.0;
        for number in 0..3 {
            let found = await_next(consumer);
            assert_eq!((found.tag, found.payload[0]), (number, !number));
            consumer.pop_short(1);
        }
        sender.join().unwrap();
        drop(memory);
    });
}

/// Messages of one cell and of two in a ring of two: in every order, the bytes in the second cell are visible with
/// those in the first.
#[cfg(loom)]
#[test]
fn messages_of_two_cells_arrive_whole_in_every_interleaving() {
    loom::model(|| {
        let mut memory = Memory::new(2, 4);
        let (producer, mut consumer) = memory.ends();
        let long = |number: u8| [number + 1; SHORT_BYTES];
        let sender = loom::thread::spawn(move || {
            let producer = &mut { producer }.0;
            for (number, bytes) in [(0, SHORT_BYTES), (1, 4), (2, SHORT_BYTES)] {
                while !producer.push_short((1, number, 0), &long(number as u8)[..bytes]) {
                    crate::primitive::yield_processor();
                }
            }
        });
        let consumer = &mut consumer.0;
        for (number, bytes) in [(0, SHORT_BYTES), (1, 4), (2, SHORT_BYTES)] {
            let found = await_next(consumer);
            assert_eq!((found.tag, usize::from(found.inline_bytes)), (number, bytes));
            let rest = consumer.rest(&found);
            assert_eq!(rest, &long(number as u8)[bytes.min(INLINE_BYTES)..bytes]);
            assert_eq!(found.payload[0].to_ne_bytes(), [number as u8 + 1; 4]);
            consumer.pop_short(found.cells());
        }
        sender.join().unwrap();
        drop(memory);
    });
}

#[cfg(not(loom))]
mod unmodelled {
    use random::SplitMix64;

    use super::*;

    #[test]
    fn random_messages_cross_to_another_thread_unchanged() {
        for seed in 1..6 {
            let mut memory = Memory::new(8, 16);
            let (mut producer, mut consumer) = memory.ends();
            let length = |random: &mut SplitMix64| random.below(16 / 4 * LINE_BYTES + 1);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let producer = &mut { &mut producer }.0;
                    let mut random = SplitMix64::new(seed);
                    for number in 0..20_000u32 {
                        let data = vec![number as u8; length(&mut random)];
                        while !producer.has_room_for(lines_for(data.len()), None) {
                            std::thread::yield_now();
                        }
                        producer.push(body(number, data.len() as u32), &data, None);
                    }
                });
                let consumer = &mut consumer.0;
                let mut random = SplitMix64::new(seed);
                for number in 0..20_000u32 {
                    let found = loop {
                        match consumer.await_message(50) {
                            Some(found) => break *found,
                            None => std::thread::yield_now(),
                        }
                    };
                    let bytes = length(&mut random);
                    assert_eq!(
                        (found.tag, found.payload[0]),
                        (number, bytes as u32),
                        "seed {seed}"
                    );
                    let mut data = Vec::new();
                    consumer.read(&found, bytes, |part| data.extend_from_slice(part));
                    assert_eq!(data, vec![number as u8; bytes]);
                    pop(consumer);
                }
            });
        }
    }

    #[test]
    fn short_messages_of_every_length_cross_a_ring_that_wraps() {
        let mut memory = Memory::new(8, 16);
        let (mut producer, mut consumer) = memory.ends();
        for lap in 0..50 {
            for bytes in 0..=SHORT_BYTES {
                let data: Vec<u8> = (0..bytes).map(|index| (index + lap) as u8).collect();
                assert!(producer.0.push_short((1, lap as u32, 0), &data));
                // Nothing follows it, whatever bytes lie in the second cell.
                let found = *consumer.0.peek().unwrap();
                assert_eq!((found.tag, usize::from(found.inline_bytes)), (lap as u32, bytes));
                let first: Vec<u8> =
                    found.payload.iter().flat_map(|word| word.to_ne_bytes()).collect();
                let kept = bytes.min(INLINE_BYTES);
                assert_eq!((&first[..kept], consumer.0.rest(&found)), data.split_at(kept));
                assert_eq!(found.cells(), if bytes > INLINE_BYTES { 2 } else { 1 });
                consumer.0.pop_short(found.cells());
                assert!(consumer.0.peek().is_none());
            }
        }
    }

    #[test]
    fn a_message_of_two_cells_waits_for_room_for_both() {
        let mut memory = Memory::new(4, 16);
        let (mut producer, mut consumer) = memory.ends();
        let long = [7; SHORT_BYTES];
        assert!(producer.0.push_short((1, 0, 0), &long) && producer.0.push_short((1, 1, 0), &[1]));
        assert!(!producer.0.push_short((1, 2, 0), &long));
        consumer.0.pop_short(2);
        assert!(
            producer.0.push_short((1, 2, 0), &long) && !producer.0.push_short((1, 3, 0), &long)
        );
    }

    #[test]
    fn a_full_ring_takes_nothing_until_a_quarter_is_returned() {
        let mut memory = Memory::new(8, 16);
        let (mut producer, mut consumer) = memory.ends();
        for number in 0..8 {
            assert!(producer.0.has_room());
            producer.0.push(body(number, 0), &[], None);
        }
        assert!(!producer.0.has_room());
        assert!(!consumer.0.pop_short(1) && !producer.0.has_room());
        assert!(consumer.0.pop_short(1) && producer.0.has_room());
    }

    /// Returns the fragments of a message of `kibibytes` KiB, in units of 1 KiB.
    fn fragments(ring: &Producer, far_ahead: bool, kibibytes: usize) -> Vec<usize> {
        let (mut moved, mut found) = (0, vec![]);
        while moved < kibibytes << 10 {
            let bytes = ring.next_fragment_bytes(far_ahead, moved, (kibibytes << 10) - moved);
            moved += bytes;
            found.push(bytes >> 10);
        }
        found
    }

    #[test]
    fn fragments_grow_to_a_quarter_of_the_ring_and_shrink_again() {
        let mut memory = Memory::new(8, 4096);
        let ring = memory.ends().0.0;
        assert_eq!(fragments(&ring, false, 10), [10]);
        assert_eq!(fragments(&ring, false, 64), [16; 4]);
        assert_eq!(fragments(&ring, false, 128), [16, 16, 32, 32, 16, 16]);
        assert_eq!(fragments(&ring, false, 256), [16, 16, 32, 64, 64, 32, 16, 16]);
        // 53 are left after 32 of 85: half of that, less than 32, in whole pages of 4.
        assert_eq!(fragments(&ring, false, 85), [16, 16, 24, 16, 13]);
        assert_eq!(fragments(&ring, true, 150), [64, 64, 22]);
        let mut small = Memory::new(8, 16);
        let ring = small.ends().0.0;
        let quarter = 16 / 4 * LINE_BYTES;
        assert_eq!(ring.next_fragment_bytes(false, 0, 10_000), quarter);
        assert_eq!(ring.next_fragment_bytes(true, 5_000, 10_000), quarter);
    }

    #[test]
    fn a_message_of_fragments_has_room_for_its_lines_and_its_cells() {
        // Fragments are a quarter of the ring, four lines.
        let mut memory = Memory::new(8, 16);
        let (mut producer, mut consumer) = memory.ends();
        let lines = |count: usize| count * LINE_BYTES;
        assert!(producer.0.has_room_for_fragments(lines(16)));
        assert!(!producer.0.has_room_for_fragments(lines(16) + 1));
        producer.0.push(body(0, 0), &vec![0; lines(4)], None);
        assert!(producer.0.has_room_for_fragments(lines(12)));
        assert!(!producer.0.has_room_for_fragments(lines(12) + 1));
        // A quarter is returned. With five of eight cells in use three are left, for three fragments.
        assert!(pop(&mut consumer.0));
        (0..5).for_each(|_| assert!(producer.0.push_short((1, 0, 0), &[])));
        assert!(producer.0.has_room_for_fragments(lines(12)));
        assert!(!producer.0.has_room_for_fragments(lines(13)));
    }

    #[test]
    fn a_sender_is_far_ahead_until_a_quarter_is_returned() {
        let mut memory = Memory::new(8, 16);
        let (mut producer, mut consumer) = memory.ends();
        let lines = |count: usize| vec![0; count * LINE_BYTES];
        producer.0.push(body(0, 0), &lines(3), None);
        assert!(!producer.0.is_far_ahead());
        producer.0.push(body(1, 0), &lines(1), None);
        assert!(producer.0.is_far_ahead());
        // Three lines are less than what is returned at once; four are not.
        assert!(!pop(&mut consumer.0) && producer.0.is_far_ahead());
        assert!(pop(&mut consumer.0) && !producer.0.is_far_ahead());
    }

    #[test]
    fn short_copies_of_every_length_are_exact() {
        const LONGEST: usize = size_of::<Body>();
        let from: Vec<u8> = (1..=LONGEST as u8).collect();
        for bytes in 0..=LONGEST {
            let mut to = [0; LONGEST + 1];
            // SAFETY: both places hold this many.
            unsafe { copy_short(from.as_ptr(), to.as_mut_ptr(), bytes) };
            assert_eq!(to[..bytes], from[..bytes]);
            assert!(to[bytes..].iter().all(|&byte| byte == 0));
        }
    }
}
