//! Refused patterns: the places and messages of mistakes.

use crate::read;

/// Returns the first mistake, as `line:column message`.
fn mistake(text: &str) -> String {
    let refusal = read("p.pmp", text).expect_err(text);
    let first = &refusal.mistakes()[0];
    format!("{} {}", first.place, first.message)
}

fn assert_mistakes(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = mistake(text);
        assert!(found.starts_with(expected), "{text:?}\n  gave     {found}\n  expected {expected}");
    }
}

#[test]
fn mistakes_of_writing_say_what_was_expected_and_where() {
    assert_mistakes(&[
        ("", "1:1 the pattern has no nodes"),
        ("# nothing\n", "1:10 the pattern has no nodes"),
        ("0: R", "1:5 the end of the file where an action (R, S, W, L) or `E` to end"),
        ("0 R E", "1:3 `R` where `:` and the code sequence"),
        ("R E", "1:1 `R` where the next node (as `1:`)"),
        ("0: E R", "1:6 `R` where the next node"),
        ("0: X E", "1:4 `X` where an action (R, S, W, L) or `E`"),
        (
            "0: S7 E",
            "1:4 `S7` where an action (R, S, W, L) or `E` to end the code sequence is expected (write `S 7`",
        ),
        ("0: S E", "1:6 `E` where the node that `S` sends to"),
        ("0: S 1 E", "1:8 `E` where the bytes that `S` sends"),
        ("0: L 2 R E", "1:8 `R` where `(` and the actions that `L` repeats"),
        ("0: L 2 (R E", "1:11 `E` inside a loop: the loop opened at 1:8 wants `)` first"),
        ("0: R ) E", "1:6 `)` where an action"),
        ("0: S (1 8 E", "1:9 `8` where `)`"),
        ("0: S 1 1.2.3 E", "1:11 `0.3` where an action"),
        ("a 3\n0: E", "1:3 `3` where `:`"),
        ("a = E", "1:5 `E` where a number is expected"),
    ]);
}

#[test]
fn names_are_defined_once_above_their_use_and_not_over_others() {
    assert_mistakes(&[
        ("0: S 1 size E 1: R E", "1:8 `size` stands for no number"),
        ("0: S 1 b E 1: R E\nb = 8", "1:8 `b` stands for no number"),
        ("a = 1\na = 2\n0: E", "2:1 `a` is defined already, at 1:1"),
        ("node = 1\n0: E", "1:1 `node` has a meaning of its own"),
        ("KiB = 1\n0: E", "1:1 `KiB` has a meaning of its own"),
        ("a = nodes\n0: E", "1:5 `nodes` is known only within a code sequence"),
        ("a = 1 / 0\n0: E", "1:9 this is 0"),
    ]);
}

#[test]
fn nodes_are_there_once_from_zero_up() {
    assert_mistakes(&[
        ("0: E\n0: E", "2:1 node 0 has a code sequence already, at 1:1"),
        ("0: E 2: E", "1:6 node 1 has no code sequence, but node 2 has one"),
        ("1.5: E", "1:1 the number of a node is 1.5, not a whole number"),
        ("0..3 by 0: E", "1:9 a range cannot go in steps of 0"),
        ("3..0: E", "1:4 the range ends at 0, before it begins at 3"),
        ("9999: E", "1:1 the number of a node is 9999, which is above 4095"),
    ]);
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    assert_mistakes(&[
        ("0: S 0 1 E", "1:6 node 0 sends to itself"),
        ("0: S 4 1 E\n1: R E", "1:6 there is no node 4: the pattern has nodes 0 to 1"),
        ("0: S 1 0 - 1 E\n1: R E", "1:8 the length of the message is -1, which is below 0"),
        (
            "0: S 1 2 GiB E\n1: R E",
            "1:8 the length of the message is 2147483648, which is above 1073741824",
        ),
        ("0: S 1 1/2 E\n1: R E", "1:8 the length of the message is 0.5, not a whole number"),
        ("0: W 1 E", "1:6 the fraction of the period is 1; it is from 0 to below 1"),
        ("0: W -0.5 E", "1:6 the fraction of the period is -0.5"),
        ("0: L 1.5 (R) E", "1:6 the number of rounds is 1.5"),
        ("0: L 2000000 (R) E", "1:6 the number of rounds is 2000000, which is above 1000000"),
        ("0: L 2000 (L 2000 (R)) E", "1:4 node 0 takes 4000000 steps a period in this loop"),
        ("0: L 1(L 1(L 1(L 1(L 1(L 1(L 1(L 1(L 1(R))))))))) E", "1:36 loops lie more than 8 deep"),
    ]);
}

