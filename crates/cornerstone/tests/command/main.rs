//! The built command, end to end, as a user meets it.

mod applications;
mod arguments;
mod cluster;
mod congestion;
mod endings;
mod explaining;
mod guides;
mod hangs;
mod lab;
mod launches;
mod launching;
mod mpi;
mod package;
mod patterns;
mod permissions;
mod pipelines;
mod reading;
mod real_time;
mod results;
mod sci;
mod services;
mod ssh;
mod summary;
mod tcp;
mod two_hosts;
mod windows;
