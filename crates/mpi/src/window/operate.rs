//! Accumulate operations, with and without the previous values.

use std::rc::Rc;

use contract::{Action, Endpoint};

use super::service::{Delivery, Fetched};
use super::stretches::stretches;
use super::{Place, Window};
use crate::datatype::{Construction, Datatype, Kind};
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::{Memory, with_elements};
use crate::operation::{Coded, HAS_LONG_DOUBLE, Predefined};
use crate::request::Request;

/// An operation and the memory of what it fetches.
pub(super) struct Call<'a> {
    op: Predefined,
    origin: Option<&'a Memory>,
    result: Option<&'a Memory>,
}

/// Returns whether such elements support compare-and-swap.
pub(super) fn is_swapped(kind: Kind) -> bool {
    let kind = kind.as_number();
    matches!(kind, Kind::Signed(_) | Kind::Unsigned(_) | Kind::Logical(_) | Kind::Byte)
}

/// Fails unless an operation is defined for the elements of a datatype.
fn check_applies(op: Predefined, of: &Datatype) -> Result {
    let of_pairs = matches!(op, Predefined::MinimumAt | Predefined::MaximumAt);
    let applies = match of_pairs {
        true => of.only_pair().is_some(),
        false => op.applies(of, HAS_LONG_DOUBLE),
    };
    let why = "the operation is not defined for this datatype";
    ensure!(applies, ErrorClass::Operation, "{why}");
    Ok(())
}

/// Returns the data of memory in their form in a member's memory: packed, or for pairs with their gaps.
fn operand(origin: &Memory, pair: Option<&Rc<Datatype>>) -> Vec<u8> {
    let Some(pair) = pair else { return origin.packed() };
    let count = origin.bytes() as i64 / pair.size();
    let mut bytes = vec![0; (count * pair.extent()) as usize];
    with_elements(&mut bytes, (count, pair), |elements| elements.copy_from(origin));
    bytes
}

/// Copies such data to memory.
fn deliver(result: &Memory, pair: Option<&Rc<Datatype>>, bytes: &mut [u8]) {
    let Some(pair) = pair else { return result.unpack_from(bytes) };
    let count = result.bytes() as i64 / pair.size();
    with_elements(bytes, (count, pair), |elements| result.copy_from(elements));
}

