//! Checks that waiting for one of several messages allocates nothing after setup.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU64, Ordering};

use contract::{Buffer, Error, Rank, Result, Source, Tag, TagSelector};
use fabric_shm::launch_options;
use launcher::SharedAllocator;

use crate::harness::{Test, launch_and_gather};

/// Allocator of this program that counts allocations.
pub(crate) struct Counting;

/// Alone in its cell: nothing else is ordered by it.
static COUNT: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the allocator that this one stands for, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are those that the other asks for.
        unsafe { SharedAllocator.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as in `alloc`.
        unsafe { SharedAllocator.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { SharedAllocator.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as in `alloc`.
        unsafe { SharedAllocator.realloc(memory, layout, bytes) }
    }
}

const TAG: Tag = Tag::new(3);
/// Lengths in bytes: short, of several cells, and long enough for a rendezvous.
const SIZES: [usize; 3] = [8, 4096, 256 << 10];
const ROUNDS: usize = 200;

pub(crate) fn tests() -> Vec<Test> {
    let name = "messages/posting-and-waiting-for-any-allocates-nothing-once-set-up";
    vec![Test::new(name, || {
        let options = launch_options(2, b"allocations all".to_vec());
        launch_and_gather(&options).0.map_err(|error| error.to_string())
    })]
}

pub(crate) fn program(rank: &mut dyn Rank) -> Result<()> {
    let peer = 1 - rank.rank();
    let mut posted = Vec::with_capacity(2 * SIZES.len());
    let buffer = |bytes: &usize| Some(Buffer::zeroed(*bytes));
    let mut send: [Option<Buffer>; 3] = SIZES.each_ref().map(buffer);
    let mut receive: [Option<Buffer>; 3] = SIZES.each_ref().map(buffer);
    let place = |bytes: usize| SIZES.iter().position(|size| *size == bytes).unwrap_or(0);
    let mut before = 0;
    for round in 0..2 * ROUNDS {
        if round == ROUNDS {
            before = COUNT.load(Ordering::Relaxed);
        }
        for (index, buffer) in receive.iter_mut().enumerate() {
            let tag = TagSelector::Is(Tag::new(index as u32));
            let Some(buffer) = buffer.take() else { continue };
            posted.push(rank.post_receive(Source::Rank(peer), tag, buffer)?);
        }
        for (index, buffer) in send.iter_mut().enumerate() {
            let Some(buffer) = buffer.take() else { continue };
            posted.push(rank.post_send(peer, Tag::new(index as u32), buffer)?);
        }
        while !posted.is_empty() {
            let (_, completed) = rank.wait_any(&mut posted)?;
            let side = if completed.status.source == peer { &mut receive } else { &mut send };
            let at = place(completed.buffer.len());
            side[at] = Some(completed.buffer);
        }
        rank.send_receive((peer, TAG, &[]), (Source::Rank(peer), TagSelector::Is(TAG), &mut []))?;
    }
    match COUNT.load(Ordering::Relaxed) - before {
        0 => Ok(()),
        some => Err(Error::Program(format!("{some} allocations in {ROUNDS} rounds"))),
    }
}
