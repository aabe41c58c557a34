//! Written recordings are read back unchanged, as far as a format can express them.

use collectives::Collective;
use contract::{Selector, TimeSpan};

use super::TextFormat;
use crate::{RankEvent, RecordedCollective, Recording, Room, SentMessage};

fn message(to: usize, bytes: usize) -> SentMessage {
    SentMessage { to, context: 0, tag: 0, bytes }
}

fn room(from: u32, bytes: usize) -> Room {
    Room { selector: Selector { context: 0, source: Some(from), tag: Some(0) }, bytes }
}

fn us(us: u64) -> TimeSpan {
    TimeSpan::from_us(us)
}

fn recording() -> Vec<Vec<RankEvent>> {
    let post = |message| RankEvent::PostSend { message, synchronous: false };
    let barrier =
        RankEvent::Collective(RecordedCollective { kind: Collective::Barrier, root: 0, bytes: 0 });
    vec![
        vec![
            RankEvent::PostReceive(room(1, 100)),
            post(message(1, 8)),
            RankEvent::Compute(us(3)),
            RankEvent::End(1),
            RankEvent::End(0),
            barrier,
            RankEvent::Send(message(1, 5)),
        ],
        vec![
            RankEvent::Compute(us(2)),
            RankEvent::PostReceive(room(0, 8)),
            RankEvent::End(0),
            post(message(0, 100)),
            RankEvent::End(0),
            barrier,
            RankEvent::Receive(room(0, 5)),
        ],
    ]
}

fn text(format: TextFormat, ranks: &[Vec<RankEvent>]) -> Result<String, String> {
    Recording::of("x", ranks).to_text(format)
}

fn read(format: TextFormat, text: &str) -> Result<Recording, String> {
    super::parse(format, "f".as_ref(), &["f".into()], &[text.into()])
        .map_err(|error| error.to_string())
}

#[test]
fn traces_are_read_as_they_were_written() {
    let ranks = recording();
    let text = text(TextFormat::Traces, &ranks).unwrap();
    assert!(
        text.starts_with("0 init\n0 irecv 1 0 100\n0 isend 1 0 8\n0 compute 3000\n0 wait 1 0 0\n"),
        "{text}"
    );
    assert!(text.ends_with("1 barrier\n1 recv 0 0 5\n1 finalize\n"), "{text}");
    let again = read(TextFormat::Traces, &text).unwrap();
    for (rank, events) in ranks.iter().enumerate() {
        assert!(again.events(rank).eq(events.iter().copied()), "rank {rank}");
    }
}

#[test]
fn every_collective_of_a_trace_is_read_as_it_was_written() {
    let all = Collective::with_plans().map(|kind| {
        let root = usize::from(kind.has_root());
        let bytes = if kind == Collective::Barrier { 0 } else { 24 };
        RankEvent::Collective(RecordedCollective { kind, root, bytes })
    });
    let all: Vec<RankEvent> = all.collect();
    let ranks = [all.clone(), all.clone()];
    let again = read(TextFormat::Traces, &text(TextFormat::Traces, &ranks).unwrap()).unwrap();
    assert!(again.events(1).eq(all));
}

#[test]
fn goal_has_operations_and_what_they_require() {
    let text = text(TextFormat::Goal, &recording()).unwrap();
    let first = "num_ranks 2\n\nrank 0 {\nl1: recv 100b from 1 tag 0\nl2: send 8b to 1 tag 0\nl3: calc 3000\n";
    assert!(text.starts_with(first), "{text}");
    // A barrier of two is a message in each direction, after the calculation and both awaited operations.
    let barrier = "l4: send 0b to 1 tag 2\nl4 requires l3\nl4 requires l1\nl4 requires l2\nl5: recv 0b from 1 tag 2\n";
    assert!(text.contains(barrier), "{text}");
    let again = read(TextFormat::Goal, &text).unwrap();
    let events: Vec<RankEvent> = again.events(0).collect();
    let post = |to, tag, bytes| RankEvent::PostSend {
        message: SentMessage { to, context: 0, tag, bytes },
        synchronous: false,
    };
    assert_eq!(
        events[..3],
        [RankEvent::PostReceive(room(1, 100)), post(1, 0, 8), RankEvent::Compute(us(3))]
    );
    // Both are awaited before the message of the barrier, which is recorded as a message.
    assert_eq!(events[3..6], [RankEvent::End(1), RankEvent::End(0), post(1, 2, 0)]);
    assert_eq!(again.events(1).filter(|one| matches!(one, RankEvent::End(_))).count(), 5);
}

