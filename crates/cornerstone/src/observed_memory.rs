//! The memory in which ranks record their activity, and the library that records it in them.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use launcher::LaunchOptions;
use profile::layout::{self, WORD_BYTES, event, head};
use profile::{RankRecord, Shape};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::time::{ClockId, clock_gettime};

use crate::failure::Failure;
use crate::linked;
use crate::preloaded;

/// Memory for the records of the ranks of a host. The ranks inherit it; it has no name. A thread takes out the events
/// that they write, until [`Memory::regions`].
pub(crate) struct Memory {
    inner: Arc<Inner>,
    library: PathBuf,
    /// Time at which it was created, in nanoseconds of the system's monotonic clock.
    pub(crate) made_ns: u64,
    has_ended: Arc<AtomicBool>,
    taker: JoinHandle<Vec<Vec<u8>>>,
}

struct Inner {
    file: File,
    shape: Shape,
}

impl Memory {
    /// Creates the memory for `ranks` ranks on this host, in a run of `world` ranks.
    ///
    /// # Errors
    /// If the library is missing, or the system grants no memory.
    pub(crate) fn new(ranks: usize, world: usize, wanted: u64) -> Result<Self, Failure> {
        let library = preloaded::find(layout::LIBRARY, "libprofile")?;
        let failed = |error: io::Error| {
            Failure::failed(format!("making the memory for what ranks note: {error}"))
        };
        let shape = Shape::of(ranks, world);
        // Ranks inherit it, so it must not close when they are started.
        let file = memfd_create("cornerstone-profile", MemfdFlags::empty());
        let file =
            File::from(file.map_err(|error| {
                failed(launcher::system::refused("memfd_create", error.into()))
            })?);
        file.set_len(shape.bytes() as u64).map_err(failed)?;
        let now = clock_gettime(ClockId::Monotonic);
        let made_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        file.write_all_at(&shape.head(wanted, made_ns), 0).map_err(failed)?;
        let inner = Arc::new(Inner { file, shape });
        let (has_ended, taken_from) = (Arc::new(AtomicBool::new(false)), Arc::clone(&inner));
        let seen = Arc::clone(&has_ended);
        let taker = std::thread::spawn(move || taken_from.take_until(&seen));
        Ok(Memory { inner, library, made_ns, has_ended, taker })
    }

    /// Lets the ranks of a run find it and load the library.
    pub(crate) fn lend(&self, options: &mut LaunchOptions) {
        let descriptor = self.inner.file.as_raw_fd().to_string();
        options.environment.push((layout::VARIABLE.into(), descriptor.into()));
        preloaded::load(options, &self.library, linked::sanitizers);
    }

    /// Returns the records of each rank that called MPI_Init, as bytes for [`read`]. All ranks must have ended.
    ///
    /// # Errors
    /// Errors of reading the memory.
    pub(crate) fn regions(self) -> io::Result<Vec<Vec<u8>>> {
        // Relaxed: the flag guards no other memory.
        self.has_ended.store(true, Ordering::Relaxed);
        let events = self.taker.join().map_err(|_| io::Error::other("the reader has failed"))?;
        self.inner.regions(events)
    }
}

/// Interval of the checks for events to take out.
const TAKE_INTERVAL: Duration = Duration::from_millis(10);
/// Maximum bytes of events that are kept, of one rank and of all.
const KEPT_OF_A_RANK_BYTES: usize = 64 << 20;
const KEPT_OF_ALL_BYTES: usize = 512 << 20;

impl Inner {
    /// Takes events out when an eighth of a rank's room is full, until the ranks have ended. Then takes the rest.
    fn take_until(&self, has_ended: &AtomicBool) -> Vec<Vec<u8>> {
        let mut taken = vec![Vec::new(); self.shape.ranks];
        loop {
            let ended = has_ended.load(Ordering::Relaxed);
            let least = if ended { 1 } else { self.shape.events / 8 };
            for (index, events) in taken.iter_mut().enumerate() {
                // Unreadable records are missing in the report, which names their place.
                let _ = self.take(index, least, events);
            }
            if ended {
                return taken;
            }
            std::thread::sleep(TAKE_INTERVAL);
        }
    }

