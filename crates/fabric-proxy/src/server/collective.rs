//! Collectives that the endpoint itself executes, with the data of a process.

use std::cell::{Cell, RefCell};

use contract::{ContextPlace, Endpoint, Error, Readable, Reduction, Result, Writable};

use super::{Attempt, Outcome, Server, done, failed};
use crate::ask::Ask;
use crate::collective::Parameters;
use crate::reply::{Kind, VALUES};
use crate::stream::Reader;

impl<'a, E: Endpoint> Server<'a, E> {
    pub(super) fn collective(
        &mut self,
        endpoint: &mut E,
        place: ContextPlace,
        mut reader: Reader<'a>,
    ) -> Result<Attempt> {
        let Some(parameters) = Parameters::read(&mut reader) else {
            return Ok(failed(Error::Program("a collective that nobody knows".into())));
        };
        let input = reader.bytes().to_vec();
        let mut output = reader.bytes().to_vec();
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
            self.notes.collective(parameters.recorded());
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
        Ok(self.answer_collective(endpoint, carried_out, &output))
    }

    /// Replies with the outcome of a collective and the output of this rank, if the endpoint has executed it.
    fn answer_collective(
        &mut self,
        endpoint: &E,
        carried_out: Option<Result<()>>,
        output: &[u8],
    ) -> Attempt {
        match carried_out {
            None => done([0]),
            Some(Err(error)) => failed(error),
            Some(Ok(())) => {
                let mut values = [0; VALUES];
                values[0] = 1;
                let mut writer = self.write(Kind::Done, endpoint.any_has_left(), values, 0);
                writer.bytes(output);
                writer.end();
                self.line.answer();
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
        let mut writer = self.write(Kind::Combine, false, [0; VALUES], 0);
        writer.bytes(&left);
        writer.bytes(&right);
        writer.end();
        self.line.answer();
        while !self.line.await_question(super::SLEEP) {
            self.host.check()?;
        }
        let (mut reader, _) = Reader::part(self.line, 0);
        let [_, _, _] = reader.numbers::<3>();
        let combined = match Ask::read(&mut reader) {
            Some(Ask::Combined) => reader.bytes(),
            _ => &[],
        };
        if combined.len() != left.len() {
            return Err(Error::Program("a process did not combine what it was asked".into()));
        }
        Ok(combined.to_vec())
    }
}
