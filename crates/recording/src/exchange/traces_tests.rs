//! Time-independent traces as SimGrid writes them.

use collectives::Collective;
use contract::{Selector, TimeSpan};

use super::TextFormat;
use crate::{RankEvent, RecordedCollective, Recording, Room, SentMessage};

/// Reads the texts, one for each file.
fn read(texts: &[&str]) -> Result<Recording, String> {
    let texts: Vec<String> = texts.iter().map(|&text| text.into()).collect();
    let paths: Vec<_> = (0..texts.len()).map(|number| format!("f{number}").into()).collect();
    super::parse(TextFormat::Traces, "index".as_ref(), &paths, &texts)
        .map_err(|error| error.to_string())
}

fn events(texts: &[&str], rank: usize) -> Vec<RankEvent> {
    read(texts).unwrap().events(rank).collect()
}

fn message(to: usize, tag: u32, bytes: usize) -> SentMessage {
    SentMessage { to, context: 0, tag, bytes }
}

fn room(source: Option<u32>, tag: Option<u32>, bytes: usize) -> Room {
    Room { selector: Selector { context: 0, source, tag }, bytes }
}

fn compute(us: u64) -> RankEvent {
    RankEvent::Compute(TimeSpan::from_us(us))
}

/// 100 doubles, 100 ints, 10 packed bytes, 1000 bytes without a datatype, and 2 elements of a trace in doubles.
#[test]
fn lengths_are_counts_of_elements() {
    let first =
        "0 init\n0 send 1 7 100 0\n0 send 1 8 100 1\n0 bsend 1 9 10 57\n0 send 1 1e3\n0 finalize\n";
    let second = "# one that began with a word\np1 init 0\np1 recv p0 2\n1 recv -333 -444 3 5\n";
    let sent = [(7, 800), (8, 400), (9, 10), (0, 1000)];
    let sent = sent.map(|(tag, bytes)| RankEvent::Send(message(1, tag, bytes)));
    assert_eq!(events(&[first, second], 0), sent);
    let received = [room(Some(0), Some(0), 16), room(None, None, 12)];
    assert_eq!(events(&[first, second], 1), received.map(RankEvent::Receive));
}

/// The relevant count is that of the rank that sends or receives a block, as in MPI.
#[test]
fn collectives_have_the_lengths_of_their_blocks_and_compute_what_they_combine() {
    let lines = |rank: usize| {
        let actions = "bcast 33 1 1\nreduce 11 5000 1 0\nallreduce 12 0 5\ngather 6 3 0 1 0\nscatter 3 6 0 0 1\n\
                       allgather 12 6 1 0\nalltoall 6 12 0 1\nbarrier\n";
        actions.lines().map(|line| format!("{rank} {line}\n")).collect::<String>()
    };
    use Collective::{AllToAll, Allgather, Allreduce, Barrier, Broadcast, Gather, Reduce, Scatter};
    let expected = [
        (Broadcast, 1, 33 * 4),
        (Reduce, 1, 11 * 8),
        (Allreduce, 0, 12 * 4),
        (Gather, 0, 6 * 4),
        (Scatter, 0, 3 * 8),
        (Allgather, 0, 6 * 8),
        (AllToAll, 0, 12 * 4),
        (Barrier, 0, 0),
    ];
    let mut expected: Vec<RankEvent> = expected
        .map(|(kind, root, bytes)| RankEvent::Collective(RecordedCollective { kind, root, bytes }))
        .to_vec();
    // The reduction is followed by 5000 operations.
    expected.insert(2, compute(5));
    for rank in 0..2 {
        assert_eq!(events(&[&lines(0), &lines(1)], rank), expected, "rank {rank}");
    }
}

