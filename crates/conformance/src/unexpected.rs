//! Many unexpected messages.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{contents, expect_contents, expect_status, mix};
use super::order::neighbours;
use contract::{Buffer, Rank, Result, Source, Tag, TagSelector};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("unexpected/thousands-before-the-one-waited-for", TWO_OR_MORE, thousands),
        Case::new("unexpected/from-all-sides", TWO_OR_MORE, from_all_sides),
        Case::new("unexpected/all-lengths-mixed", ANY, mixed_lengths),
        Case::new("unexpected/both-ways-in-great-number", TWO_OR_MORE, both_ways),
    ]
}

const LAST: Tag = Tag::new(Tag::MAX);

/// Rank 0 first waits for the last of 3000 messages, then receives the others from the newest to the oldest.
fn thousands(machine: &mut dyn Rank) -> Result<()> {
    const COUNT: u32 = 3000;
    let sender = machine.size() - 1;
    if machine.rank() == sender {
        for serial in 0..COUNT {
            machine.send(
                0,
                Tag::new(serial),
                &contents(u64::from(serial), serial as usize % 100),
            )?;
        }
        machine.send(0, LAST, &[])?;
    } else if machine.rank() == 0 {
        machine.receive(sender.into(), LAST.into(), &mut [])?;
        for serial in (0..COUNT).rev() {
            let (tag, bytes) = (Tag::new(serial), serial as usize % 100);
            let mut buffer = [0; 100];
            let status = machine.receive(Source::Any, tag.into(), &mut buffer)?;
            expect_status("an unexpected message", (sender, tag, bytes), status)?;
            expect_contents("an unexpected message", u64::from(serial), &buffer[..bytes])?;
        }
    }
    Ok(())
}

/// Every other rank sends 200 messages to rank 0, which first waits for the last of each.
fn from_all_sides(machine: &mut dyn Rank) -> Result<()> {
    const COUNT: u64 = 200;
    let (rank, size, tag) = (machine.rank(), machine.size(), Tag::new(8));
    if rank > 0 {
        for serial in 0..COUNT {
            machine.send(0, tag, &contents(mix(&[rank as u64, serial]), 200))?;
        }
        return machine.send(0, LAST, &[]);
    }
    for from in (1..size).rev() {
        machine.receive(from.into(), LAST.into(), &mut [])?;
    }
    for serial in 0..COUNT {
        for from in 1..size {
            let mut buffer = [0; 200];
            machine.receive(from.into(), TagSelector::Any, &mut buffer)?;
            let what = format!("unexpected message {serial} of rank {from}");
            expect_contents(&what, mix(&[from as u64, serial]), &buffer)?;
        }
    }
    Ok(())
}

/// Posted sends of all lengths accumulate at the next rank, which waits for the last, then receives them in order.
fn mixed_lengths(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let lengths = [0, 1, 56, 57, 1024, 1025, 2048, 2049, 5000, 65_536, 120_000];
    let mut sends = Vec::new();
    for round in 0..5 {
        for bytes in lengths {
            let data = Buffer::from_bytes(&contents(mix(&[round, bytes as u64]), bytes));
            sends.push(machine.post_send(to, Tag::new(8), data)?);
        }
    }
    machine.send(to, LAST, &[])?;
    machine.receive(from.into(), LAST.into(), &mut [])?;
    for round in 0..5 {
        for bytes in lengths {
            let mut buffer = vec![0; bytes];
            let status = machine.receive(from.into(), TagSelector::Any, &mut buffer)?;
            expect_status("a message of the pile", (from, Tag::new(8), bytes), status)?;
            expect_contents("a message of the pile", mix(&[round, bytes as u64]), &buffer)?;
        }
    }
    for posted in sends {
        machine.wait(posted)?;
    }
    Ok(())
}

/// Every rank sends to its neighbour before it receives its own messages. The neighbour must make room while a send
/// waits for it, so the sends are posted.
fn both_ways(machine: &mut dyn Rank) -> Result<()> {
    const COUNT: u64 = 1500;
    let (to, from) = neighbours(machine);
    let mut sends = Vec::new();
    for serial in 0..COUNT {
        sends.push(machine.post_send(
            to,
            Tag::new(8),
            Buffer::from_bytes(&contents(serial, 64)),
        )?);
    }
    for serial in 0..COUNT {
        let mut buffer = [0; 64];
        machine.receive(from.into(), TagSelector::Any, &mut buffer)?;
        expect_contents(&format!("message {serial}"), serial, &buffer)?;
    }
    for posted in sends {
        machine.wait(posted)?;
    }
    Ok(())
}
