//! An array of round numbers, so that every time can be derived by hand; and random programs.

use std::rc::Rc;

use contract::{Error, Result, Time, TimeSpan};

use super::*;
use crate::machine::{Array, Machine, WordCost, find};
use random::SplitMix64;

fn us(us: u64) -> TimeSpan {
    TimeSpan::from_us(us)
}

fn cost(fixed: u64, word: u64) -> WordCost {
    WordCost { fixed: us(fixed), word: us(word) }
}

/// Returns a machine with two words in a link's FIFO, three and one on the bus. The receiver takes four times as long
/// for a word as the sender.
fn machine() -> Machine {
    let array = Array {
        wiring: vec![Wiring::Row],
        links_max: 12,
        link_word: us(1),
        link_fifo_words: 2,
        bus_word: us(1),
        bus_out_words: 3,
        bus_in_words: 1,
        send_call: cost(100, 10),
        receive_call: cost(50, 5),
        latest_call: cost(40, 2),
        send_interrupt: cost(7, 3),
        receive_interrupt: cost(20, 12),
        flag: us(9),
        sum_maximum: us(11),
    };
    Machine { array: Some(array), ..find("fem").unwrap() }
}

fn ran<T: 'static>(
    nodes: usize,
    program: impl Fn(&ArrayNode<'_>) -> Result<T> + 'static,
) -> ArrayOutcome<T> {
    run_array(&machine(), &ArrayOptions::new(nodes), program).unwrap()
}

