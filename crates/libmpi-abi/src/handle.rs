//! Handles and their tables.
//!
//! A handle's value below 0x400 is a predefined object's, as the ABI defines it; from [`FIRST`] on it is a place in a
//! table. A handle therefore survives conversion to an integer, and a freed handle is recognised until its place is
//! reused.

use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;

use call_stack::CallSite;

use crate::abi::Handle;
use crate::shared::Shared;

const PREDEFINED: usize = 0x400;
/// The first value of a handle that is not predefined; the ABI reserves all below.
const FIRST: usize = 0x1000;

/// Implements MPI_..._toint.
pub(crate) fn to_int(handle: impl Handle) -> c_int {
    handle.number() as c_int
}

/// Implements MPI_..._fromint.
pub(crate) fn from_int<H: Handle>(number: c_int) -> H {
    H::from_number(number as usize)
}

/// Objects by handle.
pub(crate) struct Table<T> {
    predefined: Vec<Option<T>>,
    made: Vec<Option<T>>,
    /// The calls that have made them.
    makers: Vec<CallSite>,
    free: Vec<usize>,
}

impl<T: Clone> Table<T> {
    pub(crate) fn new() -> Self {
        Table { predefined: Vec::new(), made: Vec::new(), makers: Vec::new(), free: Vec::new() }
    }

    /// Stores an object for a predefined handle.
    pub(crate) fn predefine(&mut self, handle: impl Handle, object: T) {
        let number = handle.number();
        assert!(number < PREDEFINED);
        if self.predefined.len() <= number {
            self.predefined.resize(number + 1, None);
        }
        self.predefined[number] = Some(object);
    }

    /// Adds an object, and returns its handle.
    pub(crate) fn add<H: Handle>(&mut self, object: T) -> H {
        let index = match self.free.pop() {
            Some(index) => {
                self.made[index] = Some(object);
                index
            }
            None => {
                self.made.push(Some(object));
                self.makers.push(CallSite::default());
                self.made.len() - 1
            }
        };
        self.makers[index] = CallSite::latest();
        H::from_number(FIRST + index)
    }

    #[inline]
    pub(crate) fn get(&self, handle: impl Handle) -> Option<&T> {
        let number = handle.number();
        let place = match number.checked_sub(FIRST) {
            Some(index) => self.made.get(index),
            None => self.predefined.get(number),
        };
        place?.as_ref()
    }

    /// Removes an object; predefined ones stay.
    pub(crate) fn remove(&mut self, handle: impl Handle) -> Option<T> {
        let index = handle.number().checked_sub(FIRST)?;
        let object = self.made.get_mut(index)?.take()?;
        self.free.push(index);
        Some(object)
    }

    /// Returns the handle of the first object for which `wanted` returns true.
    pub(crate) fn find<H: Handle>(&self, wanted: impl Fn(&T) -> bool) -> Option<H> {
        let place = |objects: &[Option<T>]| {
            objects.iter().position(|one| one.as_ref().is_some_and(&wanted))
        };
        let made = || place(&self.made).map(|index| FIRST + index);
        place(&self.predefined).or_else(made).map(H::from_number)
    }

    /// Returns the objects that are not predefined.
    pub(crate) fn own(&self) -> impl Iterator<Item = &T> {
        self.made.iter().flatten()
    }

    /// Returns the calls that have made the objects that are not predefined.
    pub(crate) fn makers(&self) -> Vec<CallSite> {
        self.makers_of(|_| true)
    }

    /// Returns those of the objects for which `wanted` returns true.
    pub(crate) fn makers_of(&self, wanted: impl Fn(&T) -> bool) -> Vec<CallSite> {
        let all = self.made.iter().zip(&self.makers);
        let all = all.filter(|(object, _)| object.as_ref().is_some_and(&wanted));
        all.map(|(_, maker)| *maker).collect()
    }
}

/// Returns whether a handle is one of the ABI's own.
pub(crate) fn is_predefined(handle: impl Handle) -> bool {
    handle.number() < PREDEFINED
}

/// The objects of one kind, by handle.
pub(crate) type Objects<T> = Shared<RefCell<Table<Rc<T>>>>;

impl<T> Objects<T> {
    /// Returns the object of a handle.
    #[inline]
    pub(crate) fn get(&self, handle: impl Handle) -> Option<Rc<T>> {
        self.borrow().get(handle).cloned()
    }

    /// Adds an object, and returns its handle.
    pub(crate) fn add<H: Handle>(&self, object: Rc<T>) -> H {
        self.borrow_mut().add(object)
    }

    /// Removes an object; predefined ones stay.
    pub(crate) fn remove(&self, handle: impl Handle) -> Option<Rc<T>> {
        self.borrow_mut().remove(handle)
    }

    /// Returns the calls that have made the objects that are not predefined.
    pub(crate) fn makers(&self) -> Vec<CallSite> {
        self.borrow().makers()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Comm;

    #[test]
    fn a_freed_handle_is_recognized() {
        let mut table = Table::new();
        table.predefine(Comm(0x101), "world");
        let first: Comm = table.add("first");
        let second: Comm = table.add("second");
        assert_eq!(table.remove(first), Some("first"));
        assert_eq!(table.get(first), None);
        assert_eq!(table.makers().len(), 1);
        assert_eq!(table.remove(first), None);
        assert_eq!(table.get(second), Some(&"second"));
        assert_eq!(table.find(|one| *one == "second"), Some(second));
        assert_eq!(table.find(|one| *one == "world"), Some(Comm(0x101)));
        assert_eq!(table.find::<Comm>(|one| *one == "first"), None);
        assert_eq!(table.add::<Comm>("third"), first, "the place is used again");
        assert_eq!(table.remove(Comm(0x101)), None, "predefined objects stay");
        assert_eq!(table.get(Comm(0x101)), Some(&"world"));
        assert_eq!(table.get(Comm(0)), None);
        assert_eq!(table.get(Comm(usize::MAX)), None);
    }
}
