//! Limits of this fabric's protocols, which the conformance suite does not reach.

use contract::{Buffer, Error, Rank, Result, Source, Tag};

use crate::harness::{Test, launch_and_gather};
use crate::job::options;

const TAG: Tag = Tag::new(5);
const LAST: Tag = Tag::new(6);

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match name {
        "more-unexpected-messages-than-there-is-credit-for" => beyond_credit(rank),
        "credit-comes-back-over-a-long-stream-one-way" => long_stream(rank),
        "the-beginning-of-a-long-message-that-does-not-fit" => cut_short(rank),
        "a-receive-that-finds-its-message-half-arrived" => half_arrived(rank),
        "everybody-sends-to-everybody-at-once-without-a-receive-posted" => all_at_once(rank),
        "a-message-of-more-than-four-gibibytes" => very_long(rank),
        other => Err(Error::Program(format!("no case {other}"))),
    }
}

pub(crate) fn tests() -> Vec<Test> {
    let cases = [
        ("more-unexpected-messages-than-there-is-credit-for", 2),
        ("credit-comes-back-over-a-long-stream-one-way", 2),
        ("the-beginning-of-a-long-message-that-does-not-fit", 2),
        ("a-receive-that-finds-its-message-half-arrived", 3),
        ("everybody-sends-to-everybody-at-once-without-a-receive-posted", 5),
    ];
    let mut tests: Vec<Test> = cases.map(|(name, ranks)| test(name, ranks)).into();
    // The test needs two buffers of this length.
    if free_bytes() > 12 << 30 {
        tests.push(test("a-message-of-more-than-four-gibibytes", 2));
    } else {
        println!(
            "skipped: messages/a-message-of-more-than-four-gibibytes: 12 GiB of free memory are not here"
        );
    }
    tests
}

fn test(name: &'static str, ranks: usize) -> Test {
    Test::new(format!("messages/{name}"), move || {
        let (ended, _) = launch_and_gather(&options(ranks, &format!("messages {name}")));
        ended.map_err(|error| error.to_string())
    })
}

fn free_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

fn expect(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Program(what.into())) }
}

/// Returns byte `index` of message `number`.
fn pattern(number: usize, index: usize) -> u8 {
    (number * 31 + index * 7 + index / 251) as u8
}

fn message(number: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| pattern(number, index)).collect()
}

/// Sends 100 messages of 100 KiB: 10 MB, of which 4 MiB may be unexpected. The rest waits, in order, behind a message
/// that is received first.
fn beyond_credit(rank: &mut dyn Rank) -> Result<()> {
    const COUNT: usize = 100;
    const BYTES: usize = 100 << 10;
    if rank.rank() == 0 {
        let sends = (0..COUNT)
            .map(|number| rank.post_send(1, TAG, Buffer::from_bytes(&message(number, BYTES))))
            .collect::<Result<Vec<_>>>()?;
        rank.send(1, LAST, &[])?;
        return sends.into_iter().try_for_each(|one| rank.wait(one).map(drop));
    }
    rank.receive(Source::Rank(0), LAST.into(), &mut [])?;
    let mut room = vec![0; BYTES];
    for number in 0..COUNT {
        rank.receive(Source::Rank(0), TAG.into(), &mut room)?;
        expect(room == message(number, BYTES), "a message is wrong or out of order")?;
    }
    Ok(())
}

/// Sends 40 MB in messages of 1000 bytes: ten times the credit. Nothing but credit is sent in the other direction.
fn long_stream(rank: &mut dyn Rank) -> Result<()> {
    let mut room = vec![0; 1000];
    for number in 0..40_000 {
        if rank.rank() == 0 {
            rank.send(1, TAG, &message(number, 1000))?;
        } else {
            rank.receive(Source::Rank(0), TAG.into(), &mut room)?;
            expect(room == message(number, 1000), "a message is wrong or out of order")?;
        }
    }
    Ok(())
}

fn cut_short(rank: &mut dyn Rank) -> Result<()> {
    for (number, bytes) in [1 << 20, 200 << 10, 10_000].into_iter().enumerate() {
        if rank.rank() == 0 {
            rank.send(1, TAG, &message(number, bytes))?;
            rank.send(1, TAG, &message(number, 40))?;
            continue;
        }
        let mut room = vec![0; 5000];
        let cut = rank.receive(Source::Rank(0), TAG.into(), &mut room);
        let expected = Error::Truncated {
            from: 0,
            tag: TAG.value(),
            message_bytes: bytes,
            buffer_bytes: 5000,
        };
        expect(cut == Err(expected), "a message that does not fit is cut, with both lengths")?;
        expect(room == message(number, 5000), "the beginning of a cut message")?;
        let status = rank.receive(Source::Rank(0), TAG.into(), &mut room)?;
        expect(status.bytes == 40 && room[..40] == message(number, 40), "the message behind it")?;
    }
    Ok(())
}

/// Rank 1 probes for a message of rank 2 while one of rank 0 arrives in pieces, and then receives the arriving one.
fn half_arrived(rank: &mut dyn Rank) -> Result<()> {
    const BYTES: usize = 256 << 10;
    for number in 0..50 {
        match rank.rank() {
            0 => rank.send(1, TAG, &message(number, BYTES))?,
            2 => rank.send(1, LAST, &message(number, 10))?,
            _ => {
                let mut room = vec![0; BYTES];
                rank.receive(Source::Rank(2), LAST.into(), &mut room)?;
                let status = rank.receive(Source::Any, TAG.into(), &mut room)?;
                expect(status.source == 0 && status.bytes == BYTES, "the long message's status")?;
                expect(room == message(number, BYTES), "the long message")?;
            }
        }
    }
    rank.barrier()
}

fn all_at_once(rank: &mut dyn Rank) -> Result<()> {
    const BYTES: usize = 3 << 20;
    let (me, size) = (rank.rank(), rank.size());
    let sends = (0..size)
        .map(|to| rank.post_send(to, TAG, Buffer::from_bytes(&message(me * size + to, BYTES))))
        .collect::<Result<Vec<_>>>()?;
    let mut room = vec![0; BYTES];
    for from in (0..size).rev() {
        rank.receive(Source::Rank(from), TAG.into(), &mut room)?;
        expect(room == message(from * size + me, BYTES), "a long message")?;
    }
    sends.into_iter().try_for_each(|one| rank.wait(one).map(drop))
}

/// Sends messages whose length exceeds 32 bits.
fn very_long(rank: &mut dyn Rank) -> Result<()> {
    const BYTES: usize = (4 << 30) + 12_345;
    let mut data = Buffer::zeroed(BYTES);
    let marks = [0, 1 << 31, (1 << 32) - 1, 1 << 32, BYTES - 1];
    if rank.rank() == 0 {
        marks.iter().for_each(|&at| data[at] = pattern(9, at));
        return rank.send(1, TAG, &data);
    }
    let status = rank.receive(Source::Rank(0), TAG.into(), &mut data)?;
    expect(status.bytes == BYTES, "the length")?;
    expect(marks.iter().all(|&at| data[at] == pattern(9, at)), "the bytes")
}
