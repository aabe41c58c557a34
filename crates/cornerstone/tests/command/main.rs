//! The built command, end to end, as a user meets it.

mod applications;
mod arguments;
mod cluster;
mod congestion;
mod endings;
mod hangs;
mod hpec;
mod lab;
mod launches;
mod launching;
mod mpi;
mod patterns;
mod permissions;
mod pipelines;
mod reading;
mod real_time;
mod results;
mod services;
mod ssh;
mod summary;
mod tcp;
mod tradeoff;
mod two_hosts;
mod windows;
