//! Operations for a fabric that is composed of this one, between hosts, and of another for the ranks of each host.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use contract::{Awaited, Envelope, Error, Request, Result};
use engine::Transport;
use launcher::{LONGEST_SLEEP, PollState};
use rustix::event::epoll;

use super::OfiEndpoint;
use crate::transport::LONGEST_TIMED_SLEEP;

impl OfiEndpoint {
    /// Returns whether a posted receive has matched a message, which need not have arrived completely.
    pub fn is_matched(&self, receive: Request) -> bool {
        self.engine.messages().transfers[receive].is_matched()
    }

    /// Receives what has arrived, from other ranks and from the process that has started the run.
    ///
    /// # Errors
    /// The provider's, and why the run was aborted.
    pub fn poll_for_report(&mut self) -> Result<()> {
        self.engine.poll()?;
        self.check_run()
    }

    /// Returns a descriptor that is readable when something may have arrived, for sleeps of at most
    /// [`sleep_limit`](OfiEndpoint::sleep_limit).
    ///
    /// # Errors
    /// The system's.
    pub fn descriptor(&self) -> Result<OwnedFd> {
        let transport = self.engine.transport();
        let both = || -> std::io::Result<OwnedFd> {
            let both = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let add = |one: std::os::fd::BorrowedFd<'_>| {
                epoll::add(&both, one, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
            };
            add(transport.waker.as_fd())?;
            let of_provider = transport.objects().ok().and_then(|one| one.queue_descriptor());
            of_provider.map_or(Ok(()), add)?;
            Ok(both)
        };
        both().map_err(|error| Error::System {
            what: "watching the provider of libfabric".into(),
            reason: error.to_string(),
        })
    }

    /// Returns how long this rank may sleep on [`descriptor`](OfiEndpoint::descriptor). Must be called after every poll
    /// and before the sleep.
    pub fn sleep_limit(&self) -> Duration {
        let transport = self.engine.transport();
        match transport.objects() {
            // Every call returns the error.
            Err(_) => Duration::ZERO,
            // No descriptor need become readable for these.
            Ok(objects) if !objects.can_sleep() || transport.waits_for_room() => {
                LONGEST_TIMED_SLEEP
            }
            Ok(objects) if objects.descriptor().is_none() => Duration::ZERO,
            Ok(_) => LONGEST_SLEEP,
        }
    }

    /// Returns what a request that is not done waits for.
    pub fn awaited_by(&self, request: Request) -> Option<Awaited> {
        self.engine.messages().awaited_by(request)
    }

    /// Returns the state of the messages after an idle poll, for a report of a long wait.
    pub fn poll_state(&self) -> PollState {
        self.engine.poll_state()
    }

    /// Returns the messages that no receive matches.
    pub fn unexpected(&self) -> Vec<Envelope> {
        self.engine.unexpected()
    }

    /// Fails if the run was aborted.
    ///
    /// # Errors
    /// The reason why it was aborted.
    pub fn check_run(&mut self) -> Result<()> {
        let (messages, transport) = self.engine.parts_mut();
        transport.check(messages)
    }

    /// Returns the error that every call returns from now on, if there is one.
    pub fn failure(&self) -> Option<Error> {
        self.engine.check().err().or_else(|| self.outer().failure())
    }

    /// Returns whether anything that this rank has sent may still be received.
    pub fn is_sending(&self) -> bool {
        self.engine.is_sending()
    }

    /// Announces the end of this rank's part to all others, after [`leave`](contract::Endpoint::leave) and the end of
    /// [`is_sending`](OfiEndpoint::is_sending).
    ///
    /// # Errors
    /// The provider's.
    pub fn begin_goodbye(&mut self) -> Result<()> {
        let (messages, transport) = self.engine.parts_mut();
        transport.begin_goodbye(messages)
    }

    /// Returns whether these announcements wait for the provider.
    pub fn is_telling(&self) -> bool {
        self.engine.transport().is_telling()
    }

    /// Announces to all others that nothing follows, after the end of [`is_telling`](OfiEndpoint::is_telling).
    ///
    /// # Errors
    /// Errors of the connections.
    pub fn say_goodbye(&mut self) -> Result<()> {
        self.outer_mut().say_goodbye()
    }

    /// Returns whether all ranks have said goodbye, so that this rank may end.
    pub fn is_through(&self) -> bool {
        self.outer().is_through()
    }

    /// Ends this rank's part of the run, which both fabrics have completed, and returns the status of its process.
    pub fn close(self, outcome: Result<()>) -> i32 {
        let (outer, _) = self.engine.into_transport().into_parts();
        outer.close(outcome)
    }
}
