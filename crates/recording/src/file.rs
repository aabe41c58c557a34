//! The file of a recording: a line that identifies it, blocks of the ranks' events in the order of writing, and an end.
//!
//! A block is the number of its rank, its length, and events. The end is the number of ranks in place of a rank's
//! number, and then the number of blocks. A file without an end was truncated.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use contract::Selector;

use crate::bytes::{ByteReader, Cut, put_number};
use crate::error::{LONGEST_MESSAGE_BYTES, MARK, RecordingError};
use crate::event::RankEvent;
use crate::longest::Longest;

/// Beginning of files of all versions.
const ANY_MARK: &str = "cornerstone-recording ";
/// Number of ranks that a short file may have. Each takes some memory even without events.
const RANKS_OF_ANY_FILE: usize = 1 << 17;
/// Number of events of a rank at which they are written.
const BLOCK_EVENTS: usize = 1 << 13;

/// The events of the ranks of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Description of its origin.
    pub title: String,
    /// Encoded events of each rank.
    ranks: Vec<Vec<u8>>,
    /// Longest messages of each rank.
    longest: Vec<Longest>,
}

/// The events of a rank, in order.
#[derive(Clone, Debug)]
pub struct Events<'a>(ByteReader<'a>);

impl Iterator for Events<'_> {
    type Item = RankEvent;

    fn next(&mut self) -> Option<RankEvent> {
        // The events were checked when the file was read.
        RankEvent::read(&mut self.0).ok().flatten()
    }
}

/// A recording in progress. Its file is removed when it is dropped without [`Recorder::finish`], because an incomplete
/// file is useless.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    out: BufWriter<File>,
    pending: Vec<Pending>,
    blocks: u64,
    /// The first error of the system.
    failed: Option<RecordingError>,
    is_whole: bool,
}

/// Creates a file for a recording, or for a text made of one. Never changes a file that already exists, nor follows a
/// link; a device, such as /dev/null, is written to.
///
/// # Errors
/// [`RecordingError::Exists`] and [`RecordingError::File`].
pub fn create_file(path: &Path) -> Result<File, RecordingError> {
    let mut how = OpenOptions::new();
    let is_device = || path.symlink_metadata().is_ok_and(|one| one.file_type().is_char_device());
    match how.write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && is_device() => {
            how.create_new(false).open(path).map_err(|error| failed(path, &error))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(RecordingError::Exists { path: path.display().to_string() })
        }
        opened => opened.map_err(|error| failed(path, &error)),
    }
}

/// The events of a rank that are not yet written.
#[derive(Clone, Debug, Default)]
struct Pending {
    events: Vec<RankEvent>,
    /// Number of events written before.
    written: u64,
}

fn failed(path: &Path, error: &std::io::Error) -> RecordingError {
    RecordingError::File { path: path.display().to_string(), reason: error.to_string() }
}

impl Recorder {
    /// Begins a recording of `ranks` ranks.
    ///
    /// # Errors
    /// [`RecordingError::File`].
    pub fn create(path: &Path, ranks: usize, title: &str) -> Result<Self, RecordingError> {
        let file = create_file(path)?;
        let mut out = BufWriter::new(file);
        let title = title.replace('\n', " ");
        writeln!(out, "{MARK}\n{ranks} {title}").map_err(|error| failed(path, &error))?;
        let pending = vec![Pending::default(); ranks];
        Ok(Recorder { path: path.into(), out, pending, blocks: 0, failed: None, is_whole: false })
    }

    /// Records an event of a rank. Returns its index among the rank's events. The first error is kept for the end.
    pub fn note(&mut self, rank: usize, event: RankEvent) -> u64 {
        let pending = &mut self.pending[rank];
        if pending.events.len() >= BLOCK_EVENTS {
            self.write_block(rank);
        }
        let pending = &mut self.pending[rank];
        pending.events.push(event);
        pending.written + pending.events.len() as u64 - 1
    }

    /// Sets the message that a receive has matched, if it could have matched several: a replay must match the same. A
    /// receive that has been written already remains as it is.
    pub fn note_match(&mut self, rank: usize, place: u64, selector: Selector) {
        let pending = &mut self.pending[rank];
        let index = place.checked_sub(pending.written).and_then(|one| usize::try_from(one).ok());
        if let Some(RankEvent::PostReceive(room)) =
            index.and_then(|one| pending.events.get_mut(one))
        {
            room.selector = selector;
        }
    }

