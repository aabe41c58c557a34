//! Opening of contexts: those with ranks of this host only use the inner fabric, with its boards; the others use
//! messages.

use contract::{ContextOffer, ContextPlace, Endpoint, Result};

use crate::ClusterEndpoint;
use crate::contexts::Opened;

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

    /// Returns the place of a context in the inner fabric, if all its members are on this host.
    #[inline]
    pub(crate) fn inner_place(&self, place: ContextPlace) -> Option<ContextPlace> {
        self.rest().contexts.get(place)?.inner
    }
}