fn failed(nodes: usize, program: impl Fn(&ArrayNode<'_>) -> Result<()> + 'static) -> String {
    let (node, error) = run_array(&machine(), &ArrayOptions::new(nodes), program).unwrap_err();
    format!("processor {node}: {error}")
}

fn at(end: Time) -> u64 {
    end.since(Time::ZERO).as_ps() / 1_000_000
}

/// One word and the checksum: SEND until 110; the interrupt is entered until 117, the words are on the wire of the link
/// at 120 and 123, and at the other end at 121 and 124. The receiver takes them from 121 to 133 and 145, and completes
/// the buffer until 165. RECV takes 55 more.
#[test]
fn a_word_takes_calls_interrupts_and_wire() {
    let outcome = ran(2, |node| {
        if node.number() == 0 {
            node.send(Medium::Local, 1, &[9])?;
        } else {
            assert_eq!(node.receive(Medium::Local, 0)?, [9]);
        }
        Ok(at(node.now()))
    });
    assert_eq!(outcome.results, [110, 220]);
    let one = |send, receive| InterruptCounts { send, receive };
    assert_eq!(outcome.interrupts, [one(1, 0), one(0, 1)]);
}

/// As above, over the bus: a word is on it for 1 µs, from 120 and 123, so the first word takes as long. The second
/// finds the receiver's FIFO full until the first was taken at 133, and arrives at 134: taken until 146, complete at
/// 166.
#[test]
fn the_bus_waits_for_room_at_the_receiver() {
    let outcome = ran(2, |node| {
        if node.number() == 0 {
            node.send(Medium::Global, 1, &[9])?;
        } else {
            node.receive(Medium::Global, 0)?;
        }
        Ok(at(node.now()))
    });
    assert_eq!(outcome.results, [110, 221]);
    assert_eq!((outcome.bus.words, outcome.bus.longest_wait), (2, us(10)));
    // From 120, when the first word is in the FIFO, to 134.
    assert_eq!(outcome.bus.span(), us(14));
}

/// Five words and the checksum, and a program that computes for 300 µs meanwhile. SEND ends at 150. The interrupt is
/// entered until 157 and moves two words until 163; the FIFO holds two until the first is taken at 161 + 12 = 173. Each
/// further word finds room when the receiver has taken one, at 173, 185, 197 and 209, and takes an entry of 7 and 3 for
/// the word: until 183, 195, 207, 219. So interrupts took 13 + 4 x 10 = 53.
#[test]
fn a_full_fifo_lets_the_program_go_on_and_costs_entries() {
    let outcome = ran(2, |node| {
        if node.number() == 0 {
            node.send(Medium::Local, 1, &[1, 2, 3, 4, 5])?;
            node.compute(us(300));
        } else {
            node.receive(Medium::Local, 0)?;
        }
        Ok(at(node.now()))
    });
    assert_eq!(outcome.results[0], 150 + 300 + 53);
    // Six words from 161 on, 12 each, and 20; then RECV, 50 and 5 x 5.
    assert_eq!(outcome.results[1], 161 + 6 * 12 + 20 + 75);
    assert_eq!(outcome.interrupts[0].send, 5);
    assert_eq!(outcome.interrupts[1].receive, 1);
}

#[test]
fn two_that_send_to_each_other_do_not_wait_for_ever() {
    for medium in [Medium::Local, Medium::Global] {
        let outcome = ran(2, move |node| {
            let other = 1 - node.number();
            node.send(medium, other, &[node.number() as u16; 255])?;
            node.receive(medium, other)
        });
        assert_eq!(outcome.results, [vec![1; 255], vec![0; 255]]);
    }
}

/// `None` before the first. SEND takes 300, its interrupts 2 words in 13 and 19 more in 10 each, 203 in all, and the
/// program 1000: SENDs end at 300, 1803 and 3306, and words arrive from 11 later on. A buffer's receive interrupt takes
/// 21 x 12 + 20 = 272. The receiver computes for 2316 and is interrupted twice: from 40 to 2900. It calls asynchronous
/// RECV, which takes 40 + 20 x 2 = 80, computes, and calls it at 3300 again: both times it receives the second buffer.
/// The words of the third arrive at 3317, and wait until RECV ends at 3380: then the interrupt, 500 of computing, and a
/// RECV end at 4232.
#[test]
fn the_latest_is_the_last_complete_buffer() {
    let outcome = ran(2, |node| {
        if node.number() == 0 {
            for value in 1..=3 {
                node.send(Medium::Local, 1, &[value; 20])?;
                node.compute(us(1000));
            }
            return Ok((Vec::new(), 0));
        }
        node.expect(Medium::Local, 0, ReceiveMode::Asynchronous)?;
        let mut seen = vec![node.latest(Medium::Local, 0)?];
        for compute in [2316, 320, 500] {
            node.compute(us(compute));
            seen.push(node.latest(Medium::Local, 0)?);
        }
        Ok((seen, at(node.now())))
    });
    let expected = [None, Some(vec![2; 20]), Some(vec![2; 20]), Some(vec![3; 20])];
    assert_eq!(outcome.results[1], (expected.to_vec(), 4232));
}

/// The last processor sets its flag at 30: all continue at 39. Then sums and maxima, 11 each.
#[test]
fn flags_sums_and_maxima_join_all() {
    let outcome = ran(3, |node| {
        let number = node.number() as i32;
        node.compute(us(10 * (number as u64 + 1)));
        node.all_flags()?;
        let flags = at(node.now());
        let (sum, most) = (node.sum(number + 5)?, node.maximum(-number)?);
        Ok((flags, sum, most, at(node.now())))
    });
    assert_eq!(outcome.results, [(39, 18, 0, 61); 3]);
}

#[test]
fn the_controllers_broadcast_reaches_all_in_one_word_each() {
    let options = ArrayOptions { controller: true, ..ArrayOptions::new(4) };
    let outcome = run_array(&machine(), &options, |node| {
        if node.number() == 4 {
            node.send_to_all(&[6, 7])?;
            return Ok(vec![6, 7]);
        }
        node.receive(Medium::Global, 4)
    });
    let outcome = outcome.unwrap();
    assert_eq!(outcome.results, vec![vec![6, 7]; 5]);
    assert_eq!(outcome.bus.words, 3);
}

#[test]
fn mistakes_are_told_by_name() {
    let of_0 = |program: fn(&ArrayNode<'_>) -> Result<()>| {
        failed(3, move |node| if node.number() == 0 { program(node) } else { Ok(()) })
    };
    let words = |count: usize| format!("processor 0: {count} words where a buffer has 1 to 255");
    assert_eq!(of_0(|node| node.send(Medium::Global, 1, &[])), words(0));
    assert_eq!(of_0(|node| node.send(Medium::Global, 1, &[0; 256])), words(256));
    let no_link = "processor 0: no link joins processors 0 and 2; the bus does";
    assert_eq!(of_0(|node| node.send(Medium::Local, 2, &[1])), no_link);
    assert!(of_0(|node| node.send(Medium::Global, 3, &[1])).contains("rank 3"));
    let mode = of_0(|node| node.latest(Medium::Local, 1).map(drop));
    assert!(mode.contains("Asynchronous RECV from processor 1 over local links"), "{mode}");
    let twice = of_0(|node| {
        node.expect(Medium::Local, 1, ReceiveMode::Asynchronous)?;
        node.expect(Medium::Local, 1, ReceiveMode::Synchronous)
    });
    assert!(twice.contains("is fixed already"), "{twice}");
    let waits = of_0(|node| node.receive(Medium::Local, 1).map(drop));
    assert!(
        waits.contains("processor 0 waits for a buffer of processor 1 over local links"),
        "{waits}"
    );
    let meet =
        failed(2, |node| if node.number() == 0 { node.all_flags() } else { node.sum(1).map(drop) });
    assert!(meet.contains("brings Sum(1) where another brought Flag"), "{meet}");
}

#[test]
fn arrays_that_cannot_be_are_refused() {
    let refused = |machine: &Machine, options: &ArrayOptions| {
        run_array(machine, options, |_| Ok(())).unwrap_err().1.to_string()
    };
    let none = refused(&find("cluster").unwrap(), &ArrayOptions::new(2));
    assert!(none.contains("it is none"), "{none}");
    let many = refused(&machine(), &ArrayOptions::new(37));
    assert!(many.contains("37 processors: it has 1 to 36"), "{many}");
    let wiring = Some(vec![Wiring::PerfectShuffle]);
    let shuffle = refused(&machine(), &ArrayOptions { wiring, ..ArrayOptions::new(36) });
    assert!(shuffle.contains("a power of two of processors, not 36"), "{shuffle}");
}

/// Returns the sends of the processors of a random program: (from, to, medium, words).
fn random_sends(seed: u64, nodes: usize) -> Vec<(usize, usize, Medium, Vec<u16>)> {
    let mut random = SplitMix64::new(seed);
    let mut below = |end: usize| random.below(end);
    let send = |_| {
        let from = below(nodes);
        let to = (from + 1 + below(nodes - 1)) % nodes;
        let medium = [Medium::Local, Medium::Global][below(2)];
        let count = 1 + [below(4), below(255)][below(2)];
        (from, to, medium, (0..count).map(|_| below(1 << 16) as u16).collect())
    };
    (0..60).map(send).collect()
}

/// Every buffer arrives whole, once, and in the order of its pair. Receive interrupts are entered at most once a SEND.
/// A run repeats.
#[test]
fn random_programs_lose_nothing() {
    for seed in 1..=8 {
        let nodes = 5;
        let all = Rc::new(random_sends(seed, nodes));
        let run = || {
            let all = Rc::clone(&all);
            let options = ArrayOptions {
                wiring: Some(vec![Wiring::EightNeighbours { rows: 2, columns: 3 }]),
                ..ArrayOptions::new(nodes)
            };
            run_array(&machine(), &options, move |node| {
                let me = node.number();
                for (_, to, medium, words) in all.iter().filter(|send| send.0 == me) {
                    node.send(*medium, *to, words)?;
                }
                for (from, _, medium, words) in all.iter().filter(|send| send.1 == me) {
                    if node.receive(*medium, *from)? != *words {
                        return Err(Error::Program(format!("other words from {from}")));
                    }
                }
                Ok(())
            })
        };
        let outcome = run().unwrap_or_else(|(node, error)| panic!("seed {seed}: {node}: {error}"));
        let entries: u64 = outcome.interrupts.iter().map(|counts| counts.receive).sum();
        assert!(entries <= all.len() as u64, "seed {seed}: {entries} entries");
        assert_eq!(outcome.event_hash, run().unwrap().event_hash, "seed {seed}");
    }
}
