//! Collectives that move data: every root, in place, odd lengths, back to back.

use super::case::{ANY, Case};
use super::check::{contents, ensure, expect_contents, mix, roots};
use contract::{Rank, Result, Source, Tag, Time, TimeSpan};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("collectives/nobody-leaves-a-barrier-before-the-last-enters", ANY, barrier),
        Case::new("collectives/broadcast", ANY, broadcast),
        Case::new("collectives/scatter", ANY, scatter),
        Case::new("collectives/gather", ANY, gather),
        Case::new("collectives/allgather", ANY, allgather),
        Case::new("collectives/allgather-in-place", ANY, allgather_in_place),
        Case::new("collectives/all-to-all", ANY, all_to_all),
        Case::new("collectives/many-without-a-pause", ANY, without_a_pause),
        Case::new("collectives/a-root-that-comes-late", ANY, late_root),
    ]
}

/// Returns the lengths of a whole broadcast or of one block; long ones on few ranks.
fn lengths(size: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, 7, 8, 63, 64, 257, 1025];
    if size <= 16 {
        lengths.extend([4096, 16_384, 20_001, 70_000]);
    }
    if size <= 3 {
        lengths.push((1 << 20) + 3);
    }
    lengths
}

/// Returns the contents of the block of rank `from` for rank `to`.
fn key(from: usize, to: usize, bytes: usize) -> u64 {
    mix(&[from as u64, to as u64, bytes as u64])
}

fn blocks(count: usize, bytes: usize, key: impl Fn(usize) -> u64) -> Vec<u8> {
    let blocks: Vec<_> = (0..count).map(|block| contents(key(block), bytes)).collect();
    blocks.concat()
}

fn expect_blocks(what: &str, bytes: usize, key: impl Fn(usize) -> u64, found: &[u8]) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    for (block, found) in found.chunks(bytes).enumerate() {
        expect_contents(&format!("{what}, block {block}"), key(block), found)?;
    }
    Ok(())
}

/// Each rank in turn is late. All compare the time at which they left the barrier with the arrival of that rank, on the
/// common clock.
fn barrier(machine: &mut dyn Rank) -> Result<()> {
    let size = machine.size();
    for late in roots(size) {
        machine.barrier()?;
        if machine.rank() == late {
            let time = machine.now() + TimeSpan::from_us(200);
            machine.wait_until(time);
        }
        let entered = machine.now();
        machine.barrier()?;
        let left = machine.now();
        let mut all = vec![0; 8 * size];
        machine.allgather(&entered.as_ps().to_le_bytes(), &mut all)?;
        for (rank, bytes) in all.as_chunks().0.iter().enumerate() {
            let other = Time::from_ps(u64::from_le_bytes(*bytes));
            ensure(left + machine.clock().uncertainty >= other, || {
                format!("left the barrier at {left:?}, but rank {rank} entered at {other:?}")
            })?;
        }
    }
    Ok(())
}

fn broadcast(machine: &mut dyn Rank) -> Result<()> {
    for root in roots(machine.size()) {
        for bytes in lengths(machine.size()) {
            let key = key(root, 0, bytes);
            let mut buffer =
                if machine.rank() == root { contents(key, bytes) } else { vec![0; bytes] };
            machine.broadcast(root, &mut buffer)?;
            expect_contents(&format!("broadcast from {root}"), key, &buffer)?;
        }
    }
    Ok(())
}

fn scatter(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    for root in roots(size) {
        for bytes in lengths(size) {
            let send = if rank == root {
                blocks(size, bytes, |to| key(root, to, bytes))
            } else {
                Vec::new()
            };
            let mut receive = vec![0; bytes];
            machine.scatter(root, &send, &mut receive)?;
            expect_contents(&format!("scatter from {root}"), key(root, rank, bytes), &receive)?;
        }
    }
    Ok(())
}

fn gather(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    for root in roots(size) {
        for bytes in lengths(size) {
            let mut receive = vec![0; if rank == root { size * bytes } else { 0 }];
            machine.gather(root, &contents(key(rank, root, bytes), bytes), &mut receive)?;
            let what = format!("gather to {root}");
            expect_blocks(&what, bytes, |from| key(from, root, bytes), &receive)?;
        }
    }
    Ok(())
}

fn allgather(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    for bytes in lengths(size) {
        let mut receive = vec![0; size * bytes];
        machine.allgather(&contents(key(rank, 0, bytes), bytes), &mut receive)?;
        expect_blocks("allgather", bytes, |from| key(from, 0, bytes), &receive)?;
    }
    Ok(())
}

fn allgather_in_place(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    for bytes in lengths(size) {
        let mut buffer = vec![0; size * bytes];
        buffer[rank * bytes..][..bytes].copy_from_slice(&contents(key(rank, 0, bytes), bytes));
        machine.allgather_in_place(&mut buffer)?;
        expect_blocks("allgather in place", bytes, |from| key(from, 0, bytes), &buffer)?;
    }
    Ok(())
}

fn all_to_all(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    for bytes in lengths(size) {
        let send = blocks(size, bytes, |to| key(rank, to, bytes));
        let mut receive = vec![0; size * bytes];
        machine.all_to_all(&send, &mut receive)?;
        expect_blocks("all to all", bytes, |from| key(from, rank, bytes), &receive)?;
    }
    Ok(())
}

/// Fast ranks run ahead of slow ones, across collectives and roots. Data of one collective must not appear in the next.
fn without_a_pause(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    for round in 0..40 {
        let (root, bytes) = (round * 7 % size, [8, 0, 100, 2500][round % 4]);
        let key = |block: usize| mix(&[round as u64, block as u64]);
        let mut data = if rank == root { contents(key(root), bytes) } else { vec![0; bytes] };
        machine.broadcast(root, &mut data)?;
        expect_contents(&format!("broadcast of round {round}"), key(root), &data)?;

        let mut all = vec![0; if rank == root { size * bytes } else { 0 }];
        machine.gather(root, &contents(key(rank), bytes), &mut all)?;
        expect_blocks(&format!("gather of round {round}"), bytes, key, &all)?;

        let mut block = vec![0; bytes];
        machine.scatter(root, &all, &mut block)?;
        expect_contents(&format!("scatter of round {round}"), key(rank), &block)?;
        if round % 5 == 0 {
            machine.barrier()?;
        }
    }
    Ok(())
}

/// The other ranks are in the collective when the root arrives, with messages of its own in between.
fn late_root(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let tag = Tag::new(5);
    for root in roots(size) {
        if rank == root {
            let time = machine.now() + TimeSpan::from_us(100);
            machine.wait_until(time);
            for to in (0..size).filter(|&to| to != root) {
                machine.send(to, tag, &contents(key(root, to, 9), 9))?;
            }
        }
        let mut data = if rank == root { contents(key(root, 0, 500), 500) } else { vec![0; 500] };
        machine.broadcast(root, &mut data)?;
        expect_contents("a late broadcast", key(root, 0, 500), &data)?;
        if rank != root {
            let mut buffer = [0; 9];
            machine.receive(Source::Rank(root), tag.into(), &mut buffer)?;
            expect_contents("a message before the broadcast", key(root, rank, 9), &buffer)?;
        }
    }
    Ok(())
}
