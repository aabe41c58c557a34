//! Checks whether the memory of operations is used by others, or changed, before they end.

mod pending;
mod stores;

use std::collections::HashMap;
use std::ffi::c_int;

use profile::FindingKind;
use profile::layout::{finding, head, start};

use crate::abi::*;
use crate::data::Data;
use crate::mapped::Mapped;
use crate::region::{Region, TypeMaps};
use pending::{Memory, Pending, Posted};
pub(crate) use stores::{Stored, Stores};

/// The use of memory by an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Reads,
    Writes,
}

/// Memory that an operation uses, in a communicator in which this rank exchanges data with `members`.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    pub(crate) data: Data,
    pub(crate) access: Access,
    pub(crate) members: u32,
}

impl Use {
    /// Creates the use of these data by a message.
    #[inline(always)]
    pub(crate) fn of(data: Data, access: Access) -> Self {
        Use { data, access, members: 1 }
    }
}

/// The event that ends an operation: the end of its request, or of the accesses to the memory of a rank of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) request: Request,
    pub(crate) window: Option<(Win, c_int)>,
}

impl Owner {
    pub(crate) fn request(request: Request) -> Self {
        Owner { request, window: None }
    }
}

/// The operations that a call may complete.
#[derive(Clone, Copy)]
pub(crate) enum Ends<'a> {
    /// Those of these requests.
    Requests(&'a [Request]),
    /// The accesses to the memory of a rank of a window, or of all its ranks.
    Accesses(Win, Option<c_int>),
}

/// All operations that have not ended.
#[derive(Default)]
pub(crate) struct Checks {
    pub(crate) types: TypeMaps,
    pending: Pending,
    /// The memory of persistent operations.
    prepared: HashMap<Request, Vec<(Region, Access)>>,
    /// True if the library leaves the memory that an operation writes as it is until a call completes the operation.
    is_synchronous: bool,
}

impl Checks {
    /// Sets whether the library writes results only in calls that complete their operations.
    pub(crate) fn set_synchronous(&mut self, is_synchronous: bool) {
        self.is_synchronous = is_synchronous;
    }

    /// Returns the memory of some uses, without empty uses and those with too many pieces.
    ///
    /// # Safety
    /// As [`TypeMaps::region`].
    unsafe fn memory(&mut self, uses: &[Use]) -> Vec<(Region, Access)> {
        let region = |one: &Use| {
            // SAFETY: the caller's.
            let region = unsafe { self.types.region(&one.data, one.members) }?;
            (!region.is_empty()).then_some((region, one.access))
        };
        uses.iter().filter_map(region).collect()
    }

    /// Checks memory that a call at a place has used.
    ///
    /// # Safety
    /// As [`TypeMaps::region`].
    pub(crate) unsafe fn used(&mut self, mapped: &mut Mapped, uses: &[Use], site: u16) {
        let mut memory = self.memory(uses).into_iter().map(Memory::new).collect::<Vec<_>>();
        self.compare(mapped, &mut memory, site);
    }

    /// Records and checks an operation that was posted at a place.
    ///
    /// # Safety
    /// As [`TypeMaps::region`].
    pub(crate) unsafe fn posted(
        &mut self,
        mapped: &mut Mapped,
        owner: Owner,
        uses: &[Use],
        site: u16,
    ) {
        let memory = self.memory(uses);
        self.post(mapped, owner, memory, site);
    }

    /// Records the creation of a persistent operation.
    ///
    /// # Safety
    /// As [`TypeMaps::region`].
    pub(crate) unsafe fn prepared(&mut self, request: Request, uses: &[Use]) {
        let memory = self.memory(uses);
        self.prepared.insert(request, memory);
    }

    /// Records and checks the start of a persistent operation at a place.
    pub(crate) fn restarted(&mut self, mapped: &mut Mapped, request: Request, site: u16) {
        if let Some(memory) = self.prepared.get(&request).cloned() {
            self.post(mapped, Owner::request(request), memory, site);
        }
    }

    fn post(
        &mut self,
        mapped: &mut Mapped,
        owner: Owner,
        memory: Vec<(Region, Access)>,
        site: u16,
    ) {
        if memory.is_empty() || owner == Owner::request(REQUEST_NULL) {
            return;
        }
        let is_certain = !self.pending.make_uncertain(owner.request);
        let mut memory: Vec<Memory> = memory.into_iter().map(Memory::new).collect();
        if is_certain {
            self.compare(mapped, &mut memory, site);
            let is_left = |one: &&mut Memory| one.access == Access::Reads || self.is_synchronous;
            memory.iter_mut().filter(is_left).for_each(Memory::begin);
        }
        self.pending.insert(Posted { owner, site, is_certain, memory });
    }

