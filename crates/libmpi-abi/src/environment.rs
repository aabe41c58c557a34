//! Initialisation, finalisation, time, versions and memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_double, c_int, c_void};
use std::ptr::NonNull;

use contract::{Endpoint, allocate_for_windows};

use crate::abi::*;
use crate::arguments::store;
use crate::chosen::Chosen;
use crate::failure::{Result, ensure, error_of};
use crate::info;
use crate::process::{self, Phase, check_running, engine, engine_if_any, process, running};
use crate::shared::Shared;
use crate::{communicator, ending, leaks, runs, text, threads, window};

pub(crate) unsafe fn init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> Result {
    start(THREAD_SINGLE)
}

pub(crate) unsafe fn init_thread(
    _argc: *mut c_int,
    _argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> Result {
    let level = process::granted(required);
    start(level)?;
    *provided = level;
    Ok(())
}

fn start(level: c_int) -> Result {
    let process = process();
    ensure!(process.phase.get() == Phase::Before, ERR_OTHER, "MPI_Init has been called before");
    communicator::predefine(process::start()?);
    process.thread_level.set(level);
    // SAFETY: no memory is involved.
    process.main_thread.set(unsafe { libc::pthread_self() });
    process.phase.set(Phase::Running);
    if level == THREAD_MULTIPLE {
        threads::share(engine()?);
    }
    runs::join_parent(process::start()?)
}

pub(crate) unsafe fn finalize() -> Result {
    if ending::is_under_way() {
        // The program's functions that run at the end of the process often call this. The run is aborted already.
        process().phase.set(Phase::After);
        return Ok(());
    }
    let universe = running()?;
    ensure!(process().phase.get() == Phase::Running, ERR_OTHER, "MPI_Init has not been called");
    leaks::report();
    // The attributes of MPI_COMM_SELF are deleted first, so that their functions may still use everything.
    universe.own().attributes().clear(COMM_SELF.0)?;
    let outcome = window::end_access().and_then(|()| process::leave());
    process().phase.set(Phase::After);
    outcome
}

pub(crate) unsafe fn initialized(flag: *mut c_int) -> Result {
    *flag = c_int::from(process().phase.get() != Phase::Before);
    Ok(())
}

pub(crate) unsafe fn finalized(flag: *mut c_int) -> Result {
    *flag = c_int::from(process().phase.get() == Phase::After);
    Ok(())
}

pub(crate) unsafe fn query_thread(provided: *mut c_int) -> Result {
    check_running()?;
    *provided = process().thread_level.get();
    Ok(())
}

pub(crate) unsafe fn is_thread_main(flag: *mut c_int) -> Result {
    check_running()?;
    *flag = c_int::from(process().main_thread.get() == libc::pthread_self());
    Ok(())
}

/// Calls `operation` with the endpoint, if there is one and it is not in use.
#[inline]
fn with_endpoint<R>(operation: impl FnOnce(&mut Chosen) -> R) -> Option<R> {
    // Reading the clock does not enter the library.
    let _inside = threads::enter();
    Some(operation(&mut *engine_if_any()?.endpoint().ok()?))
}

/// Returns the seconds since some moment before the run, the same at every rank.
pub(crate) fn time() -> c_double {
    with_endpoint(|endpoint| endpoint.now().as_ps() as f64 * 1e-12).unwrap_or(0.0)
}

pub(crate) fn tick() -> c_double {
    with_endpoint(|endpoint| endpoint.computer().clock.resolution.as_ps() as f64 * 1e-12)
        .unwrap_or(0.0)
}

pub(crate) unsafe fn version(version: *mut c_int, subversion: *mut c_int) -> Result {
    (*version, *subversion) = (VERSION, SUBVERSION);
    Ok(())
}

pub(crate) unsafe fn abi_version(major: *mut c_int, minor: *mut c_int) -> Result {
    (*major, *minor) = (ABI_VERSION, ABI_SUBVERSION);
    Ok(())
}

/// Returns the sizes of the ABI's types.
pub(crate) unsafe fn abi_info(place: *mut Info) -> Result {
    let pairs = mpi::Info::new();
    for name in ["mpi_aint_size", "mpi_count_size", "mpi_offset_size"] {
        pairs.set(name, "8");
    }
    *place = info::make(pairs);
    Ok(())
}

pub(crate) unsafe fn library_version(words: *mut c_char, length: *mut c_int) -> Result {
    // Tools look here for an MPI whose options of mpiexec they know.
    let own = concat!("Cornerstone MPI ", env!("CARGO_PKG_VERSION"), " (compatible with MPICH)");
    text::write(own, words, MAX_LIBRARY_VERSION_STRING, length);
    Ok(())
}

pub(crate) unsafe fn processor_name(name: *mut c_char, length: *mut c_int) -> Result {
    let mut host = [0; 256];
    let code = libc::gethostname(host.as_mut_ptr(), host.len() - 1);
    ensure!(code == 0, ERR_OTHER, "the system does not report the name of the host");
    let host = CStr::from_ptr(host.as_ptr()).to_string_lossy().into_owned();
    text::write(&host, name, MAX_PROCESSOR_NAME, length);
    Ok(())
}

/// Returns an empty object: this library binds no rank itself, so no rank is known to be restricted to a resource.
pub(crate) unsafe fn resource_info(place: *mut Info) -> Result {
    *place = info::make(mpi::Info::new());
    Ok(())
}

/// Implements MPI_Pcontrol, which profilers intercept.
pub(crate) unsafe fn profile_control(_level: c_int) -> Result {
    Ok(())
}

/// Alignment of MPI_Alloc_mem: a cache line.
const ALIGNMENT: usize = 64;

/// Length in bytes from which memory comes from an arena, in whole pages: a message from there is copied once.
const ALLOC_MEM_ARENA_FROM_BYTES: usize = 4096;

/// Alignment of memory from arenas.
const PAGE: usize = 4096;

/// Memory from arenas, by address, with its length.
static SHARED_MEMORY: Shared<RefCell<BTreeMap<usize, usize>>> = Shared::new(RefCell::default);

pub(crate) unsafe fn allocate(size: i64, info: Info, place: *mut c_void) -> Result {
    ensure!(size >= 0, ERR_ARG, "{size} bytes");
    let alignment = info::copy_or_none(info)?.alignment().unwrap_or(1).max(ALIGNMENT);
    if size as usize >= ALLOC_MEM_ARENA_FROM_BYTES
        && alignment <= PAGE
        && let Some(Some(memory)) = with_endpoint(|one| allocate_for_windows(one, size as usize))
    {
        let address = memory.as_ptr();
        SHARED_MEMORY.borrow_mut().insert(address as usize, size as usize);
        store(place, address);
        return Ok(());
    }
    let mut memory = std::ptr::null_mut();
    let code = libc::posix_memalign(&mut memory, alignment, (size as usize).max(1));
    if code != 0 {
        return Err(error_of(ERR_NO_MEM, format!("{size} bytes are not available")));
    }
    store(place, memory);
    Ok(())
}

pub(crate) unsafe fn release(memory: *mut c_void) -> Result {
    let shared = SHARED_MEMORY.borrow_mut().remove(&(memory as usize));
    if let (Some(bytes), Some(memory)) = (shared, NonNull::new(memory)) {
        if let Some(shared) = engine()?.endpoint()?.host_memory() {
            shared.arenas.release(memory.cast(), bytes);
        }
        return Ok(());
    }
    libc::free(memory);
    Ok(())
}
