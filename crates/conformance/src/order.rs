//! Order: messages between two ranks match in the order in which they were sent, tag by tag.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{contents, expect_contents, expect_status, mix};
use contract::{Rank, Result, Source, Tag, TagSelector};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("order/one-pair", TWO_OR_MORE, one_pair),
        Case::new("order/lengths-do-not-overtake", TWO_OR_MORE, lengths_do_not_overtake),
        Case::new("order/tags-are-picked-out-of-order", TWO_OR_MORE, tags_out_of_order),
        Case::new("order/interleaved-tags-keep-their-own-order", TWO_OR_MORE, interleaved_tags),
        Case::new("order/senders-do-not-disturb-each-other", TWO_OR_MORE, all_pairs),
        Case::new("order/tags-at-the-limits", TWO_OR_MORE, tags_at_the_limits),
        Case::new("order/messages-to-oneself", ANY, messages_to_oneself),
    ]
}

/// Streams from the last rank to rank 0; the others do nothing.
fn one_pair(machine: &mut dyn Rank) -> Result<()> {
    let (sender, tag) = (machine.size() - 1, Tag::new(3));
    for serial in 0..2000u64 {
        if machine.rank() == sender {
            machine.send(0, tag, &serial.to_le_bytes())?;
        } else if machine.rank() == 0 {
            let mut found = [0; 8];
            let status = machine.receive(Source::Rank(sender), tag.into(), &mut found)?;
            expect_status("a message of the stream", (sender, tag, 8), status)?;
            super::check::expect("its serial number", serial, u64::from_le_bytes(found))?;
        }
    }
    Ok(())
}

/// Sends short messages after long ones, which may take another path, with one tag.
fn lengths_do_not_overtake(machine: &mut dyn Rank) -> Result<()> {
    let (sender, tag) = (machine.size() - 1, Tag::new(3));
    let lengths = [1, 100_000, 8, 0, 5000, 2, 70_000, 1500, 64, 300_000, 1];
    for (serial, bytes) in lengths.into_iter().enumerate() {
        let key = mix(&[serial as u64]);
        if machine.rank() == sender {
            machine.send(0, tag, &contents(key, bytes))?;
        } else if machine.rank() == 0 {
            let mut buffer = vec![0; 300_000];
            let status = machine.receive(Source::Rank(sender), TagSelector::Any, &mut buffer)?;
            expect_status(&format!("message {serial}"), (sender, tag, bytes), status)?;
            expect_contents(&format!("message {serial}"), key, &buffer[..bytes])?;
        }
    }
    Ok(())
}

/// Each rank sends to the next with tags 0 to 99, and receives from the previous one with tags 99 to 0.
fn tags_out_of_order(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for tag in 0..100 {
        machine.send(to, Tag::new(tag), &contents(u64::from(tag), 50))?;
    }
    for tag in (0..100).rev() {
        let mut buffer = [0; 50];
        let status = machine.receive(from.into(), Tag::new(tag).into(), &mut buffer)?;
        expect_status("a message picked by its tag", (from, Tag::new(tag), 50), status)?;
        expect_contents(&format!("the message with tag {tag}"), u64::from(tag), &buffer)?;
    }
    Ok(())
}

/// Sends with three alternating tags, and receives tag by tag.
fn interleaved_tags(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let tags = [7, 0, 1 << 20].map(Tag::new);
    for serial in 0..20 {
        for tag in tags {
            let key = mix(&[serial, u64::from(tag.value())]);
            machine.send(to, tag, &contents(key, 24))?;
        }
    }
    for tag in tags {
        for serial in 0..20 {
            let mut buffer = [0; 24];
            machine.receive(from.into(), tag.into(), &mut buffer)?;
            let key = mix(&[serial, u64::from(tag.value())]);
            expect_contents(&format!("message {serial} with {tag}"), key, &buffer)?;
        }
    }
    Ok(())
}

/// Every rank sends to every rank, itself included, and receives from the last rank to the first.
fn all_pairs(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size, tag) = (machine.rank(), machine.size(), Tag::new(9));
    let key = |from: usize, to: usize, serial: u64| mix(&[from as u64, to as u64, serial]);
    for serial in 0..5 {
        for to in 0..size {
            machine.send(to, tag, &contents(key(rank, to, serial), 33))?;
        }
    }
    for from in (0..size).rev() {
        for serial in 0..5 {
            let mut buffer = [0; 33];
            machine.receive(from.into(), tag.into(), &mut buffer)?;
            let what = format!("message {serial} of rank {from}");
            expect_contents(&what, key(from, rank, serial), &buffer)?;
        }
    }
    Ok(())
}

fn tags_at_the_limits(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let tags = [0, 1, 32_767, 32_768, (1 << 30) - 1, 1 << 30, Tag::MAX - 1, Tag::MAX];
    for tag in tags {
        machine.send(to, Tag::new(tag), &tag.to_le_bytes())?;
    }
    for tag in tags.into_iter().rev() {
        let mut buffer = [0; 4];
        let status = machine.receive(from.into(), Tag::new(tag).into(), &mut buffer)?;
        expect_status("a message with a tag at the limits", (from, Tag::new(tag), 4), status)?;
        super::check::expect("its contents", tag, u32::from_le_bytes(buffer))?;
    }
    Ok(())
}

/// Short messages are buffered; longer ones need a posted receive, or a simultaneous receive.
fn messages_to_oneself(machine: &mut dyn Rank) -> Result<()> {
    let (rank, tag) = (machine.rank(), Tag::new(2));
    for bytes in [0, 1, 56, 57, contract::EAGER_BYTES] {
        machine.send(rank, tag, &contents(bytes as u64, bytes))?;
        let mut buffer = vec![0; bytes];
        let status = machine.receive(rank.into(), tag.into(), &mut buffer)?;
        expect_status("a message to oneself", (rank, tag, bytes), status)?;
        expect_contents("a message to oneself", bytes as u64, &buffer)?;
    }
    for bytes in [5000, 200_000] {
        let posted =
            machine.post_receive(rank.into(), tag.into(), contract::Buffer::zeroed(bytes))?;
        machine.send(rank, tag, &contents(bytes as u64, bytes))?;
        let completed = machine.wait(posted)?;
        expect_status("a posted receive from oneself", (rank, tag, bytes), completed.status)?;
        expect_contents("a posted receive from oneself", bytes as u64, &completed.buffer)?;
    }
    for bytes in [0, 40, 3000, 200_000] {
        let mut buffer = vec![0; bytes];
        let data = contents(bytes as u64, bytes);
        machine.send_receive((rank, tag, &data), (rank.into(), tag.into(), &mut buffer))?;
        expect_contents("send_receive with oneself", bytes as u64, &buffer)?;
    }
    Ok(())
}

/// Returns the next and the previous rank around the ring.
pub(super) fn neighbours(machine: &dyn Rank) -> (usize, usize) {
    let (rank, size) = (machine.rank(), machine.size());
    ((rank + 1) % size, (rank + size - 1) % size)
}
