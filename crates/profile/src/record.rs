//! The records of a rank, read from its memory.

use std::fmt;

use crate::event::Event;
use crate::finding::{Finding, FindingKind};
use crate::layout::{
    self, WORD_BYTES, communicator, event, finding, head, object, site, start, text,
};
use crate::layout_shape::Shape;
use crate::moment::Clock;

/// State of a rank at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It had started, and did not call MPI_Finalize.
    Running,
    /// It called MPI_Finalize.
    Finalized,
    /// It called MPI_Abort.
    Aborted,
}

/// A place that called a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its index, which events refer to.
    pub index: u16,
    /// Return address of the call; `None` for all places together that found no room in the table.
    pub address: Option<u64>,
    /// Number of the function.
    pub function: u16,
    /// Object that contains the address.
    pub object: Option<Object>,
    /// Number of calls.
    pub calls: u64,
    /// Ticks of all calls.
    pub ticks: u64,
    /// Ticks of the longest call.
    pub longest: u64,
    /// Bytes that it sent, or contributed to a collective.
    pub bytes: u64,
    /// Line of a script, if a script made the call.
    pub text: Option<String>,
}

/// A file of code, as mapped in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its first address.
    pub base: u64,
    /// Its path.
    pub path: String,
}

/// A communicator of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Communicator {
    /// Number that is the same at all members.
    pub number: u64,
    /// Number of its members.
    pub size: u64,
}

/// The messages of a rank to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Number of messages.
    pub messages: u64,
    /// Number of their bytes.
    pub bytes: u64,
}

/// Number of messages of each size: entry n is for sizes below 2^n, from half of that on; entry 0 for empty ones.
pub type Histogram = Vec<Peer>;

/// All records of a rank.
#[derive(Clone, Debug, PartialEq)]
pub struct RankRecord {
    /// Its rank in MPI_COMM_WORLD.
    pub rank: usize,
    /// Size of MPI_COMM_WORLD.
    pub size: usize,
    /// State of the rank at its end.
    pub state: State,
    /// Name of its host.
    pub host: String,
    /// Conversion of its ticks to time.
    pub clock: Clock,
    /// Ticks when MPI_Init was called, when it had ended, and at the end of the last call.
    pub init: u64,
    /// See above.
    pub begin: u64,
    /// See above.
    pub last: u64,
    /// Nanoseconds of the system's monotonic clock when MPI_Init was called.
    pub init_ns: u64,
    /// Peak memory of the process at the end of MPI_Init, and at the last check, in KiB.
    pub begin_memory_kib: u64,
    /// See above.
    pub memory_kib: u64,
    /// Places.
    pub sites: Vec<Site>,
    /// Sizes of messages, of collectives, and of access to windows.
    pub histograms: Vec<Histogram>,
    /// Communicators, by their index.
    pub communicators: Vec<Communicator>,
    /// Messages sent to each rank.
    pub peers: Vec<Peer>,
    /// Mistakes in the use of memory.
    pub findings: Vec<Finding>,
    /// Events, in the order in which calls ended.
    pub events: Vec<Event>,
    /// Number of events that found no room.
    pub events_lost: u64,
}

/// The reason why memory is not the record of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "what a rank has noted is not to be read: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

/// The words of a region.
struct Words<'a>(&'a [u64]);

impl RankRecord {
    /// Creates the record of a rank that has finalised without a call, on a host without a name. Its MPI_COMM_WORLD is
    /// communicator 1.
    pub fn new(rank: usize, size: usize, clock: Clock) -> Self {
        RankRecord {
            rank,
            size,
            state: State::Finalized,
            host: String::new(),
            clock,
            init: 0,
            begin: 0,
            last: 0,
            init_ns: 0,
            begin_memory_kib: 0,
            memory_kib: 0,
            sites: Vec::new(),
            histograms: Vec::new(),
            communicators: vec![Communicator { number: 1, size: size as u64 }],
            peers: Vec::new(),
            findings: Vec::new(),
            events: Vec::new(),
            events_lost: 0,
        }
    }

    /// Returns whether the rank of a region has begun, from the region's first words.
    pub fn has_begun(head: &[u8]) -> bool {
        words_of(&head[..head.len().min(WORD_BYTES)]).first().is_some_and(|&state| state != 0)
    }

