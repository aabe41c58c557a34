//! Messages in progress while the program does other work.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;

use contract::Endpoint;

use crate::communicator::Communicator;
use crate::error::Result;
use crate::memory::{Incoming, Outgoing};
use crate::point::Mode;
use crate::request::{Request, wait_for_all};
use crate::status::{Peer, Status};

/// A part of a program with messages in progress, whose memory is borrowed for longer than that.
pub struct Scope<'c, 'env, E: Endpoint + 'static> {
    communicator: &'c Communicator<E>,
    started: RefCell<Vec<Rc<Request<E>>>>,
    /// Invariant: a shorter borrow would end before the messages do.
    borrowed: PhantomData<&'env mut &'env ()>,
}

/// A message in progress in a scope.
pub struct Started<E: Endpoint>(Rc<Request<E>>);

impl<E: Endpoint + 'static> Communicator<E> {
    /// Runs `body`, which starts messages, and waits for all of them in the end.
    ///
    /// ```
    /// # use mpi::Peer;
    /// # conformance::reference::run_endpoints(2, |endpoint| {
    /// # mpi::run(endpoint, |world| {
    /// let other = Peer::Rank(1 - world.rank() as u32);
    /// let (mine, mut theirs) = ([world.rank() as u64], [9_u64]);
    /// world.scope(|scope| {
    ///     scope.start_receive(&mut theirs[..], other, 0)?;
    ///     scope.start_send(&mine[..], other, 0)?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(theirs[0], 1 - mine[0]);
    /// # Ok(()) });
    /// # Ok(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Errors of `body`, otherwise the first of a message whose end `body` has not taken, and errors that end the run.
    pub fn scope<'env, R>(&self, body: impl FnOnce(&Scope<'_, 'env, E>) -> Result<R>) -> Result<R> {
        let scope =
            Scope { communicator: self, started: RefCell::default(), borrowed: PhantomData };
        let result = body(&scope)?;
        scope.finish()?;
        Ok(result)
    }
}

impl<'env, E: Endpoint + 'static> Scope<'_, 'env, E> {
    fn keep(&self, request: Request<E>) -> Started<E> {
        let request = Rc::new(request);
        self.started.borrow_mut().push(request.clone());
        Started(request)
    }

    /// Starts to send `data` to a member.
    ///
    /// # Errors
    /// As for [`Communicator::send`].
    pub fn start_send(
        &self,
        data: impl Into<Outgoing<'env>>,
        to: Peer,
        tag: u32,
    ) -> Result<Started<E>> {
        let call = self.communicator.send_call(&data.into(), to, tag, Mode::Standard)?;
        Ok(self.keep(call.start()?))
    }

    /// Starts to receive into `room` a message of one tag, or of any.
    ///
    /// # Errors
    /// As for [`Communicator::receive`].
    pub fn start_receive(
        &self,
        room: impl Into<Incoming<'env>>,
        from: Peer,
        tag: impl Into<Option<u32>>,
    ) -> Result<Started<E>> {
        let call = self.communicator.receive_call(&room.into(), from, tag.into())?;
        Ok(self.keep(call.start()?))
    }

    /// Waits for all messages and takes their ends.
    fn finish(&self) -> Result {
        let started = self.started.take();
        wait_for_all(self.communicator.engine(), &started)?;
        let mut outcome = Ok(());
        for request in started {
            outcome = outcome.and(request.take()?.1);
        }
        outcome
    }
}

impl<E: Endpoint + 'static> Drop for Scope<'_, '_, E> {
    /// Nothing is in progress when the borrows end: either all messages have ended, or the run has failed, and its
    /// fabric touches nothing any more.
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

impl<E: Endpoint> Started<E> {
    /// Waits until the message has ended, and takes its end. Later calls return an empty status.
    ///
    /// # Errors
    /// As for [`Communicator::send`] and [`Communicator::receive`].
    pub fn wait(&self) -> Result<Status> {
        self.0.wait()
    }

    /// Polls once, and returns whether it has ended.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn test(&self) -> Result<bool> {
        self.0.test()
    }
}
