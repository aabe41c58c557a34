//! The clocks, sleeps and timeouts of the system in virtual time, for programs that it is preloaded into
//! (`libcornerstone_time.so`).
//!
//! `cornerstone launch --fabric sim:MACHINE` preloads it into the processes of ranks. It knows no fabric: an MPI library in
//! the process tells it by [`cornerstone_set_virtual_clock`] whom to ask. Before that and afterwards, time passes by as
//! much as the thread uses its processor and sleeps. Sleeps there take no real time.
//!
//! Clocks begin at fixed moments, so that a program sees the same times whenever it is run. Clocks of the processor's
//! time stay what they are, and so do all clocks where the variable is missing that says by how much virtual time
//! passes.
//!
//! A function here must not call the standard library where that may ask for the time.

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
