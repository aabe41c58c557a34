//! Attributes: values that programs and libraries attach to communicators and datatypes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::error::{ErrorClass, Result, ensure};

/// The callbacks for the values of a key when their object is copied or freed.
pub trait KeyFunctions {
    /// Returns the value that a copy of the object gets, or `None` for no value. `object` is the number that the caller
    /// of the copy gave for the old object.
    ///
    /// # Errors
    /// Any error that the program chooses; the object is then not copied.
    fn copy(&self, object: usize, value: usize) -> Result<Option<usize>>;

    /// Called when a value is deleted or replaced.
    ///
    /// # Errors
    /// Any error that the program chooses; the value then stays.
    fn delete(&self, object: usize, value: usize) -> Result;
}

/// A key for values. Two keys are never equal, even if their functions are.
pub struct Key {
    functions: Box<dyn KeyFunctions>,
    is_free: Cell<bool>,
}

impl Key {
    /// Creates a key whose values are handled by `functions`.
    pub fn new(functions: impl KeyFunctions + 'static) -> Rc<Self> {
        Rc::new(Key { functions: Box::new(functions), is_free: Cell::new(false) })
    }

    /// Forbids new values. Existing values stay, and can be changed and deleted.
    pub fn free(&self) {
        self.is_free.set(true);
    }
}

/// The values of one object, in the order in which they were first set.
///
/// `object` in each call is the number by which the program's functions identify the object.
#[derive(Default)]
pub struct Attributes(RefCell<Vec<(Rc<Key>, usize)>>);

impl Attributes {
    /// Creates an empty set of values.
    pub fn new() -> Self {
        Attributes::default()
    }

    /// Returns the values that a copy of the object gets.
    ///
    /// # Errors
    /// Errors of a key's functions.
    pub fn copy(&self, object: usize) -> Result<Attributes> {
        // Nothing is borrowed while a program's function runs, because it may call these methods again.
        let values = self.0.borrow().clone();
        let copied = Attributes::default();
        for (key, value) in values {
            if let Some(value) = key.functions.copy(object, value)? {
                copied.0.borrow_mut().push((key, value));
            }
        }
        Ok(copied)
    }

    /// Deletes all values, the newest first, at the end of the object.
    ///
    /// # Errors
    /// Errors of a key's functions; its value and the older ones then stay.
    pub fn clear(&self, object: usize) -> Result {
        loop {
            let newest = self.0.borrow().last().cloned();
            let Some((key, value)) = newest else { return Ok(()) };
            key.functions.delete(object, value)?;
            self.remove(&key);
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &Rc<Key>) -> Option<usize> {
        let values = self.0.borrow();
        values.iter().find(|(its_key, _)| Rc::ptr_eq(its_key, key)).map(|(_, value)| *value)
    }

    /// Sets a value. An existing value of the key is deleted before.
    ///
    /// # Errors
    /// [`ErrorClass::Key`] if the key was freed, and those of its functions.
    pub fn set(&self, object: usize, key: &Rc<Key>, value: usize) -> Result {
        if let Some(before) = self.get(key) {
            key.functions.delete(object, before)?;
            let mut values = self.0.borrow_mut();
            let same = values.iter_mut().filter(|(its_key, _)| Rc::ptr_eq(its_key, key));
            same.for_each(|one| one.1 = value);
            return Ok(());
        }
        ensure!(!key.is_free.get(), ErrorClass::Key, "the key was freed");
        self.0.borrow_mut().push((key.clone(), value));
        Ok(())
    }

    /// Deletes a value, if there is one.
    ///
    /// # Errors
    /// Errors of the key's functions; the value then stays.
    pub fn delete(&self, object: usize, key: &Rc<Key>) -> Result {
        if let Some(value) = self.get(key) {
            key.functions.delete(object, value)?;
            self.remove(key);
        }
        Ok(())
    }

    fn remove(&self, key: &Rc<Key>) {
        self.0.borrow_mut().retain(|(its_key, _)| !Rc::ptr_eq(its_key, key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// Copies even values only, each one larger, refuses to delete 7, and records what it deletes.
    #[derive(Clone, Default)]
    struct Noting(Rc<RefCell<Vec<(usize, usize)>>>);

    impl KeyFunctions for Noting {
        fn copy(&self, _object: usize, value: usize) -> Result<Option<usize>> {
            Ok(value.is_multiple_of(2).then_some(value + 1))
        }

        fn delete(&self, object: usize, value: usize) -> Result {
            if value == 7 {
                return Err(Error::new(ErrorClass::User(70), "not this one"));
            }
            self.0.borrow_mut().push((object, value));
            Ok(())
        }
    }

    #[test]
    fn a_copy_gets_the_values_that_the_functions_return() {
        let noted = Noting::default();
        let [one, two] = [Key::new(noted.clone()), Key::new(noted.clone())];
        let values = Attributes::new();
        values.set(1, &one, 4).unwrap();
        values.set(1, &two, 5).unwrap();
        let copied = values.copy(1).unwrap();
        assert_eq!((copied.get(&one), copied.get(&two)), (Some(5), None));
        assert_eq!(values.get(&one), Some(4));
    }

    #[test]
    fn values_are_deleted_when_replaced_and_at_the_end_newest_first() {
        let noted = Noting::default();
        let [one, two] = [Key::new(noted.clone()), Key::new(noted.clone())];
        let values = Attributes::new();
        for (key, value) in [(&one, 1), (&two, 2), (&one, 3)] {
            values.set(9, key, value).unwrap();
        }
        assert_eq!(*noted.0.borrow(), [(9, 1)]);
        values.clear(9).unwrap();
        assert_eq!(*noted.0.borrow(), [(9, 1), (9, 2), (9, 3)]);
        assert_eq!(values.get(&one), None);
    }

    #[test]
    fn a_refusal_to_delete_keeps_the_value() {
        let key = Key::new(Noting::default());
        let values = Attributes::new();
        values.set(0, &key, 7).unwrap();
        for refused in [values.delete(0, &key), values.clear(0), values.set(0, &key, 8)] {
            assert_eq!(refused.unwrap_err().class, ErrorClass::User(70));
        }
        assert_eq!(values.get(&key), Some(7));
    }

    #[test]
    fn a_freed_key_takes_no_new_values() {
        let key = Key::new(Noting::default());
        let [old, new] = [Attributes::new(), Attributes::new()];
        old.set(0, &key, 1).unwrap();
        key.free();
        old.set(0, &key, 2).unwrap();
        assert_eq!(old.get(&key), Some(2));
        assert_eq!(new.set(0, &key, 1).unwrap_err().class, ErrorClass::Key);
    }
}