#[test]
fn too_deep_nesting_is_refused_before_it_costs_the_stack() {
    let deep = format!("0: S {}1", "(".repeat(100_000));
    assert!(mistake(&deep).contains("more than 64 levels"));
    let signs = format!("a = {}1", "-".repeat(100_000));
    assert!(mistake(&signs).contains("more than 64 levels"));
}

#[test]
fn messages_that_nobody_receives_and_receives_that_nobody_serves_are_counted() {
    assert_mistakes(&[
        (
            "0: S 1 8 E\n1: E",
            "1:4 node 1 receives no message, and 1 is sent to it (1 by node 0): nobody receives the last",
        ),
        (
            "0: S 1 8 E\n1: R R E\n2: L 3 (S 1 8) E",
            "3:9 node 1 receives 2 messages, and 4 are sent to it (1 by node 0, 3 by node 2): nobody receives the last 2",
        ),
        (
            "0: E\n1: R E",
            "2:4 node 1 receives 1 message, and none is sent to it: it would wait here for ever",
        ),
        (
            "0: S 1 8 E\n1: R L 2 (R) E",
            "2:11 node 1 receives 3 messages, and 1 is sent to it (1 by node 0): it would wait here",
        ),
    ]);
}

#[test]
fn deadlocks_are_explained_as_a_circle() {
    assert_mistakes(&[
        (
            "0: R S 1 8 E\n1: R S 0 8 E",
            "1:4 deadlock: the nodes wait for one another: node 0 waits at 1:4 for a message from node 1, \
             node 1 waits at 2:4 for a message from node 0",
        ),
        (
            "0..2: R S (node + 1) % 3 8 E",
            "1:7 deadlock: the nodes wait for one another: node 0 waits at 1:7 for a message from node 2, \
             node 2 waits at 1:7 for a message from node 1, node 1 waits at 1:7 for a message from node 0",
        ),
        // Two long messages each: the first enters the posted receive, the second waits for the other's `R`.
        (
            "0: S 1 2 KiB S 1 2 KiB R R E\n1: S 0 2 KiB S 0 2 KiB R R E",
            "1:14 deadlock: the nodes wait for one another wherever a message above 1024 bytes waits for its receive, \
             of which each node has one posted: node 0 waits at 1:14 to send 2048 bytes until node 1 receives, \
             node 1 waits at 2:14 to send 2048 bytes until node 0 receives",
        ),
    ]);
    // Short ones are buffered, and one long one in each direction enters the posted receive.
    read("short", "0: S 1 1024 S 1 1024 R R E\n1: S 0 1024 S 0 1024 R R E").unwrap();
    read("one", "0: S 1 2 KiB R E\n1: S 0 2 KiB R E").unwrap();
}

#[test]
fn a_refusal_shows_the_line_and_marks_the_place() {
    let refusal = read("dir/p.pmp", "0: R E\n1:\tS 4 100 E").unwrap_err();
    let expected = "dir/p.pmp:2:6: there is no node 4: the pattern has nodes 0 to 1\n  \
                    2 | 1:\tS 4 100 E\n    |   \t  ^";
    assert_eq!(refusal.to_string(), expected);
}

#[test]
fn many_mistakes_are_told_together_up_to_a_page() {
    let refusal = read("p", "0..19: S 99 1 E").unwrap_err();
    assert_eq!(refusal.mistakes().len(), 1, "the same mistake at the same place is one");
    let refusal = read("p", "0..19: S 99 + node 1 E").unwrap_err();
    assert_eq!(refusal.mistakes().len(), 20);
    assert!(refusal.to_string().ends_with("and 12 more like these"));
}
