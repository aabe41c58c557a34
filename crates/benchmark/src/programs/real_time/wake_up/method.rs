//! The events for which a rank waits, and the methods of waiting.

use contract::SleepCall;

/// An event for which a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A moment of its clock.
    Moment,
    /// A message or another action of a rank.
    Message,
}

impl Event {
    pub(super) const ALL: [Event; 2] = [Event::Moment, Event::Message];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Event::Moment => "moment",
            Event::Message => "message",
        }
    }
}

/// A method of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Polling without leaving the processor.
    Spin,
    /// Polling with a yield after each idle poll.
    Yield,
    /// Sleeping in this call.
    Sleep(SleepCall),
    /// A blocking receive of the fabric.
    Receive,
}

impl Method {
    pub(super) const ALL: [Method; 6] = [
        Method::Spin,
        Method::Yield,
        Method::Sleep(SleepCall::Futex),
        Method::Sleep(SleepCall::ClockNanosleep),
        Method::Sleep(SleepCall::Epoll),
        Method::Receive,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Method::Spin => "spin",
            Method::Yield => "yield",
            Method::Sleep(SleepCall::Futex) => "futex",
            Method::Sleep(SleepCall::ClockNanosleep) => "clock-nanosleep",
            Method::Sleep(SleepCall::Epoll) => "epoll",
            Method::Receive => "receive",
        }
    }

    /// Returns whether a rank can wait for `event` by this method.
    pub(super) const fn waits_for(self, event: Event) -> bool {
        match event {
            Event::Moment => !matches!(self, Method::Receive),
            Event::Message => !matches!(self, Method::Sleep(SleepCall::ClockNanosleep)),
        }
    }

    /// Returns whether the processor may become idle during the wait.
    pub(super) const fn sleeps(self) -> bool {
        matches!(self, Method::Sleep(_) | Method::Receive)
    }

    /// Returns whether waiting for a message needs memory that both ranks share.
    pub(super) const fn needs_shared_line(self) -> bool {
        matches!(self, Method::Spin | Method::Yield | Method::Sleep(SleepCall::Futex))
    }
}
