//! A send and a receive in one call.

use contract::Endpoint;

use super::receive::ReceiveCall;
use super::send::SendCall;
use crate::error::Result;
use crate::memory::Storage;
use crate::request::{Action, Request};

/// A simultaneous send and receive.
pub struct ExchangeCall<E: Endpoint> {
    send: SendCall<E>,
    receive: ReceiveCall<E>,
    /// The sent data, if the received message replaces them.
    data: Option<Storage>,
}

impl<E: Endpoint + 'static> ExchangeCall<E> {
    /// Creates a call with separate memory for both.
    pub fn new(send: SendCall<E>, receive: ReceiveCall<E>) -> Self {
        ExchangeCall { send, receive, data: None }
    }

    /// Creates a call with the same memory for both, which is copied now.
    pub fn replacing(send: SendCall<E>, receive: ReceiveCall<E>) -> Self {
        let data = Some(send.memory().packed().into());
        ExchangeCall { send, receive, data }
    }

    fn action(&self) -> Result<Action<E>> {
        let receive = self.receive.action()?;
        let send = self.send.action_of(self.data.as_ref())?;
        Ok(Action::Exchange(Box::new([receive, send])))
    }

    /// Starts both.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn start(self) -> Result<Request<E>> {
        Ok(Request::new(self.send.context().engine(), self.action()?))
    }

    /// Returns a persistent request for both.
    pub fn persistent(self) -> Request<E> {
        let engine = self.send.context().engine().clone();
        Request::persistent(&engine, move || self.action())
    }
}
