//! Blocking messages on slices.

use contract::Endpoint;

use crate::communicator::Communicator;
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::{Incoming, Outgoing};
use crate::point::{self, ExchangeCall, Mode, ProbeManner, ReceiveCall, SendCall};
use crate::status::{Peer, Status};

/// The largest tag.
const LARGEST_TAG: u32 = i32::MAX as u32;

/// Checks a tag of a program.
pub(super) fn check_tag(tag: u32) -> Result<u32> {
    ensure!(tag <= LARGEST_TAG, ErrorClass::Tag, "tag {tag} is above the largest, {LARGEST_TAG}");
    Ok(tag)
}

impl<E: Endpoint + 'static> Communicator<E> {
    pub(super) fn send_call(
        &self,
        data: &Outgoing<'_>,
        to: Peer,
        tag: u32,
        mode: Mode,
    ) -> Result<SendCall<E>> {
        SendCall::new(self.context().clone(), data.memory().clone(), to, check_tag(tag)?, mode)
    }

    pub(super) fn receive_call(
        &self,
        room: &Incoming<'_>,
        from: Peer,
        tag: Option<u32>,
    ) -> Result<ReceiveCall<E>> {
        ReceiveCall::new(self.context().clone(), room.memory().clone(), from, tag)
    }

    /// Sends `data` to a member, and returns when they may be changed.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`], [`ErrorClass::Tag`], and errors that end the run.
    pub fn send<'a>(&self, data: impl Into<Outgoing<'a>>, to: Peer, tag: u32) -> Result {
        self.send_call(&data.into(), to, tag, Mode::Standard)?.run()
    }

    /// Sends `data` to a member, and returns when a receive has matched them.
    ///
    /// # Errors
    /// As for [`send`](Communicator::send).
    pub fn send_synchronous<'a>(
        &self,
        data: impl Into<Outgoing<'a>>,
        to: Peer,
        tag: u32,
    ) -> Result {
        self.send_call(&data.into(), to, tag, Mode::Synchronous)?.run()
    }

    /// Receives into `room` a message of one tag, or of any.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`], [`ErrorClass::Truncated`] if the message does not fit, and errors that end the run.
    pub fn receive<'a>(
        &self,
        room: impl Into<Incoming<'a>>,
        from: Peer,
        tag: impl Into<Option<u32>>,
    ) -> Result<Status> {
        let room = room.into();
        let (status, outcome) = self.receive_call(&room, from, tag.into())?.run()?;
        outcome.map(|()| status)
    }

    /// Sends `data` and receives into `room` at the same time.
    ///
    /// # Errors
    /// As for [`send`](Communicator::send) and [`receive`](Communicator::receive).
    pub fn exchange<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        (to, send_tag): (Peer, u32),
        room: impl Into<Incoming<'b>>,
        (from, tag): (Peer, impl Into<Option<u32>>),
    ) -> Result<Status> {
        let (data, room) = (data.into(), room.into());
        let send = self.send_call(&data, to, send_tag, Mode::Standard)?;
        let receive = self.receive_call(&room, from, tag.into())?;
        ExchangeCall::new(send, receive).start()?.wait()
    }

    /// Waits for a message without receiving it.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`], [`ErrorClass::Other`] if all possible senders have left, and errors that end the run.
    pub fn probe(&self, from: Peer, tag: impl Into<Option<u32>>) -> Result<Status> {
        let found = point::probe(self.context(), from, tag.into(), ProbeManner::Wait)?;
        Ok(found.expect("a probe that waits finds something"))
    }
}
