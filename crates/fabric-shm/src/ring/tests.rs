use super::*;

/// A ring of its own memory.
struct Memory {
    credit: Box<Credit>,
    cells: Box<[Cell]>,
    bytes: Box<[u8]>,
}

/// One end, to be moved to another thread. The memory outlives both threads.
struct End<T>(T);

// SAFETY: each end is used by one thread, which is what the ring asks for.
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

    fn ends(&mut self) -> (End<Producer>, End<Consumer>) {
        let place = Place {
            credit: &raw const *self.credit,
            cells: self.cells.as_ptr(),
            cell_count: self.cells.len() as u32,
            bytes: self.bytes.as_mut_ptr(),
            line_count: (self.bytes.len() / LINE_BYTES) as u32,
        };
        // SAFETY: `self` is that memory, zero at first, and has no other ends.
        unsafe { (End(Producer::new(place)), End(Consumer::new(place))) }
    }
}

fn body(tag: u32, first: u32) -> Body {
    let mut payload = [0; INLINE_BYTES / 4];
    payload[0] = first;
    Body { kind: 1, inline_bytes: 4, lines: 0, tag, context: 0, payload }
}

/// More messages than cells, so that cells are used again: in every order, each arrives whole and in its place.
#[cfg(loom)]
#[test]
fn messages_arrive_whole_and_in_order_in_every_interleaving() {
    loom::model(|| {
        let mut memory = Memory::new(2, 4);
        let (producer, mut consumer) = memory.ends();
        let sender = loom::thread::spawn(move || {
            let producer = &mut { producer }.0;
            for number in 0..3 {
                while !producer.has_room(0) {
                    crate::primitive::yield_processor();
                }
                producer.publish(|cell| *cell = body(number, !number));
            }
        });
        let consumer = &mut consumer.0;
        for number in 0..3 {
            let found = loop {
                match consumer.peek() {
                    Some(found) => break *found,
                    None => crate::primitive::yield_processor(),
                }
            };
            assert_eq!((found.tag, found.payload[0]), (number, !number));
            consumer.pop(0);
        }
        sender.join().unwrap();
        drop(memory);
    });
}

#[cfg(not(loom))]
mod unmodelled {
    use super::*;

    /// A small generator, so that a failure can be replayed from its seed.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as usize % limit
        }
    }

    #[test]
    fn random_messages_cross_to_another_thread_unchanged() {
        for seed in 1..6 {
            let mut memory = Memory::new(8, 16);
            let (mut producer, mut consumer) = memory.ends();
            let length = |random: &mut Random| random.below(16 / 4 * LINE_BYTES + 1);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let producer = &mut { &mut producer }.0;
                    let mut random = Random(seed);
                    for number in 0..20_000u32 {
                        let data = vec![number as u8; length(&mut random)];
                        while !producer.has_room(lines_for(data.len())) {
                            std::thread::yield_now();
                        }
                        producer.push(body(number, data.len() as u32), &data);
                    }
                });
                let consumer = &mut consumer.0;
                let mut random = Random(seed);
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
                    let (first, second) = consumer.data(bytes);
                    assert_eq!(first.len() + second.len(), bytes);
                    assert!(first.iter().chain(second).all(|&byte| byte == number as u8));
                    consumer.pop(found.lines);
                }
            });
        }
    }

    #[test]
    fn a_full_ring_takes_nothing_until_a_quarter_is_returned() {
        let mut memory = Memory::new(8, 16);
        let (mut producer, mut consumer) = memory.ends();
        for number in 0..8 {
            assert!(producer.0.has_room(0));
            producer.0.publish(|cell| *cell = body(number, 0));
        }
        assert!(!producer.0.has_room(0));
        assert!(!consumer.0.pop(0) && !producer.0.has_room(0));
        assert!(consumer.0.pop(0) && producer.0.has_room(0));
    }

    #[test]
    fn short_copies_of_every_length_are_exact() {
        let from: Vec<u8> = (1..=INLINE_BYTES as u8).collect();
        for bytes in 0..=INLINE_BYTES {
            let mut to = [0; INLINE_BYTES + 1];
            // SAFETY: both places hold INLINE_BYTES.
            unsafe { copy_short(from.as_ptr(), to.as_mut_ptr(), bytes) };
            assert_eq!(to[..bytes], from[..bytes]);
            assert!(to[bytes..].iter().all(|&byte| byte == 0));
        }
    }
}
