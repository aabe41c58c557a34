//! Contexts: those of ranks of this host are the inner fabric's, with its boards; the others go by messages.

use contract::{ContextOffer, ContextPlace, Endpoint, Result};

use crate::ClusterEndpoint;

/// An open context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// The number that it was opened with.
    pub(crate) number: u32,
    /// What it is in the inner fabric, if all its members are on this host.
    pub(crate) inner: Option<ContextPlace>,
}

/// The contexts that are open, by their places.
pub(crate) struct Contexts {
    places: Vec<Option<Opened>>,
}

impl Contexts {
    /// The context of all ranks alone.
    pub(crate) fn new(all_are_here: bool) -> Self {
        let inner = all_are_here.then_some(ContextPlace::WORLD);
        Contexts { places: vec![Some(Opened { number: ContextPlace::WORLD.0, inner })] }
    }

    pub(crate) fn get(&self, place: ContextPlace) -> Option<Opened> {
        self.places.get(place.0 as usize).copied().flatten()
    }

    fn add(&mut self, opened: Opened) -> ContextPlace {
        let free = self.places.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(opened);
        ContextPlace(place as u32)
    }

    fn remove(&mut self, place: ContextPlace) -> Option<Opened> {
        self.places.get_mut(place.0 as usize)?.take()
    }
}

impl ClusterEndpoint {
    /// Opens a context in the fabrics that it needs.
    pub(crate) fn open(
        &mut self,
        number: u32,
        members: &[usize],
        me: usize,
        offers: &[ContextOffer],
    ) -> Result<ContextPlace> {
        let (inner, rest) = self.both_mut();
        rest.outer.open_context(number, members, me, offers)?;
        let local: Option<Vec<usize>> =
            members.iter().map(|&rank| rest.places.local(rank)).collect();
        let inner = match local {
            Some(local) => Some(inner.open_context(number, &local, me, offers)?),
            None => {
                inner.withdraw_context(offers[me]);
                None
            }
        };
        Ok(rest.contexts.add(Opened { number, inner }))
    }

    /// Closes a context.
    pub(crate) fn close(&mut self, place: ContextPlace) -> Result<()> {
        let (inner, rest) = self.both_mut();
        let Some(opened) = rest.contexts.remove(place) else { return Ok(()) };
        let closed = opened.inner.map_or(Ok(()), |place| inner.close_context(place));
        closed.and(rest.outer.close_context(ContextPlace(opened.number)))
    }

    /// What a context is in the inner fabric, if all its members are on this host.
    #[inline]
    pub(crate) fn inner_place(&self, place: ContextPlace) -> Option<ContextPlace> {
        self.rest().contexts.get(place)?.inner
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
