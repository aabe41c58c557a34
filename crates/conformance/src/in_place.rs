//! Messages that stay with their sender until their receiver has read them, or are copied on fabrics without in-place
//! receives. A program must not see a difference.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{contents, ensure, expect, expect_contents, expect_status, fail};
use super::order::neighbours;
use contract::{Buffer, Error, Progress, Rank, Result, Source, Tag, TagSelector};

const TAG: Tag = Tag::new(4);
const GO: Tag = Tag::new(1 << 20);
/// Short, of several cells, and long enough for rendezvous on every fabric that uses it.
const LENGTHS: [usize; 6] = [0, 1, 64, 5000, 80_000, 600_000];

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("in-place/shows-the-message-and-no-more", ANY, shows_it),
        Case::new("in-place/after-the-message-arrived", TWO_OR_MORE, after_arrival),
        Case::new("in-place/many-held-at-once-and-released-in-any-order", ANY, many_at_once),
        Case::new("in-place/matches-in-the-order-of-posting", TWO_OR_MORE, in_order),
        Case::new("in-place/wait-any-and-test", TWO_OR_MORE, wait_any_and_test),
        Case::new("in-place/a-message-that-is-too-long", TWO_OR_MORE, too_long),
    ]
}

/// The posted buffer is longer than the message. Both sides must get their buffers back.
fn shows_it(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for (serial, bytes) in (0..).zip(LENGTHS) {
        let room = Buffer::zeroed(bytes + 9);
        let receive = machine.post_receive_in_place(from.into(), TAG.into(), room)?;
        let data = Buffer::from_bytes(&contents(serial, bytes));
        let send = machine.post_send(to, TAG, data)?;
        let message = machine.wait(receive)?;
        expect_status("a message in place", (from, TAG, bytes), message.status)?;
        expect("the length shown", bytes, machine.view(&message).len())?;
        expect_contents("a message in place", serial, machine.view(&message))?;
        let buffer = machine.release(message)?;
        expect("the posted length", bytes + 9, buffer.len())?;
        let sent = machine.wait(send)?;
        expect_contents("the buffer of a send", serial, &sent.buffer)?;
    }
    Ok(())
}

/// A later message has arrived already, so the first must have.
fn after_arrival(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for (serial, bytes) in (0..).zip(LENGTHS) {
        let data = Buffer::from_bytes(&contents(serial, bytes));
        let send = machine.post_send(to, TAG, data)?;
        machine.send(to, GO, &[])?;
        machine.receive(from.into(), GO.into(), &mut [])?;
        let room = Buffer::zeroed(bytes);
        let receive = machine.post_receive_in_place(from.into(), TagSelector::Any, room)?;
        let message = machine.wait(receive)?;
        expect_status("a late message in place", (from, TAG, bytes), message.status)?;
        expect_contents("a late message in place", serial, machine.view(&message))?;
        drop(machine.release(message)?);
        machine.wait(send)?;
    }
    Ok(())
}

/// All are read again after the last has arrived and other messages have passed.
fn many_at_once(machine: &mut dyn Rank) -> Result<()> {
    const COUNT: usize = 24;
    let (to, from) = neighbours(machine);
    let bytes = |serial: usize| LENGTHS[serial % LENGTHS.len()] / 2 + serial;
    let (mut receives, mut sends) = (Vec::new(), Vec::new());
    for serial in 0..COUNT {
        let (tag, room) = (Tag::new(serial as u32), Buffer::zeroed(bytes(serial)));
        receives.push(machine.post_receive_in_place(from.into(), tag.into(), room)?);
    }
    for serial in 0..COUNT {
        let data = Buffer::from_bytes(&contents(serial as u64, bytes(serial)));
        sends.push(machine.post_send(to, Tag::new(serial as u32), data)?);
    }
    let mut messages = Vec::new();
    for (serial, receive) in receives.into_iter().enumerate() {
        messages.push((serial, machine.wait(receive)?));
    }
    machine.barrier()?;
    while !messages.is_empty() {
        let (serial, message) = messages.swap_remove(messages.len() / 2);
        let what = format!("message {serial} of {COUNT} in place");
        expect_contents(&what, serial as u64, machine.view(&message))?;
        drop(machine.release(message)?);
    }
    for (serial, send) in sends.into_iter().enumerate() {
        let sent = machine.wait(send)?;
        expect_contents("the buffer of a send", serial as u64, &sent.buffer)?;
    }
    Ok(())
}

/// Receives of both kinds with one tag must get the messages in the order in which they were posted.
fn in_order(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let mut receives = Vec::new();
    for serial in 0..8 {
        let room = Buffer::zeroed(70_000);
        receives.push(match serial % 3 {
            0 => machine.post_receive(Source::Any, TAG.into(), room)?,
            _ => machine.post_receive_in_place(Source::Any, TAG.into(), room)?,
        });
    }
    let mut sends = Vec::new();
    for serial in 0..8 {
        let bytes = if serial % 2 == 0 { 70_000 } else { 100 };
        let data = Buffer::from_bytes(&contents(serial, bytes));
        sends.push(machine.post_send(to, TAG, data)?);
    }
    for (serial, receive) in (0..).zip(receives) {
        let message = machine.wait(receive)?;
        expect("the sender", from, message.status.source)?;
        expect_contents(&format!("message {serial}"), serial, machine.view(&message))?;
        drop(machine.release(message)?);
    }
    for send in sends {
        machine.wait(send)?;
    }
    Ok(())
}

/// Tests both kinds of waits. Until a long message is released its sender must not end, but must not block others.
fn wait_any_and_test(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for bytes in [64, 80_000] {
        let mut posted =
            vec![machine.post_receive_in_place(from.into(), TAG.into(), Buffer::zeroed(bytes))?];
        let send = machine.post_send(to, TAG, Buffer::from_bytes(&contents(1, bytes)))?;
        let (place, first) = machine.wait_any(&mut posted)?;
        expect("the place in the list", 0, place)?;
        let mut posted =
            machine.post_receive_in_place(from.into(), TAG.into(), Buffer::zeroed(bytes))?;
        let other = machine.post_send(to, TAG, Buffer::from_bytes(&contents(2, bytes)))?;
        let second = loop {
            posted = match machine.test(posted)? {
                Progress::Done(message) => break message,
                Progress::Pending(same) => same,
            };
        };
        expect_contents("the first message", 1, machine.view(&first))?;
        expect_contents("the second message", 2, machine.view(&second))?;
        drop((machine.release(second)?, machine.release(first)?));
        machine.wait(send)?;
        machine.wait(other)?;
    }
    Ok(())
}

/// The message is lost, as with any receive; the next one is not.
fn too_long(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for bytes in [100, 80_000] {
        let room = Buffer::zeroed(bytes - 1);
        let receive = machine.post_receive_in_place(from.into(), TAG.into(), room)?;
        let send = machine.post_send(to, TAG, Buffer::from_bytes(&contents(3, bytes)))?;
        match machine.wait(receive) {
            Err(Error::Truncated { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) => return fail(format!("{bytes} bytes fit into {}", bytes - 1)),
        }
        machine.wait(send)?;
        let room = Buffer::zeroed(bytes);
        let receive = machine.post_receive_in_place(from.into(), TAG.into(), room)?;
        let send = machine.post_send(to, TAG, Buffer::from_bytes(&contents(4, bytes)))?;
        let message = machine.wait(receive)?;
        ensure(machine.view(&message).len() == bytes, || "the next message is cut".into())?;
        expect_contents("the next message", 4, machine.view(&message))?;
        drop(machine.release(message)?);
        machine.wait(send)?;
    }
    Ok(())
}