    /// Reads a region without its room for events, followed by the events that were taken out. Returns `None` if its
    /// rank never began.
    ///
    /// # Errors
    /// If it was not written as the layout defines.
    pub fn read(shape: &Shape, bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        if !Self::has_begun(bytes) {
            return Ok(None);
        }
        let needed = shape.events_at() * WORD_BYTES;
        if bytes.len() < needed {
            return Err(Malformed(format!("{} bytes of {needed}", bytes.len())));
        }
        Words(&words_of(bytes)).record(shape).map(Some)
    }
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<WORD_BYTES>();
    words.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

impl Words<'_> {
    fn record(&self, shape: &Shape) -> Result<RankRecord, Malformed> {
        let words = self.0;
        let (rank, size) = (words[head::RANK] as usize, words[head::SIZE] as usize);
        if rank >= size {
            return Err(Malformed(format!("rank {rank} of {size}")));
        }
        let state = match words[head::STATE] {
            layout::RUNNING => State::Running,
            layout::FINALIZED => State::Finalized,
            layout::ABORTED => State::Aborted,
            other => return Err(Malformed(format!("state {other}"))),
        };
        Ok(RankRecord {
            rank,
            size,
            state,
            host: self.text(head::HOST, head::HOST_WORDS),
            clock: Clock::read(&words[..head::WORDS]),
            init: words[head::INIT_TICKS],
            begin: words[head::BEGIN_TICKS],
            last: words[head::LAST_TICKS].max(words[head::BEGIN_TICKS]),
            init_ns: words[head::INIT_NS],
            begin_memory_kib: words[head::BEGIN_MEMORY_KIB],
            memory_kib: words[head::MEMORY_KIB],
            sites: self.sites(),
            histograms: self.histograms(),
            communicators: self.communicators(),
            peers: self.peers(start::PEERS, shape.peers),
            findings: self.findings(),
            events: self.events(shape)?,
            events_lost: words[head::EVENTS_LOST],
        })
    }

