//! Whether the memory of operations is used by others, or changed, before they end.

mod watched;

use std::collections::HashMap;
use std::ffi::c_int;

use profile::FindingKind;
use profile::layout::{finding, head, start};

use crate::abi::*;
use crate::data::Data;
use crate::mapped::Mapped;
use crate::region::{Region, TypeMaps};

use watched::Watched;

/// How an operation uses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Reads,
    /// It may write any byte, and more than once.
    Writes,
    /// It receives a message, which writes each byte once at most.
    Receives,
}

/// Memory that an operation uses, in a communicator in which this rank exchanges data with `members`.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    pub(crate) data: Data,
    pub(crate) access: Access,
    pub(crate) members: u32,
}

impl Use {
    /// By a message of these data.
    #[inline(always)]
    pub(crate) fn of(data: Data, access: Access) -> Self {
        Use { data, access, members: 1 }
    }
}

/// What ends an operation: the end of its request, or of the accesses to the memory of a rank of a window.
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

/// A call that ends an operation: its place, and the bytes of the message if it was a receive.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) site: u16,
    pub(crate) received: usize,
}

/// Memory that an operation uses.
struct Memory {
    region: Region,
    access: Access,
    /// Whether another operation uses it too: then it is not known which of them, or the program, changes it.
    is_disputed: bool,
    /// The checksum of what is read, when it was posted.
    sum: Option<u64>,
    watched: Option<Watched>,
}

/// An operation that has not ended.
struct Posted {
    owner: Owner,
    site: u16,
    /// Whether the request is no other operation's. A library may have one handle for all that were over when they
    /// began; then it cannot be told which of them a call ends, and nothing is said of any.
    is_certain: bool,
    memory: Vec<Memory>,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Checks {
    pub(crate) types: TypeMaps,
    /// Those that only read, of which there may be very many in an epoch of a window, and those that write, too.
    reading: Vec<Posted>,
    writing: Vec<Posted>,
    /// The memory of operations that are prepared, to be started often.
    prepared: HashMap<Request, Vec<(Region, Access)>>,
}

impl Checks {
    /// The memory of some uses, without those that use none, or too much.
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

    /// A call at a place has used memory.
    ///
    /// # Safety
    /// As [`TypeMaps::region`].
    pub(crate) unsafe fn used(&mut self, mapped: &mut Mapped, uses: &[Use], site: u16) {
        let mut memory = self.memory(uses).into_iter().map(Memory::new).collect::<Vec<_>>();
        self.compare(mapped, &mut memory, site);
    }

    /// An operation was posted at a place.
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

    /// An operation was prepared.
    ///
    /// # Safety
    /// As [`TypeMaps::region`].
    pub(crate) unsafe fn prepared(&mut self, request: Request, uses: &[Use]) {
        let memory = self.memory(uses);
        self.prepared.insert(request, memory);
    }

    /// An operation that was prepared has been started at a place.
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
        let mut is_certain = true;
        if owner.request != REQUEST_NULL {
            let all = self.reading.iter_mut().chain(&mut self.writing);
            for old in all.filter(|old| old.owner.request == owner.request) {
                (old.is_certain, is_certain) = (false, false);
            }
        }
        let mut memory: Vec<Memory> = memory.into_iter().map(Memory::new).collect();
        if is_certain {
            self.compare(mapped, &mut memory, site);
            memory.iter_mut().for_each(Memory::begin);
        }
        let writes = memory.iter().any(|one| one.access != Access::Reads);
        let posted = Posted { owner, site, is_certain, memory };
        if writes { self.writing.push(posted) } else { self.reading.push(posted) }
    }

