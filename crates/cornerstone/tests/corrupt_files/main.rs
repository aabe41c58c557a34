//! Files of strangers, of every kind that this program reads, that are almost right. Each is read or refused, and takes
//! at most 64 bytes of memory for each of its own, and 64 MiB.

#[path = "../synthetic/mod.rs"]
mod synthetic;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract::{Selector, TimeSpan};
use random::SplitMix64;
use record::{Line, Run};
use recording::{RankEvent, Recorder, Recording, Room, SentMessage, TextFormat};

/// The system's allocator, which counts the bytes in use. Only one test of this program runs at a time.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: usize) {
    // Relaxed: the numbers order nothing.
    let used = USED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(used, Ordering::Relaxed);
}

// SAFETY: the system's allocator does all but the counting.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BYTES_EACH: usize = 64;
const BYTES_OF_ANY: usize = 64 << 20;

/// Number of mutations of each kind of file in `make test`, and in `make test-all`.
const MUTATIONS: u64 = 400;
const MANY_MUTATIONS: u64 = 30_000;

const GOAL: &str = "num_ranks 2\n\nrank 0 {\na: calc 100\nb: send 8b to 1 tag 3\nb requires a\nc: recv 16b from 1 \
                    tag 4\nc requires b\n}\n\nrank 1 {\na: recv 8b from 0 tag 3\nb: send 16b to 0 tag 4\nb requires a\n}\n";

const TRACES: &str = "0 init\n1 init\n0 compute 1e6\n0 send 1 3 8 1\n1 recv 0 3 8 1\n0 isend 1 4 16 1\n1 irecv 0 4 16 1\n1 \
                      wait 0 1 4\n0 wait 0 1 4\n0 bcast 100 0 1\n1 bcast 100 0 1\n0 allreduce 50 1000 1\n1 allreduce 50 \
                      1000 1\n0 barrier\n1 barrier\n0 gatherv 4 4 4 0 1 1\n1 gatherv 4 4 4 0 1 1\n0 sleep 0.1\n0 \
                      finalize\n1 finalize\n";

/// Writes a recording of two ranks, and returns its bytes.
fn recorded(folder: &Path) -> Vec<u8> {
    let path = folder.join("whole");
    let mut recorder = Recorder::create(&path, 2, "a title").unwrap();
    let selector = Selector { context: 0, source: Some(1), tag: Some(4) };
    let message = SentMessage { to: 1, context: 0, tag: 4, bytes: 100 };
    for rank in 0..2 {
        let events = [
            RankEvent::Compute(TimeSpan::from_us(5)),
            RankEvent::PostSend { message, synchronous: false },
            RankEvent::Receive(Room { selector, bytes: 100 }),
            RankEvent::End(0),
            RankEvent::Sleep(TimeSpan::from_us(7)),
        ];
        for event in events {
            recorder.note(rank, event);
        }
    }
    recorder.finish().unwrap();
    std::fs::read(&path).unwrap()
}

/// Returns the lines of a results file.
fn results() -> String {
    let run = synthetic::run(&synthetic::DESK);
    let lines = run.measurements.iter().take(2).cloned().map(Line::Measurement);
    let lines = std::iter::once(Line::Run(run.header().clone())).chain(lines);
    lines.map(|line| line.to_json() + "\n").collect()
}

/// A kind of file: how it is read, and whole files of it.
struct Kind {
    name: &'static str,
    /// Returns whether the file is accepted.
    read: fn(&Path) -> bool,
    whole: Vec<Vec<u8>>,
}

fn text(path: &Path) -> Option<String> {
    definition_files::read_text(path).ok()
}

fn recording(path: &Path) -> bool {
    let read = match TextFormat::of_source(path) {
        Some(format) => Recording::read_text(format, path),
        None => Recording::read(path),
    };
    // What is accepted can be gone through.
    read.is_ok_and(|read| {
        (0..read.ranks()).map(|rank| read.events(rank).count()).sum::<usize>() > 0
    })
}

