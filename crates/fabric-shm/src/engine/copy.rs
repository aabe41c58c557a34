//! How long messages move without passing through the ring: straight from one rank's memory to another's.
//!
//! Memory in a rank's arena is mapped by all, and copied like any other. Other memory is reached through the kernel
//! (process_vm_readv and its twin) where that is allowed.

use std::io;
use std::time::Instant;

use crate::primitive::{spin_loop, yield_processor};
use crate::segment::{CmaVote, Segment};
use crate::system::PAGE_BYTES;

/// Where a rank's memory is, as seen by the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Far {
    /// At this offset in the arenas, which every rank maps.
    Arena(usize),
    /// At this address in the process.
    Address(usize),
}

/// What may be done between this process and the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attach {
    /// The user has forbidden it.
    Forbidden,
    /// The system does, with this error.
    Refused(i32),
    /// Allowed; and whether it is fast enough to be worth it beside fragments through the segment.
    Allowed { fast: bool },
}

/// How much is read from the neighbour to see what attaching costs.
const PROBE_BYTES: usize = 64 << 10;
/// In how many parts it is read from shared memory: the shortest time of a part counts, for a pause would spoil it.
const PROBE_PARTS: usize = 8;

/// How often a rank looks whether its neighbour is ready before it lets others run.
const LOOKS_BEFORE_YIELD: u32 = 1000;

/// What the neighbours read before the first message: memory of this process alone, and the ring that leads to one of them.
pub(super) struct Probe(Vec<u8>);

impl Probe {
    /// Lets the neighbours find something to read, before this rank says that it has attached.
    pub(super) fn publish(segment: &Segment, me: usize) -> Self {
        let probe = Probe(vec![1; PROBE_BYTES]);
        segment.block(me).set_probe(probe.0.as_ptr() as u64);
        let reader = (me + segment.ranks() - 1) % segment.ranks();
        let (ring, bytes) = ring_to_probe(segment, me, reader);
        // SAFETY: the ring holds so many bytes, we are its only sender, and have sent nothing: nobody reads it but the
        // neighbour that measures, for which what it reads does not matter.
        unsafe { ring.write_bytes(1, bytes) };
        probe
    }

    /// Writes to the ring once more, for a neighbour that is about to read it. While ranks waited for each other a processor may have
    /// slept, whose caches are empty then: what it had written comes from memory, at a quarter of the speed (16 KiB on two cores of a Zen 5:
    /// 17 GB/s instead of 73), and attaching would pass for the fast way.
    fn refresh(segment: &Segment, me: usize) {
        let reader = (me + segment.ranks() - 1) % segment.ranks();
        let (ring, bytes) = ring_to_probe(segment, me, reader);
        // SAFETY: as in `publish`; the neighbour waits for the flag, and reads nothing else of the ring before we send.
        unsafe { ring.write_bytes(2, bytes) };
        segment.block(me).set_probe_written();
    }

    /// Reads the next rank's, which has attached, in both ways, and sees whether and how fast it goes.
    pub(super) fn try_neighbour(&self, segment: &Segment, me: usize) -> Attach {
        let neighbour = (me + 1) % segment.ranks();
        let block = segment.block(neighbour);
        let (process, address) = (block.process(), block.probe() as usize);
        let (ring, bytes) = ring_to_probe(segment, neighbour, me);
        // Touched, so that no fault of a page is measured.
        let mut room = vec![3; bytes];
        for page in (0..bytes).step_by(PAGE_BYTES) {
            // SAFETY: inside the ring; what is read does not matter.
            std::hint::black_box(unsafe { ring.add(page).read_volatile() });
        }
        Probe::refresh(segment, me);
        let mut looks = 0;
        while !block.is_probe_written() && !segment.header().abort.is_raised() {
            looks += 1;
            if looks % LOOKS_BEFORE_YIELD == 0 { yield_processor() } else { spin_loop() }
        }
        let part = bytes / PROBE_PARTS;
        let mut part_s = f64::MAX;
        for index in 0..PROBE_PARTS {
            let start = Instant::now();
            // SAFETY: the part lies in the ring and in `room`. The neighbour has written there before it said so, and writes again only
            // once it sends, whose bytes do not matter here.
            unsafe {
                let to = room.as_mut_ptr().add(index * part);
                std::ptr::copy_nonoverlapping(ring.add(index * part), to, part);
            }
            std::hint::black_box(&mut room);
            part_s = part_s.min(start.elapsed().as_secs_f64());
        }
        let mut attached_s = f64::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            // SAFETY: `room` is our own and as long as that.
            let read = unsafe { read_far(process, address, room.as_mut_ptr(), bytes) };
            if let Err(error) = read {
                return Attach::Refused(error.raw_os_error().unwrap_or(0));
            }
            attached_s = attached_s.min(start.elapsed().as_secs_f64());
        }
        // Through shared memory another copy comes before this one, and overlaps with it but for a fragment. Of the processors
        // that were measured, attaching took 0.7 to 1.5 times as long as this where a line takes 120 ns from one to the other
        // (Emerald Rapids), and some 3 times as long where it takes 30 ns (Zen 5).
        Attach::Allowed { fast: attached_s < 2.0 * part_s * PROBE_PARTS as f64 }
    }
}

