//! Messages between two ranks in every order of memory operations, over rings of four cells and eight lines: the
//! longest fragment has two lines.

use contract::{Completion, Destination, Readable, Selector};

use super::*;
use crate::ring::{INLINE_BYTES, LINE_BYTES, SHORT_BYTES};

/// Length of the longest fragment.
const FRAGMENT_BYTES: usize = 2 * LINE_BYTES;

/// Runs `first` and `second` as two ranks, in every order of memory operations with so many preemptions.
fn check(
    every_rank_has_a_processor: bool,
    preemptions: usize,
    first: fn(&mut Engine),
    second: fn(&mut Engine),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 10_000;
    model.check(move || {
        let mut segments = Segment::of_model(&[None, None], every_rank_has_a_processor);
        let of_second = segments.remove(1);
        let other = loom::thread::spawn(move || second(&mut Rings::of_model(of_second, 1)));
        first(&mut Rings::of_model(segments.remove(0), 0));
        other.join().unwrap();
    });
}

/// The data of a message: bytes that differ from each other and from those of other tags.
fn data(tag: u32, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (100 * tag as usize + index) as u8).collect()
}

fn send_to_other(engine: &mut Engine, tag: u32, bytes: usize) {
    let to = Destination { rank: 1 - engine.rank(), context: 0, tag };
    assert_eq!(engine.send(to, &data(tag, bytes)), Ok(()));
}

/// Sends a message that goes by rendezvous at any length.
fn send_by_rendezvous(engine: &mut Engine, tag: u32, bytes: usize) {
    let (to, data) = (Destination { rank: 1 - engine.rank(), context: 0, tag }, data(tag, bytes));
    // SAFETY: the data stay until the request has ended.
    let lent = unsafe { Readable::new(data.as_ptr(), bytes) };
    let request = engine.post_send(to, lent, Completion::Synchronous).unwrap();
    assert!(engine.wait(request).is_ok());
}

fn receive_from_other(engine: &mut Engine, tag: u32, bytes: usize) {
    let selector = Selector { context: 0, source: Some(1 - engine.rank() as u32), tag: Some(tag) };
    let mut buffer = vec![0; bytes];
    let envelope = engine.receive(selector, &mut buffer).unwrap();
    assert_eq!((envelope.tag, envelope.bytes, buffer), (tag, bytes, data(tag, bytes)));
}

/// Four messages need six cells of four.
const SHORT: [(u32, usize); 4] = [(1, 8), (2, SHORT_BYTES), (3, 0), (4, INLINE_BYTES + 1)];

/// Checks them where a rank that waits polls, or sleeps.
fn check_short_messages(every_rank_has_a_processor: bool) {
    check(
        every_rank_has_a_processor,
        2,
        |rank| SHORT.iter().for_each(|&(tag, bytes)| send_to_other(rank, tag, bytes)),
        |rank| SHORT.iter().for_each(|&(tag, bytes)| receive_from_other(rank, tag, bytes)),
    );
}

#[test]
fn messages_of_one_cell_and_of_two_reuse_cells_once_they_are_read() {
    check_short_messages(true);
}

#[test]
fn ranks_that_sleep_for_messages_and_for_room_are_woken() {
    check_short_messages(false);
}

#[test]
fn fragments_of_an_eager_message_reuse_lines_once_they_are_read() {
    check(
        true,
        2,
        |rank| send_to_other(rank, 1, 5 * FRAGMENT_BYTES),
        |rank| receive_from_other(rank, 1, 5 * FRAGMENT_BYTES),
    );
}

#[test]
fn unexpected_messages_are_kept_until_they_are_received() {
    check(
        true,
        2,
        |rank| {
            send_to_other(rank, 1, 8);
            send_to_other(rank, 2, 2 * FRAGMENT_BYTES);
            send_to_other(rank, 3, 8);
        },
        |rank| {
            receive_from_other(rank, 3, 8);
            receive_from_other(rank, 2, 2 * FRAGMENT_BYTES);
            receive_from_other(rank, 1, 8);
        },
    );
}

#[test]
fn a_message_by_rendezvous_follows_in_fragments_once_it_has_matched() {
    for every_rank_has_a_processor in [true, false] {
        check(
            every_rank_has_a_processor,
            2,
            |rank| send_by_rendezvous(rank, 1, 3 * FRAGMENT_BYTES),
            |rank| receive_from_other(rank, 1, 3 * FRAGMENT_BYTES),
        );
    }
}

#[test]
fn replies_return_the_lines_of_what_they_answer() {
    check(
        true,
        2,
        |rank| {
            for tag in [1, 3, 5] {
                send_to_other(rank, tag, FRAGMENT_BYTES);
                receive_from_other(rank, tag + 1, FRAGMENT_BYTES);
            }
        },
        |rank| {
            for tag in [1, 3, 5] {
                receive_from_other(rank, tag, FRAGMENT_BYTES);
                send_to_other(rank, tag + 1, FRAGMENT_BYTES);
            }
        },
    );
}
