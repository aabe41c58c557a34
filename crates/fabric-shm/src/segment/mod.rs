//! The shared memory of a run: its contents, its creation, and its mapping by a rank.

mod abort;
mod bell;
mod call;
mod header;
mod help;
#[cfg(all(test, loom))]
mod in_model;
mod layout;
mod processors;
mod wait_note;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

pub(crate) use bell::Bell;
pub(crate) use header::{CmaVote, Header, RankBlock, SharedWords, State};
pub(crate) use help::{HELP_SLOTS, HelpSlot};
pub(crate) use layout::Layout;
pub use layout::MAXIMUM_RANKS;
pub use wait_note::PollState;
pub(crate) use wait_note::{Answer, AnsweredWait, CALLERS_MAX, LongWait, place_mark, split_place};

use crate::arena;
use crate::board::Board;
use crate::ring::{ByteRing, Place};
use crate::system::{self, PAGE_BYTES, map_shared};
use crate::wait;

/// The launcher's decisions for a whole run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices {
    /// Every rank has a processor to itself, so ranks may spin.
    pub(crate) every_rank_has_a_processor: bool,
    /// Ranks may copy from and to each other's memory through the kernel if it permits that.
    pub(crate) cross_memory_attach: bool,
    /// There are addresses for arenas.
    pub(crate) arenas: bool,
}

/// The mapped segment. It stays mapped until the process ends or the value is dropped.
pub(crate) struct Segment {
    base: NonNull<u8>,
    layout: Layout,
    memory: OwnedFd,
    /// Address of the ranks' arenas in this process. They stay mapped: the program's own memory is among them.
    arenas: Option<NonNull<u8>>,
    /// A bell for each rank if ranks sleep on descriptors; otherwise empty.
    bells: Vec<Bell>,
}

