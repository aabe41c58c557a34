//! Windows of messages, and send_receive in rings.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{contents, expect_contents, expect_status, mix};
use super::order::neighbours;
use contract::{Rank, Result, Source, Tag, TagSelector};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("streams/windows", TWO_OR_MORE, windows),
        Case::new("streams/a-window-takes-no-message-too-many", TWO_OR_MORE, window_ends),
        Case::new("streams/a-window-meets-single-calls", TWO_OR_MORE, window_meets_single_calls),
        Case::new("streams/send-receive-around-the-ring", ANY, ring),
        Case::new("streams/send-receive-with-different-partners-and-lengths", ANY, uneven_ring),
        Case::new("streams/ping-pong", TWO_OR_MORE, ping_pong),
    ]
}

const TAG: Tag = Tag::new(6);

/// Sends from the last rank to rank 0, with a reply after each window as in benchmarks.
fn windows(machine: &mut dyn Rank) -> Result<()> {
    let sender = machine.size() - 1;
    for (bytes, count) in [(0, 100), (8, 1), (8, 1000), (1024, 64), (3000, 64), (70_000, 16)] {
        let key = mix(&[bytes as u64, count as u64]);
        if machine.rank() == sender {
            machine.send_window(0, TAG, &contents(key, bytes), count)?;
            machine.receive(0.into(), TAG.into(), &mut [])?;
        } else if machine.rank() == 0 {
            let mut buffer = vec![0; bytes];
            machine.receive_window(sender.into(), TAG.into(), &mut buffer, count)?;
            expect_contents(&format!("a window of {count} messages"), key, &buffer)?;
            machine.send(sender, TAG, &[])?;
        }
    }
    Ok(())
}

/// A message with the same tag after the window must still be there, and complete.
fn window_ends(machine: &mut dyn Rank) -> Result<()> {
    let sender = machine.size() - 1;
    for (bytes, count) in [(8, 0), (8, 50), (2000, 20), (70_000, 3)] {
        if machine.rank() == sender {
            machine.send_window(0, TAG, &contents(1, bytes), count)?;
            machine.send(0, TAG, &contents(2, bytes))?;
        } else if machine.rank() == 0 {
            let mut buffer = vec![0; bytes];
            machine.receive_window(sender.into(), TAG.into(), &mut buffer, count)?;
            if count > 0 {
                expect_contents("the window", 1, &buffer)?;
            }
            let status = machine.receive(sender.into(), TagSelector::Any, &mut buffer)?;
            expect_status("the message behind the window", (sender, TAG, bytes), status)?;
            expect_contents("the message behind the window", 2, &buffer)?;
        }
    }
    Ok(())
}

/// A window is only messages: each side may use single calls instead.
fn window_meets_single_calls(machine: &mut dyn Rank) -> Result<()> {
    let sender = machine.size() - 1;
    for bytes in [16, 1500, 40_000] {
        if machine.rank() == sender {
            machine.send_window(0, TAG, &contents(3, bytes), 10)?;
            for _ in 0..10 {
                machine.send(0, TAG, &contents(4, bytes))?;
            }
        } else if machine.rank() == 0 {
            let mut buffer = vec![0; bytes];
            for _ in 0..10 {
                machine.receive(Source::Any, TAG.into(), &mut buffer)?;
                expect_contents("a window's message by itself", 3, &buffer)?;
            }
            machine.receive_window(Source::Any, TagSelector::Any, &mut buffer, 10)?;
            expect_contents("single messages as a window", 4, &buffer)?;
        }
    }
    Ok(())
}

/// Passes a token of every rank all the way around.
fn ring(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let (rank, size) = (machine.rank(), machine.size());
    for bytes in [0, 8, 56, 2048, 30_000] {
        let mut token = contents(rank as u64, bytes);
        for _ in 0..size.min(20) {
            let mut next = vec![0; bytes];
            let status =
                machine.send_receive((to, TAG, &token), (from.into(), TAG.into(), &mut next))?;
            expect_status("a token", (from, TAG, bytes), status)?;
            token = next;
        }
        let origin = (rank + size - size.min(20)) % size;
        expect_contents("a token after its way", origin as u64, &token)?;
    }
    Ok(())
}

/// Sends and receives have different distances, each with its own tag and length.
fn uneven_ring(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let bytes = |from: usize| 100 + 4000 * (from % 7);
    for distance in 0..size.min(12) {
        let to = (rank + distance) % size;
        let from = (rank + size - distance) % size;
        let mut buffer = vec![0; 30_000];
        let data = contents(rank as u64, bytes(rank));
        let status = machine.send_receive(
            (to, Tag::new(rank as u32), &data),
            (Source::Rank(from), TagSelector::Any, &mut buffer),
        )?;
        expect_status("uneven", (from, Tag::new(from as u32), bytes(from)), status)?;
        expect_contents("uneven", from as u64, &buffer[..bytes(from)])?;
    }
    Ok(())
}

fn ping_pong(machine: &mut dyn Rank) -> Result<()> {
    let far = machine.size() - 1;
    for bytes in [0, 8, 100, 2000, 20_000] {
        let rounds = if bytes <= 100 { 300 } else { 30 };
        for round in 0..rounds {
            let mut buffer = vec![0; bytes];
            if machine.rank() == 0 {
                machine.send(far, TAG, &contents(round, bytes))?;
                machine.receive(far.into(), TAG.into(), &mut buffer)?;
                expect_contents("the echo", !round, &buffer)?;
            } else if machine.rank() == far {
                machine.receive(0.into(), TAG.into(), &mut buffer)?;
                expect_contents("the call", round, &buffer)?;
                machine.send(0, TAG, &contents(!round, bytes))?;
            }
        }
    }
    Ok(())
}