#[test]
fn the_last_test_of_an_operation_that_nothing_waits_for_is_its_end() {
    let sends = "1 send 0 3 8\n1 send 0 3 8\n";
    let of = |actions: &str| {
        let lines: Vec<String> = actions.split("; ").map(|action| format!("0 {action}")).collect();
        events(&[&lines.join("\n"), sends], 0)
    };
    let post = || RankEvent::PostReceive(room(Some(1), Some(3), 8));
    let end = RankEvent::End;
    let (posted, test, wait) = ("irecv 1 3 8", "test 1 0 3", "wait 1 0 3");
    let tested = of(&format!("{posted}; {test}; compute 1000; {test}; compute 2000; finalize"));
    assert_eq!(tested, [post(), compute(1), end(0), compute(2)]);
    let waited = of(&format!("{posted}; {test}; compute 1000; {wait}"));
    assert_eq!(waited, [post(), compute(1), end(0)]);
    // The first has ended when the second begins.
    let again = of(&format!("{posted}; {test}; {posted}; {wait}"));
    assert_eq!(again, [post(), end(0), post(), end(0)]);
    let all = of(&format!("{posted}; {posted}; testall; compute 1000; testall; compute 2000"));
    assert_eq!(all, [post(), post(), compute(1), end(1), end(0), compute(2)]);
    let both = of(&format!("{posted}; {posted}; waitall 2; compute 1000"));
    assert_eq!(both, [post(), post(), end(1), end(0), compute(1)]);
    // An operation that nothing waits for ends with the program; `wait` without words means the latest.
    assert_eq!(of(&format!("{posted}; {posted}; wait")), [post(), post(), end(0), end(1)]);
}

#[test]
fn sends_to_nobody_and_synchronous_ones_are_read() {
    let text = "0 isend -333 3 9 1\n0 wait 0 -333 3\n0 send -333 1 1 1\n0 Ssend 1 4 2 1\n0 ISsend 1 5 2 1\n0 wait 0 1 5\n";
    let post = |tag| RankEvent::PostSend { message: message(1, tag, 8), synchronous: true };
    let expected = [post(4), RankEvent::End(0), post(5), RankEvent::End(0)];
    assert_eq!(events(&[text, "1 recv 0 4 2 1\n1 recv 0 5 2 1"], 0), expected);
}

/// Rank 1 exchanges with rank 0, which first sends and receives with tags, and then uses `sendRecv` as well.
#[test]
fn exchanges_without_tags_take_those_of_their_partners() {
    let first = "0 send 1 5 6 1\n0 recv 1 9 5 1\n0 sendRecv 7 1 8 1 1 1\n";
    let second = "1 sendRecv 5 0 6 0 1 1\n1 sendRecv 8 0 7 0 1 1\n";
    let unknown = i32::MAX as u32;
    let exchange = |to: usize, tag, sent, received, received_tag| {
        [
            RankEvent::PostReceive(room(Some(to as u32), Some(received_tag), received)),
            RankEvent::Send(message(to, tag, sent)),
            RankEvent::End(0),
        ]
    };
    let expected = [
        vec![RankEvent::Send(message(1, 5, 24)), RankEvent::Receive(room(Some(1), Some(9), 20))],
        exchange(1, unknown, 28, 32, unknown).to_vec(),
    ];
    assert_eq!(events(&[first, second], 0), expected.concat());
    let expected = [exchange(0, 9, 20, 24, 5), exchange(0, unknown, 32, 28, unknown)];
    assert_eq!(events(&[first, second], 1), expected.concat());
    let alone = read(&["0 init\n", "1 init\n1 sendRecv 5 0 6 0 1 1\n"]).unwrap_err();
    assert!(alone.contains("'f1', line 2") && alone.contains("no partner"), "{alone}");
    // A receive of any rank may be the partner, and receives an earlier message.
    let any = events(&["0 recv -333 5 5 1\n0 send 1 5 6 1\n", "1 sendRecv 5 0 6 0 1 1\n"], 1);
    assert_eq!(any, exchange(0, 5, 20, 24, 5));
    let before = "0 recv -333 -444 4 1\n0 sendRecv 6 1 5 1 1 1\n";
    let after = events(&[before, "1 send 0 3 4 1\n1 sendRecv 5 0 6 0 1 1\n"], 1);
    assert_eq!(after[1..], exchange(0, unknown, 20, 24, unknown));
}

