//! Lengths around the limits at which a fabric may change its protocol, and truncation.

use super::case::{Case, TWO_OR_MORE};
use super::check::{
    contents, expect_contents, expect_error, expect_status, fill, mix, test_until_done,
};
use super::order::neighbours;
use contract::{Buffer, Error, Rank, Result, Source, Status, Tag, TagSelector};

const TAG: Tag = Tag::new(11);
const HUGE_BYTES: usize = 64 << 20;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("sizes/blocking", TWO_OR_MORE, blocking),
        Case::new("sizes/posted", TWO_OR_MORE, posted),
        Case::new("sizes/both-ways-at-once", TWO_OR_MORE, both_ways),
        Case::new("sizes/64-mib", 2..=2, huge),
        Case::new("sizes/a-shorter-message-leaves-the-rest-alone", TWO_OR_MORE, shorter),
        Case::new("sizes/truncation-loses-one-message-only", TWO_OR_MORE, truncation),
        Case::new("sizes/truncation-of-a-posted-receive", TWO_OR_MORE, truncation_posted),
    ]
}

/// Returns lengths around cells of 40 to 72 bytes, around powers of two, and some others; the long ones on few ranks.
fn sizes(ranks: usize) -> Vec<usize> {
    let mut sizes = vec![0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 31, 32];
    sizes.extend(40..=72);
    for power in [7, 8, 9, 10, 11, 12, 13, 14, 15, 16] {
        sizes.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
    }
    if ranks <= 3 {
        sizes.extend([100_000, (1 << 17) + 1, 1 << 18, (1 << 19) - 1, (1 << 20) + 3]);
    }
    sizes
}

fn key(from: usize, bytes: usize) -> u64 {
    mix(&[from as u64, bytes as u64])
}

fn expect_message(from: usize, bytes: usize, status: Status, buffer: &[u8]) -> Result<()> {
    expect_status(&format!("a message of {bytes} bytes"), (from, TAG, bytes), status)?;
    expect_contents("a message", key(from, bytes), &buffer[..bytes])
}

/// Tests pairs of neighbours in both directions in turn. With an odd number of ranks the last has no partner.
fn blocking(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let other = rank ^ 1;
    if other >= size {
        return Ok(());
    }
    for bytes in sizes(size) {
        for sender in [rank.min(other), rank.max(other)] {
            if rank == sender {
                machine.send(other, TAG, &contents(key(rank, bytes), bytes))?;
            } else {
                let mut buffer = vec![0; bytes];
                let status = machine.receive(other.into(), TAG.into(), &mut buffer)?;
                expect_message(other, bytes, status, &buffer)?;
            }
        }
    }
    Ok(())
}

/// Sends around the ring with posted operations; half of them are waited for, half are tested.
fn posted(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let rank = machine.rank();
    for (index, bytes) in sizes(machine.size()).into_iter().enumerate() {
        let receive = machine.post_receive(from.into(), TAG.into(), Buffer::zeroed(bytes))?;
        let data = Buffer::from_bytes(&contents(key(rank, bytes), bytes));
        let send = machine.post_send(to, TAG, data)?;
        let received = if index % 2 == 0 {
            machine.wait(receive)?
        } else {
            test_until_done(machine, receive)?
        };
        expect_message(from, bytes, received.status, &received.buffer)?;
        let sent = machine.wait(send)?;
        expect_status("a posted send", (rank, TAG, bytes), sent.status)?;
        expect_contents("the buffer of a posted send", key(rank, bytes), &sent.buffer)?;
    }
    Ok(())
}

fn both_ways(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for bytes in sizes(machine.size()) {
        let data = contents(key(machine.rank(), bytes), bytes);
        let mut buffer = vec![0; bytes];
        let status =
            machine.send_receive((to, TAG, &data), (from.into(), TAG.into(), &mut buffer))?;
        expect_message(from, bytes, status, &buffer)?;
    }
    Ok(())
}

fn huge(machine: &mut dyn Rank) -> Result<()> {
    let rank = machine.rank();
    let mut buffer = vec![0; HUGE_BYTES];
    for sender in 0..2 {
        if rank == sender {
            fill(&mut buffer, key(rank, HUGE_BYTES));
            machine.send(1 - rank, TAG, &buffer)?;
        } else {
            let status = machine.receive(Source::Any, TagSelector::Any, &mut buffer)?;
            expect_message(1 - rank, HUGE_BYTES, status, &buffer)?;
        }
    }
    Ok(())
}

fn shorter(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for bytes in [0, 5, 60, 1000, 3000, 70_000] {
        let data = contents(key(machine.rank(), bytes), bytes);
        let mut buffer = vec![0xa5; bytes + 100];
        let status =
            machine.send_receive((to, TAG, &data), (from.into(), TAG.into(), &mut buffer))?;
        expect_message(from, bytes, status, &buffer)?;
        let touched = buffer[bytes..].iter().position(|&byte| byte != 0xa5);
        super::check::expect("the first byte touched behind the message", None, touched)?;
    }
    Ok(())
}

/// A message that does not fit must be consumed, with its beginning in the buffer, and the next one must be complete.
fn truncation(machine: &mut dyn Rank) -> Result<()> {
    let (sender, receiver) = (machine.size() - 1, 0);
    for (bytes, room) in
        [(8, 0), (60, 59), (1000, 8), (5000, 4999), (70_000, 3), (300_000, 150_000)]
    {
        if machine.rank() == sender {
            machine.send(receiver, TAG, &contents(key(sender, bytes), bytes))?;
            machine.send(receiver, TAG, &contents(key(sender, 77), 77))?;
        } else if machine.rank() == receiver {
            let mut buffer = vec![0; room];
            let result = machine.receive(sender.into(), TAG.into(), &mut buffer);
            expect_truncated(sender, bytes, room, result)?;
            expect_contents("the beginning of a truncated message", key(sender, bytes), &buffer)?;
            let mut next = [0; 77];
            let status = machine.receive(sender.into(), TAG.into(), &mut next)?;
            expect_message(sender, 77, status, &next)?;
        }
    }
    Ok(())
}

fn expect_truncated<T: std::fmt::Debug>(
    from: usize,
    message_bytes: usize,
    buffer_bytes: usize,
    result: Result<T>,
) -> Result<()> {
    let expected = Error::Truncated { from, tag: TAG.value(), message_bytes, buffer_bytes };
    let what = format!("{message_bytes} bytes into {buffer_bytes}");
    if let Err(error @ Error::Truncated { .. }) = &result {
        super::check::expect(&what, &expected, error)?;
    }
    expect_error(&what, result, |error| matches!(error, Error::Truncated { .. }))
}

fn truncation_posted(machine: &mut dyn Rank) -> Result<()> {
    let (sender, receiver) = (machine.size() - 1, 0);
    for (bytes, room) in [(8, 0), (60, 59), (5000, 100), (300_000, 150_000)] {
        if machine.rank() == sender {
            machine.receive(receiver.into(), TAG.into(), &mut [])?;
            machine.send(receiver, TAG, &contents(key(sender, bytes), bytes))?;
            machine.send(receiver, TAG, &contents(key(sender, 77), 77))?;
        } else if machine.rank() == receiver {
            let short = machine.post_receive(sender.into(), TAG.into(), Buffer::zeroed(room))?;
            let next = machine.post_receive(sender.into(), TAG.into(), Buffer::zeroed(77))?;
            machine.send(sender, TAG, &[])?;
            expect_truncated(sender, bytes, room, machine.wait(short))?;
            let next = machine.wait(next)?;
            expect_message(sender, 77, next.status, &next.buffer)?;
        }
    }
    Ok(())
}
