//! Put and get.

use std::rc::Rc;

use contract::{Action, Endpoint, Stretch, Ticket, Update};

use super::Window;
use super::service::{Delivery, Fetch, Fetched};
use super::stretches::stretches;
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::memory::{Memory, in_window};
use crate::request::{Action as Under, Request};
use crate::status::Status;

/// Elements in a member's memory.
#[derive(Clone, Debug)]
pub struct Place {
    /// Rank of the member.
    pub rank: usize,
    /// Displacement in the member's unit.
    pub displacement: i64,
    /// Number of elements.
    pub count: i64,
    /// Datatype of the elements.
    pub of: Rc<Datatype>,
}

impl Place {
    /// Returns the length of the data, if the datatype and count are valid.
    pub(super) fn bytes(&self) -> Result<usize> {
        ensure!(self.count >= 0, ErrorClass::Count, "a count of {}", self.count);
        let committed = self.of.is_committed();
        ensure!(committed, ErrorClass::Type, "the target's datatype was not committed");
        let bytes = self.count.checked_mul(self.of.size());
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        bytes.ok_or_else(|| Error::new(ErrorClass::Count, "more elements than memory can have"))
    }
}

/// The part of a call that is still in progress.
pub(super) type Started = Option<Ticket>;

impl<E: Endpoint + 'static> Window<E> {
    /// Returns the offset of a place in the member's memory, in bytes.
    pub(super) fn offset(&self, place: &Place) -> Result<i64> {
        let unit = *self.units.get(place.rank).ok_or_else(|| self.no_member(place.rank))?;
        let offset = place.displacement.checked_mul(unit);
        offset.ok_or_else(|| Error::new(ErrorClass::Displacement, "a displacement out of range"))
    }

    #[cold]
    fn no_member(&self, rank: usize) -> Error {
        Error::new(ErrorClass::Rank, format!("rank {rank} of a window of {}", self.size()))
    }

    /// Makes the checks common to all operations, and returns the offset of the place.
    pub(super) fn check(&self, origin: &Memory, place: &Place) -> Result<i64> {
        let offset = self.offset(place)?;
        let (ours, theirs) = (origin.bytes(), place.bytes()?);
        ensure!(
            ours == theirs,
            ErrorClass::Truncated,
            "{ours} bytes here and {theirs} bytes at rank {}",
            place.rank
        );
        self.epochs.check_open(place.rank)?;
        Ok(offset)
    }

    /// Returns the error for bytes outside a member's memory, as far as this process knows it.
    #[cold]
    pub(super) fn out_of_range(&self, place: &Place) -> Error {
        let Place { rank, displacement, count, .. } = place;
        let bytes = self.service.window().bytes_of(*rank);
        let what = format!(
            "an access to {count} element{} at displacement {displacement} goes beyond the memory of rank {rank}, which has \
             {bytes} bytes in this window",
            if *count == 1 { "" } else { "s" }
        );
        Error::new(ErrorClass::RmaRange, what)
    }

    /// Returns whether this process can access all memory of a member: then what it does not find there does not exist.
    fn sees(&self, rank: usize) -> bool {
        self.service.window().here(rank, 0, 0).is_some()
    }

    /// Puts data into a member's memory. `origin` may be changed when this returns.
    ///
    /// # Errors
    /// [`ErrorClass::RmaSync`] outside of an epoch, [`ErrorClass::RmaRange`], [`ErrorClass::Rank`],
    /// [`ErrorClass::Truncated`] if the two have different lengths, and errors that end the run.
    pub fn put(&self, origin: &Memory, place: &Place) -> Result {
        let offset = self.check(origin, place)?;
        if origin.bytes() == 0 {
            return Ok(());
        }
        let (rank, elements) = (place.rank, (place.count, &place.of));
        let target = in_window(&self.service.window(), rank, offset, elements);
        if let Some(target) = target {
            target.copy_from(origin);
            return Ok(());
        }
        if self.sees(rank) {
            return Err(self.out_of_range(place));
        }
        let there = stretches(&place.of, place.count, offset, None)?;
        let packed = origin.in_one_piece().is_none().then(|| origin.packed());
        let operand = origin.readable();
        let operand = match (&packed, &operand) {
            (Some(packed), _) => packed,
            (None, Some(readable)) => readable.as_slice(),
            _ => unreachable!("in one piece, or packed"),
        };
        self.update(place, (Action::Replace, &there), operand, None)?;
        self.service.limit()
    }

    /// Gets data from a member's memory, where they are when the epoch ends, or after a flush.
    ///
    /// # Errors
    /// As for [`put`](Window::put).
    pub fn get(&self, origin: &Memory, place: &Place) -> Result {
        self.start_get(origin, place)?;
        self.service.limit()
    }

    /// As [`get`](Window::get), with a request.
    ///
    /// # Errors
    /// As for [`put`](Window::put).
    pub fn request_get(&self, origin: &Memory, place: &Place) -> Result<Request<E>> {
        let delivery = self.start_get(origin, place)?;
        Ok(self.request(delivery))
    }

    /// Returns the request of an operation that may be in progress.
    pub(super) fn request(&self, delivery: Option<Rc<Delivery>>) -> Request<E> {
        let action = match delivery {
            None => Under::Done(Status::empty(), Ok(())),
            Some(delivery) => {
                let service = self.service.clone();
                Under::Collective(Rc::new(Fetch { service, delivery }))
            }
        };
        Request::new(self.engine(), action)
    }

    /// Returns a request that has ended: of an operation whose memory may be changed.
    pub fn done(&self) -> Request<E> {
        self.request(None)
    }

    fn start_get(&self, origin: &Memory, place: &Place) -> Result<Option<Rc<Delivery>>> {
        let offset = self.check(origin, place)?;
        if origin.bytes() == 0 {
            return Ok(None);
        }
        let (rank, elements) = (place.rank, (place.count, &place.of));
        let target = in_window(&self.service.window(), rank, offset, elements);
        if let Some(target) = target {
            if self.service.delivers_late() {
                return Ok(self.deliver(origin, rank, Fetched::Here(target.packed())));
            }
            origin.copy_from(&target);
            return Ok(None);
        }
        if self.sees(rank) {
            return Err(self.out_of_range(place));
        }
        let there = stretches(&place.of, place.count, offset, None)?;
        let mut bytes = vec![0; origin.bytes()];
        let what = (Action::Nothing, &there[..]);
        let ticket = self.update(place, what, &[], Some(&mut bytes))?;
        let fetched = ticket.map_or(Fetched::Here(bytes), Fetched::Awaited);
        Ok(self.deliver(origin, rank, fetched))
    }

    /// Passes what was fetched from a member on to `origin`, now or later.
    fn deliver(&self, origin: &Memory, rank: usize, fetched: Fetched) -> Option<Rc<Delivery>> {
        let origin = origin.clone();
        self.service.deliver(rank, fetched, move |bytes| origin.unpack_from(bytes))
    }

    /// Makes an update of the contract's window.
    pub(super) fn update(
        &self,
        place: &Place,
        (action, stretches): (Action, &[Stretch]),
        operand: &[u8],
        fetched: Option<&mut [u8]>,
    ) -> Result<Started> {
        let update = Update { action, stretches, operand };
        let mut endpoint = self.engine().endpoint()?;
        let mut window = self.service.window_mut();
        let outcome = window.update(&mut *endpoint, place.rank, &update, fetched);
        outcome.map_err(|error| match error {
            // Memory that the fabric cannot copy does not exist.
            contract::Error::System { .. } => Error::new(ErrorClass::RmaRange, error.to_string()),
            other => other.into(),
        })
    }
}