    fn text(&self, at: usize, words: usize) -> String {
        let bytes = self.0[at..at + words].iter().flat_map(|word| word.to_ne_bytes());
        let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the entries of a table, as many as a word of the head counts.
    fn entries(&self, count: usize, at: usize, words: usize, most: usize) -> Vec<&[u64]> {
        let count = (self.0[count] as usize).min(most);
        self.0[at..at + count * words].chunks_exact(words).collect()
    }

    fn sites(&self) -> Vec<Site> {
        let objects = self.entries(head::OBJECTS, start::OBJECTS, object::WORDS, object::MOST);
        let objects = objects.len();
        let all = self.0[start::SITES..start::HISTOGRAMS].chunks_exact(site::WORDS);
        let used = all.enumerate().filter(|(_, words)| words[site::CALLS] > 0);
        used.map(|(index, words)| {
            let object = (words[site::FUNCTION] >> 16) as usize;
            let text = words[site::TEXT] as usize;
            Site {
                index: index as u16,
                address: Some(words[site::ADDRESS]).filter(|_| index > 0),
                function: words[site::FUNCTION] as u16,
                object: (1..objects).contains(&object).then(|| self.object(object)),
                calls: words[site::CALLS],
                ticks: words[site::TICKS],
                longest: words[site::LONGEST],
                bytes: words[site::BYTES],
                text: (1..=text::MOST)
                    .contains(&text)
                    .then(|| self.text(start::TEXTS + (text - 1) * text::WORDS, text::WORDS)),
            }
        })
        .collect()
    }

    fn object(&self, index: usize) -> Object {
        let at = start::OBJECTS + index * object::WORDS;
        Object { base: self.0[at], path: self.text(at + 1, object::WORDS - 1) }
    }

    fn peers(&self, at: usize, count: usize) -> Vec<Peer> {
        let entries = self.0[at..at + count * layout::peer::WORDS].chunks_exact(2);
        entries.map(|words| Peer { messages: words[0], bytes: words[1] }).collect()
    }

    fn histograms(&self) -> Vec<Histogram> {
        let bins = layout::histogram::BINS;
        (0..layout::histogram::KINDS)
            .map(|kind| self.peers(start::HISTOGRAMS + kind * bins * 2, bins))
            .collect()
    }

    fn communicators(&self) -> Vec<Communicator> {
        let (at, words) = (start::COMMUNICATORS, communicator::WORDS);
        let entries = self.entries(head::COMMUNICATORS, at, words, communicator::MOST);
        entries.iter().map(|words| Communicator { number: words[0], size: words[1] }).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let (at, words) = (start::FINDINGS, finding::WORDS);
        let entries = self.entries(head::FINDINGS, at, words, finding::MOST);
        let read = |words: &&[u64]| {
            Some(Finding {
                kind: FindingKind::of(words[finding::KIND])?,
                site: words[finding::SITE] as u16,
                other: words[finding::OTHER] as u16,
                address: words[finding::ADDRESS],
                bytes: words[finding::BYTES],
                times: words[finding::TIMES],
            })
        };
        entries.iter().filter_map(read).collect()
    }

    fn events(&self, shape: &Shape) -> Result<Vec<Event>, Malformed> {
        let (all, _) = self.0[shape.events_at()..].as_chunks::<{ event::WORDS }>();
        let read = |(index, words)| {
            Event::from_words(words).ok_or_else(|| Malformed(format!("event {index}")))
        };
        all.iter().enumerate().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Kind, NOBODY};

    const SHAPE: Shape = Shape { ranks: 1, peers: 2, events: 4 };

    fn region() -> Vec<u64> {
        let mut words = vec![0; SHAPE.region_words()];
        (words[head::STATE], words[head::RANK], words[head::SIZE]) = (layout::FINALIZED, 1, 2);
        words[head::BEGIN_TICKS] = 1000;
        words[head::END_TICKS] = 3000;
        words[head::BEGIN_TIME] = 10.0_f64.to_bits();
        words[head::END_TIME] = 11.0_f64.to_bits();
        words
    }

    fn read(words: &[u64], bytes: usize) -> Result<Option<RankRecord>, Malformed> {
        let all: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        RankRecord::read(&SHAPE, &all[..bytes.min(all.len())])
    }

    /// 2000 ticks are one second of MPI_Wtime, so tick 2000 is 10.5 s.
    #[test]
    fn a_region_is_read_with_its_tables() {
        let mut words = region();
        words[start::SITES..start::SITES + 5].copy_from_slice(&[1, 9, 2, 60, 40]);
        let second = start::SITES + 3 * site::WORDS;
        words[second..second + 6].copy_from_slice(&[0x5123, 7 | 1 << 16, 3, 90, 50, 24]);
        words[head::OBJECTS] = 2;
        let object = start::OBJECTS + object::WORDS;
        words[object] = 0x5000;
        words[object + 1] = u64::from_ne_bytes(*b"/a.out\0\0");
        words[start::PEERS] = 5;
        let event = Event {
            kind: Kind::Sent,
            is_span: true,
            begin: 1,
            end: 2,
            posted: 1,
            bytes: 8,
            peer: NOBODY,
            tag: 3,
            site: 3,
            communicator: 0,
        };
        words[SHAPE.events_at()..SHAPE.events_at() + 6].copy_from_slice(&event.to_words());
        words.truncate(SHAPE.events_at() + 6);
        let record = read(&words, usize::MAX).unwrap().unwrap();
        assert_eq!((record.rank, record.size, record.state), (1, 2, State::Finalized));
        assert_eq!(record.clock.seconds(2000), 10.5);
        assert_eq!(record.events, [event]);
        assert_eq!(record.sites.len(), 2);
        assert_eq!((record.sites[0].address, record.sites[0].calls), (None, 2));
        let site = &record.sites[1];
        assert_eq!((site.index, site.function, site.bytes), (3, 7, 24));
        assert_eq!(site.object, Some(Object { base: 0x5000, path: "/a.out".into() }));
        assert_eq!(record.peers[0].messages, 5);
    }

    #[test]
    fn a_rank_that_never_began_has_no_record_and_a_wrong_one_is_refused() {
        assert_eq!(read(&vec![0; SHAPE.region_words()], usize::MAX), Ok(None));
        assert_eq!(read(&[], 0), Ok(None));
        let mut words = region();
        assert!(read(&words, 5000).unwrap_err().to_string().contains("5000 bytes of"));
        assert!(read(&words, usize::MAX).unwrap_err().to_string().contains("event 0"));
        words.truncate(SHAPE.events_at());
        assert_eq!(read(&words, usize::MAX).unwrap().unwrap().events, []);
        words[head::RANK] = 2;
        assert!(read(&words, usize::MAX).unwrap_err().to_string().contains("rank 2 of 2"));
        words[head::STATE] = 9;
        words[head::RANK] = 0;
        assert!(read(&words, usize::MAX).unwrap_err().to_string().contains("state 9"));
    }
}
