//! Starting, freeing and cancelling requests.

use contract::Endpoint;

use super::{Action, Request};
use crate::engine::Orphan;
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::status::Status;

impl<E: Endpoint + 'static> Request<E> {
    /// Starts a persistent request.
    ///
    /// # Errors
    /// [`ErrorClass::Request`] if it is not persistent, or is active; and errors of the operation.
    pub fn start(&self) -> Result {
        let start = self.start.as_ref();
        let start =
            start.ok_or_else(|| Error::new(ErrorClass::Request, "not a persistent request"))?;
        ensure!(!self.is_active(), ErrorClass::Request, "the request is active already");
        let action = start()?;
        *self.action.borrow_mut() = Some(action);
        Ok(())
    }

    /// Frees the request. An operation in progress continues to its end, and its memory is needed until then. A
    /// generalized request that is not complete is released by whoever completes it.
    ///
    /// # Errors
    /// Errors of a generalized request's program, and of [`Engine::endpoint`](crate::Engine::endpoint).
    pub fn free(&self) -> Result {
        match self.action.take() {
            Some(Action::Generalized(one)) if one.is_complete() => one.release(),
            Some(Action::Generalized(_)) => Ok(()),
            Some(action) => self.engine.adopt(Box::new(Freed(Request::new(&self.engine, action)))),
            None => self.engine.release_orphans(),
        }
    }

    /// Cancels a receive without a message, or calls a generalized request's program. Other operations continue.
    ///
    /// # Errors
    /// [`ErrorClass::Request`] if it is not active or a collective, and errors of the program.
    pub fn cancel(&self) -> Result {
        let mut action = self.action.borrow_mut();
        match &*action {
            None => Err(Error::new(ErrorClass::Request, "an inactive request")),
            Some(Action::Lightweight(light)) => {
                let light = light.cancel(&mut *self.engine.endpoint()?);
                if let Some(light) = light {
                    *action = Some(Action::Lightweight(light));
                }
                Ok(())
            }
            Some(Action::Transfer(transfer)) => {
                if transfer.cancel(&mut *self.engine.endpoint()?) {
                    *action = Some(Action::Done(Status::empty().cancelled(), Ok(())));
                }
                Ok(())
            }
            Some(Action::Generalized(one)) => {
                let one = one.clone();
                drop(action);
                one.cancel()
            }
            Some(Action::Collective(_)) => {
                let what = "a collective operation cannot be cancelled";
                Err(Error::new(ErrorClass::Request, what))
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns whether it was cancelled before a message arrived.
    pub fn is_cancelled(&self) -> bool {
        match &*self.action.borrow() {
            Some(Action::Lightweight(light)) => *light == super::LightRequest::Cancelled,
            Some(Action::Done(status, _)) => status.is_cancelled,
            _ => false,
        }
    }
}

/// A request that was freed in progress.
struct Freed<E: Endpoint>(Request<E>);

impl<E: Endpoint> Orphan<E> for Freed<E> {
    fn has_ended(&self, endpoint: &E) -> bool {
        self.0.has_ended(endpoint)
    }

    fn handle_end(&self, endpoint: &mut E) {
        if let Some(Action::Lightweight(light)) = &*self.0.action.borrow() {
            light.end(&self.0.engine, endpoint);
            return;
        }
        self.0.handle_end(endpoint);
    }
}