    fn write_block(&mut self, rank: usize) {
        let pending = &mut self.pending[rank];
        let mut events = Vec::new();
        pending.events.iter().for_each(|event| event.write(&mut events));
        pending.written += pending.events.len() as u64;
        pending.events.clear();
        let mut head = Vec::new();
        put_number(&mut head, rank as u64);
        put_number(&mut head, events.len() as u64);
        self.put(&head);
        self.put(&events);
        self.blocks += 1;
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Err(error) = self.out.write_all(bytes)
        {
            self.failed = Some(failed(&self.path, &error));
        }
    }

    /// Ends the recording. A file that could not be written completely is removed.
    ///
    /// # Errors
    /// The first error that occurred.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        for rank in 0..self.pending.len() {
            if !self.pending[rank].events.is_empty() {
                self.write_block(rank);
            }
        }
        let mut end = Vec::new();
        put_number(&mut end, self.pending.len() as u64);
        put_number(&mut end, self.blocks);
        self.put(&end);
        let flushed = self.out.flush().map_err(|error| failed(&self.path, &error));
        let outcome = self.failed.take().map_or(flushed, Err);
        self.is_whole = outcome.is_ok();
        outcome
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // A file that cannot be removed is reported as truncated when it is read. A device is not removed.
        let is_file = || self.path.metadata().is_ok_and(|metadata| metadata.is_file());
        if !self.is_whole && is_file() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let bytes = definition_files::read_bytes(path).map_err(|error| failed(path, &error))?;
        Self::parse(&bytes, &path.display().to_string())
    }

    fn parse(bytes: &[u8], path: &str) -> Result<Self, RecordingError> {
        let path = || path.to_string();
        let line = |bytes: &[u8]| {
            let end = bytes.iter().take(1 << 16).position(|&byte| byte == b'\n')?;
            Some((String::from_utf8_lossy(&bytes[..end]).into_owned(), end + 1))
        };
        let (mark, begin) = line(bytes).ok_or_else(|| RecordingError::NotOne { path: path() })?;
        if mark != MARK {
            return Err(match mark.starts_with(ANY_MARK) {
                true => RecordingError::Version { path: path(), found: mark },
                false => RecordingError::NotOne { path: path() },
            });
        }
        let cut = |_: Cut| RecordingError::Cut { path: path() };
        let (words, length) = line(&bytes[begin..]).ok_or(Cut).map_err(cut)?;
        let (ranks, title) = words.split_once(' ').ok_or(Cut).map_err(cut)?;
        let ranks: usize = ranks.parse().map_err(|_| cut(Cut))?;
        let ranks =
            read_blocks(&mut ByteReader::new(&bytes[begin + length..]), ranks).map_err(cut)?;
        let longest: Result<_, Cut> = ranks.iter().map(|events| read_all(events)).collect();
        let longest: Vec<Longest> = longest.map_err(cut)?;
        Recording { title: title.into(), ranks, longest }.with_messages_in_memory(&path())
    }

    /// Returns the recording if a replay can lend memory for its messages. `path` names it in the error.
    pub(crate) fn with_messages_in_memory(self, path: &str) -> Result<Self, RecordingError> {
        let longest = self.longest.iter().map(|longest| longest.of_all(self.ranks.len())).max();
        match longest.filter(|&bytes| bytes > LONGEST_MESSAGE_BYTES) {
            Some(bytes) => Err(RecordingError::TooLong { path: path.into(), bytes }),
            None => Ok(self),
        }
    }

    /// Creates a recording of these events.
    pub fn of(title: &str, ranks: &[Vec<RankEvent>]) -> Self {
        let write = |events: &Vec<RankEvent>| {
            let (mut bytes, mut longest) = (Vec::new(), Longest::default());
            for event in events {
                longest.note(event);
                event.write(&mut bytes);
            }
            (bytes, longest)
        };
        let (ranks, longest) = ranks.iter().map(write).unzip();
        Recording { title: title.into(), ranks, longest }
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Returns the events of a rank.
    pub fn events(&self, rank: usize) -> Events<'_> {
        Events(ByteReader::new(&self.ranks[rank]))
    }

    /// Returns the longest messages of a rank.
    pub fn longest(&self, rank: usize) -> Longest {
        self.longest[rank]
    }
}

/// Returns whether a text or recording of `bytes` bytes may have so many ranks. A damaged number must not use up all
/// memory, and each rank that has done anything takes some bytes.
pub(crate) fn are_ranks(ranks: usize, bytes: usize) -> bool {
    (1..=(bytes / 4).max(RANKS_OF_ANY_FILE)).contains(&ranks)
}

