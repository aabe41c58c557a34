//! The segment of a model: in ordinary memory, which the ranks share as threads.

use std::alloc::Layout as Memory;
use std::cell::Cell as Once;
use std::fs::File;
use std::ptr::NonNull;

use super::{Choices, Header, Layout, RankBlock, Segment, State};
use crate::board::Board;
use crate::primitive::{Fresh, begin_execution, watch};
use crate::ring::{Cell, Credit, LINE_BYTES};
use crate::system::PAGE_BYTES;

thread_local! {
    /// The memory of all executions of a test's models. It is never freed.
    static MEMORY: Once<Option<NonNull<u8>>> = const { Once::new(None) };
}

impl Segment {
    /// Begins an execution: creates the segment of ranks that have joined and that are bound to these processors, or to
    /// none. Returns a handle for each rank.
    pub(crate) fn of_model(
        processors: &[Option<u32>],
        every_rank_has_a_processor: bool,
    ) -> Vec<Segment> {
        begin_execution();
        let layout = Layout::new(processors.len(), 0);
        let base = MEMORY.get().unwrap_or_else(|| allocate(layout.segment_bytes()));
        MEMORY.set(Some(base));
        let handle = |_: &Option<u32>| Segment {
            base,
            layout: layout.clone(),
            memory: File::open("/dev/null").expect("every system has it").into(),
            arenas: None,
            bells: Vec::new(),
        };
        let segments: Vec<Segment> = processors.iter().map(handle).collect();
        segments[0].begin(every_rank_has_a_processor);
        for (rank, &processor) in processors.iter().enumerate() {
            let block = segments[0].block(rank);
            block.set_process(std::process::id());
            block.processors().set_bound(processor);
            block.set_state(State::Alive);
        }
        segments
    }

    /// Writes everything as it is in memory that was just mapped.
    fn begin(&self, every_rank_has_a_processor: bool) {
        assert!(size_of::<Header>() == PAGE_BYTES && size_of::<RankBlock>() == PAGE_BYTES);
        let ranks = 0..self.ranks();
        // SAFETY: the layout has each of them there, and nobody uses the memory yet.
        unsafe {
            self.base.write_bytes(0, self.layout.segment_bytes());
            self.base.cast::<Header>().write(Fresh::fresh());
            for rank in ranks.clone() {
                let block = self.base.add(self.layout.block_offset(rank));
                block.cast::<RankBlock>().write(Fresh::fresh());
                let board = self.board(rank).cast_mut();
                board.write(Board::fresh());
                (*board).watch();
            }
            for (sender, receiver) in
                ranks.clone().flat_map(|rank| ranks.clone().map(move |to| (rank, to)))
            {
                let ring = self.ring(sender, receiver);
                ring.credit.cast_mut().write(Credit::fresh());
                for cell in 0..ring.cell_count as usize {
                    ring.cells.cast_mut().add(cell).write(Cell::fresh());
                }
                watch(ring.lines.start, ring.lines.line_count as usize * LINE_BYTES);
            }
        }
        let arenas = false;
        let cross_memory_attach = false;
        let choices = Choices { every_rank_has_a_processor, cross_memory_attach, arenas };
        self.header().initialise(&self.layout, choices);
    }
}

fn allocate(bytes: usize) -> NonNull<u8> {
    let layout = Memory::from_size_align(bytes, PAGE_BYTES).expect("a short segment");
    // SAFETY: the length is not zero.
    NonNull::new(unsafe { std::alloc::alloc(layout) }).expect("memory for a model")
}