    /// Compares the memory of a call with that of operations that have not ended, and its parts with each other.
    fn compare(&mut self, mapped: &mut Mapped, memory: &mut [Memory], site: u16) {
        for index in 1..memory.len() {
            let (before, rest) = memory.split_at_mut(index);
            for old in before {
                if let Some((at, bytes)) = rest[0].conflict(old) {
                    record_finding(mapped, FindingKind::OwnOverlap, (site, site), at, bytes);
                }
            }
        }
        for new in memory {
            let Some((other, access, at, bytes)) = self.pending.conflict(new) else { continue };
            let kind = match (new.access, access) {
                (Access::Reads, _) => FindingKind::SendOverReceive,
                (_, Access::Reads) => FindingKind::ReceiveOverSend,
                _ => FindingKind::ReceivesOverlap,
            };
            record_finding(mapped, kind, (site, other), at, bytes);
        }
    }

    /// Compares the memory that operations write at the beginning of a call that may complete them: up to then the
    /// library has left it as it was.
    pub(crate) fn before(&mut self, ends: Ends<'_>) {
        self.pending.each_of(ends, |one| {
            let writes = |memory: &&mut Memory| memory.access == Access::Writes;
            one.memory
                .iter_mut()
                .filter(writes)
                .filter(|_| one.is_certain)
                .for_each(Memory::compare);
        });
    }

    /// Records the end of a request's operation.
    pub(crate) fn ended(&mut self, mapped: &mut Mapped, request: Request, site: u16) {
        // If several have the same handle, any of them may be removed, because none is checked.
        if let Some(ended) = self.pending.remove_one(request) {
            ended.end(mapped, site);
        }
    }

    /// Records the end of the accesses to the memory of a rank of a window, or of all its ranks.
    pub(crate) fn ended_accesses(
        &mut self,
        mapped: &mut Mapped,
        (win, rank): (Win, Option<c_int>),
        site: u16,
    ) {
        let ended = self.pending.remove_all(Ends::Accesses(win, rank));
        ended.into_iter().for_each(|one| one.end(mapped, site));
    }

    /// Records that the program frees a request. Nobody can know any more when a receive under way has ended.
    pub(crate) fn freed(&mut self, mapped: &mut Mapped, request: Request, site: u16) {
        self.pending.each_of(Ends::Requests(&[request]), |posted| {
            let writes = |one: &&Memory| one.access == Access::Writes;
            let Some(memory) = posted.memory.iter().find(writes) else { return };
            if posted.is_certain && posted.owner.window.is_none() {
                let (at, bytes) = (memory.region.start(), memory.region.bytes());
                record_finding(mapped, FindingKind::ReceiveFreed, (site, posted.site), at, bytes);
            }
        });
    }

    /// Removes an operation without checking it.
    pub(crate) fn forget(&mut self, request: Request) {
        self.pending.remove_all(Ends::Requests(&[request]));
        self.prepared.remove(&request);
    }
}

impl Posted {
    /// Reports memory that was changed before the operation ended.
    fn end(self, mapped: &mut Mapped, site: u16) {
        let certain =
            self.memory.into_iter().filter(|memory| self.is_certain && !memory.is_disputed);
        for mut memory in certain {
            let kind = match memory.access {
                Access::Reads => {
                    memory.compare();
                    FindingKind::SendChanged
                }
                Access::Writes => FindingKind::ReceiveChanged,
            };
            if memory.is_changed {
                let Memory { region, .. } = memory;
                record_finding(mapped, kind, (site, self.site), region.start(), region.bytes());
            }
        }
    }
}

/// Records a mistake, or counts it if it was recorded before.
fn record_finding(
    mapped: &mut Mapped,
    kind: FindingKind,
    (site, other): (u16, u16),
    at: usize,
    bytes: usize,
) {
    let count = mapped.read(head::FINDINGS) as usize;
    let entry = |index: usize| start::FINDINGS + index * finding::WORDS;
    for index in 0..count {
        let same = |word: usize, value: u64| mapped.read(entry(index) + word) == value;
        if same(finding::KIND, kind as u64)
            && same(finding::SITE, site.into())
            && same(finding::OTHER, other.into())
        {
            return mapped.add(entry(index) + finding::TIMES, 1);
        }
    }
    if count == finding::MOST {
        return;
    }
    let words = [kind as u64, site.into(), other.into(), at as u64, bytes as u64, 1];
    for (index, word) in words.into_iter().enumerate() {
        mapped.write(entry(count) + index, word);
    }
    mapped.write(head::FINDINGS, count as u64 + 1);
}