    /// Takes the events of a rank out, if there are at least `least`.
    fn take(&self, index: usize, least: usize, events: &mut Vec<u8>) -> io::Result<()> {
        let event_bytes = event::WORDS * WORD_BYTES;
        let room = self.shape.events;
        let most = KEPT_OF_A_RANK_BYTES.min(KEPT_OF_ALL_BYTES / self.shape.ranks) / event_bytes;
        let at = self.shape.region_at(index);
        let word_at = |word: usize| (at + word * WORD_BYTES) as u64;
        let mut word = [0; WORD_BYTES];
        self.file.read_exact_at(&mut word, word_at(head::EVENTS))?;
        let written = (u64::from_ne_bytes(word) as usize).min(most);
        let mut done = events.len() / event_bytes;
        if written < done + least.max(1) {
            return Ok(());
        }
        while done < written {
            let place = done % room;
            let count = (written - done).min(room - place);
            let from = word_at(self.shape.events_at() + place * event::WORDS);
            let old = events.len();
            events.resize(old + count * event_bytes, 0);
            self.file.read_exact_at(&mut events[old..], from)?;
            done += count;
        }
        // From here on the rank may write over the events that were read.
        self.file.write_all_at(&(done as u64).to_ne_bytes(), word_at(head::EVENTS_TAKEN))
    }

    /// Returns the tables of each rank, followed by its events.
    fn regions(&self, events: Vec<Vec<u8>>) -> io::Result<Vec<Vec<u8>>> {
        let mut regions = Vec::new();
        for (index, events) in events.into_iter().enumerate() {
            let at = self.shape.region_at(index) as u64;
            let mut bytes = vec![0; head::WORDS * WORD_BYTES];
            self.file.read_exact_at(&mut bytes, at)?;
            if RankRecord::has_begun(&bytes) {
                bytes.resize(self.shape.events_at() * WORD_BYTES, 0);
                self.file.read_exact_at(&mut bytes, at)?;
                bytes.extend(events);
                regions.push(bytes);
            }
        }
        Ok(regions)
    }
}

/// Reads the records of a rank.
pub(crate) fn read(bytes: &[u8], world: usize) -> Result<Option<RankRecord>, profile::Malformed> {
    // The number of events for which there was room does not matter to the reader.
    RankRecord::read(&Shape::of(1, world), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::{Event, Kind};

    fn memory(shape: Shape) -> Inner {
        let file = File::from(memfd_create("test", MemfdFlags::CLOEXEC).unwrap());
        file.set_len(shape.bytes() as u64).unwrap();
        Inner { file, shape }
    }

    fn write(memory: &Inner, at: usize, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        memory.file.write_all_at(&bytes, at as u64).unwrap();
    }

    #[test]
    fn memory_of_ranks_that_never_began_says_nothing() {
        let shape = Shape { ranks: 2, peers: 2, events: 3 };
        let memory = memory(shape);
        assert_eq!(memory.regions(vec![Vec::new(); 2]).unwrap().len(), 0);
        // The second has begun, and is rank 1 of 2.
        write(&memory, shape.region_at(1), &[1, 1, 2]);
        let regions = memory.regions(vec![Vec::new(); 2]).unwrap();
        assert_eq!(regions.len(), 1);
        assert_eq!(read(&regions[0], 2).unwrap().unwrap().rank, 1);
    }

    /// The room is for 4 events, and the rank writes 11, each as soon as there is room for it.
    #[test]
    fn events_are_taken_out_in_their_order_however_often_the_room_is_filled() {
        let shape = Shape { ranks: 1, peers: 1, events: 4 };
        let memory = memory(shape);
        let region = shape.region_at(0);
        write(&memory, region, &[1, 0, 1]);
        let event = |number: u64| Event {
            kind: Kind::Call,
            is_span: true,
            begin: number,
            end: number,
            posted: 0,
            bytes: 0,
            peer: 0,
            tag: 0,
            site: 1,
            communicator: 0,
        };
        let mut taken = Vec::new();
        for number in 0..11_u64 {
            let place = shape.events_at() + (number % 4) as usize * event::WORDS;
            write(&memory, region + place * 8, &event(number).to_words());
            write(&memory, region + head::EVENTS * 8, &[number + 1]);
            memory.take(0, 3, &mut taken).unwrap();
            let mut word = [0; 8];
            memory.file.read_exact_at(&mut word, (region + head::EVENTS_TAKEN * 8) as u64).unwrap();
            // Events are taken out by threes, so there is always room for one more.
            assert_eq!(u64::from_ne_bytes(word), (number + 1) / 3 * 3);
        }
        memory.take(0, 1, &mut taken).unwrap();
        let regions = memory.regions(vec![taken]).unwrap();
        let record = read(&regions[0], 1).unwrap().unwrap();
        let begins: Vec<u64> = record.events.iter().map(|event| event.begin).collect();
        assert_eq!(begins, (0..11).collect::<Vec<u64>>());
    }
}
