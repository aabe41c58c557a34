//! The shared pointer of all members: a word in a window, at the first member.

use contract::Endpoint;

use crate::communicator::Communicator;
use crate::datatype::Element;
use crate::error::Result;
use crate::info::Info;
use crate::memory::{Incoming, Outgoing};
use crate::operation::Predefined;
use crate::window::{Place, Promise, Window};

/// Rank of the member that has the word.
const HOME: usize = 0;

/// A position, in etypes, that all members share.
pub(super) struct SharedPointer<E: Endpoint>(Window<E>);

impl<E: Endpoint + 'static> SharedPointer<E> {
    /// Creates a pointer at 0. All members make the same call.
    pub(super) fn new(of: &Communicator<E>) -> Result<Self> {
        let word = size_of::<i64>() as i64;
        let bytes = if of.rank() == HOME { word } else { 0 };
        let window = Window::allocate(of, bytes, word, Info::new())?;
        window.lock_all(Promise { no_check: true, ..Promise::default() })?;
        let pointer = SharedPointer(window);
        if of.rank() == HOME {
            pointer.set(0)?;
        }
        Ok(pointer)
    }

    fn update(&self, op: Predefined, operand: i64) -> Result<i64> {
        let place = Place { rank: HOME, displacement: 0, count: 1, of: i64::datatype() };
        let (operand, mut found) = ([operand], [0_i64]);
        let (from, to) = (Outgoing::from(&operand[..]), Incoming::from(&mut found[..]));
        self.0.get_accumulate(op, from.memory(), to.memory(), &place)?;
        self.0.flush(Some(HOME))?;
        Ok(found[0])
    }

    /// Returns its position.
    pub(super) fn get(&self) -> Result<i64> {
        self.update(Predefined::Nothing, 0)
    }

    /// Sets its position.
    pub(super) fn set(&self, position: i64) -> Result {
        self.update(Predefined::Replace, position).map(drop)
    }

    /// Advances it. Returns its previous position.
    pub(super) fn advance(&self, etypes: i64) -> Result<i64> {
        self.update(Predefined::Sum, etypes)
    }

    /// Frees it. Every member calls this in the end.
    pub(super) fn free(&self) -> Result {
        self.0.unlock_all()?;
        self.0.free(0)
    }
}
