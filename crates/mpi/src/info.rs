//! Hints: ordered pairs of strings.

use std::cell::RefCell;

use crate::error::{Error, ErrorClass, Result};

/// Pairs of a key and a value, in the order in which the keys were first set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(RefCell<Vec<(String, String)>>);

impl Info {
    /// Creates an object without pairs.
    pub fn new() -> Self {
        Info::default()
    }

    /// Creates an object with these pairs.
    pub fn from_pairs(pairs: Vec<(String, String)>) -> Self {
        Info(RefCell::new(pairs))
    }

    /// Returns all pairs.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.0.borrow().clone()
    }

    /// Sets a value, which replaces the previous one of the key.
    pub fn set(&self, key: &str, value: impl Into<String>) {
        let mut pairs = self.0.borrow_mut();
        match pairs.iter_mut().find(|(its_key, _)| its_key == key) {
            Some(pair) => pair.1 = value.into(),
            None => pairs.push((key.into(), value.into())),
        }
    }

    /// Sets all pairs of another object.
    pub fn set_all(&self, other: &Info) {
        for (key, value) in other.pairs() {
            self.set(&key, value);
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<String> {
        let pairs = self.0.borrow();
        pairs.iter().find(|(its_key, _)| its_key == key).map(|(_, value)| value.clone())
    }

    /// Returns the alignment in bytes that allocated memory must have, if one is given: a power of two. Source: MPI 5.0,
    /// sections 9.2 and 12.2.2, `mpi_minimum_memory_alignment`.
    pub fn alignment(&self) -> Option<usize> {
        let bytes: usize = self.get("mpi_minimum_memory_alignment")?.trim().parse().ok()?;
        bytes.is_power_of_two().then_some(bytes)
    }

    /// Deletes a pair.
    ///
    /// # Errors
    /// [`ErrorClass::InfoNoKey`] if there is none with this key.
    pub fn delete(&self, key: &str) -> Result {
        let mut pairs = self.0.borrow_mut();
        let index = pairs.iter().position(|(its_key, _)| its_key == key);
        let missing = || Error::new(ErrorClass::InfoNoKey, format!("no key {key:?}"));
        pairs.remove(index.ok_or_else(missing)?);
        Ok(())
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Returns whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the key with a number, counted in the order in which the keys were first set.
    pub fn key(&self, number: usize) -> Option<String> {
        self.0.borrow().get(number).map(|(key, _)| key.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_of_their_first_assignment() {
        let info = Info::new();
        for (key, value) in [("b", "1"), ("a", "2"), ("b", "3")] {
            info.set(key, value);
        }
        assert_eq!((info.len(), info.key(0), info.key(2)), (2, Some("b".into()), None));
        assert_eq!((info.get("b"), info.get("c")), (Some("3".into()), None));
        let copy = info.clone();
        info.delete("b").unwrap();
        assert_eq!(info.pairs(), [("a".into(), "2".into())]);
        assert_eq!(copy.len(), 2, "a copy is an object of its own");
        assert_eq!(info.delete("b").unwrap_err().class, ErrorClass::InfoNoKey);
        info.set_all(&copy);
        assert_eq!((info.key(1), info.is_empty()), (Some("b".into()), false));
    }
}
