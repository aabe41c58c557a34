//! Operations that have not ended, found by their request and by their memory: an epoch of a window may have very many.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::c_int;

use super::{Access, Ends, Owner};
use crate::abi::*;
use crate::region::Region;

/// Memory that an operation uses.
pub(super) struct Memory {
    pub(super) region: Region,
    pub(super) access: Access,
    /// True if another operation uses it too. Then it is unknown whether one of them or the program changes it.
    pub(super) is_disputed: bool,
    /// Checksum of the contents when the operation was posted. They must not change before it has ended, nor memory that it
    /// writes before the call that completes it.
    sum: Option<u64>,
    pub(super) is_changed: bool,
}

/// An operation that has not ended.
pub(super) struct Posted {
    pub(super) owner: Owner,
    pub(super) site: u16,
    /// True if no other operation has the same request. A library may have one handle for all operations that had ended
    /// when they began. Then it is unknown which of them a call ends, and none is checked.
    pub(super) is_certain: bool,
    pub(super) memory: Vec<Memory>,
}

impl Memory {
    pub(super) fn new((region, access): (Region, Access)) -> Self {
        Memory { region, access, is_disputed: false, sum: None, is_changed: false }
    }

    /// Records the contents, which must not change from now on.
    pub(super) fn begin(&mut self) {
        if !self.is_disputed {
            self.sum = self.region.sum();
        }
    }

    pub(super) fn compare(&mut self) {
        self.is_changed |= self.sum.is_some() && self.region.sum() != self.sum;
    }

    /// Returns the first byte that both use and the number of such bytes, if one of the two writes.
    pub(super) fn conflict(&mut self, other: &mut Memory) -> Option<(usize, usize)> {
        if self.access == Access::Reads && other.access == Access::Reads {
            return None;
        }
        let common = self.region.common(&other.region)?;
        (self.is_disputed, other.is_disputed) = (true, true);
        Some(common)
    }
}

/// The operations, by numbers in the order in which they were posted.
#[derive(Default)]
pub(super) struct Pending {
    all: HashMap<u64, Posted>,
    next: u64,
    /// The operations of each request.
    of_request: BTreeSet<(Request, u64)>,
    /// The accesses to the memory of each rank of a window.
    of_window: BTreeSet<(Win, c_int, u64)>,
    read: Spans,
    written: Spans,
}

/// Pieces of memory by their first address, the operation and their index there: their ends.
#[derive(Default)]
struct Spans {
    ends: BTreeMap<(usize, u64, usize), usize>,
    /// Length of the longest one so far: none that reaches an address begins further before it.
    longest: usize,
}

impl Spans {
    /// Returns the pieces that may share bytes with those between two addresses.
    fn near(&self, start: usize, end: usize) -> impl Iterator<Item = (u64, usize)> {
        let all = self.ends.range((start.saturating_sub(self.longest), 0, 0)..(end, 0, 0));
        all.filter(move |&(_, &to)| to > start).map(|(&(_, number, index), _)| (number, index))
    }
}

impl Pending {
    fn spans(&mut self, access: Access) -> &mut Spans {
        match access {
            Access::Reads => &mut self.read,
            Access::Writes => &mut self.written,
        }
    }

    pub(super) fn insert(&mut self, posted: Posted) {
        let number = self.next;
        self.next += 1;
        for (index, memory) in posted.memory.iter().enumerate() {
            let (start, end) = (memory.region.start(), memory.region.end());
            let spans = self.spans(memory.access);
            spans.ends.insert((start, number, index), end);
            spans.longest = spans.longest.max(end - start);
        }
        let Owner { request, window } = posted.owner;
        if request != REQUEST_NULL {
            self.of_request.insert((request, number));
        }
        self.of_window.extend(window.map(|(win, rank)| (win, rank, number)));
        self.all.insert(number, posted);
    }

    fn remove(&mut self, number: u64) -> Option<Posted> {
        let posted = self.all.remove(&number)?;
        for (index, memory) in posted.memory.iter().enumerate() {
            self.spans(memory.access).ends.remove(&(memory.region.start(), number, index));
        }
        let Owner { request, window } = posted.owner;
        self.of_request.remove(&(request, number));
        if let Some((win, rank)) = window {
            self.of_window.remove(&(win, rank, number));
        }
        Some(posted)
    }

    /// Notes that it is unknown which of the operations of a request a call ends, if there is one already. Returns whether
    /// there is.
    pub(super) fn make_uncertain(&mut self, request: Request) -> bool {
        let mut is_known = false;
        self.each_of(Ends::Requests(&[request]), |posted| {
            (posted.is_certain, is_known) = (false, true);
        });
        is_known
    }

    /// Finds an operation whose memory a call must not use like this. Returns its place, what it does, and the first byte
    /// and the number of the bytes that both use.
    pub(super) fn conflict(&mut self, new: &mut Memory) -> Option<(u16, Access, usize, usize)> {
        let of_reads = (new.access == Access::Writes).then_some(&self.read);
        let (start, end) = (new.region.start(), new.region.end());
        for spans in [Some(&self.written), of_reads].into_iter().flatten() {
            for (number, index) in spans.near(start, end) {
                let old = self.all.get_mut(&number).filter(|old| old.is_certain);
                let Some(Posted { site, memory, .. }) = old else { continue };
                if let Some((at, bytes)) = new.conflict(&mut memory[index]) {
                    return Some((*site, memory[index].access, at, bytes));
                }
            }
        }
        None
    }

