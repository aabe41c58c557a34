//! The segment of ranks that are threads of a test.

use std::thread;

use launcher::Seat;

use super::{Segment, room};

/// Runs `act` as each of so many ranks, and returns what each returns.
pub(crate) fn in_threads<R: Send>(ranks: usize, act: impl Fn(Segment) -> R + Sync) -> Vec<R> {
    let memory = Seat::memory_in_this_process(ranks, room(ranks)).unwrap();
    let (memory, act) = (&memory, &act);
    thread::scope(|scope| {
        let start = |rank| {
            scope.spawn(move || {
                let seat = Seat::in_this_process(memory.try_clone().unwrap(), rank).unwrap();
                act(Segment::of(seat).unwrap())
            })
        };
        let ranks: Vec<_> = (0..ranks).map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}
