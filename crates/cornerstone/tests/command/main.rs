//! The built command, end to end, as a user meets it.

mod arguments;
mod cluster;
mod congestion;
mod endings;
mod forecasts;
mod hangs;
mod history;
mod in_turn;
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
mod two_hosts;
mod windows;
