//! What a fabric keeps of each posted operation until it ends.

use crate::{Error, Posted, Result};

/// Posted operations by their handles. Places are used again, and count their uses, so that a handle of an earlier use is
/// known for what it is.
#[derive(Debug)]
pub struct Held<T> {
    places: Vec<Place<T>>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    held: Option<T>,
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        Held { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Held<T> {
    /// Keeps an operation, and gives its handle.
    pub fn keep(&mut self, operation: T) -> Posted {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, held: None });
            self.places.len() - 1
        });
        let place = &mut self.places[index];
        place.generation = place.generation.wrapping_add(1);
        place.held = Some(operation);
        Posted::new(u64::from(place.generation) << 32 | index as u64)
    }

    /// The place of the operation behind a handle: a small number that no other operation under way has.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`].
    pub fn index(&self, posted: &Posted) -> Result<usize> {
        let (generation, index) = ((posted.number() >> 32) as u32, posted.number() as u32 as usize);
        let known = |place: &&Place<T>| place.generation == generation && place.held.is_some();
        self.places.get(index).filter(known).map(|_| index).ok_or(Error::UnknownRequest)
    }

    /// The operation at a place.
    pub fn at(&self, index: usize) -> Option<&T> {
        self.places.get(index)?.held.as_ref()
    }

    /// The operation at a place, to change.
    pub fn at_mut(&mut self, index: usize) -> Option<&mut T> {
        self.places.get_mut(index)?.held.as_mut()
    }

    /// What is behind a handle.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`].
    pub fn get(&mut self, posted: &Posted) -> Result<&mut T> {
        let index = self.index(posted)?;
        self.at_mut(index).ok_or(Error::UnknownRequest)
    }

    /// Takes out an operation that has ended.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`].
    pub fn take(&mut self, posted: &Posted) -> Result<T> {
        let index = self.index(posted)?;
        self.take_at(index).ok_or(Error::UnknownRequest)
    }

    /// Takes out what is at a place.
    pub fn take_at(&mut self, index: usize) -> Option<T> {
        let taken = self.places.get_mut(index)?.held.take();
        if taken.is_some() {
            self.free.push(index);
        }
        taken
    }

    /// The places of all that are still under way.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        let held = |(index, place): (usize, &Place<T>)| place.held.is_some().then_some(index);
        self.places.iter().enumerate().filter_map(held)
    }

    /// All that are still under way.
    pub fn rest(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().filter_map(|place| place.held.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_of_an_earlier_use_of_its_place_is_unknown() {
        let mut held = Held::default();
        let first = held.keep('a');
        let number = first.number();
        assert_eq!(held.take(&first), Ok('a'));
        let second = held.keep('b');
        assert_ne!(second.number(), number);
        assert_eq!(held.index(&second), Ok(0));
        assert_eq!(held.take(&Posted::new(number)), Err(Error::UnknownRequest));
        assert_eq!(held.rest().count(), 1);
        assert_eq!(held.take(&second), Ok('b'));
        assert!(held.take(&second).is_err() && held.take_at(0).is_none());
    }

    #[test]
    fn a_place_is_free_once_however_often_it_is_emptied() {
        let mut held = Held::default();
        let first = held.keep(1);
        assert_eq!(held.take_at(0), Some(1));
        assert_eq!(held.take_at(0), None);
        let (second, third) = (held.keep(2), held.keep(3));
        assert!(held.take(&first).is_err());
        assert_eq!((held.take(&second), held.take(&third)), (Ok(2), Ok(3)));
    }
}
