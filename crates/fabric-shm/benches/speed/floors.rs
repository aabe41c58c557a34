//! Lower bounds that the machine sets, measured without the fabric's messages.

use std::hint::black_box;
use std::sync::atomic::Ordering;

use contract::{Buffer, Error, Rank, Result, SharedLine};

fn line(rank: &dyn Rank) -> Result<&dyn SharedLine> {
    rank.shared_line().ok_or_else(|| Error::Program("no shared line".into()))
}

/// Returns the time in nanoseconds to move one cache line from core to core: half a round trip of two ranks that write
/// to one word.
pub(crate) fn hand_over_ns(rank: &mut dyn Rank, trips: u32) -> Result<f64> {
    rank.barrier()?;
    let word = line(rank)?.word(0);
    if rank.rank() == 0 {
        word.store(0, Ordering::Release);
    }
    rank.barrier()?;
    let word = line(rank)?.word(0);
    let mine = rank.rank() as u64;
    let start = rank.now();
    for trip in 0..u64::from(trips) {
        while word.load(Ordering::Acquire) != 2 * trip + mine {
            std::hint::spin_loop();
        }
        word.store(2 * trip + mine + 1, Ordering::Release);
    }
    let ns = rank.now().since(start).as_ns() / f64::from(2 * trips);
    rank.barrier()?;
    Ok(ns)
}

/// Returns the time in nanoseconds of one copy of `bytes` bytes by one core, repeated between the same two places.
pub(crate) fn copy_ns(rank: &dyn Rank, bytes: usize) -> f64 {
    let source = Buffer::from_bytes(&vec![1; bytes]);
    let mut target = Buffer::zeroed(bytes);
    let times = ((8 << 20) / bytes).clamp(3, 50);
    target.copy_from_slice(black_box(&source));
    let start = rank.now();
    for _ in 0..times {
        target.copy_from_slice(black_box(&source));
        black_box(&mut target);
    }
    rank.now().since(start).as_ns() / times as f64
}

/// Returns the time in nanoseconds for a process to wake another on the same core and to sleep itself.
pub(crate) fn process_switch_ns(rank: &mut dyn Rank, trips: u32) -> Result<f64> {
    rank.barrier()?;
    let word = line(rank)?.word(1);
    if rank.rank() == 0 {
        word.store(0, Ordering::SeqCst);
    }
    rank.barrier()?;
    let mine = rank.rank() as u64;
    let shared = line(rank)?;
    let word = shared.word(1);
    let start = rank.now();
    for trip in 0..u64::from(trips) {
        loop {
            let seen = word.load(Ordering::SeqCst);
            if seen == 2 * trip + mine {
                break;
            }
            shared.sleep_while(1, seen);
        }
        word.store(2 * trip + mine + 1, Ordering::SeqCst);
        shared.wake(1);
    }
    let ns = rank.now().since(start).as_ns() / f64::from(2 * trips);
    rank.barrier()?;
    Ok(ns)
}
