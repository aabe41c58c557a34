//! Ranks that are separate processes, with a fabric in another process: that of the launcher.
//!
//! Each call of a [`ProxyEndpoint`] is a request, by a line through shared memory, to the endpoint that [`Host::serve`]
//! drives in the launcher. Any [`Endpoint`](contract::Endpoint) there can have processes as its ranks. The crate is
//! made for simulated machines: their ranks are coroutines in one thread, and each of them drives a process.
//!
//! A process runs only while its rank's endpoint waits for its next request. Virtual time passes by its computing time.
//! If that is measured, the simulation continues meanwhile, up to the moment that the process is known to have reached.
//!
//! The modules, each of which uses only those before it:
//! * `wire`: the shared memory, turns, requests and replies;
//! * `stopwatch`: the computing time of a thread;
//! * `library`: the part of it in the message-passing library;
//! * `quiet`: polls that need no request;
//! * `caller`, `clock`, `endpoint`, `join`: the end of the process;
//! * `computing`, `host`, `beside`, `server`: the end of the launcher.

mod beside;
mod caller;
mod clock;
mod computing;
mod endpoint;
mod host;
mod join;
mod library;
mod quiet;
mod server;
mod stopwatch;
mod wire;

pub use beside::Beside;
pub use clock::{enter_library, leave_library};
pub use computing::Computing;
pub use endpoint::ProxyEndpoint;
pub use host::{Host, RankAccount};
pub use join::join;
pub use server::Works;

#[cfg(test)]
mod tests;
