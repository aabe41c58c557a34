//! The threads of this process that are outside the library, and whether any of them can act by itself.
//!
//! The program may have threads that never call MPI, such as those of a library for linear algebra, and threads that
//! wait for one in MPI. They sleep on a word in memory that only a thread of this process can change, without a time
//! limit. If all threads outside do so at one moment, none of them acts before one of the threads inside does.
//!
//! The threads cannot be inspected all at once. The returned number therefore contains how often each has been off its
//! processor. If it is the same at two inspections, every thread has slept from the end of the first until the second
//! began.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Options of the system call that do not concern whether a sleep can end.
const OPTIONS: u64 = (libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) as u64;

/// Signals whose handlers wake no thread that the run still needs: those of an error of the thread itself, SIGINT, on
/// which the launcher ends the run, and two of the C library.
const HARMLESS: [i32; 11] = [
    libc::SIGINT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGPIPE,
    libc::SIGSYS,
    32,
    33,
];

/// The threads outside the library.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outside {
    /// Number of those that may act by themselves.
    pub(super) acting: usize,
    /// A number that is the same at two inspections if none that slept at the first has moved since.
    pub(super) number: u64,
}

/// Returns the state of all threads except those `inside`; `None` if the system does not show it.
pub(super) fn inspect(inside: &[i32]) -> Option<Outside> {
    let mut threads = Vec::new();
    for entry in fs::read_dir("/proc/self/task").ok()? {
        let thread: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        if !inside.contains(&thread) {
            threads.push(thread);
        }
    }
    threads.sort_unstable();
    let is_interruptible = !threads.is_empty() && may_be_interrupted();
    let mut hasher = DefaultHasher::new();
    let mut acting = 0;
    for thread in threads {
        acting += usize::from(is_interruptible || !sleeps_for_a_thread(thread));
        (thread, switches(thread)).hash(&mut hasher);
    }
    Some(Outside { acting, number: hasher.finish() })
}

/// Returns whether a thread sleeps until another thread of this process wakes it.
fn sleeps_for_a_thread(thread: i32) -> bool {
    // The state of a thread that a debugger has stopped is not sleeping, although its interrupted call is still shown.
    let sleeps = status(thread).lines().any(|line| line.starts_with("State:\tS"));
    let call = fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).unwrap_or_default();
    sleeps
        && awaited_word(&call)
            .is_some_and(|(word, is_private)| is_private || is_in_private_memory(word))
}

/// Returns the word in memory for which a system call waits without a time limit, and whether only threads of this
/// process can wake it there. The line has the number of the call and its arguments.
fn awaited_word(line: &str) -> Option<(u64, bool)> {
    let mut words = line.split_whitespace();
    if words.next()?.parse() != Ok(libc::SYS_futex) {
        return None;
    }
    let mut next = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (word, operation, _value, limit) = (next()?, next()?, next()?, next()?);
    let waits = [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET];
    let waits = waits.iter().any(|&wait| operation & !OPTIONS == wait as u64);
    (waits && limit == 0).then_some((word, operation & libc::FUTEX_PRIVATE_FLAG as u64 != 0))
}

/// Returns whether no other process shares the memory at an address, such as that of the number of a thread that is
/// joined.
fn is_in_private_memory(address: u64) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().any(|line| {
        let mut words = line.split_whitespace();
        let range = words.next().and_then(|range| range.split_once('-'));
        let number = |text| u64::from_str_radix(text, 16).unwrap_or(0);
        range.is_some_and(|(start, end)| (number(start)..number(end)).contains(&address))
            && words.next().is_some_and(|access| access.starts_with("rw") && access.ends_with('p'))
    })
}

fn status(thread: i32) -> String {
    fs::read_to_string(format!("/proc/self/task/{thread}/status")).unwrap_or_default()
}

/// Returns how often a thread has been off its processor.
fn switches(thread: i32) -> Vec<u64> {
    let status = status(thread);
    let counts = status.lines().filter(|line| line.contains("_ctxt_switches:"));
    counts.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect()
}

/// Returns whether the program handles a signal whose handler may wake a thread.
fn may_be_interrupted() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let harmless = HARMLESS.iter().fold(0_u64, |mask, signal| mask | 1 << (signal - 1));
    caught.is_none_or(|caught| caught & !harmless != 0)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier, mpsc};
    use std::time::Duration;

    use super::*;

    /// Only a thread that never sleeps needs so many polls.
    const NO_HANG: u32 = 100_000;

    /// Runs a thread outside, which `sleeps`, and checks up to `polls` times whether it sleeps for a thread, before
    /// `wake` ends it. Returns whether it was seen to do so.
    fn is_seen_asleep(
        polls: u32,
        sleeps: impl FnOnce() + Send + 'static,
        wake: impl FnOnce(),
    ) -> bool {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            // SAFETY: no memory is involved.
            sender.send(unsafe { libc::gettid() }).unwrap();
            sleeps();
        });
        let number = receiver.recv().unwrap();
        let seen = (0..polls).any(|_| {
            std::thread::sleep(Duration::from_millis(2));
            sleeps_for_a_thread(number)
        });
        wake();
        thread.join().unwrap();
        seen
    }

    #[test]
    fn a_thread_that_waits_for_another_is_asleep_and_one_that_sleeps_for_a_time_is_not() {
        let barrier = Arc::new(Barrier::new(2));
        let other = barrier.clone();
        assert!(is_seen_asleep(
            NO_HANG,
            move || {
                other.wait();
            },
            || {
                barrier.wait();
            }
        ));
        assert!(!is_seen_asleep(100, || std::thread::sleep(Duration::from_millis(400)), || ()));
    }

    #[test]
    fn one_that_joins_another_is_asleep() {
        let (end, ended) = mpsc::channel::<()>();
        let joined = std::thread::spawn(move || {
            let _ = ended.recv();
        });
        assert!(is_seen_asleep(NO_HANG, || joined.join().unwrap(), move || drop(end)));
    }

    #[test]
    fn only_waits_without_a_limit_are_endless() {
        let call = |operation: i32, limit: &str| {
            format!(
                "{} 0x7f00 {operation:#x} 0x2 {limit} 0x0 0xffffffff 0x7ffd 0x7f01",
                libc::SYS_futex
            )
        };
        let private = libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG;
        assert_eq!(awaited_word(&call(private, "0x0")), Some((0x7f00, true)));
        let realtime = libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME;
        assert_eq!(awaited_word(&call(realtime, "0x0")), Some((0x7f00, false)));
        assert_eq!(awaited_word(&call(private, "0x7ffd")), None);
        assert_eq!(awaited_word(&call(libc::FUTEX_LOCK_PI, "0x0")), None);
        assert_eq!((awaited_word("running\n"), awaited_word("")), (None, None));
        assert_eq!(awaited_word(&format!("{} 0x1", libc::SYS_nanosleep)), None);
    }

    #[test]
    fn memory_that_other_processes_map_is_not_private() {
        let own = Box::new(0_u32);
        assert!(is_in_private_memory(&raw const *own as u64));
        // The code of this program is mapped from its file, and never written.
        assert!(!is_in_private_memory(inspect as *const () as u64));
        assert!(!is_in_private_memory(0));
    }

    #[test]
    fn a_thread_that_computes_may_act() {
        // SAFETY: no memory is involved.
        let own = unsafe { libc::gettid() };
        assert!(!sleeps_for_a_thread(own));
        let all = inspect(&[]).unwrap();
        assert!(all.acting >= 1, "{all:?}");
    }
}
