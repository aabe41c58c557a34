//! Tests of reverse-path payloads: two ranks with a ring in each direction.

use super::*;

/// The ends of one of two ranks.
struct Side {
    out: Producer,
    back: Consumer,
}

/// Creates both sides, over two rings of `lines` lines.
fn sides(memory: &mut [Memory; 2]) -> [End<Side>; 2] {
    let [first, second] = memory.each_mut().map(Memory::place);
    // SAFETY: `memory` is that memory, zero at first, and each ring has one end of each kind.
    let side = |mine, theirs| unsafe {
        End(Side { out: Producer::new(mine), back: Consumer::new(theirs, mine) })
    };
    [side(first, second), side(second, first)]
}

fn memory(cells: usize, lines: usize) -> [Memory; 2] {
    [Memory::new(cells, lines), Memory::new(cells, lines)]
}

impl Side {
    /// Sends `data` if there is room.
    fn send(&mut self, data: &[u8]) -> bool {
        let room = self.out.has_room_for(lines_for(data.len()), Some(&self.back.lines));
        if room {
            self.out.push(body(0, data.len() as u32), data, Some(&mut self.back.lines));
        }
        room
    }

    /// Returns the next message, if there is one, and whether it came on the reverse path.
    fn receive(&mut self) -> Option<(Vec<u8>, bool)> {
        let found = *self.back.peek()?;
        let mut data = Vec::new();
        self.back.read(&found, found.payload[0] as usize, |part| data.extend_from_slice(part));
        self.back.pop(&found, 0, &mut self.out.lines);
        Some((data, found.is_on_reverse_path()))
    }
}

/// A reverse-path payload is still unread while a credit word returns later lines. In every order, the sender does not
/// overwrite it, and gets room once it has read it.
#[cfg(loom)]
#[test]
fn a_reverse_path_payload_is_read_whole_whatever_credits_come_after_it() {
    loom::model(|| {
        let mut memory = memory(8, 8);
        let [mut sender, receiver] = sides(&mut memory);
        // One line, less than the quarter of the ring that would be returned at once, and then two lines each.
        let message = |number: u8| vec![number; if number == 0 { 1 } else { 2 } * LINE_BYTES];
        let payload = || vec![10; LINE_BYTES];
        let thread = loom::thread::spawn(move || {
            let side = &mut { receiver }.0;
            for number in 0..5 {
                while side.back.peek().is_none() {
                    crate::primitive::yield_processor();
                }
                assert_eq!(side.receive(), Some((message(number), false)));
                if number == 0 {
                    assert!(side.send(&payload()));
                }
            }
        });
        let side = &mut sender.0;
        let mut received = vec![];
        // Eight lines hold seven of four messages. The fifth goes over the payload's line, and a credit word returns
        // the line behind it before the payload is read.
        for number in 0..5 {
            while !side.send(&message(number)) {
                crate::primitive::yield_processor();
                received.extend(side.receive());
            }
        }
        while received.is_empty() {
            received.extend(side.receive());
            crate::primitive::yield_processor();
        }
        assert_eq!(received, [(payload(), true)]);
        thread.join().unwrap();
        drop(memory);
    });
}

/// A ping-pong in every order: the second message goes into the lines that the reverse-path payload has returned.
#[cfg(loom)]
#[test]
fn a_ping_pong_stays_in_its_lines_in_every_interleaving() {
    loom::model(|| {
        let mut memory = memory(4, 8);
        let [mut sender, receiver] = sides(&mut memory);
        let await_message = |side: &mut Side| loop {
            match side.receive() {
                Some(found) => break found,
                None => crate::primitive::yield_processor(),
            }
        };
        let thread = loom::thread::spawn(move || {
            let side = &mut { receiver }.0;
            for number in 0..2 {
                assert_eq!(await_message(side), (vec![number; 10], false));
                assert!(side.send(&[number + 10; 10]));
            }
        });
        let side = &mut sender.0;
        for number in 0..2 {
            assert!(side.send(&[number; 10]));
            assert_eq!(await_message(side), (vec![number + 10; 10], true));
        }
        thread.join().unwrap();
        drop(memory);
    });
}

#[cfg(not(loom))]
mod unmodelled {
    use std::collections::VecDeque;

    use super::*;
    use random::SplitMix64;

