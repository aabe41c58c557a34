//! Ticks: the processor's time-stamp counter if the kernel itself uses it as its clock source, otherwise nanoseconds of
//! the system's clock. On simulated machines that clock is virtual.

use std::ffi::CStr;
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if ticks are nanoseconds of the system's clock. It is set before anything is recorded.
static SYSTEM: AtomicBool = AtomicBool::new(!cfg!(target_arch = "x86_64"));

/// Chooses between the two. Returns whether it is the system's clock.
pub(crate) fn choose() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let trusted = std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc");
    let system = !(cfg!(target_arch = "x86_64") && trusted) || virtual_clock().is_some();
    // Relaxed: it guards no other memory, and no thread records anything yet.
    SYSTEM.store(system, Ordering::Relaxed);
    system
}

/// Returns the current ticks. The counter is read without a fence: an error of a few nanoseconds does not matter.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if !SYSTEM.load(Ordering::Relaxed) {
        // SAFETY: the instruction exists on every x86-64 processor.
        return unsafe { std::arch::x86_64::_rdtsc() };
    }
    nanoseconds()
}

/// Returns the time of the system's monotonic clock.
pub(crate) fn nanoseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is live; this clock always exists, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Reports to the library of virtual time that the program enters or leaves a function of this library.
type NoteLibrary = extern "C" fn(bool);

/// Returns that function, if time is virtual in this process.
fn virtual_clock() -> Option<NoteLibrary> {
    static FOUND: OnceLock<Option<NoteLibrary>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let find = |name: &CStr| {
            // SAFETY: the name is a C string.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            (!found.is_null()).then_some(found)
        };
        let has = find(c"cornerstone_has_virtual_clock")?;
        let note = find(c"cornerstone_note_library")?;
        // SAFETY: our own library alone has this name, with this type.
        let has = unsafe { transmute::<*mut libc::c_void, extern "C" fn() -> bool>(has) };
        // SAFETY: as above.
        let note = unsafe { transmute::<*mut libc::c_void, NoteLibrary>(note) };
        has().then_some(note)
    })
}

/// A guard during which this library's work takes no virtual time.
pub(crate) struct Untimed(Option<NoteLibrary>);

impl Untimed {
    #[inline(always)]
    pub(crate) fn begin() -> Self {
        // Relaxed: as in `ticks`. Virtual time is that of the system's clock.
        match SYSTEM.load(Ordering::Relaxed) {
            false => Untimed(None),
            true => Untimed::on_system_clock(),
        }
    }

    #[cold]
    fn on_system_clock() -> Self {
        let note = virtual_clock();
        if let Some(note) = note {
            note(true);
        }
        Untimed(note)
    }
}

impl Drop for Untimed {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(note) = self.0 {
            note(false);
        }
    }
}
