//! Collectives that the endpoint itself executes, with the data of a process.

use std::cell::{Cell, RefCell};

use contract::{ContextPlace, Endpoint, Error, LongWaits, Readable, Reduction, Result, Writable};
use fabric_proxy::wire::collective::CollectiveParameters;
use fabric_proxy::wire::message::{self, Data};
use fabric_proxy::wire::reply::ReplyKind;
use fabric_proxy::wire::request::{ProcessRequest, RequestHead};
use recording::RecordedCollective;

use super::{Attempt, Outcome, Server, failed};
use crate::endpoint::SimEndpoint;

impl<'a> Server<'a> {
    pub(super) fn collective(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
        place: ContextPlace,
        parameters: CollectiveParameters,
        data: Data<'_>,
    ) -> Result<Attempt> {
        if !parameters.are_valid() {
            return Ok(failed(Error::Program("a collective that nobody knows".into())));
        }
        // Without data to send, they are the contents of the memory to receive into.
        let data = data.bytes().to_vec();
        let (input, mut output) =
            if parameters.sends { (data, Vec::new()) } else { (Vec::new(), data) };
        output.resize(parameters.room.unwrap_or(0), 0);
        // SAFETY: both outlive the call, and nothing else uses them until it is over.
        let (send, receive) = unsafe {
            (
                parameters.sends.then(|| Readable::new(input.as_ptr(), input.len())),
                parameters.room.map(|bytes| Writable::new(output.as_mut_ptr(), bytes)),
            )
        };
        if place == ContextPlace::WORLD {
            // It is recorded before the events during it.
            let CollectiveParameters { collective: kind, root, bytes, .. } = parameters;
            self.notes.collective(RecordedCollective { kind, root, bytes });
        }
        let broken = Cell::new(None);
        let own = RefCell::new(&mut *self);
        let mut apply = |left: *const u8, right: *const u8, result: *mut u8, bytes: usize| {
            // SAFETY: the caller passes operands and a result of this number of bytes.
            let operands = unsafe {
                let of = |start| std::slice::from_raw_parts(start, bytes).to_vec();
                (of(left), of(right))
            };
            let combined = own.borrow_mut().combine(parameters.reduction(), operands);
            match combined {
                // SAFETY: as above; the result is as long as the operands.
                Ok(combined) => unsafe {
                    std::ptr::copy_nonoverlapping(combined.as_ptr(), result, bytes);
                },
                Err(error) => broken.set(Some(error)),
            }
        };
        let call = parameters.call(send, receive, &mut apply);
        let carried_out = endpoint.collective(place, call, &mut |endpoint| {
            if let Err(error) = own.borrow_mut().poll(endpoint) {
                broken.set(Some(error));
            }
        });
        if let Some(error) = broken.take() {
            return Err(error);
        }
        if place == ContextPlace::WORLD {
            self.notes.carried_out(carried_out.is_none());
        }
        Ok(self.reply_to_collective(endpoint, carried_out, &output))
    }

    /// Replies with the output of this rank, if the endpoint has executed the collective.
    fn reply_to_collective(
        &self,
        endpoint: &mut SimEndpoint<'_>,
        carried_out: Option<Result<()>>,
        output: &[u8],
    ) -> Attempt {
        match carried_out {
            None => Ok(false.into()),
            Some(Err(error)) => failed(error),
            Some(Ok(())) => {
                self.reply(endpoint.any_has_left(), ReplyKind::Done(true.into()), output);
                Err(Outcome::Replied)
            }
        }
    }

    /// Combines two operands: the contract's operations here, others in the program's process.
    fn combine(
        &mut self,
        reduction: Option<Reduction>,
        (mut left, right): (Vec<u8>, Vec<u8>),
    ) -> Result<Vec<u8>> {
        if let Some(reduction) = reduction {
            reduction.combine(&mut left, &right)?;
            return Ok(left);
        }
        self.reply(false, ReplyKind::Combine, &[&left[..], &right].concat());
        while !self.line.await_request(super::SLEEP) {
            self.processes.check()?;
        }
        let read = message::read::<RequestHead<'_>>(self.line, 0);
        let combined = read.filter(|read| *read.head.request == ProcessRequest::Combined);
        let combined = combined.map_or(&[][..], |read| read.data.bytes());
        if combined.len() != left.len() {
            return Err(Error::Program("a process did not combine the operands of a reply".into()));
        }
        Ok(combined.to_vec())
    }
}
