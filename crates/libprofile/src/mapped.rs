//! The memory that this rank shares with its launcher: tables and events, in the format of [`profile::layout`].

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use profile::layout::{self, area, event, head, object, site, start, text};
use profile::{Event, Shape};

/// Number of entries that a search for a place checks before it ends.
const PROBES: usize = 32;

/// A rank's region.
pub(crate) struct Mapped {
    words: *mut u64,
    shape: Shape,
    /// Number of events that were written, and of those that had been taken out at the last check.
    events: u64,
    taken: u64,
    /// Place of the next event in the room.
    next: usize,
    /// True if the room was full once.
    is_closed: bool,
    /// Requested records in addition to tables.
    pub(crate) wanted: u64,
}

impl Mapped {
    /// Takes a region of the memory with the descriptor in the environment, if there is one.
    pub(crate) fn take() -> Option<Self> {
        let descriptor: i32 = std::env::var(layout::VARIABLE).ok()?.parse().ok()?;
        let map = |bytes: usize| {
            let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
            // SAFETY: this maps new memory, at an address that the system chooses.
            let memory =
                unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, shared, descriptor, 0) };
            (memory != libc::MAP_FAILED).then_some(memory.cast::<u64>())
        };
        // The descriptor may be another file's, in a program that has closed all descriptors and was started by one of
        // the ranks.
        let bytes = size_of(descriptor).filter(|&bytes| bytes >= area::WORDS * 8)?;
        let memory = map(area::WORDS * 8)?;
        // SAFETY: the mapping has that many words, and lives as long as the process; all bit patterns are valid
        // numbers.
        let word = |index: usize| unsafe { memory.add(index).read() };
        let number = |index: usize| word(index) as usize;
        let shape = Shape {
            ranks: number(area::RANKS),
            peers: number(area::PEERS),
            events: number(area::EVENTS),
        };
        if word(area::MAGIC) != layout::MAGIC || bytes < shape.bytes() {
            return None;
        }
        // SAFETY: as above; all ranks use this word by this operation only.
        let taken = unsafe { AtomicU64::from_ptr(memory.add(area::TAKEN)) };
        // Relaxed: the ranks only need different numbers.
        let index = taken.fetch_add(1, Ordering::Relaxed) as usize;
        if index >= shape.ranks {
            return None;
        }
        let wanted = word(area::WANTED);
        let words = map(shape.bytes())?.wrapping_byte_add(shape.region_at(index));
        Some(Mapped { words, shape, events: 0, taken: 0, next: 0, is_closed: false, wanted })
    }

    /// Returns the address of a word of the region.
    #[inline(always)]
    fn word(&self, index: usize) -> *mut u64 {
        debug_assert!(index < self.shape.region_words());
        // SAFETY: callers pass indices within the region, which `take` has mapped as a whole.
        unsafe { self.words.add(index) }
    }

    #[inline(always)]
    pub(crate) fn read(&self, index: usize) -> u64 {
        // SAFETY: the place is mapped, and no other process writes to this region.
        unsafe { self.word(index).read() }
    }

    #[inline(always)]
    pub(crate) fn write(&mut self, index: usize, value: u64) {
        // SAFETY: as above.
        unsafe { self.word(index).write(value) }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, index: usize, value: u64) {
        self.write(index, self.read(index).wrapping_add(value));
    }

    /// Writes a text, truncated to fit, with a zero at its end.
    pub(crate) fn write_text(&mut self, at: usize, words: usize, text: &[u8]) {
        let mut bytes = text[..text.len().min(words * 8 - 1)].to_vec();
        bytes.resize(words * 8, 0);
        for (index, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
            self.write(at + index, u64::from_ne_bytes(*word));
        }
    }

    /// Writes an event, or counts it if there is no room. After the first event without room none is written: later
    /// ones are useless without it, because messages are matched by their order.
    #[inline]
    pub(crate) fn note(&mut self, noted: &Event) {
        if self.events - self.taken == self.shape.events as u64 && !self.has_room() {
            self.add(head::EVENTS_LOST, 1);
            return;
        }
        let at = self.shape.events_at() + self.next * event::WORDS;
        for (index, word) in noted.to_words().into_iter().enumerate() {
            self.write(at + index, word);
        }
        self.events += 1;
        self.next = if self.next + 1 == self.shape.events { 0 } else { self.next + 1 };
        // SAFETY: the place is mapped, aligned, and written by this rank only.
        let count = unsafe { AtomicU64::from_ptr(self.word(head::EVENTS)) };
        // Release: a reader of the number finds the events, also after this process was killed.
        count.store(self.events, Ordering::Release);
    }

    /// Reads the number of events taken out. Returns whether there is room.
    #[cold]
    fn has_room(&mut self) -> bool {
        // SAFETY: as above, except that the launcher writes it.
        let taken = unsafe { AtomicU64::from_ptr(self.word(head::EVENTS_TAKEN)) };
        // Acquire: events that were taken out were read before they are overwritten.
        self.taken = taken.load(Ordering::Acquire);
        self.is_closed |= self.events - self.taken >= self.shape.events as u64;
        if self.is_closed {
            // The room stays full, even if events are taken out now.
            self.taken = self.events - self.shape.events as u64;
        }
        !self.is_closed
    }

    /// Returns the last event, if it may be changed.
    pub(crate) fn last_event(&self) -> Option<Event> {
        let at = self.last_event_at()?;
        let words = std::array::from_fn(|index| self.read(at + index));
        Event::from_words(&words)
    }

    /// Replaces the last event.
    pub(crate) fn replace_last(&mut self, noted: &Event) {
        let Some(at) = self.last_event_at() else { return };
        for (index, word) in noted.to_words().into_iter().enumerate() {
            self.write(at + index, word);
        }
    }

    fn last_event_at(&self) -> Option<usize> {
        if self.events == 0 || self.is_closed {
            return None;
        }
        let last = self.next.checked_sub(1).unwrap_or(self.shape.events - 1);
        Some(self.shape.events_at() + last * event::WORDS)
    }

    /// Returns the maximum number of peers.
    #[inline]
    pub(crate) fn peers(&self) -> usize {
        self.shape.peers
    }

    /// Returns the index of the place with an address that calls a function, or 0 if there is no room for it.
    #[inline]
    pub(crate) fn site(&mut self, address: u64, function: u16) -> u16 {
        let key = address ^ u64::from(function) << 48;
        let mut index = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize & (site::MOST - 1);
        for _ in 0..PROBES {
            let at = start::SITES + index * site::WORDS;
            let found = self.read(at + site::ADDRESS);
            let is_this = self.read(at + site::FUNCTION) as u16 == function;
            if found == address && is_this {
                return index as u16;
            }
            if index != 0 && found == 0 {
                self.make_site(at, address, function);
                return index as u16;
            }
            index = (index + 1) & (site::MOST - 1);
        }
        self.write(start::SITES + site::ADDRESS, 1);
        0
    }

    #[cold]
    fn make_site(&mut self, at: usize, address: u64, function: u16) {
        let object = self.object(address);
        self.write(at + site::FUNCTION, u64::from(function) | (object as u64) << 16);
        self.write(at + site::ADDRESS, address);
    }

    /// Returns the number of the file of code that contains an address, or 0 if it is unknown.
    fn object(&mut self, address: u64) -> usize {
        let Some(found) = loaded_at(address - 1) else { return 0 };
        let base = found.dli_fbase as u64;
        let count = (self.read(head::OBJECTS) as usize).max(1);
        let entry = |index: usize| start::OBJECTS + index * object::WORDS;
        if let Some(index) = (1..count).find(|&index| self.read(entry(index)) == base) {
            return index;
        }
        if count == object::MOST {
            return 0;
        }
        let path = path_of(&found);
        self.write(entry(count), base);
        self.write_text(entry(count) + 1, object::WORDS - 1, &path);
        self.write(head::OBJECTS, count as u64 + 1);
        count
    }

    /// Adds a text to the table. Returns its number, or 0 if there is no room.
    pub(crate) fn add_text(&mut self, words: &str) -> usize {
        let count = self.read(head::TEXTS) as usize;
        if count == text::MOST {
            return 0;
        }
        let at = start::TEXTS + count * text::WORDS;
        self.write_text(at, text::WORDS, words.as_bytes());
        self.write(head::TEXTS, count as u64 + 1);
        count + 1
    }
}