/// The bytes of the ring from one rank to another that are used for measuring.
fn ring_to_probe(segment: &Segment, sender: usize, receiver: usize) -> (*mut u8, usize) {
    let ring = segment.ring(sender, receiver);
    (ring.lines.start, PROBE_BYTES.min(ring.lines.bytes()))
}

impl Attach {
    /// What all ranks make of what each has found: who sends must choose the way that suits who receives, so attaching is the
    /// fast way for all of them or for none. A rank that something put off while it measured does not decide alone.
    pub(super) fn agree(self, segment: &Segment) -> Self {
        let vote = match self {
            Attach::Allowed { fast: true } => CmaVote::Fast,
            Attach::Allowed { fast: false } => CmaVote::Slow,
            Attach::Refused(_) | Attach::Forbidden => CmaVote::Impossible,
        };
        let all = segment.header().vote_on_cma(vote, segment.ranks());
        match self {
            Attach::Allowed { .. } => Attach::Allowed { fast: all == CmaVote::Fast },
            other => other,
        }
    }

    /// Whether memory of every rank that it was asked for is read at once, and that is the fast way.
    #[inline]
    pub(super) fn is_fast(self) -> bool {
        self == Attach::Allowed { fast: true }
    }

    pub(super) fn describe(self) -> String {
        match self {
            Attach::Forbidden => "not used (switched off)".into(),
            Attach::Refused(error) => {
                format!("not permitted ({})", io::Error::from_raw_os_error(error))
            }
            Attach::Allowed { fast: true } => "used: faster here than fragments".into(),
            Attach::Allowed { fast: false } => {
                "permitted; slower here than fragments, so used only where ranks share processors"
                    .into()
            }
        }
    }
}

/// Copies `bytes` bytes at `address` of another process to `to`.
///
/// # Safety
/// `to` has room for them.
pub(super) unsafe fn read_far(
    process: libc::pid_t,
    address: usize,
    to: *mut u8,
    bytes: usize,
) -> io::Result<()> {
    // SAFETY: `transfer` touches `bytes` bytes at `to`, as our caller promised.
    unsafe { transfer(libc::process_vm_readv, process, address, to, bytes) }
}

/// Copies `bytes` bytes at `from` to `address` of another process.
///
/// # Safety
/// `from` holds them, and the other process expects them there.
pub(super) unsafe fn write_far(
    process: libc::pid_t,
    address: usize,
    from: *const u8,
    bytes: usize,
) -> io::Result<()> {
    // SAFETY: as above; the local memory is only read.
    unsafe { transfer(libc::process_vm_writev, process, address, from.cast_mut(), bytes) }
}

type Call = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

/// # Safety
/// As the two above.
unsafe fn transfer(
    call: Call,
    process: libc::pid_t,
    address: usize,
    local: *mut u8,
    bytes: usize,
) -> io::Result<()> {
    let mut moved = 0;
    while moved < bytes {
        let near = libc::iovec {
            // SAFETY: `moved < bytes`, so this is inside what our caller promised.
            iov_base: unsafe { local.add(moved) }.cast(),
            iov_len: bytes - moved,
        };
        let far = libc::iovec { iov_base: (address + moved) as *mut _, iov_len: bytes - moved };
        // SAFETY: both vectors are live, and `near` is our caller's memory.
        let count = unsafe { call(process, &near, 1, &far, 1, 0) };
        if count <= 0 {
            return Err(io::Error::last_os_error());
        }
        moved += count as usize;
    }
    Ok(())
}
