//! How long messages move without passing through the ring: straight from one rank's memory to another's.
//!
//! Memory in a rank's arena is mapped by all, and copied like any other. Other memory is reached through the kernel
//! (process_vm_readv and its twin) where that is allowed.

use std::io;
use std::time::Instant;

use crate::segment::Segment;

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

/// Memory for the neighbour to read, alive as long as the engine.
pub(super) struct Probe(Vec<u8>);

impl Probe {
    /// Lets the neighbours find something to read, before this rank says that it has attached.
    pub(super) fn publish(segment: &Segment, me: usize) -> Self {
        let probe = Probe(vec![1; PROBE_BYTES]);
        segment.block(me).set_probe(probe.0.as_ptr() as u64);
        probe
    }

    /// Reads the next rank's, which has attached, and sees whether and how fast it goes.
    pub(super) fn try_neighbour(&self, segment: &Segment, me: usize) -> Attach {
        let neighbour = (me + 1) % segment.ranks();
        let block = segment.block(neighbour);
        let (process, address) = (block.process(), block.probe() as usize);
        let mut room = vec![0; PROBE_BYTES];
        let mut best = [f64::MAX; 2];
        for _ in 0..3 {
            let start = Instant::now();
            // SAFETY: `room` is our own and as long as that.
            let read = unsafe { read_far(process, address, room.as_mut_ptr(), PROBE_BYTES) };
            if let Err(error) = read {
                return Attach::Refused(error.raw_os_error().unwrap_or(0));
            }
            best[0] = best[0].min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            room.copy_from_slice(std::hint::black_box(&self.0));
            std::hint::black_box(&mut room);
            best[1] = best[1].min(start.elapsed().as_secs_f64());
        }
        // Both sides copy a half each, while fragments through the segment take some 1.6 copies' time (measured: 51 GB/s
        // against 84 for 64 KiB).
        Attach::Allowed { fast: best[0] < 3.0 * best[1] }
    }
}

impl Attach {
    pub(super) fn describe(self) -> String {
        match self {
            Attach::Forbidden => "not used (switched off)".into(),
            Attach::Refused(error) => {
                format!("not permitted ({})", io::Error::from_raw_os_error(error))
            }
            Attach::Allowed { fast: true } => "used, by both sides".into(),
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