    /// Compares the memory of a call with that of operations that have not ended, and its parts with each other.
    fn compare(&mut self, mapped: &mut Mapped, memory: &mut [Memory], site: u16) {
        for index in 1..memory.len() {
            let (before, rest) = memory.split_at_mut(index);
            for old in before {
                if let Some((at, bytes)) = rest[0].conflict(old) {
                    tell(mapped, FindingKind::OwnOverlap, (site, site), at, bytes);
                }
            }
        }
        for new in memory {
            let writes = new.access != Access::Reads;
            let reading = if writes { &mut self.reading[..] } else { &mut [] };
            let all = self.writing.iter_mut().chain(reading);
            let certain = all.filter(|old| old.is_certain);
            let conflict = |old: &mut Posted| {
                let site = old.site;
                let found = old.memory.iter_mut().find_map(|old| {
                    let (at, bytes) = new.conflict(old)?;
                    Some((old.access, at, bytes))
                });
                found.map(|found| (site, found))
            };
            let first = certain.filter_map(conflict).next();
            let Some((other, (access, at, bytes))) = first else { continue };
            let kind = match (new.access, access) {
                (Access::Reads, _) => FindingKind::SendOverReceive,
                (_, Access::Reads) => FindingKind::ReceiveOverSend,
                _ => FindingKind::ReceivesOverlap,
            };
            tell(mapped, kind, (site, other), at, bytes);
        }
    }

    /// A call begins, which waits for some requests. Whatever has changed since the last one was not changed by it.
    pub(crate) fn before_call(&mut self, awaited: &[Request]) {
        for posted in self.writing.iter_mut().filter(|one| one.is_certain) {
            for memory in &mut posted.memory {
                if let Some(watched) = &mut memory.watched {
                    watched.call(&memory.region, awaited.contains(&posted.owner.request));
                }
            }
        }
    }

    /// The operation of a request has ended.
    pub(crate) fn ended(&mut self, mapped: &mut Mapped, request: Request, end: &dyn Fn() -> End) {
        let of_request = |one: &Posted| one.owner.request == request;
        if request == REQUEST_NULL {
            return;
        }
        // Of several with one handle it does not matter which: nothing is said of any.
        for list in [&mut self.reading, &mut self.writing] {
            if let Some(at) = list.iter().position(of_request) {
                return list.remove(at).end(mapped, end());
            }
        }
    }

    /// The accesses to the memory of a rank, or of all, of a window have ended.
    pub(crate) fn ended_accesses(
        &mut self,
        mapped: &mut Mapped,
        (win, rank): (Win, Option<c_int>),
        site: u16,
    ) {
        let is_of_it = |one: &mut Posted| {
            let of = one.owner.window;
            of.is_some_and(|(of, to)| of == win && rank.is_none_or(|rank| rank == to))
        };
        let mut ended: Vec<Posted> = self.reading.extract_if(.., is_of_it).collect();
        ended.extend(self.writing.extract_if(.., is_of_it));
        ended.into_iter().for_each(|one| one.end(mapped, End { site, received: 0 }));
    }

    /// Nothing is known of an operation any more.
    pub(crate) fn forget(&mut self, request: Request) {
        if request != REQUEST_NULL {
            self.reading.retain(|one| one.owner.request != request);
            self.writing.retain(|one| one.owner.request != request);
        }
        self.prepared.remove(&request);
    }
}

impl Memory {
    fn new((region, access): (Region, Access)) -> Self {
        Memory { region, access, is_disputed: false, sum: None, watched: None }
    }

    /// Notes the contents, which must not change from now on.
    fn begin(&mut self) {
        match self.access {
            _ if self.is_disputed => {}
            Access::Reads => self.sum = self.region.sum(),
            Access::Receives => self.watched = Watched::new(&self.region),
            Access::Writes => {}
        }
    }

    /// The bytes that both use, if one of the two writes: the first, and the number.
    fn conflict(&mut self, other: &mut Memory) -> Option<(usize, usize)> {
        if self.access == Access::Reads && other.access == Access::Reads {
            return None;
        }
        let common = self.region.common(&other.region)?;
        (self.is_disputed, other.is_disputed) = (true, true);
        Some(common)
    }
}

impl Posted {
    /// Tells whether its memory was changed before it ended.
    fn end(self, mapped: &mut Mapped, end: End) {
        let known = self.memory.into_iter().filter(|memory| self.is_certain && !memory.is_disputed);
        for Memory { region, sum, mut watched, .. } in known {
            let (at, bytes) = (region.start(), region.bytes());
            let sites = (end.site, self.site);
            if sum.is_some() && region.sum() != sum {
                tell(mapped, FindingKind::SendChanged, sites, at, bytes);
            }
            if watched.as_mut().is_some_and(|one| one.was_changed(&region, end.received)) {
                tell(mapped, FindingKind::ReceiveChanged, sites, at, bytes);
            }
        }
    }
}

/// Notes a mistake, or that it was made again.
fn tell(
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