impl<E: Endpoint + 'static> Window<E> {
    /// Computes `target` = `origin` op `target`, element by element, atomically with other such operations on elements
    /// of the type. `origin` may be changed when this returns.
    ///
    /// # Errors
    /// [`ErrorClass::Operation`] for an operation that is not defined for the datatype, and as for
    /// [`put`](Window::put).
    pub fn accumulate(&self, op: Predefined, origin: &Memory, place: &Place) -> Result {
        self.call(&Call { op, origin: Some(origin), result: None }, place)?;
        self.service.limit()
    }

    /// As [`accumulate`](Window::accumulate), and the previous values go to `result`, where they are when the epoch
    /// ends, or after a flush. `origin` is not read if the operation leaves all values unchanged.
    ///
    /// # Errors
    /// As for [`accumulate`](Window::accumulate).
    pub fn get_accumulate(
        &self,
        op: Predefined,
        origin: &Memory,
        result: &Memory,
        place: &Place,
    ) -> Result {
        self.start_get_accumulate(op, origin, result, place)?;
        self.service.limit()
    }

    /// As [`get_accumulate`](Window::get_accumulate), with a request.
    ///
    /// # Errors
    /// As for [`accumulate`](Window::accumulate).
    pub fn request_get_accumulate(
        &self,
        op: Predefined,
        origin: &Memory,
        result: &Memory,
        place: &Place,
    ) -> Result<Request<E>> {
        let delivery = self.start_get_accumulate(op, origin, result, place)?;
        Ok(self.request(delivery))
    }

    fn start_get_accumulate(
        &self,
        op: Predefined,
        origin: &Memory,
        result: &Memory,
        place: &Place,
    ) -> Result<Option<Rc<Delivery>>> {
        let origin = (op != Predefined::Nothing).then_some(origin);
        self.call(&Call { op, origin, result: Some(result) }, place)
    }

    fn call(&self, call: &Call<'_>, place: &Place) -> Result<Option<Rc<Delivery>>> {
        let &Call { op, origin, result } = call;
        let mut offset = 0;
        for memory in [origin, result].into_iter().flatten() {
            offset = self.check(memory, place)?;
        }
        // An empty place needs no operation.
        if place.bytes()? == 0 {
            return Ok(None);
        }
        check_applies(op, &place.of)?;
        let coded = Coded::new(op, &place.of);
        let pair = coded.pair();
        let there = stretches(&place.of, place.count, offset, pair.as_deref())?;
        let all: u64 = there.iter().map(|stretch| stretch.bytes).sum();
        let copy = match origin {
            Some(origin) if pair.is_some() || origin.in_one_piece().is_none() => {
                Some(operand(origin, pair.as_ref()))
            }
            // Even an operation that changes nothing has an operand.
            None => Some(vec![0; all as usize]),
            Some(_) => None,
        };
        let own = origin.and_then(Memory::readable);
        let operand = match (&copy, &own) {
            (Some(copy), _) => copy,
            (None, Some(readable)) => readable.as_slice(),
            _ => unreachable!("in one piece, or copied"),
        };
        let mut room = vec![0; if result.is_some() { all as usize } else { 0 }];
        let fetched = result.is_some().then_some(&mut room[..]);
        let what = (Action::Combine(coded.code()), &there[..]);
        let ticket = self.update(place, what, operand, fetched)?;
        self.hand_on(result, pair, room, (place.rank, ticket))
    }

    /// Passes fetched data to the program, now or when they arrive.
    fn hand_on(
        &self,
        result: Option<&Memory>,
        pair: Option<Rc<Datatype>>,
        room: Vec<u8>,
        (rank, ticket): (usize, Option<contract::Ticket>),
    ) -> Result<Option<Rc<Delivery>>> {
        let Some(result) = result else { return Ok(None) };
        let (result, fetched) =
            (result.clone(), ticket.map_or(Fetched::Here(room), Fetched::Awaited));
        let pass_on = move |bytes: &mut [u8]| deliver(&result, pair.as_ref(), bytes);
        Ok(self.service.deliver(rank, fetched, pass_on))
    }

    /// Replaces an element that equals `compare` by `new`. The previous value goes to `result`, where it is when the
    /// epoch ends, or after a flush. All are one element of a basic type.
    ///
    /// # Errors
    /// [`ErrorClass::Type`] unless the type consists of integers, truth values or bytes; and as for
    /// [`put`](Window::put).
    pub fn compare_and_swap(
        &self,
        new: &Memory,
        compare: &Memory,
        result: &Memory,
        place: &Place,
    ) -> Result {
        let kind = match *place.of.made() {
            Construction::Basic(kind) => kind.as_number(),
            _ => Kind::Packed,
        };
        let fits =
            matches!(kind, Kind::Signed(_) | Kind::Unsigned(_) | Kind::Logical(_) | Kind::Byte);
        ensure!(fits, ErrorClass::Type, "elements that cannot be compared and swapped");
        let offset = self.check(result, place)?;
        let there = stretches(&place.of, place.count, offset, None)?;
        let operand = [compare.packed(), new.packed()].concat();
        let mut room = vec![0; result.bytes()];
        let code = Coded::new(Predefined::Replace, &place.of).code();
        let what = (Action::CompareAndSwap(code), &there[..]);
        let ticket = self.update(place, what, &operand, Some(&mut room))?;
        self.hand_on(Some(result), None, room, (place.rank, ticket))?;
        self.service.limit()
    }
}