/// Returns the messages between `ranks` ranks as sender, receiver and length, sorted.
fn messages(actions: impl Fn(usize) -> String, ranks: usize) -> Vec<(usize, usize, usize)> {
    let texts: Vec<String> = (0..ranks).map(|rank| format!("{rank} {}\n", actions(rank))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let recording = read(&texts).unwrap();
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for rank in 0..ranks {
        let (mut started, mut ended) = (0, 0);
        for event in recording.events(rank) {
            match event {
                RankEvent::PostSend { message, .. } => sent.push((rank, message.to, message.bytes)),
                RankEvent::PostReceive(room) => {
                    received.push((room.selector.source.unwrap() as usize, rank, room.bytes));
                }
                RankEvent::End(_) => ended += 1,
                other => panic!("{other:?}"),
            }
            started += usize::from(!matches!(event, RankEvent::End(_)));
        }
        assert_eq!(started, ended, "rank {rank}");
    }
    sent.sort_unstable();
    received.sort_unstable();
    assert_eq!(sent, received);
    sent
}

/// Rank r has r + 1 elements. Only a root needs all counts.
#[test]
fn collectives_of_unequal_blocks_become_messages() {
    let counts = |is_root| if is_root { "1 2 3" } else { "0 0 0" };
    let gathered = |rank| format!("gatherv {} {} 1 0 0", rank + 1, counts(rank == 1));
    assert_eq!(messages(gathered, 3), [(0, 1, 8), (2, 1, 24)]);
    let scattered = |rank| format!("scatterv {} {} 1 1 1", counts(rank == 1), rank + 1);
    assert_eq!(messages(scattered, 3), [(1, 0, 4), (1, 2, 12)]);
    // Rank r sends r + 1 ints to each rank, and receives s + 1 from rank s.
    let exchanged = |rank| {
        let own = rank + 1;
        format!("alltoallv 9 {own} {own} {own} 9 1 2 3 1 1")
    };
    let pairs = [(0, 1, 4), (0, 2, 4), (1, 0, 8), (1, 2, 8), (2, 0, 12), (2, 1, 12)];
    assert_eq!(messages(exchanged, 3), pairs);
    for actions in
        ["allgatherv 1 1 2 3 0 0", "reducescatter 1 2 3 0 0", "scan 13 0 0", "exscan 13 0 0"]
    {
        let sent = messages(|_| actions.into(), 3);
        assert!(sent.len() >= 2 && sent.iter().all(|&(_, _, bytes)| bytes % 8 == 0), "{actions}");
    }
}

#[test]
fn what_cannot_be_replayed_is_named_with_its_place() {
    let wrong = [
        ("0 init\n0 send 0 13 2 -1", "'f1', line 2: the datatype is one that the program has made"),
        ("0 send 0 13 2 99", "line 1: '99' is no number of a datatype"),
        ("0 waitAny 2", "line 1: the action 'waitAny' cannot be replayed: the trace does not say"),
        ("0 Win_fence", "line 1: the action 'Win_fence' cannot be replayed"),
        ("0 ibarrier", "line 1: the action 'ibarrier' cannot be replayed"),
        ("0 send 7 1 1 1", "line 1: rank 7 has no actions in this trace"),
        ("0 reducescatter 0 0 0", "line 1: counts are missing"),
        ("0 gatherv 1 1 1", "line 1: a rank is missing"),
        ("0 recv 1 0 -1", "line 1: a length is '-1'"),
    ];
    for (text, words) in wrong {
        let refusal = read(&["1 init\n", text]).unwrap_err();
        assert!(refusal.contains("'f1'") && refusal.contains(words), "{text}: {refusal}");
    }
}