    fn of_request(&self, request: Request) -> impl Iterator<Item = u64> {
        self.of_request.range((request, 0)..=(request, u64::MAX)).map(|&(_, number)| number)
    }

    /// Returns the numbers of the operations that a call may complete.
    fn of(&self, ends: Ends<'_>) -> Vec<u64> {
        match ends {
            Ends::Requests(requests) => {
                requests.iter().flat_map(|&request| self.of_request(request)).collect()
            }
            Ends::Accesses(win, rank) => {
                let (first, last) = rank.map_or((c_int::MIN, c_int::MAX), |rank| (rank, rank));
                let found = self.of_window.range((win, first, 0)..=(win, last, u64::MAX));
                found.map(|&(_, _, number)| number).collect()
            }
        }
    }

    /// Calls a function with each of the operations that a call may complete.
    pub(super) fn each_of(&mut self, ends: Ends<'_>, mut each: impl FnMut(&mut Posted)) {
        for number in self.of(ends) {
            self.all.get_mut(&number).into_iter().for_each(&mut each);
        }
    }

    /// Removes the oldest operation of a request.
    pub(super) fn remove_one(&mut self, request: Request) -> Option<Posted> {
        let number = self.of_request(request).next()?;
        self.remove(number)
    }

    /// Removes the operations that a call completes.
    pub(super) fn remove_all(&mut self, ends: Ends<'_>) -> Vec<Posted> {
        let numbers = self.of(ends);
        numbers.into_iter().filter_map(|number| self.remove(number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use random::SplitMix64;

    use super::*;

    fn memory(start: usize, bytes: usize, access: Access) -> Memory {
        Memory::new((Region::new(std::iter::once(start..start + bytes).collect()), access))
    }

    fn drawn(random: &mut SplitMix64) -> (usize, usize, Access) {
        let access = if random.below(2) == 0 { Access::Reads } else { Access::Writes };
        (100 + random.below(60), 1 + random.below(12), access)
    }

    /// Posts and ends random operations, and looks for conflicts beside a list that is searched from end to end.
    #[test]
    fn conflicts_are_those_that_a_search_of_all_operations_finds() {
        for seed in 0..200 {
            let mut random = SplitMix64::new(seed);
            let mut pending = Pending::default();
            let mut list: Vec<(Request, usize, usize, Access)> = Vec::new();
            for step in 0..120 {
                let request = 1000 + random.below(30);
                let (start, bytes, access) = drawn(&mut random);
                match random.below(3) {
                    0 if list.iter().all(|one| one.0 != request) => {
                        let (owner, memory) =
                            (Owner::request(request), vec![memory(start, bytes, access)]);
                        pending.insert(Posted { owner, site: 0, is_certain: true, memory });
                        list.push((request, start, bytes, access));
                    }
                    1 => {
                        let ended = pending.remove_one(request).is_some();
                        assert_eq!(ended, list.iter().any(|one| one.0 == request), "seed {seed}");
                        list.retain(|one| one.0 != request);
                    }
                    _ => {
                        let expected = list.iter().any(|&(_, from, length, other)| {
                            let common = start.max(from) < (start + bytes).min(from + length);
                            common && (access, other) != (Access::Reads, Access::Reads)
                        });
                        let found = pending.conflict(&mut memory(start, bytes, access));
                        assert_eq!(found.is_some(), expected, "seed {seed}, step {step}");
                    }
                }
            }
        }
    }

    #[test]
    fn operations_of_a_window_end_by_its_rank_and_those_of_one_handle_are_uncertain() {
        let mut pending = Pending::default();
        let mut post = |request, window| {
            let is_certain = !pending.make_uncertain(request);
            let memory = vec![memory(100, 8, Access::Reads)];
            pending.insert(Posted {
                owner: Owner { request, window },
                site: 0,
                is_certain,
                memory,
            });
            is_certain
        };
        assert!(post(REQUEST_NULL, Some((7, 0))));
        assert!(post(REQUEST_NULL, Some((7, 1))));
        assert!(post(REQUEST_NULL, Some((8, 1))));
        assert!(post(50, None));
        assert!(!post(50, None));
        assert_eq!(pending.remove_all(Ends::Accesses(7, Some(1))).len(), 1);
        assert_eq!(pending.remove_all(Ends::Accesses(7, None)).len(), 1);
        let both = [pending.remove_one(50), pending.remove_one(50)];
        assert!(both.iter().all(|one| one.as_ref().is_some_and(|one| !one.is_certain)));
        assert!(pending.remove_one(50).is_none());
        assert_eq!(pending.remove_all(Ends::Accesses(8, None)).len(), 1);
        assert!(pending.all.is_empty() && pending.read.ends.is_empty());
        assert!(pending.of_request.is_empty() && pending.of_window.is_empty());
    }
}
