//! Arrays of requests, for the calls on several.

use std::ffi::c_int;
use std::rc::Rc;

use super::{Object, find};
use crate::abi::*;
use crate::failure::{Error, Result, code_of, ensure, error_of};
use crate::status::Status;

/// The objects of an array of handles, `None` for null handles.
pub(super) struct Objects(Vec<Option<Rc<Object>>>);

impl Objects {
    pub(super) unsafe fn new(count: c_int, requests: *const Request) -> Result<Objects> {
        ensure!(count >= 0, ERR_COUNT, "{count} requests");
        let found = (0..count as usize).map(|index| find(*requests.add(index)));
        found.collect::<Result<_>>().map(Objects)
    }

    /// Returns the requests, for functions of the crate `mpi` on several.
    pub(super) fn places(&self) -> &[Option<Rc<Object>>] {
        &self.0
    }

    /// Returns the status of one, which may be called again.
    pub(super) fn status_of(&self, index: usize) -> Result<Status> {
        match &self.0[index] {
            Some(object) => Ok(object.outcome()?.0),
            None => Ok(Status::empty()),
        }
    }

    /// Ends the request at `index`.
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

    /// Ends the requests at `indices`, whose statuses are stored consecutively. After an error in one of them, the
    /// statuses contain their errors.
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

    /// Ends the request at an index that the caller stores.
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
}

/// Returns the error of a call on several requests; `first` is the first error of one of them.
pub(super) fn in_statuses(first: &Error) -> Error {
    let message = format!("a request failed; the statuses show which; first: {}", first.message);
    match first.context {
        Some(context) => error_of(ERR_IN_STATUS, message).in_context(context),
        None => error_of(ERR_IN_STATUS, message),
    }
}

/// Stores the indices of some requests.
pub(super) unsafe fn write_indices(found: &[usize], taken: *mut c_int, indices: *mut c_int) {
    *taken = found.len() as c_int;
    for (place, &index) in found.iter().enumerate() {
        *indices.add(place) = index as c_int;
    }
}
