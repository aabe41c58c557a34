//! Operations for a fabric that is composed of this one, between hosts, and of another for the ranks of each host.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use contract::{Awaited, Endpoint, Envelope, Error, Request, Result, Selector, Writable};
use launcher::{FIRST_SLEEP, LONGEST_SLEEP, LONGEST_TIMED_SLEEP, PollState};
use rustix::event::epoll;

use super::OfiEndpoint;
use super::wait::POLLS;

/// The polls of another fabric's waits.
#[derive(Default)]
pub(super) struct Polls {
    number: u32,
    /// The engine's activity after the last one, and since when it has not changed.
    activity: u64,
    idle_since: Option<Instant>,
}

impl OfiEndpoint {
    /// Starts to receive a message into `room`, as [`post_receive`](Endpoint::post_receive). Until a message is
    /// [matched](OfiEndpoint::is_matched), the receive can be cancelled. This call matches no other receive.
    ///
    /// # Errors
    /// As of [`post_receive`](Endpoint::post_receive).
    pub fn post_retained(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        let posted = self.engine.post_retained(selector, room);
        self.known(posted)
    }

    /// Returns whether the message of a receive from [`post_retained`](OfiEndpoint::post_retained) is known. It need not have
    /// arrived completely.
    pub fn is_matched(&self, receive: Request) -> bool {
        self.engine.is_matched(receive)
    }

    /// Makes progress in a wait of the composed fabric, with messages and with the connections to the other ranks.
    ///
    /// # Errors
    /// The provider's, and why the run was aborted.
    pub fn poll_in_wait(&mut self) -> Result<()> {
        self.progress()?;
        self.polls.number = self.polls.number.wrapping_add(1);
        if self.spins && !self.polls.number.is_multiple_of(POLLS) {
            return Ok(());
        }
        let polled = self.outer.poll_with(None);
        self.known(polled)?;
        let activity = self.engine.activity();
        if self.polls.activity != activity {
            (self.polls.activity, self.polls.idle_since) = (activity, None);
        }
        let idle_since = self.polls.idle_since.get_or_insert_with(Instant::now);
        match idle_since.elapsed() >= FIRST_SLEEP {
            // Unexpected messages may fill the provider, so that the awaited one cannot arrive.
            true => self.take_unexpected(),
            false => Ok(()),
        }
    }

    /// Does the same before a report of a long wait, which contains everything that has arrived.
    ///
    /// # Errors
    /// As of [`poll_in_wait`](OfiEndpoint::poll_in_wait).
    pub fn poll_for_report(&mut self) -> Result<()> {
        self.poll_in_wait()?;
        let polled = self.outer.poll_with(None);
        self.known(polled)?;
        self.take_unexpected()
    }

    fn take_unexpected(&mut self) -> Result<()> {
        let drained = self.engine.drain();
        self.known(drained)
    }

    /// Returns a descriptor that is readable when something may have arrived, for sleeps of at most
    /// [`sleep_limit`](OfiEndpoint::sleep_limit).
    ///
    /// # Errors
    /// The system's.
    pub fn descriptor(&self) -> Result<OwnedFd> {
        let both = || -> std::io::Result<OwnedFd> {
            let both = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let add = |one: std::os::fd::BorrowedFd<'_>| {
                epoll::add(&both, one, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
            };
            add(self.waker.as_fd())?;
            let of_provider = self.engine.objects().ok().and_then(|one| one.queue_descriptor());
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
        match self.engine.objects() {
            // Every call returns the error.
            Err(_) => Duration::ZERO,
            // No descriptor need become readable for these.
            Ok(objects) if !objects.can_sleep() || self.engine.has_queued() => LONGEST_TIMED_SLEEP,
            Ok(objects) if objects.descriptor().is_none() => Duration::ZERO,
            Ok(_) => LONGEST_SLEEP,
        }
    }

    /// Returns what a request that is not done waits for.
    pub fn awaited_by(&self, request: Request) -> Option<Awaited> {
        self.engine.awaited_by(request)
    }

    /// Returns the state of the messages after an idle poll, for a report of a long wait.
    pub fn poll_state(&self) -> PollState {
        let own = self.engine.poll_state();
        // Another rank may still be about to join over these connections.
        let outer = self.outer.poll_state();
        PollState {
            state: own.state ^ outer.state.rotate_left(32),
            sent: own.sent + outer.sent,
            received: own.received + outer.received,
            ..own
        }
    }

    /// Returns the messages that no receive matches, as far as they are here.
    pub fn unexpected(&self) -> Vec<Envelope> {
        self.engine.unexpected()
    }

    /// Fails if the run was aborted.
    ///
    /// # Errors
    /// The reason why it was aborted.
    pub fn check_run(&mut self) -> Result<()> {
        let checked = self.outer.check_run();
        self.known(checked)
    }

    /// Returns the error that every call returns from now on, if there is one.
    pub fn failure(&self) -> Option<Error> {
        self.engine.check().err().or_else(|| self.outer.failure())
    }

    /// Returns whether anything that this rank has sent may still be received.
    pub fn is_sending(&self) -> bool {
        self.engine.is_sending()
    }

    /// Announces the end of this rank's part to the engines of all others, after [`leave`](Endpoint::leave) and the end
    /// of [`is_sending`](OfiEndpoint::is_sending).
    ///
    /// # Errors
    /// The provider's.
    pub fn begin_goodbye(&mut self) -> Result<()> {
        let told = self.engine.say_goodbye();
        self.known(told)
    }

    /// Returns whether these announcements wait for the provider.
    pub fn is_telling(&self) -> bool {
        self.engine.is_telling()
    }

    /// Announces to all others that nothing follows, after the end of [`is_telling`](OfiEndpoint::is_telling).
    ///
    /// # Errors
    /// Errors of the connections.
    pub fn say_goodbye(&mut self) -> Result<()> {
        self.outer.say_goodbye()
    }

    /// Returns whether all ranks have said goodbye, so that this rank may end.
    pub fn is_through(&self) -> bool {
        self.outer.is_through()
    }

    /// Ends this rank's part of the run, which both fabrics have completed, and returns the status of its process.
    pub fn close(mut self, outcome: Result<()>) -> i32 {
        self.engine.close();
        self.outer.close(outcome)
    }
}
