//! The meaning of well-formed patterns.

use crate::stages::{Message, stages};
use crate::{Cursor, Pattern, Step, read};

fn steps(pattern: &Pattern, node: usize) -> Vec<Step> {
    let mut cursor = Cursor::default();
    let actions = &pattern.nodes[node].actions;
    std::iter::from_fn(|| cursor.next(actions)).map(|(_, step)| step).collect()
}

fn send(to: u32, bytes: u32) -> Step {
    Step::Send { to, bytes }
}

#[test]
fn the_papers_pair_reads_as_it_is_printed() {
    let pattern = read("pair", "0: S 1 262144 R E\n1: R S 0 0 E").unwrap();
    assert_eq!(steps(&pattern, 0), [send(1, 262_144), Step::Receive]);
    assert_eq!(steps(&pattern, 1), [Step::Receive, send(0, 0)]);
    assert_eq!(pattern.sources, [[1], [0]]);
}

#[test]
fn names_units_and_arithmetic_make_sizes() {
    let text = "block = 1 MiB / 4 # a quarter\nhalf = (block - 2 kB) / 2\n\
                0: S 1 half + 1 S 1 7 % 4 E 1: R R E";
    let pattern = read("sizes", text).unwrap();
    // (262144 - 2000) / 2 + 1 = 130073, and 7 % 4 = 3.
    assert_eq!(steps(&pattern, 0), [send(1, 130_073), send(1, 3)]);
}

#[test]
fn ranges_share_a_sequence_and_know_their_node() {
    let text = "last = 5\n0, 2..last by 2: S node + 1 10 * node E\n1..last by 2: R E";
    let pattern = read("ranges", text).unwrap();
    for node in [0, 2, 4] {
        assert_eq!(steps(&pattern, node), [send(node as u32 + 1, 10 * node as u32)]);
        assert_eq!(pattern.sources[node + 1], [node as u32]);
    }
}

#[test]
fn a_ring_wraps_round_to_both_sides() {
    let right = read("ring", "0..3: S (node + 1) % nodes 8 R E").unwrap();
    assert_eq!(right.sources, [[3], [0], [1], [2]]);
    let left = read("ring", "0..3: S (node - 1) % nodes 8 R E").unwrap();
    assert_eq!(left.sources, [[1], [2], [3], [0]]);
}

#[test]
fn loops_repeat_and_waits_are_fractions_of_the_period() {
    let text = "0: L 2 (S 1 8 L 2 (S 1 9)) W 1/4 E\n1: L 3 * 2 (R) L 0 (S 0 1) L 9 () E";
    let pattern = read("loops", text).unwrap();
    let half = [send(1, 8), send(1, 9), send(1, 9)];
    let wait = Step::WaitUntil { fraction: 0.25 };
    assert_eq!(steps(&pattern, 0), [&half[..], &half, &[wait]].concat());
    assert_eq!(steps(&pattern, 1), [Step::Receive; 6]);
    assert_eq!(pattern.nodes[1].actions.len(), 3);
    assert_eq!(pattern.bytes_a_period(), 2 * (8 + 9 + 9));
    assert_eq!((pattern.largest_received(1), pattern.largest_received(0)), (9, 0));
}

#[test]
fn receives_take_messages_in_the_order_of_the_stages_whoever_is_quicker() {
    // Node 2 could send at once. In step its message reaches node 0 a stage after that of node 1, and that order is
    // kept.
    let pattern = read("two", "0: R R E 1: S 0 4096 E 2: S 0 4096 E").unwrap();
    assert_eq!(pattern.sources[0], [1, 2]);
    let message = |from| Message { from, to: 0, bytes: 4096 };
    assert_eq!(stages(&pattern), [[message(1)], [message(2)]]);
}

#[test]
fn an_order_that_gets_to_the_end_is_found_where_going_in_step_does_not() {
    // In step nodes 0 and 2 send to node 1 at once, and 0 gets the receive. Node 2 then waits to send until 1 receives;
    // 1 waits with its second message until 2 receives. All nodes complete if 1 receives from 2 first.
    let text = "0: S 1 4096 E\n1: S 2 8 S 2 4096 R R E\n2: S 1 4096 R R E";
    let pattern = read("contended", text).unwrap();
    assert_eq!(pattern.sources[1], [2, 0]);
}
