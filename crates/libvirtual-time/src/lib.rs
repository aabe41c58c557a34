//! A preloaded library that serves the system's clocks, sleeps and timeouts in virtual time (`libcornerstone_time.so`).
//!
//! `cornerstone launch --fabric sim:MACHINE` preloads it into the processes of ranks. It does not depend on a fabric:
//! an MPI library in the process sets the source of the time by [`cornerstone_set_virtual_clock`]. Before that, and
//! after the source is removed, time passes as the thread uses its processor and sleeps. Sleeps then take no real time.
//!
//! Clocks begin at fixed moments, so that a program reads the same times in every run. Clocks of the processor's time
//! are not changed. No clock is changed if the variable that sets the rate of virtual time is missing.
//!
//! A function here must not call the standard library where that may read the time.

mod conditions;
mod descriptors;
mod moments;
mod state;
mod symbols;
mod waiting;

pub use conditions::{
    pthread_cond_clockwait, pthread_cond_timedwait, sem_clockwait, sem_timedwait,
};
pub use descriptors::{
    __poll_chk, __ppoll_chk, epoll_pwait, epoll_wait, poll, ppoll, pselect, select,
};
pub use symbols::{
    clock_gettime, clock_nanosleep, cornerstone_has_virtual_clock, cornerstone_note_library,
    cornerstone_set_virtual_clock, gettimeofday, nanosleep, sleep, time, usleep,
};
