//! Cross-memory attach: copies between the memory of two processes by the kernel, without the ring (`process_vm_readv`
//! and `process_vm_writev`).
//!
//! At the start the ranks measure whether it is permitted, and whether it is faster than fragments through the ring
//! (decision 0010).

use std::io;
use std::time::Instant;

use contract::{Error, MemoryCopies, Readable, RemoteAddress, Result, Writable};

use super::Rings;
use crate::primitive::{note_read, note_write, spin_loop, yield_processor};
use crate::segment::{CmaVote, Segment};
use launcher::system::PAGE_BYTES;

/// The use of cross-memory attach by this process and the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cma {
    /// The user has switched it off.
    Forbidden,
    /// The system does not permit it, with this error.
    Refused(i32),
    /// It is permitted; `fast` says whether it is faster than fragments through the ring.
    Allowed { fast: bool },
}

/// Number of bytes that are read from the neighbour to measure cross-memory attach.
const PROBE_BYTES: usize = 64 << 10;
/// Number of parts in which they are read from the ring. The shortest time of a part counts, because a pause would
/// distort the sum.
const PROBE_PARTS: usize = 8;

/// Number of polls for its neighbour before a rank yields.
const POLLS_BEFORE_YIELD: u32 = 1000;

/// The memory that the neighbours read before the first message: memory of this process alone, and the ring to one of
/// them.
pub(super) struct Probe(Vec<u8>);

impl Probe {
    /// Writes the memory that the neighbours read, before this rank joins.
    pub(super) fn publish(segment: &Segment, me: usize) -> Self {
        let probe = Probe(vec![1; PROBE_BYTES]);
        segment.block(me).set_probe(probe.0.as_ptr() as u64);
        let reader = (me + segment.seat().size() - 1) % segment.seat().size();
        let (ring, bytes) = ring_to_probe(segment, me, reader);
        // SAFETY: the ring holds this many bytes, this rank is its only sender, and it has sent nothing. Only the
        // neighbour that measures reads it, and ignores the contents.
        unsafe { ring.write_bytes(1, bytes) };
        probe
    }

    /// Writes to the ring once more, for a neighbour that is about to read it. The processor may have slept while ranks
    /// waited for each other, which empties its caches. What it had written would come from memory, and cross-memory
    /// attach would wrongly seem the faster path. See docs/measurements.md#where-cross-memory-attach-is-faster.
    fn refresh(segment: &Segment, me: usize) {
        let reader = (me + segment.seat().size() - 1) % segment.seat().size();
        let (ring, bytes) = ring_to_probe(segment, me, reader);
        // SAFETY: as in `publish`. The neighbour waits for the flag, and reads nothing else of the ring before this
        // rank sends.
        unsafe { ring.write_bytes(2, bytes) };
        segment.block(me).set_probe_written();
    }

    /// Reads the next rank's memory both through the ring and by cross-memory attach, and compares the times. That rank
    /// has joined.
    pub(super) fn try_neighbour(&self, segment: &Segment, me: usize) -> Cma {
        let neighbour = (me + 1) % segment.seat().size();
        let block = segment.block(neighbour);
        let (process, address) = (segment.seat().process(neighbour), block.probe() as usize);
        let (ring, bytes) = ring_to_probe(segment, neighbour, me);
        // The memory is written and the ring is read here, so that no page fault is measured.
        let mut room = vec![3; bytes];
        for page in (0..bytes).step_by(PAGE_BYTES) {
            // SAFETY: inside the ring; the value read is ignored.
            std::hint::black_box(unsafe { ring.add(page).read_volatile() });
        }
        Probe::refresh(segment, me);
        let mut polls = 0;
        while !block.is_probe_written() && !segment.seat().is_aborted() {
            polls += 1;
            if polls % POLLS_BEFORE_YIELD == 0 { yield_processor() } else { spin_loop() }
        }
        let part = bytes / PROBE_PARTS;
        let mut part_s = f64::MAX;
        for index in 0..PROBE_PARTS {
            let start = Instant::now();
            // SAFETY: the part lies in the ring and in `room`. The neighbour wrote there before it set the flag. It
            // writes again only once it sends, and those bytes are ignored here.
            unsafe {
                let to = room.as_mut_ptr().add(index * part);
                std::ptr::copy_nonoverlapping(ring.add(index * part), to, part);
            }
            std::hint::black_box(&mut room);
            part_s = part_s.min(start.elapsed().as_secs_f64());
        }
        let mut cma_s = f64::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            // SAFETY: `room` is this rank's own and this long.
            let read = unsafe { read_memory(process, address, room.as_mut_ptr(), bytes) };
            if let Err(error) = read {
                return Cma::Refused(error.raw_os_error().unwrap_or(0));
            }
            cma_s = cma_s.min(start.elapsed().as_secs_f64());
        }
        // Through the ring another copy precedes this one and overlaps with it but for one fragment. So cross-memory
        // attach counts as fast if it takes less than twice as long as this copy. See
        // docs/measurements.md#where-cross-memory-attach-is-faster.
        Cma::Allowed { fast: cma_s < 2.0 * part_s * PROBE_PARTS as f64 }
    }
}

