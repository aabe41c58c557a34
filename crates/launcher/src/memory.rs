//! The shared memory of a run: the page of the run, the pages of the ranks, the job, the room of the fabric, and the
//! arenas of the ranks. Only the fabric knows what is in its room.

#[cfg(loom)]
mod in_model;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

use crate::arena;
use crate::layout::{Layout, Room};
use crate::page::{Bell, Choices, RankPage, RunPage};
use crate::sleep;
use crate::system::{self, PAGE_BYTES, map_shared};

/// The mapped memory. It stays mapped until the process ends or the value is dropped.
pub(crate) struct RunMemory {
    base: NonNull<u8>,
    layout: Layout,
    file: OwnedFd,
    /// Address of the ranks' arenas in this process. They stay mapped: the program's own memory is among them.
    arenas: Option<NonNull<u8>>,
    /// A bell for each rank if ranks sleep on descriptors; otherwise empty.
    bells: Vec<Bell>,
}

// SAFETY: the mapping belongs to the process, not to a thread. Everything in it is accessed through atomics, or by the
// fabric, whose types say themselves what they share.
unsafe impl Send for RunMemory {}
// SAFETY: as above.
unsafe impl Sync for RunMemory {}

impl RunMemory {
    /// Creates the memory of `ranks` ranks that holds `job` and the room of the fabric.
    pub(crate) fn create(
        ranks: usize,
        job: &[u8],
        room: Room,
        choices: Choices,
    ) -> io::Result<Self> {
        let layout = Layout::new(ranks, job.len(), room);
        let whole = layout.arenas_offset() + ranks * layout.arena_bytes();
        // A limit on the size of files may forbid the arenas. Everything works without them, but more slowly.
        let (file, arenas) = match system::memory_file(whole) {
            Ok(file) => (file, true),
            Err(_) => (system::memory_file(layout.arenas_offset())?, false),
        };
        let choices = Choices { arenas, ..choices };
        let base = map_shared(file.as_fd(), 0, layout.arenas_offset())?;
        let memory = RunMemory { base, layout, file, arenas: None, bells: Vec::new() };
        // SAFETY: the layout reserves `job.len()` bytes there, and no rank has been started yet.
        unsafe {
            let place = base.as_ptr().add(memory.layout.job_offset());
            std::ptr::copy_nonoverlapping(job.as_ptr(), place, job.len());
        }
        memory.run_page().initialise(&memory.layout, choices);
        Ok(memory)
    }

    /// Maps the memory behind `file`, which the launcher passed on, together with the ranks' bells or none.
    pub(crate) fn open(file: OwnedFd, bells: Vec<Bell>) -> Result<Self, String> {
        let failed = |error: io::Error| format!("the shared memory cannot be mapped: {error}");
        let page = map_shared(file.as_fd(), 0, PAGE_BYTES).map_err(failed)?;
        // SAFETY: the page was just mapped, and it is plain atomics, for which any bits are values.
        let checked = unsafe { page.cast::<RunPage>().as_ref() }.check();
        // SAFETY: nothing refers to the page any more.
        unsafe { libc::munmap(page.as_ptr().cast(), PAGE_BYTES) };
        let layout = checked?;
        if ![0, layout.ranks()].contains(&bells.len()) {
            return Err(format!("{} bells for {} ranks", bells.len(), layout.ranks()));
        }
        let base = map_shared(file.as_fd(), 0, layout.arenas_offset()).map_err(failed)?;
        Ok(RunMemory { base, layout, file, arenas: None, bells })
    }

    /// Maps the arenas of all ranks, and lets this process allocate from that of `rank`. A limit on addresses may
    /// forbid that; then this rank sees no arena and has none.
    pub(crate) fn open_arenas(&mut self, rank: usize) {
        let (each, all) = (self.layout.arena_bytes(), self.layout.arena_bytes() * self.ranks());
        if !self.run_page().choices().arenas {
            return;
        }
        let Ok(base) = map_shared(self.file.as_fd(), self.layout.arenas_offset(), all) else {
            return;
        };
        self.arenas = Some(base);
        // SAFETY: the whole range was just mapped.
        unsafe {
            // Not included in core files, which would hold every rank's memory once for each rank. Failure is harmless.
            libc::madvise(base.as_ptr().cast(), all, libc::MADV_DONTDUMP);
            arena::open(base.as_ptr().add(rank * each), each);
        }
    }

    pub(crate) fn has_arenas(&self) -> bool {
        self.arenas.is_some()
    }

    /// Returns the offset in the arenas of the `bytes` bytes at `memory`, if they lie there.
    #[inline]
    pub(crate) fn offset_in_arenas(&self, memory: *const u8, bytes: usize) -> Option<usize> {
        let all = self.layout.arena_bytes() * self.ranks();
        let offset = (memory as usize).wrapping_sub(self.arenas?.as_ptr() as usize);
        (offset < all && bytes <= all - offset).then_some(offset)
    }

