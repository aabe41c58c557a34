//! The seats of a model.

use std::fs::File;

use super::{Reporter, Seat};
use crate::clock::{ClockParameters, RunClock};
use crate::layout::Room;
use crate::memory::RunMemory;

impl Seat {
    /// Begins an execution: returns the seats of ranks that have joined and that are bound to these processors, or to
    /// none.
    pub fn of_model(
        processors: &[Option<u32>],
        every_rank_has_a_processor: bool,
        room: Room,
    ) -> Vec<Seat> {
        let memory = RunMemory::of_model(processors, every_rank_has_a_processor, room);
        let seat = |(rank, memory)| {
            let nowhere = File::open("/dev/null").expect("every system has it");
            let clock = ClockParameters {
                counter: false,
                epoch: 0,
                ps_per_tick_scaled: 0,
                resolution_ps: 0,
            };
            let seat =
                Seat::new(memory, rank, RunClock::new(clock), None, Reporter::new(nowhere.into()));
            // The end of a thread is not that of a rank.
            seat.has_ended.set(true);
            seat
        };
        memory.into_iter().enumerate().map(seat).collect()
    }
}
