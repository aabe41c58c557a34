//! System calls of Linux that the standard library does not offer, each as a function that returns its error.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// The unit of the segment's layout and of the arenas: a page of 4 KiB.
pub const PAGE_BYTES: usize = 4096;

/// Converts the C convention of -1 and `errno` to a result.
pub fn check(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

/// Names a system call that the kernel does not have, or that a filter of a container refuses.
pub fn refused(call: &str, error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EPERM) => {
            io::Error::new(error.kind(), format!("the system refuses the call {call} ({error})"))
        }
        _ => error,
    }
}

/// Creates anonymous memory behind a descriptor, zero-filled, `bytes` long, closed on exec.
pub fn memory_file(bytes: usize) -> io::Result<OwnedFd> {
    // SAFETY: the name is a C string, and a descriptor that was just returned has no other owner.
    let fd = unsafe {
        let fd = check(libc::memfd_create(c"cornerstone".as_ptr(), libc::MFD_CLOEXEC));
        OwnedFd::from_raw_fd(fd.map_err(|error| refused("memfd_create", error))?)
    };
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
    check_file_size_limit(bytes as u64)?;
    // SAFETY: no memory is involved.
    check(unsafe { libc::ftruncate(fd.as_raw_fd(), bytes) })?;
    Ok(fd)
}

/// Maps `bytes` bytes of shared memory from `offset` on for reading and writing.
pub fn map_shared(memory: BorrowedFd<'_>, offset: usize, bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_NORESERVE,
            memory.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(address.cast()).ok_or_else(|| io::Error::other("mapped at address zero"))
}

/// Creates a descriptor that counts what is written to it, closed on exec, whose reads do not block.
pub fn event() -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved, and a descriptor that was just returned has no other owner.
    unsafe {
        let fd = check(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK));
        Ok(OwnedFd::from_raw_fd(fd.map_err(|error| refused("eventfd", error))?))
    }
}

/// Sleeps until one of two descriptors is readable, at most for `limit`; may return early. Returns whether the limit
/// has passed.
pub fn poll_readable(one: BorrowedFd<'_>, other: Option<BorrowedFd<'_>>, limit: Duration) -> bool {
    // Polls ignore -1.
    let other = other.map_or(-1, |fd| fd.as_raw_fd());
    let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut entries = [entry(one.as_raw_fd()), entry(other)];
    let limit_ms = limit.as_millis() as libc::c_int;
    // SAFETY: the entries are live, and their number is right.
    unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, limit_ms) == 0 }
}

/// Fails if the limit on the size of files is too low. The limit counts addresses here, not memory, and a process that
/// exceeds it is ended by a signal without a message.
fn check_file_size_limit(bytes: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is live and of the right type.
    check(unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) })?;
    if bytes <= limit.rlim_cur {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!(
            "it has {bytes} bytes of addresses, more than `ulimit -f` allows a file; raise that to unlimited"
        ),
    ))
}

/// Sets the limit on the open descriptors of this process, at most to what the system permits.
pub fn limit_descriptors(soft: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is live and of the right type.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    limit.rlim_cur = soft.min(limit.rlim_max);
    // SAFETY: as above; it is only read.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) })?;
    Ok(())
}

/// Sleeps while `word` holds `value`, at most for `limit`; may return early. Returns whether the limit has passed.
pub fn futex_wait(word: &AtomicU32, value: u32, limit: Duration) -> bool {
    let limit = libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(limit.subsec_nanos()),
    };
    // SAFETY: `word` is live and aligned, and `limit` outlives the call. Not FUTEX_PRIVATE: the word is shared between
    // processes. Errors (interrupted, timed out, changed) all mean "poll again", which callers do.
    let returned = unsafe {
        libc::syscall(libc::SYS_futex, ptr::from_ref(word), libc::FUTEX_WAIT, value, &limit)
    };
    returned == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT)
}

/// Wakes up to `count` sleepers on `word`.
pub fn futex_wake(word: &AtomicU32, count: i32) {
    // SAFETY: `word` is live and aligned; the kernel only uses its address.
    unsafe { libc::syscall(libc::SYS_futex, ptr::from_ref(word), libc::FUTEX_WAKE, count) };
}

/// Lets the parent and its other children access this process's memory if the system would permit only the parent
/// (Yama's restricted scope). Otherwise it has no effect.
pub fn allow_cma_from_family() {
    // SAFETY: no memory is involved; an error means that there is nothing to allow.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::getppid() as libc::c_ulong, 0, 0, 0) };
}