    /// Returns the memory at that offset in the arenas, if `bytes` bytes lie in them.
    #[inline]
    pub(crate) fn at_offset(&self, offset: usize, bytes: usize) -> Option<NonNull<u8>> {
        let all = self.layout.arena_bytes() * self.ranks();
        let inside = offset <= all && bytes <= all - offset;
        // SAFETY: just checked; the arenas are one mapping.
        self.arenas.filter(|_| inside).map(|base| unsafe { base.add(offset) })
    }

    #[inline]
    pub(crate) fn ranks(&self) -> usize {
        self.layout.ranks()
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns where the room of the fabric begins, and how long and of which layout it is.
    pub(crate) fn room(&self) -> (NonNull<u8>, Room) {
        // SAFETY: the layout has it inside the mapping.
        (unsafe { self.base.add(self.layout.room_offset()) }, self.layout.room())
    }

    #[inline]
    pub(crate) fn run_page(&self) -> &RunPage {
        // SAFETY: it is the first thing in the mapping, page-aligned, and all atomics.
        unsafe { self.base.cast::<RunPage>().as_ref() }
    }

    /// Returns the page of one rank.
    #[inline]
    pub(crate) fn rank_page(&self, rank: usize) -> &RankPage {
        let offset = self.layout.rank_page_offset(rank);
        // SAFETY: `rank_page_offset` checks the rank and gives a page-aligned place inside the mapping; pages are all
        // atomics.
        unsafe { self.base.add(offset).cast::<RankPage>().as_ref() }
    }

    /// Returns the bytes that the launcher stored for every rank.
    pub(crate) fn job(&self) -> &[u8] {
        // SAFETY: written before any rank was started and never again.
        unsafe {
            std::slice::from_raw_parts(
                self.base.as_ptr().add(self.layout.job_offset()),
                self.layout.job_bytes(),
            )
        }
    }

    /// Wakes every rank that sleeps, so that it checks the state of the run.
    pub(crate) fn wake_all(&self) {
        (0..self.ranks()).for_each(|rank| self.wake_if_asleep(rank));
    }

    /// Wakes a rank if it sleeps or is about to. The caller has just published what that rank waits for.
    #[inline]
    pub(crate) fn wake_if_asleep(&self, rank: usize) {
        sleep::wake_if_asleep(self.rank_page(rank).sleep_word(), |word| match self.bell(rank) {
            None => sleep::wake_sleeper(word),
            Some(bell) => bell.ring(),
        });
    }

    /// Returns the bell of a rank, if ranks have them.
    pub(crate) fn bell(&self, rank: usize) -> Option<&Bell> {
        self.bells.get(rank)
    }

    /// Creates a bell for each rank.
    pub(crate) fn make_bells(&mut self) -> io::Result<()> {
        self.bells = (0..self.ranks()).map(|_| Bell::new()).collect::<io::Result<_>>()?;
        Ok(())
    }

    pub(crate) fn bells(&self) -> &[Bell] {
        &self.bells
    }
}

impl Drop for RunMemory {
    fn drop(&mut self) {
        // A model keeps its memory.
        #[cfg(not(loom))]
        // SAFETY: everything that points into the mapping borrows it or lies beside it in the fabric's engine, which
        // drops it last.
        unsafe {
            libc::munmap(self.base.as_ptr().cast(), self.layout.arenas_offset())
        };
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    const CHOICES: Choices =
        Choices { every_rank_has_a_processor: true, cross_memory_attach: false, arenas: false };

    #[test]
    fn a_second_mapping_sees_the_job_the_room_and_the_choices() {
        let room = Room { bytes: 100, layout: 7 };
        let memory = RunMemory::create(3, b"seven", room, CHOICES).unwrap();
        let again =
            RunMemory::open(memory.file().try_clone_to_owned().unwrap(), Vec::new()).unwrap();
        assert_eq!(again.ranks(), 3);
        assert_eq!(again.job(), b"seven");
        assert_eq!(again.room().1, room);
        assert!(again.run_page().choices().every_rank_has_a_processor);
    }

    #[test]
    fn memory_of_another_build_is_refused_with_a_remedy() {
        for change in [RunPage::pretend_other_version, RunPage::pretend_other_layout] {
            let memory = RunMemory::create(2, b"job", Room::NONE, CHOICES).unwrap();
            change(memory.run_page());
            let again = RunMemory::open(memory.file().try_clone_to_owned().unwrap(), Vec::new());
            assert!(again.is_err_and(|why| why.contains("from the same sources")));
        }
    }

    #[test]
    fn memory_that_is_no_segment_is_refused() {
        let file = system::memory_file(8192).unwrap();
        assert!(RunMemory::open(file, Vec::new()).is_err_and(|why| why.contains("not a segment")));
    }
}