    #[test]
    fn a_ping_pong_uses_the_same_lines_both_ways() {
        let mut memory = memory(8, 64);
        let [mut first, mut second] = sides(&mut memory).map(|end| end.0);
        // Ten lines of a ring of 64: less than a quarter, so none is returned by credit.
        for number in 0..20u8 {
            let data = vec![number; 10 * LINE_BYTES];
            assert!(first.send(&data));
            assert_eq!(second.receive(), Some((data.clone(), false)));
            assert!(second.send(&data));
            assert_eq!(first.receive(), Some((data, true)));
        }
        // Only the first ten lines of the first side's ring were ever written.
        assert!(memory[0].bytes[10 * LINE_BYTES..].iter().all(|&byte| byte == 0));
        assert!(memory[1].bytes.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn lines_are_kept_only_for_as_much_as_is_sent_back() {
        let mut memory = memory(64, 64);
        let [mut first, mut second] = sides(&mut memory).map(|end| end.0);
        let quarter = vec![1; 16 * LINE_BYTES];
        let exchange = |first: &mut Side, second: &mut Side| {
            assert!(first.send(&quarter) && second.receive().is_some());
            second.back.lines.owing()
        };
        // The first has sent nothing, so a quarter is returned at once. The second may keep as much as it has sent.
        assert!(second.send(&quarter) && first.receive().is_some());
        assert_eq!(first.back.lines.owing(), 0);
        assert_eq!(exchange(&mut first, &mut second), 16);
        // The next goes beyond that, which is returned, and then what was sent no longer counts.
        assert_eq!(exchange(&mut first, &mut second), 16);
        assert_eq!(exchange(&mut first, &mut second), 0);
        assert_eq!(exchange(&mut first, &mut second), 0);
    }

    #[test]
    fn credits_behind_an_unread_payload_wait_for_it() {
        let mut memory = memory(64, 64);
        let [mut first, mut second] = sides(&mut memory).map(|end| end.0);
        let lines = |count: usize, byte: u8| vec![byte; count * LINE_BYTES];
        assert!(first.send(&lines(16, 1)) && first.send(&lines(16, 2)));
        assert!(first.send(&lines(16, 3)) && first.send(&lines(15, 4)));
        // The first 16 are returned by credit, as nothing has been sent. A reverse-path payload takes two of the next.
        // At the third message all of the 30 are returned that two kept lines leave.
        assert!(second.receive().is_some());
        assert!(second.back.lines.owing() == 0 && second.receive().is_some());
        assert!(second.receive().is_some() && second.receive().is_some());
        assert!(second.back.lines.owing() < 16);
        assert!(second.send(&lines(2, 9)));
        // 63 of 64 lines are used: with the credits of 48 there is room for 16 and 16 and 16, and the payload's lines
        // are behind these.
        for byte in [5, 6, 7] {
            assert!(first.send(&lines(16, byte)));
        }
        assert!(!first.send(&lines(16, 8)));
        for byte in [5, 6] {
            assert_eq!(second.receive(), Some((lines(16, byte), false)));
        }
        // Their credits have arrived, but the payload lies before them.
        assert!(!first.send(&lines(16, 8)));
        assert_eq!(first.receive(), Some((lines(2, 9), true)));
        assert!(first.send(&lines(16, 8)));
    }

    /// Both send and receive at random, compared with a model of two queues.
    #[test]
    fn random_exchanges_arrive_as_they_were_sent() {
        let (mut reverse, mut own) = (0, 0);
        for seed in 1..40 {
            let mut random = SplitMix64::new(seed);
            let mut memory = memory(8, 32);
            let mut sides = sides(&mut memory).map(|end| end.0);
            let mut model = [VecDeque::new(), VecDeque::new()];
            // In this many of eight steps a side sends; one side may prefer sending, as in a stream.
            let leaning = [1 + random.below(7), 1 + random.below(7)];
            for step in 0..3000 {
                let me = random.below(2);
                if random.below(8) < leaning[me] {
                    let data = vec![step as u8; 1 + random.below(32 / 4 * LINE_BYTES)];
                    if sides[me].send(&data) {
                        model[me].push_back(data);
                    }
                } else {
                    let expected = model[1 - me].pop_front();
                    let found = sides[me].receive();
                    assert_eq!(
                        found.as_ref().map(|(data, _)| data),
                        expected.as_ref(),
                        "seed {seed}, step {step}"
                    );
                    match found {
                        Some((_, true)) => reverse += 1,
                        Some((_, false)) => own += 1,
                        None => {}
                    }
                }
            }
            // Once both have received everything, each has room for its longest fragment: neither waits for ever.
            for me in [0, 1] {
                while let Some(expected) = model[1 - me].pop_front() {
                    assert_eq!(sides[me].receive().unwrap().0, expected, "seed {seed}");
                }
            }
            for side in &mut sides {
                assert!(side.out.has_room_for(32 / 4, None), "seed {seed}");
            }
        }
        assert!(reverse > 1000 && own > 1000, "{reverse} on the reverse path, {own} others");
    }

    #[test]
    fn random_exchanges_cross_between_threads_unchanged() {
        const COUNT: u32 = 20_000;
        for seed in 1..6 {
            let mut memory = memory(8, 32);
            let length = |random: &mut SplitMix64| 1 + random.below(32 / 4 * LINE_BYTES);
            // Each sends its numbered messages, and receives the other's, until both are done.
            let run = |end: End<Side>, mine: u64, theirs: u64| {
                let side = &mut { end }.0;
                let (mut out, mut back) = (SplitMix64::new(mine), SplitMix64::new(theirs));
                let mut bytes = length(&mut out);
                let (mut sent, mut received) = (0, 0);
                while sent < COUNT || received < COUNT {
                    if sent < COUNT && side.send(&vec![sent as u8; bytes]) {
                        sent += 1;
                        bytes = length(&mut out);
                    }
                    match side.receive() {
                        Some((data, _)) => {
                            assert_eq!(data.len(), length(&mut back), "seed {seed}");
                            assert!(data.iter().all(|&byte| byte == received as u8), "seed {seed}");
                            received += 1;
                        }
                        None => std::thread::yield_now(),
                    }
                }
            };
            let [first, second] = sides(&mut memory);
            std::thread::scope(|scope| {
                scope.spawn(move || run(first, seed, seed + 100));
                run(second, seed + 100, seed);
            });
        }
    }
}