// SAFETY: the mapping belongs to the process, not to a thread. Everything in it is accessed through atomics, or through
// the ends of rings, which are not shared themselves.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Creates a segment for `ranks` ranks that holds `job`.
    pub(crate) fn create(ranks: usize, job: &[u8], choices: Choices) -> io::Result<Self> {
        let layout = Layout::new(ranks, job.len());
        let whole = layout.arenas_offset() + ranks * layout.arena_bytes();
        // A limit on the size of files may forbid the arenas. Everything works without them, but more slowly.
        let (memory, arenas) = match system::memory_file(whole) {
            Ok(memory) => (memory, true),
            Err(_) => (system::memory_file(layout.segment_bytes())?, false),
        };
        let choices = Choices { arenas, ..choices };
        let base = map_shared(memory.as_fd(), 0, layout.segment_bytes())?;
        let segment = Segment { base, layout, memory, arenas: None, bells: Vec::new() };
        // SAFETY: the layout reserves `job.len()` bytes there, and no rank has been started yet.
        unsafe {
            let place = base.as_ptr().add(segment.layout.job_offset());
            std::ptr::copy_nonoverlapping(job.as_ptr(), place, job.len());
        }
        segment.header().initialise(&segment.layout, choices);
        Ok(segment)
    }

    /// Maps the segment behind `memory`, which the launcher passed on, together with the ranks' bells or none.
    pub(crate) fn open(memory: OwnedFd, bells: Vec<Bell>) -> Result<Self, String> {
        let failed = |error: io::Error| format!("the shared memory cannot be mapped: {error}");
        let page = map_shared(memory.as_fd(), 0, PAGE_BYTES).map_err(failed)?;
        // SAFETY: the page was just mapped, and a header is plain atomics, for which any bits are values.
        let checked = unsafe { page.cast::<Header>().as_ref() }.check();
        // SAFETY: nothing refers to the page any more.
        unsafe { libc::munmap(page.as_ptr().cast(), PAGE_BYTES) };
        let layout = checked?;
        if ![0, layout.ranks()].contains(&bells.len()) {
            return Err(format!("{} bells for {} ranks", bells.len(), layout.ranks()));
        }
        let base = map_shared(memory.as_fd(), 0, layout.segment_bytes()).map_err(failed)?;
        Ok(Segment { base, layout, memory, arenas: None, bells })
    }

    /// Maps the arenas of all ranks, and lets this process allocate from that of `rank`. A limit on addresses may
    /// forbid that; then this rank sees no arena and has none.
    pub(crate) fn open_arenas(&mut self, rank: usize) {
        let (each, all) = (self.layout.arena_bytes(), self.layout.arena_bytes() * self.ranks());
        if !self.header().choices().arenas {
            return;
        }
        let Ok(base) = map_shared(self.memory.as_fd(), self.layout.arenas_offset(), all) else {
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
    pub(crate) fn at_offset(&self, offset: usize, bytes: usize) -> Option<*mut u8> {
        let all = self.layout.arena_bytes() * self.ranks();
        let inside = offset <= all && bytes <= all - offset;
        self.arenas.filter(|_| inside).map(|base| base.as_ptr().wrapping_add(offset))
    }

    /// Copies from an arena of any rank.
    ///
    /// # Safety
    /// `to` has room for `bytes`, and the owner of the place does not change it meanwhile.
    pub(crate) unsafe fn copy_from_arenas(&self, offset: usize, to: *mut u8, bytes: usize) {
        let from = self.in_arenas(offset, bytes);
        // SAFETY: `in_arenas` checks the range; the caller promises the rest.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    }

    /// Copies into an arena of any rank.
    ///
    /// # Safety
    /// `from` holds `bytes`, and the owner of the place expects them.
    pub(crate) unsafe fn copy_to_arenas(&self, from: *const u8, offset: usize, bytes: usize) {
        let to = self.in_arenas(offset, bytes);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    }

    fn in_arenas(&self, offset: usize, bytes: usize) -> *mut u8 {
        let all = self.layout.arena_bytes() * self.ranks();
        let base = self.arenas.expect("only a rank that has mapped the arenas comes here");
        assert!(offset <= all && bytes <= all - offset, "a place outside the arenas");
        // SAFETY: just checked.
        unsafe { base.as_ptr().add(offset) }
    }

    pub(crate) fn ranks(&self) -> usize {
        self.layout.ranks()
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn memory(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the header is the first thing in the mapping, page-aligned, and all atomics.
        unsafe { self.base.cast::<Header>().as_ref() }
    }

    /// Returns the block of one rank.
    pub(crate) fn block(&self, rank: usize) -> &RankBlock {
        let offset = self.layout.block_offset(rank);
        // SAFETY: `block_offset` checks the rank and gives a page-aligned place inside the mapping; blocks
        // are all atomics.
        unsafe { self.base.add(offset).cast::<RankBlock>().as_ref() }
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

    /// Returns the ring from `sender` to `receiver`.
    pub(crate) fn ring(&self, sender: usize, receiver: usize) -> Place {
        let ring = self.layout.ring(sender, receiver);
        // SAFETY: `Layout::ring` checks both ranks and gives line-aligned offsets inside the mapping.
        unsafe {
            let base = self.base.as_ptr();
            Place {
                credit: base.add(ring.credit).cast(),
                cells: base.add(ring.cells).cast(),
                cell_count: self.layout.cells_per_ring(),
                lines: ByteRing {
                    start: base.add(ring.bytes),
                    line_count: self.layout.lines_per_ring(),
                },
            }
        }
    }

    /// Returns a rank's board for the collectives of all ranks.
    pub(crate) fn board(&self, rank: usize) -> *const Board {
        // SAFETY: the layout checks the rank and gives a page-aligned place inside the mapping.
        unsafe { self.base.add(self.layout.board_offset(rank)) }.cast::<Board>().as_ptr()
    }

    /// Wakes every rank that sleeps, so that it checks the state of the run.
    pub(crate) fn wake_all(&self) {
        (0..self.ranks()).for_each(|rank| self.wake_if_asleep(rank));
    }

    /// Wakes a rank if it sleeps or is about to. The caller has just published what that rank waits for.
    #[inline]
    pub(crate) fn wake_if_asleep(&self, rank: usize) {
        wait::wake_if_asleep(self.block(rank).sleep_word(), |word| match self.bell(rank) {
            None => wait::wake_sleeper(word),
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

impl Drop for Segment {
    fn drop(&mut self) {
        // A model keeps its memory.
        #[cfg(not(loom))]
        // SAFETY: everything that points into the mapping borrows the segment or lives beside it in the engine, which
        // drops it last.
        unsafe {
            libc::munmap(self.base.as_ptr().cast(), self.layout.segment_bytes())
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
    fn a_second_mapping_sees_the_job_and_the_choices() {
        let segment = Segment::create(3, b"seven", CHOICES).unwrap();
        let again =
            Segment::open(segment.memory().try_clone_to_owned().unwrap(), Vec::new()).unwrap();
        assert_eq!(again.ranks(), 3);
        assert_eq!(again.job(), b"seven");
        assert!(again.header().choices().every_rank_has_a_processor);
    }

    #[test]
    fn all_ranks_follow_the_majority_if_it_is_possible_for_all() {
        use CmaVote::{Fast, Impossible, Slow};
        let cases: [(&[CmaVote], CmaVote); 6] = [
            (&[Fast, Slow, Fast], Fast),
            (&[Slow, Slow, Fast], Slow),
            (&[Fast, Fast, Impossible], Impossible),
            (&[Slow, Slow, Slow], Slow),
            (&[Fast, Slow], Slow),
            (&[Fast, Fast], Fast),
        ];
        for (votes, expected) in cases {
            let ranks = votes.len();
            let segment = Segment::create(ranks, &[], CHOICES).unwrap();
            let header = segment.header();
            let found: Vec<CmaVote> = std::thread::scope(|scope| {
                let vote = |&own| scope.spawn(move || header.vote_on_cma(own, ranks));
                let cast: Vec<_> = votes.iter().map(vote).collect();
                cast.into_iter().map(|rank| rank.join().unwrap()).collect()
            });
            assert_eq!(found, vec![expected; ranks], "{votes:?}");
        }
    }

    #[test]
    fn a_segment_of_another_build_is_refused_with_a_remedy() {
        for change in [Header::pretend_other_version, Header::pretend_other_layout] {
            let segment = Segment::create(2, b"job", CHOICES).unwrap();
            change(segment.header());
            let again = Segment::open(segment.memory().try_clone_to_owned().unwrap(), Vec::new());
            assert!(again.is_err_and(|why| why.contains("from the same sources")));
        }
    }

    #[test]
    fn memory_that_is_no_segment_is_refused() {
        let memory = system::memory_file(8192).unwrap();
        assert!(Segment::open(memory, Vec::new()).is_err_and(|why| why.contains("not a segment")));
    }
}
