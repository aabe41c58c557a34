//! Posted operations: before and after the message, in any order, many at once.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{
    contents, ensure, expect, expect_contents, expect_status, fail, mix, test_until_done,
};
use super::order::neighbours;
use contract::{Buffer, Progress, Rank, Result, Source, Tag, TagSelector};

const GO: Tag = Tag::new(1 << 20);

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("posted/test-says-pending-until-the-message-is-sent", TWO_OR_MORE, test_pends),
        Case::new("posted/after-the-message-arrived", TWO_OR_MORE, after_arrival),
        Case::new("posted/completed-in-the-opposite-order", ANY, opposite_order),
        Case::new("posted/hundreds-outstanding", ANY, hundreds),
        Case::new("posted/wait-any-gives-the-one-that-ended", TWO_OR_MORE, wait_any_gives_it),
        Case::new("posted/wait-any-empties-the-list", ANY, wait_any_empties),
        Case::new("posted/long-messages-cross", TWO_OR_MORE, long_messages_cross),
        Case::new("posted/a-dropped-handle-does-not-stop-the-send", TWO_OR_MORE, dropped_handle),
        Case::new("posted/a-blocking-receive-behind-posted-ones", TWO_OR_MORE, behind_posted),
    ]
}

/// Rank 0 posts the receive, and only then lets the last rank send.
fn test_pends(machine: &mut dyn Rank) -> Result<()> {
    let (sender, tag) = (machine.size() - 1, Tag::new(4));
    for bytes in [0, 64, 5000, 80_000] {
        if machine.rank() == sender {
            machine.receive(0.into(), GO.into(), &mut [])?;
            machine.send(0, tag, &contents(bytes as u64, bytes))?;
        } else if machine.rank() == 0 {
            let mut posted =
                machine.post_receive(sender.into(), tag.into(), Buffer::zeroed(bytes))?;
            for _ in 0..20 {
                posted = match machine.test(posted)? {
                    Progress::Pending(same) => same,
                    Progress::Done(_) => return fail("done before anything was sent".into()),
                };
            }
            machine.send(sender, GO, &[])?;
            let completed = test_until_done(machine, posted)?;
            expect_status("a posted receive", (sender, tag, bytes), completed.status)?;
            expect_contents("a posted receive", bytes as u64, &completed.buffer)?;
        }
    }
    Ok(())
}

/// A later message has arrived already, so the first must have.
fn after_arrival(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let tag = Tag::new(4);
    for bytes in [0, 64, 1024, 80_000] {
        let data = Buffer::from_bytes(&contents(bytes as u64, bytes));
        let send = machine.post_send(to, tag, data)?;
        machine.send(to, GO, &[])?;
        machine.receive(from.into(), GO.into(), &mut [])?;
        let posted = machine.post_receive(from.into(), tag.into(), Buffer::zeroed(bytes + 9))?;
        let completed = machine.wait(posted)?;
        expect_status("a late receive", (from, tag, bytes), completed.status)?;
        expect_contents("a late receive", bytes as u64, &completed.buffer[..bytes])?;
        expect("the posted length", bytes + 9, completed.buffer.len())?;
        machine.wait(send)?;
    }
    Ok(())
}

fn opposite_order(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let lengths = [10, 3000, 0, 70_000, 500, 2000, 1, 20_000];
    let mut receives = Vec::new();
    let mut sends = Vec::new();
    for (tag, &bytes) in lengths.iter().enumerate() {
        let tag = Tag::new(tag as u32 % 3);
        receives.push(machine.post_receive(from.into(), tag.into(), Buffer::zeroed(bytes))?);
    }
    for (serial, &bytes) in lengths.iter().enumerate() {
        let data = Buffer::from_bytes(&contents(serial as u64, bytes));
        sends.push(machine.post_send(to, Tag::new(serial as u32 % 3), data)?);
    }
    for (serial, posted) in receives.into_iter().enumerate().rev() {
        let completed = machine.wait(posted)?;
        let tag = Tag::new(serial as u32 % 3);
        let what = format!("receive {serial}");
        expect_status(&what, (from, tag, lengths[serial]), completed.status)?;
        expect_contents(&what, serial as u64, &completed.buffer)?;
    }
    for (serial, posted) in sends.into_iter().enumerate().rev() {
        let completed = machine.wait(posted)?;
        expect_contents("the buffer of a send", serial as u64, &completed.buffer)?;
    }
    Ok(())
}

fn hundreds(machine: &mut dyn Rank) -> Result<()> {
    const COUNT: u64 = 400;
    let (to, from) = neighbours(machine);
    let bytes = |serial: u64| (serial as usize * 37) % 2200;
    let tag = |serial: u64| Tag::new(serial as u32 % 5);
    let mut sends = Vec::new();
    for serial in 0..COUNT {
        let data = Buffer::from_bytes(&contents(serial, bytes(serial)));
        sends.push(machine.post_send(to, tag(serial), data)?);
    }
    let mut receives = Vec::new();
    for serial in 0..COUNT {
        let room = Buffer::zeroed(bytes(serial));
        receives.push(machine.post_receive(from.into(), tag(serial).into(), room)?);
    }
    for (serial, posted) in (0..COUNT).zip(receives) {
        let completed = machine.wait(posted)?;
        let what = format!("receive {serial} of {COUNT}");
        expect_status(&what, (from, tag(serial), bytes(serial)), completed.status)?;
        expect_contents(&what, serial, &completed.buffer)?;
    }
    for posted in sends {
        machine.wait(posted)?;
    }
    Ok(())
}