/// Returns the length of a page.
pub fn page_bytes() -> usize {
    // SAFETY: no memory is involved.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Faults in the pages of some shared memory for writing. If the system cannot, they are faulted in when they are used.
///
/// # Safety
/// The memory is mapped, to read and write.
pub unsafe fn touch_ahead(start: *mut u8, bytes: usize) {
    let offset = start.addr() % page_bytes();
    // SAFETY: the caller promises mapped memory; the pages' contents stay what they are.
    unsafe {
        libc::madvise(start.wrapping_sub(offset).cast(), offset + bytes, libc::MADV_POPULATE_WRITE);
    }
}

/// Yields the processor to other processes.
pub fn yield_processor() {
    // SAFETY: no arguments, and it cannot fail on Linux.
    unsafe { libc::sched_yield() };
}

/// Returns the processors on which the calling thread may run, in ascending order.
pub fn allowed_processors() -> io::Result<Vec<usize>> {
    // SAFETY: a `cpu_set_t` is plain bits, for which zero is a value, and the size passed is its own.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        check(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set))?;
        Ok((0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect())
    }
}

/// Returns the processor on which the calling thread may run, if it is only one.
pub fn only_processor() -> Option<u32> {
    match allowed_processors().ok()?[..] {
        [one] => Some(one as u32),
        _ => None,
    }
}

/// Binds the calling thread to one processor. Safe to call between fork and exec: it allocates nothing.
pub fn bind_to_processor(processor: usize) -> io::Result<()> {
    bind_to_processors(&[processor])
}

/// Lets the calling thread run on these processors only. Safe to call between fork and exec: it allocates nothing.
pub fn bind_to_processors(processors: &[usize]) -> io::Result<()> {
    if processors.iter().any(|&processor| processor >= libc::CPU_SETSIZE as usize) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: as above, and each processor is within the set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        processors.iter().for_each(|&processor| libc::CPU_SET(processor, &mut set));
        check(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)).map(drop)
    }
}

/// Returns the processor on which the calling thread runs at this moment.
pub fn current_processor() -> Option<u32> {
    // SAFETY: no arguments.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Moves the calling thread to a processor, from which the system may move it again.
pub fn move_to_processor(processor: usize) -> io::Result<()> {
    // SAFETY: a `cpu_set_t` is plain bits, for which zero is a value, and the size passed is its own.
    unsafe {
        let mut before: libc::cpu_set_t = std::mem::zeroed();
        check(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut before))?;
        bind_to_processor(processor)?;
        check(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &before)).map(drop)
    }
}

/// Lets the calling thread run on every processor that the system permits for this process.
pub fn unbind() -> io::Result<()> {
    // SAFETY: as above.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (0..libc::CPU_SETSIZE as usize).for_each(|cpu| libc::CPU_SET(cpu, &mut set));
        check(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)).map(drop)
    }
}

/// Locks every page of this process in memory from its first use, or unlocks them. Not from now on: the segment has
/// room for far more than is ever touched.
pub fn lock_memory(on: bool) -> io::Result<()> {
    // SAFETY: no memory is accessed; pages that stay where they are change nothing for anybody.
    let returned = unsafe {
        if on { libc::mlockall(libc::MCL_CURRENT | libc::MCL_ONFAULT) } else { libc::munlockall() }
    };
    check(returned).map(drop)
}

/// Gives the calling thread a fixed priority (SCHED_FIFO), or with `None` the default scheduling.
pub fn set_priority(fixed: Option<u8>) -> io::Result<()> {
    let class = if fixed.is_some() { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    // SAFETY: a `sched_param` is plain bits, for which zero is a value; it outlives the call, which only reads it.
    unsafe {
        let mut parameters: libc::sched_param = std::mem::zeroed();
        parameters.sched_priority = fixed.map_or(0, libc::c_int::from);
        check(libc::sched_setscheduler(0, class, &parameters)).map(drop)
    }
}

/// Sets or clears close-on-exec. Safe to call between fork and exec.
pub fn close_on_exec(fd: BorrowedFd<'_>, close: bool) -> io::Result<()> {
    let flags = if close { libc::FD_CLOEXEC } else { 0 };
    // SAFETY: no memory is involved.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, flags) }).map(drop)
}

/// Takes ownership of a descriptor that the process's parent passed on, and closes it in programs that this process
/// starts.
///
/// # Errors
/// If it is not open.
///
/// # Safety
/// Nothing else in the process owns the descriptor.
pub unsafe fn inherited(fd: RawFd) -> Result<OwnedFd, String> {
    // SAFETY: the caller promises it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    match close_on_exec(fd.as_fd(), true) {
        Ok(()) => Ok(fd),
        Err(error) => {
            let number = fd.into_raw_fd();
            Err(format!("descriptor {number} from the launcher is not open: {error}"))
        }
    }
}

/// Makes a descriptor non-blocking.
pub fn do_not_block(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    unsafe {
        let flags = check(libc::fcntl(fd.as_raw_fd(), libc::F_GETFL))?;
        check(libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK)).map(drop)
    }
}

/// Returns the name of a signal, as `kill -l` has it.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGSYS => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal}, {name}")
}
