//! Opening of contexts: those with ranks of this host only use the inner fabric, with its boards; the others use
//! messages.

use contract::{ContextPlace, Endpoint, NewContext, Result};

use crate::ClusterEndpoint;
use crate::contexts::Opened;

impl ClusterEndpoint {
    /// Opens a context in the fabrics that it needs.
    pub(crate) fn open(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        let (inner, rest) = self.both_mut();
        rest.outer.open_context(context)?;
        let local: Option<Vec<usize>> =
            context.members.iter().map(|&rank| rest.places.local(rank)).collect();
        let inner = match local {
            Some(members) => Some(inner.open_context(NewContext { members: &members, ..context })?),
            None => {
                inner.withdraw_context(context.offers[context.me]);
                None
            }
        };
        Ok(rest.contexts.add(Opened { number: context.number, inner }))
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
