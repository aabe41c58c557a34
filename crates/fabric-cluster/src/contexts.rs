//! The open contexts.

use contract::ContextPlace;

/// An open context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// Number with which it was opened.
    pub(crate) number: u32,
    /// Its place in the inner fabric, if all its members are on this host.
    pub(crate) inner: Option<ContextPlace>,
}

/// The open contexts, by their places.
pub(crate) struct Contexts {
    places: Vec<Option<Opened>>,
}

impl Contexts {
    /// Creates a table with the context of all ranks only.
    pub(crate) fn new(all_are_here: bool) -> Self {
        let inner = all_are_here.then_some(ContextPlace::WORLD);
        Contexts { places: vec![Some(Opened { number: ContextPlace::WORLD.0, inner })] }
    }

    /// Returns the context at a place.
    pub(crate) fn get(&self, place: ContextPlace) -> Option<Opened> {
        self.places.get(place.0 as usize).copied().flatten()
    }

    /// Adds a context.
    pub(crate) fn add(&mut self, opened: Opened) -> ContextPlace {
        let free = self.places.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(opened);
        ContextPlace(place as u32)
    }

    /// Removes a context.
    pub(crate) fn remove(&mut self, place: ContextPlace) -> Option<Opened> {
        self.places.get_mut(place.0 as usize)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again_and_the_world_is_at_its_own() {
        let mut contexts = Contexts::new(true);
        assert_eq!(contexts.get(ContextPlace::WORLD).unwrap().inner, Some(ContextPlace::WORLD));
        assert_eq!(Contexts::new(false).get(ContextPlace::WORLD).unwrap().inner, None);
        let one = Opened { number: 9, inner: None };
        let place = contexts.add(one);
        assert_eq!((place, contexts.get(place)), (ContextPlace(1), Some(one)));
        assert_eq!(contexts.remove(place), Some(one));
        assert_eq!((contexts.get(place), contexts.remove(ContextPlace(7))), (None, None));
        assert_eq!(contexts.add(Opened { number: 10, inner: None }), place);
    }
}