/// Returns the bytes of the ring from one rank to another that are used for measuring.
fn ring_to_probe(segment: &Segment, sender: usize, receiver: usize) -> (*mut u8, usize) {
    let ring = segment.ring(sender, receiver);
    (ring.lines.start, PROBE_BYTES.min(ring.lines.bytes()))
}

impl Cma {
    /// Combines what each rank has measured into a decision of all. The sender must choose the protocol that suits the
    /// receiver, so cross-memory attach is fast for all ranks or for none. A rank that was interrupted while it
    /// measured does not decide alone.
    pub(super) fn agree(self, segment: &Segment) -> Self {
        let vote = match self {
            Cma::Allowed { fast: true } => CmaVote::Fast,
            Cma::Allowed { fast: false } => CmaVote::Slow,
            Cma::Refused(_) | Cma::Forbidden => CmaVote::Impossible,
        };
        let all = segment.vote_on_cma(vote);
        match self {
            Cma::Allowed { .. } => Cma::Allowed { fast: all == CmaVote::Fast },
            other => other,
        }
    }

    /// Returns whether every rank's memory can be read, and faster than through the ring.
    #[inline]
    pub(super) fn is_fast(self) -> bool {
        self == Cma::Allowed { fast: true }
    }

    /// Returns whether every rank's memory can be read and written.
    pub(super) fn is_allowed(self) -> bool {
        matches!(self, Cma::Allowed { .. })
    }

    pub(super) fn describe(self) -> String {
        match self {
            Cma::Forbidden => "not used (switched off)".into(),
            Cma::Refused(error) => {
                format!("not permitted ({})", io::Error::from_raw_os_error(error))
            }
            Cma::Allowed { fast: true } => "used: faster here than fragments".into(),
            Cma::Allowed { fast: false } => {
                "permitted; slower here than fragments, so used only where ranks share processors"
                    .into()
            }
        }
    }
}

impl Rings {
    /// Returns whether this rank may read and write the memory of others.
    pub fn may_use_cma(&self) -> bool {
        self.cma.is_allowed()
    }
}

/// A failure affects this call only.
impl MemoryCopies for Rings {
    unsafe fn read(&self, from: RemoteAddress, to: Writable) -> Result<()> {
        let process = self.segment.seat().process(self.place_of(from.rank as u32));
        // SAFETY: the caller promises the same, and whoever lent `to` promised its room.
        unsafe { read_memory(process, from.address as usize, to.as_mut_ptr(), to.bytes()) }
            .map_err(|error| cannot("read", from, to.bytes(), &error))
    }

    unsafe fn write(&self, to: RemoteAddress, from: Readable) -> Result<()> {
        let process = self.segment.seat().process(self.place_of(to.rank as u32));
        // SAFETY: the caller promises the same, and whoever lent `from` promised its bytes.
        unsafe { write_memory(process, to.address as usize, from.as_ptr(), from.bytes()) }
            .map_err(|error| cannot("write", to, from.bytes(), &error))
    }
}

#[cold]
fn cannot(what: &str, there: RemoteAddress, bytes: usize, why: &io::Error) -> Error {
    let RemoteAddress { rank, address } = there;
    let what = format!("cannot {what} {bytes} bytes at {address:#x} of rank {rank}");
    Error::System { what, reason: why.to_string() }
}

/// Copies `bytes` bytes at `address` of another process to `to`.
///
/// # Safety
/// `to` has room for them.
pub(super) unsafe fn read_memory(
    process: libc::pid_t,
    address: usize,
    to: *mut u8,
    bytes: usize,
) -> io::Result<()> {
    note_read(address as *const u8, bytes);
    note_write(to, bytes);
    // SAFETY: `transfer` touches `bytes` bytes at `to`, as the caller promised.
    unsafe { transfer(libc::process_vm_readv, process, address, to, bytes) }
}

/// Copies `bytes` bytes at `from` to `address` of another process.
///
/// # Safety
/// `from` holds them, and the other process expects them there.
pub(super) unsafe fn write_memory(
    process: libc::pid_t,
    address: usize,
    from: *const u8,
    bytes: usize,
) -> io::Result<()> {
    note_read(from, bytes);
    note_write(address as *const u8, bytes);
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
/// As for the two functions above.
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
            // SAFETY: `moved < bytes`, so this is inside what the caller promised.
            iov_base: unsafe { local.add(moved) }.cast(),
            iov_len: bytes - moved,
        };
        let far = libc::iovec { iov_base: (address + moved) as *mut _, iov_len: bytes - moved };
        // SAFETY: both vectors are live, and `near` is the caller's memory.
        let count = unsafe { call(process, &near, 1, &far, 1, 0) };
        if count <= 0 {
            return Err(io::Error::last_os_error());
        }
        moved += count as usize;
    }
    Ok(())
}