#[test]
fn contexts_become_tags_and_what_a_format_cannot_say_is_told() {
    let of = |context| SentMessage { context, tag: 70, to: 0, bytes: 1 };
    let receive = |context, source| {
        RankEvent::Receive(Room { selector: Selector { context, source, tag: Some(70) }, bytes: 1 })
    };
    let two = [
        vec![receive(0, Some(1)), receive(2, Some(1))],
        vec![RankEvent::Send(of(0)), RankEvent::Send(of(2))],
    ];
    let traces = text(TextFormat::Traces, &two).unwrap();
    assert!(
        traces.contains("0 recv 1 0 1\n0 recv 1 1 1\n") && traces.contains("1 send 0 1 1\n"),
        "{traces}"
    );
    let any = [vec![receive(0, None)], vec![RankEvent::Send(of(0))]];
    for format in [TextFormat::Goal, TextFormat::Traces] {
        assert!(text(format, &any).unwrap_err().contains("rank 0 has a receive of any rank"));
    }
    let taken_back = [vec![RankEvent::PostReceive(room(0, 1)), RankEvent::Cancel(0)]];
    assert_eq!(text(TextFormat::Goal, &taken_back).unwrap(), "num_ranks 1\n\nrank 0 {\n}\n");
    assert!(text(TextFormat::Traces, &taken_back).unwrap_err().contains("took a receive back"));
    let answers = [vec![RankEvent::Meanwhile, RankEvent::Send(of(0))], vec![]];
    for format in [TextFormat::Goal, TextFormat::Traces] {
        let words = text(format, &answers).unwrap_err();
        assert!(words.contains("rank 0 answers others in the middle of a collective"), "{words}");
    }
}

#[test]
fn mistakes_are_named_with_their_line() {
    let goal = [
        ("rank 0 {\n}", "line 1: there is no rank 0"),
        ("", "no num_ranks"),
        ("num_ranks 1\nrank 0 {\nl1: calc x\n}", "line 3: a time in nanoseconds is 'x'"),
        ("num_ranks 1\nrank 0 {\nl1: fly\n}", "line 3: 'fly' is none of"),
        ("num_ranks 1\nrank 0 {\nl1: send 8 to 0\n}", "line 3: a length"),
        ("num_ranks 1\nrank 0 {\nl1 requires l2\n}", "line 3: there is no 'l1'"),
        (
            "num_ranks 1\nrank 0 {\nl1: calc 1\nl1 requires l1\n}",
            "line 3: this operation requires itself",
        ),
        ("num_ranks 1\nrank 0 {\nl1: calc 1", "line 3: rank 0 has no end"),
        ("num_ranks 1\ncalc 3", "line 2: 'calc' stands outside"),
    ];
    for (text, words) in goal {
        let refusal = read(TextFormat::Goal, text).unwrap_err();
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
    let traces = [
        ("", "no rank"),
        ("x init", "line 1: a rank is 'x'"),
        ("0 init\n0 comm_split 1", "line 2: the action 'comm_split'"),
        ("0 send 0", "line 1: a tag is missing"),
        ("0 wait 1 0 0", "line 1: nothing was started"),
        ("99999999 init", "cannot be replayed"),
    ];
    for (text, words) in traces {
        let refusal = read(TextFormat::Traces, text).unwrap_err();
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
}