/// Returns the longest messages of a rank's events.
fn read_all(events: &[u8]) -> Result<Longest, Cut> {
    let mut source = ByteReader::new(events);
    let mut longest = Longest::default();
    while let Some(event) = RankEvent::read(&mut source)? {
        longest.note(&event);
    }
    Ok(longest)
}

fn read_blocks(source: &mut ByteReader<'_>, ranks: usize) -> Result<Vec<Vec<u8>>, Cut> {
    if !are_ranks(ranks, source.left()) {
        return Err(Cut);
    }
    let mut events = vec![Vec::new(); ranks];
    let mut blocks = 0;
    loop {
        let rank = source.size()?;
        if rank == ranks {
            return if source.number()? == blocks && source.is_empty() {
                Ok(events)
            } else {
                Err(Cut)
            };
        }
        let length = source.size()?;
        events.get_mut(rank).ok_or(Cut)?.extend_from_slice(source.take(length)?);
        blocks += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::TimeSpan;

    fn temporary(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("cornerstone-{name}-{}", std::process::id()))
    }

    fn events(rank: usize) -> Vec<RankEvent> {
        (0..20_000).map(|one| RankEvent::Compute(TimeSpan::from_ps(one << rank))).collect()
    }

    #[test]
    fn a_recording_of_many_blocks_is_read_as_it_was_written() {
        let path = temporary("recording");
        let mut recorder = Recorder::create(&path, 3, "a title\nof two lines").unwrap();
        let ranks: Vec<_> = (0..3).map(events).collect();
        (0..60_000).for_each(|number| {
            let (rank, index) = (number % 3, number / 3);
            recorder.note(rank, ranks[rank][index]);
        });
        recorder.finish().unwrap();
        let recording = Recording::read(&path).unwrap();
        assert_eq!(recording, Recording::of("a title of two lines", &ranks));
        assert!(recording.events(2).eq(ranks[2].iter().copied()));
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for end in [bytes.len() - 1, bytes.len() / 2, 40, 30] {
            let cut = Recording::parse(&bytes[..end], "x").unwrap_err();
            assert_eq!(cut, RecordingError::Cut { path: "x".into() }, "{end}");
        }
        let longer = [&bytes[..], b"x"].concat();
        assert!(matches!(Recording::parse(&longer, "x"), Err(RecordingError::Cut { .. })));
    }

    #[test]
    fn a_receive_of_any_rank_is_settled_while_it_is_not_written() {
        let path = temporary("settled");
        let mut recorder = Recorder::create(&path, 1, "x").unwrap();
        let any = Selector { context: 2, source: None, tag: None };
        let one = Selector { source: Some(3), tag: Some(4), ..any };
        let receive = |selector| RankEvent::PostReceive(crate::Room { selector, bytes: 8 });
        assert_eq!(recorder.note(0, receive(any)), 0);
        assert_eq!(recorder.note(0, receive(any)), 1);
        recorder.note_match(0, 1, one);
        events(0).iter().for_each(|&event| {
            recorder.note(0, event);
        });
        recorder.note_match(0, 0, one);
        recorder.finish().unwrap();
        let read: Vec<RankEvent> = Recording::read(&path).unwrap().events(0).take(2).collect();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read, [receive(any), receive(one)]);
    }

    #[test]
    fn other_files_and_other_versions_are_told_apart() {
        let refused = |text: &str| Recording::parse(text.as_bytes(), "x").unwrap_err().to_string();
        assert!(refused("").contains("is no recording"));
        assert!(refused("{\"kind\": 1}\n").contains("is no recording"));
        assert!(refused("cornerstone-recording 2\n4 x\n").contains("another version"));
        assert!(refused("cornerstone-recording 1\nmany x\n").contains("cut off"));
        assert!(refused("cornerstone-recording 1\n99999999999 x\n\0").contains("cut off"));
    }

    #[test]
    fn a_full_disk_is_told_at_the_end() {
        let full = Path::new("/dev/full");
        let mut recorder = Recorder::create(full, 1, "x").unwrap();
        for _ in 0..5 {
            events(0).iter().for_each(|&event| {
                recorder.note(0, event);
            });
        }
        let error = recorder.finish().unwrap_err().to_string();
        assert!(error.contains("/dev/full"), "{error}");
    }
}