/// Returns all files of a folder of the repository.
fn files(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn kinds(folder: &Path) -> Vec<Kind> {
    let hosts = b"one:2\ntwo:4@10.0.0.1,10.0.1.1\n# a comment\n[::1]\nthree\n".to_vec();
    vec![
        Kind { name: "x.goal", read: recording, whole: vec![GOAL.into()] },
        Kind { name: "x.ti", read: recording, whole: vec![TRACES.into()] },
        Kind { name: "x.rec", read: recording, whole: vec![recorded(folder)] },
        Kind {
            name: "x.jsonl",
            read: |path| text(path).is_some_and(|text| Run::parse("x", &text).is_ok()),
            whole: vec![results().into()],
        },
        Kind {
            name: "machine.toml",
            read: |path| {
                text(path).is_some_and(|text| fabric_sim::machine::parse("x", &text).is_ok())
            },
            whole: files("machines"),
        },
        Kind {
            name: "x.pmp",
            read: |path| text(path).is_some_and(|text| pattern::read("x", &text).is_ok()),
            whole: files("patterns"),
        },
        Kind {
            name: "pipeline.toml",
            read: |path| text(path).is_some_and(|text| benchmark::Chain::parse("x", &text).is_ok()),
            whole: files("pipelines"),
        },
        Kind {
            name: "hosts",
            read: |path| text(path).is_some_and(|text| fabric_tcp::Host::parse_all(&text).is_ok()),
            whole: vec![hosts],
        },
    ]
}

/// Writes and reads a file, and returns whether it is accepted.
fn is_accepted(folder: &Path, kind: &Kind, bytes: &[u8]) -> bool {
    let path = folder.join(kind.name);
    std::fs::write(&path, bytes).unwrap();
    let before = USED.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let accepted = (kind.read)(&path);
    let taken = MOST.load(Ordering::Relaxed) - before;
    let most = BYTES_EACH * bytes.len() + BYTES_OF_ANY;
    assert!(taken <= most, "{}: {taken} bytes for {}", kind.name, String::from_utf8_lossy(bytes));
    accepted
}

/// Reads mutations with these seeds of files of each kind.
fn mutate(seeds: std::ops::Range<u64>) {
    let folder = tempfile::tempdir().unwrap();
    for kind in kinds(folder.path()) {
        for (index, whole) in kind.whole.iter().enumerate() {
            assert!(is_accepted(folder.path(), &kind, whole), "{}, file {index}", kind.name);
        }
        let mut accepted = 0;
        for seed in seeds.clone() {
            let mut random = SplitMix64::new(seed);
            let mut bytes = kind.whole[random.below(kind.whole.len())].clone();
            random.mutate(&mut bytes);
            let read = || is_accepted(folder.path(), &kind, &bytes);
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
            accepted += u64::from(outcome.unwrap_or_else(|_| panic!("{}, seed {seed}", kind.name)));
        }
        assert!(accepted > 0, "{}: some mutations change nothing that matters", kind.name);
    }
}

#[test]
fn files_of_strangers_are_read_or_refused_in_little_memory() {
    mutate(0..MUTATIONS);
    let folder = tempfile::tempdir().unwrap();
    let kinds = kinds(folder.path());
    let is_accepted = |name: &str, bytes: &[u8]| {
        let kind = kinds.iter().find(|kind| kind.name == name).unwrap();
        is_accepted(folder.path(), kind, bytes)
    };
    // Few bytes that say they are many.
    for (name, text) in [
        ("x.goal", "num_ranks 16777216\nrank 0 {\n}\n"),
        ("x.goal", "num_ranks 2\nrank 0 {\nsend 999999999999999b to 1\n}\n"),
        ("x.ti", "99999999 init\n"),
        ("x.rec", "cornerstone-recording 1\n16777216 x\n\0\0"),
    ] {
        assert!(!is_accepted(name, text.as_bytes()), "{text}");
    }
    // The shortest lines, and many of them.
    let lines = "calc 1\n".repeat(100_000);
    assert!(is_accepted("x.goal", format!("num_ranks 1\nrank 0 {{\n{lines}}}\n").as_bytes()));
    assert!(is_accepted("x.ti", "0 barrier\n".repeat(100_000).as_bytes()));
    // A device without an end takes no more than another file.
    let before = USED.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    assert!(definition_files::read_bytes(Path::new("/dev/zero")).is_err());
    assert!(MOST.load(Ordering::Relaxed) - before <= BYTES_OF_ANY);
}

#[test]
#[ignore = "long"]
fn files_of_many_strangers_are_read_or_refused_in_little_memory() {
    mutate(MUTATIONS..MANY_MUTATIONS);
}
