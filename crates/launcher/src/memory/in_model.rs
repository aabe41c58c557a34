//! The memory of a model: ordinary memory, which the ranks share as threads.

use std::alloc::Layout as Memory;
use std::cell::Cell as Once;
use std::fs::File;
use std::ptr::NonNull;

use super::RunMemory;
use crate::layout::{Layout, Room};
use crate::page::{Choices, RankPage, RunPage, State};
use crate::primitive::{Fresh, begin_execution};
use crate::system::PAGE_BYTES;

thread_local! {
    /// The memory of all executions of a test's models, and its length. It is never freed.
    static MEMORY: Once<Option<(NonNull<u8>, usize)>> = const { Once::new(None) };
}

impl RunMemory {
    /// Begins an execution: creates the memory of ranks that have joined and that are bound to these processors, or to
    /// none. Returns a handle for each rank.
    pub(crate) fn of_model(
        processors: &[Option<u32>],
        every_rank_has_a_processor: bool,
        room: Room,
    ) -> Vec<RunMemory> {
        begin_execution();
        let layout = Layout::new(processors.len(), 0, room);
        let bytes = layout.arenas_offset();
        let kept = MEMORY.get().filter(|(_, length)| *length >= bytes);
        let base = kept.map_or_else(|| allocate(bytes), |(base, _)| base);
        MEMORY.set(Some(kept.unwrap_or((base, bytes))));
        let handle = |_: &Option<u32>| RunMemory {
            base,
            layout: layout.clone(),
            file: File::open("/dev/null").expect("every system has it").into(),
            arenas: None,
            bells: Vec::new(),
        };
        let handles: Vec<RunMemory> = processors.iter().map(handle).collect();
        handles[0].begin(every_rank_has_a_processor);
        for (rank, &processor) in processors.iter().enumerate() {
            let page = handles[0].rank_page(rank);
            page.set_process(std::process::id());
            page.processors().set_bound(processor);
            page.set_state(State::Alive);
        }
        handles
    }

    /// Writes everything as it is in memory that was just mapped.
    fn begin(&self, every_rank_has_a_processor: bool) {
        assert!(size_of::<RunPage>() == PAGE_BYTES && size_of::<RankPage>() == PAGE_BYTES);
        // SAFETY: the layout has each of them there, and nobody uses the memory yet.
        unsafe {
            self.base.write_bytes(0, self.layout.arenas_offset());
            write_fresh(self.base.cast::<RunPage>());
            for rank in 0..self.ranks() {
                let page = self.base.add(self.layout.rank_page_offset(rank));
                write_fresh(page.cast::<RankPage>());
            }
        }
        let choices =
            Choices { every_rank_has_a_processor, cross_memory_attach: false, arenas: false };
        self.run_page().initialise(&self.layout, choices);
    }
}

/// Writes a fresh page. Not inlined, because the threads of a model have little stack.
///
/// # Safety
/// `place` is valid for writes, and nobody uses it yet.
#[inline(never)]
unsafe fn write_fresh<T: Fresh>(place: NonNull<T>) {
    // SAFETY: the caller promises the same.
    unsafe { place.write(T::fresh()) };
}

fn allocate(bytes: usize) -> NonNull<u8> {
    let layout = Memory::from_size_align(bytes, PAGE_BYTES).expect("a short segment");
    // SAFETY: the length is not zero.
    NonNull::new(unsafe { std::alloc::alloc(layout) }).expect("memory for a model")
}
