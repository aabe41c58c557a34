//! A send and a receive in one call.

use contract::Endpoint;

use super::receive::ReceiveCall;
use super::send::SendCall;
use crate::error::Result;
use crate::memory::Storage;
use crate::request::{Action, Request};

/// A send and a receive at once.
pub struct ExchangeCall<E: Endpoint> {
    send: SendCall<E>,
    receive: ReceiveCall<E>,
    /// What is sent, where what is received takes its place.
    data: Option<Storage>,
}

impl<E: Endpoint + 'static> ExchangeCall<E> {
    /// Both, each with memory of its own.
    pub fn new(send: SendCall<E>, receive: ReceiveCall<E>) -> Self {
        ExchangeCall { send, receive, data: None }
    }

    /// Both with the same memory, of which a copy is made now.
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
    /// Those that end the run.
    pub fn start(self) -> Result<Request<E>> {
        Ok(Request::new(self.send.context().engine(), self.action()?))
    }

    /// Returns a request that starts both, any number of times.
    pub fn persistent(self) -> Request<E> {
        let engine = self.send.context().engine().clone();
        Request::persistent(&engine, move || self.action())
    }
}