/// Returns the file of code that contains an address.
fn loaded_at(address: u64) -> Option<libc::Dl_info> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the place is live; if nothing is found it stays zero, which is a valid value.
    let found = unsafe {
        if libc::dladdr(address as *const c_void, found.as_mut_ptr()) == 0 {
            return None;
        }
        found.assume_init()
    };
    (!found.dli_fname.is_null()).then_some(found)
}

/// Returns the path of a file of code. The loader has for the program itself only the name that started it, which may
/// not be a path.
fn path_of(object: &libc::Dl_info) -> Vec<u8> {
    // SAFETY: no memory is involved.
    let of_program = loaded_at(unsafe { libc::getauxval(libc::AT_PHDR) });
    let is_program = of_program.is_some_and(|program| program.dli_fbase == object.dli_fbase);
    // SAFETY: the name of a loaded file is a C string.
    let name = unsafe { CStr::from_ptr(object.dli_fname) };
    let path = match is_program {
        true => std::fs::read_link("/proc/self/exe"),
        false => std::fs::canonicalize(name.to_string_lossy().as_ref()),
    };
    let path = path.map(|path| path.into_os_string().into_encoded_bytes());
    path.unwrap_or_else(|_| name.to_bytes().to_vec())
}

fn size_of(descriptor: i32) -> Option<usize> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the place is live; zeros are a valid value.
    let found = unsafe {
        if libc::fstat(descriptor, found.as_mut_ptr()) != 0 {
            return None;
        }
        found.assume_init()
    };
    usize::try_from(found.st_size).ok()
}
