//! Reports of long waits to whoever has launched a rank: which waits they are about, what may end these, and how people
//! recognise what is waited for.

use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use super::{Endpoint, Request, Selector};
use crate::{Awaited, Error, Result, TimeSpan, WaitTerms};

/// Time after which a wait counts as long, and interval of its reports.
pub const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Something other than messages and collectives that may end a wait of a rank, such as another thread of the program.
/// It is called only after a wait has become long.
pub trait OtherEnds {
    /// Returns a number if nothing of this kind can end any wait of this rank as long as a later call returns the same
    /// number, and `None` otherwise.
    fn ruled_out(&self) -> Option<u64>;

    /// Returns a line of text about what may end the waits, if anything may.
    fn describe(&self) -> Option<String>;
}

/// The call of the program that was in progress at some moment, to be described later: its name, and a mark at the end
/// that only the launcher reads. So these words must be the last of their line.
pub type RememberedCall = Box<dyn Display>;

/// The place of a wait among the waits of a rank, of which each thread of the program may have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPlace {
    /// Number of the wait.
    pub wait: u64,
    /// Number of waits of the rank.
    pub waits: usize,
    /// True if all of them have had an idle poll since this was last true.
    pub have_all_polled: bool,
}

impl WaitPlace {
    /// The place of the only wait of a rank.
    pub const ALONE: WaitPlace = WaitPlace { wait: 0, waits: 1, have_all_polled: true };
}

/// Waits of a rank that have become long: whether the ranks that can end them have left, and what the launcher learns of
/// them.
pub trait LongWaits {
    /// Declares that this rank sends and receives no more messages of its own. Ranks that left may still act together.
    ///
    /// # Errors
    /// Errors that end the run.
    fn leave(&mut self) -> Result<()>;

    /// Returns whether a wait must check whether each of its requests [cannot complete](LongWaits::cannot_complete): once
    /// any rank has [left](LongWaits::leave), and while the launcher requests a report of what this rank waits for.
    fn any_has_left(&mut self) -> bool;

    /// Returns whether a request can never complete because the ranks that it needs have left. Their earlier messages
    /// may have arrived since the last poll. A wait calls this only for the requests that it waits for.
    fn cannot_complete(&mut self, request: Request) -> bool;

    /// Returns whether all ranks have left that could send a message which `selector` accepts.
    fn none_will_send(&mut self, selector: Selector) -> bool;

    /// Returns the error of a request that cannot complete. Every later call of the endpoint returns this error too.
    fn give_up_on(&mut self, request: Request) -> Error;

    /// Returns whether a check is due, after `polls` idle polls, whether a wait can still end.
    fn is_check_due(&mut self, polls: u32) -> bool {
        polls.is_multiple_of(1024)
    }

    /// Sleeps until a message arrives for this rank, at most for `longest`: for a program that polls instead of
    /// waiting. Returns whether anything has arrived since the last such call; then it has not slept.
    ///
    /// # Errors
    /// Errors that end the run.
    fn sleep_a_while(&mut self, _longest: TimeSpan) -> Result<bool> {
        Ok(true)
    }

    /// Returns what reports of waits have in common on every fabric, or `None` without a launcher.
    fn reports(&mut self) -> Option<&dyn WaitReports> {
        None
    }

    /// Reports to the launcher that a poll in a long wait was idle, with what this fabric knows of its messages.
    fn report(&mut self, _place: WaitPlace) {}
}

/// Returns the reports of an endpoint's waits, if a launcher reads them.
pub fn wait_reports<E: Endpoint>(endpoint: &mut E) -> Option<&dyn WaitReports> {
    endpoint.long_waits()?.reports()
}

/// Returns the error of a request that cannot complete. Every later call returns this error too.
pub fn give_up_on<E: Endpoint>(endpoint: &mut E, request: Request) -> Error {
    match endpoint.long_waits() {
        Some(waits) => waits.give_up_on(request),
        None => Error::Aborted { why: "a request was given up".into() },
    }
}

/// The reports of a rank to its launcher about long waits.
pub trait WaitReports {
    /// Declares that something else than messages and collectives may end a wait of this rank. From then on its waits
    /// count as waits that cannot end only while `ends` rules that out.
    fn expect_other_ends(&self, ends: Rc<dyn OtherEnds>);

    /// Sets the terms in which reports describe waits.
    fn describe_waits_in(&self, terms: Rc<dyn WaitTerms>);

    /// Returns the call of the program that is in progress, if reports can describe it.
    fn remember_call(&self) -> Option<RememberedCall>;

    /// Prepares for the poll whose result [`report`](LongWaits::report) reports, outside of the waits of this
    /// endpoint, which report themselves.
    fn begin(&self);

    /// As [`begin`](WaitReports::begin), for idle polls of the program, which is in no wait.
    fn begin_of_program(&self) {}

    /// Declares what alone can end the wait of the report in progress, if the launcher asks.
    fn note_sole_awaited(&self, awaited: Awaited);

    /// Declares that the waits of this rank are no longer those that were reported.
    fn end(&self);
}
