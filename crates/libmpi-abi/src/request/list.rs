//! Arrays of requests, as the calls on several take them.

use std::ffi::c_int;
use std::rc::Rc;

use super::{Object, find};
use crate::abi::*;
use crate::failure::{Error, Result, code_of, ensure, error_of};
use crate::status::Status;

/// The objects behind an array of handles, none behind the null ones.
pub(super) struct Objects(Vec<Option<Rc<Object>>>);

impl Objects {
    pub(super) unsafe fn new(count: c_int, requests: *const Request) -> Result<Objects> {
        ensure!(count >= 0, ERR_COUNT, "{count} requests");
        let found = (0..count as usize).map(|index| find(*requests.add(index)));
        found.collect::<Result<_>>().map(Objects)
    }

    /// Returns the requests, for what crate `mpi` does with several.
    pub(super) fn places(&self) -> &[Option<Rc<Object>>] {
        &self.0
    }

    /// Returns the status of one, to be asked for again.
    pub(super) fn status_of(&self, index: usize) -> Result<Status> {
        match &self.0[index] {
            Some(object) => Ok(object.outcome()?.0),
            None => Ok(Status::empty()),
        }
    }

    /// Takes the one at `index`.
    pub(super) unsafe fn take(
        &self,
        index: usize,
        requests: *mut Request,
    ) -> Result<(Status, Result)> {
        match &self.0[index] {
            Some(object) => object.take(&mut *requests.add(index)),
            None => Ok((Status::empty(), Ok(()))),
        }
    }

    /// Takes those at `indices`, whose statuses go side by side. With an error in one of them, they tell which.
    pub(super) unsafe fn take_each(
        &self,
        indices: impl Iterator<Item = usize>,
        requests: *mut Request,
        statuses: *mut Status,
    ) -> Result {
        let mut failed = None;
        for (place, index) in indices.enumerate() {
            let (status, outcome) = self.take(index, requests)?;
            let code = outcome.as_ref().map_or_else(|error| code_of(error.class), |()| SUCCESS);
            failed = failed.or(outcome.err());
            if !statuses.is_null() {
                *statuses.add(place) = status.with_error(code);
            }
        }
        failed.map_or(Ok(()), |first| Err(in_statuses(&first)))
    }

    pub(super) unsafe fn take_all(&self, requests: *mut Request, statuses: *mut Status) -> Result {
        self.take_each(0..self.0.len(), requests, statuses)
    }

    /// Takes one whose index the caller has told.
    pub(super) unsafe fn take_one(
        &self,
        index: usize,
        requests: *mut Request,
        status: *mut Status,
    ) -> Result {
        let (found, outcome) = self.take(index, requests)?;
        found.give(status);
        outcome
    }

    /// Takes those that were found, whose indices are told.
    pub(super) unsafe fn take_some(
        &self,
        found: Vec<usize>,
        requests: *mut Request,
        taken: *mut c_int,
        indices: *mut c_int,
        statuses: *mut Status,
    ) -> Result {
        tell(&found, taken, indices);
        self.take_each(found.into_iter(), requests, statuses)
    }
}

/// Returns the failure of a call on several requests, of which `first` is the first that failed.
pub(super) fn in_statuses(first: &Error) -> Error {
    let message = format!("a request failed; the statuses tell which; first: {}", first.message);
    match first.context {
        Some(context) => error_of(ERR_IN_STATUS, message).in_context(context),
        None => error_of(ERR_IN_STATUS, message),
    }
}

/// Writes the indices of some requests.
pub(super) unsafe fn tell(found: &[usize], taken: *mut c_int, indices: *mut c_int) {
    *taken = found.len() as c_int;
    for (place, &index) in found.iter().enumerate() {
        *indices.add(place) = index as c_int;
    }
}