/// The last rank sends the message of one of eight receives at a time.
fn wait_any_gives_it(machine: &mut dyn Rank) -> Result<()> {
    const ORDER: [u32; 8] = [5, 0, 7, 2, 1, 6, 4, 3];
    let sender = machine.size() - 1;
    if machine.rank() == sender {
        for tag in ORDER {
            machine.receive(0.into(), GO.into(), &mut [])?;
            machine.send(0, Tag::new(tag), &contents(u64::from(tag), 100))?;
        }
    } else if machine.rank() == 0 {
        let mut tags: Vec<u32> = (0..8).collect();
        let mut posted = Vec::new();
        for &tag in &tags {
            let selector = Tag::new(tag).into();
            posted.push(machine.post_receive(sender.into(), selector, Buffer::zeroed(100))?);
        }
        for tag in ORDER {
            machine.send(sender, GO, &[])?;
            let (place, completed) = machine.wait_any(&mut posted)?;
            expect("the place in the list", tags.iter().position(|&t| t == tag), Some(place))?;
            expect_status("wait_any", (sender, Tag::new(tag), 100), completed.status)?;
            expect_contents("wait_any", u64::from(tag), &completed.buffer)?;
            tags.remove(place);
            expect("what is left", tags.len(), posted.len())?;
        }
    }
    Ok(())
}

/// Waits for sends and receives in one list, in any order of completion.
fn wait_any_empties(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let mut posted = Vec::new();
    let mut serials = Vec::new();
    for serial in 0..30u32 {
        let bytes = serial as usize * 100;
        let selector = Tag::new(serial).into();
        posted.push(machine.post_receive(from.into(), selector, Buffer::zeroed(bytes))?);
        let data = Buffer::from_bytes(&contents(u64::from(serial), bytes));
        posted.push(machine.post_send(to, Tag::new(serial), data)?);
        serials.extend([serial; 2]);
    }
    while !posted.is_empty() {
        let (place, completed) = machine.wait_any(&mut posted)?;
        ensure(place < serials.len(), || format!("place {place} of {}", serials.len()))?;
        let serial = serials.remove(place);
        expect("the tag", Tag::new(serial), completed.status.tag)?;
        expect_contents("wait_any", u64::from(serial), &completed.buffer)?;
    }
    Ok(())
}

/// Every rank first posts a long send to each other one, then receives with blocking calls.
fn long_messages_cross(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size, tag) = (machine.rank(), machine.size(), Tag::new(4));
    let bytes = if size <= 3 { 1_000_000 } else { 70_000 };
    let key = |from: usize, to: usize| mix(&[from as u64, to as u64]);
    let partners: Vec<usize> = (1..size.min(5)).collect();
    let mut sends = Vec::new();
    for distance in &partners {
        let to = (rank + distance) % size;
        let data = Buffer::from_bytes(&contents(key(rank, to), bytes));
        sends.push(machine.post_send(to, tag, data)?);
    }
    let mut buffer = vec![0; bytes];
    for distance in &partners {
        let from = (rank + size - distance) % size;
        let status = machine.receive(from.into(), tag.into(), &mut buffer)?;
        expect_status("a long message", (from, tag, bytes), status)?;
        expect_contents("a long message", key(from, rank), &buffer)?;
    }
    for posted in sends {
        machine.wait(posted)?;
    }
    Ok(())
}

fn dropped_handle(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for bytes in [0, 1000, 9000, 100_000] {
        let data = Buffer::from_bytes(&contents(bytes as u64, bytes));
        drop(machine.post_send(to, Tag::new(4), data)?);
        let mut buffer = vec![0; bytes];
        machine.receive(from.into(), TagSelector::Any, &mut buffer)?;
        expect_contents("a send nobody waited for", bytes as u64, &buffer)?;
        machine.barrier()?;
    }
    Ok(())
}

/// With one tag, the posted receives must get the first messages, and the blocking one the third.
fn behind_posted(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let tag = Tag::new(4);
    let mut posted = Vec::new();
    for _ in 0..2 {
        posted.push(machine.post_receive(Source::Any, tag.into(), Buffer::zeroed(8))?);
    }
    for serial in 0..3 {
        machine.send(to, tag, &contents(serial, 8))?;
    }
    let mut buffer = [0; 8];
    machine.receive(from.into(), tag.into(), &mut buffer)?;
    expect_contents("the blocking receive", 2, &buffer)?;
    for (serial, posted) in (0..).zip(posted) {
        expect_contents("a posted receive", serial, &machine.wait(posted)?.buffer)?;
    }
    Ok(())
}
