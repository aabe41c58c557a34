//! Messages: each uses the fabric of its pair, and receives from any rank match messages of both.

use contract::{
    Completion, Destination, Endpoint, Envelope, Error, Readable, Request, Result, Selector,
    Writable,
};

use crate::ClusterEndpoint;
use crate::outer::Outer;
use crate::parts::Inner;
use crate::requests::{Side, Twin};

/// The fabrics that may have a message which a selector accepts.
enum Where {
    Inner(Selector),
    Outer,
    Both,
}

/// Number of polls of one fabric alone between two polls of both.
const POLLS_OF_ONE: u32 = 16;

impl ClusterEndpoint {
    #[inline]
    fn where_from(&self, selector: Selector) -> Where {
        let places = &self.rest().places;
        match selector.source {
            None if places.are_all_here() => Where::Inner(selector),
            None => Where::Both,
            Some(rank) if places.local(rank as usize).is_some() => {
                Where::Inner(places.inner_selector(selector))
            }
            Some(_) => Where::Outer,
        }
    }

    #[cold]
    pub(crate) fn outer_error(&self, error: Error) -> Error {
        self.rest().outer_error(error)
    }

    /// Ensures that a receive which one fabric has matched can no longer be matched by the other. Must be called after
    /// every action of one of them, before the other acts.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if !self.rest().twins.are_settled() {
            self.settle_twins();
        }
    }

    #[cold]
    fn settle_twins(&mut self) {
        let (own, rest) = self.both_mut();
        let (theirs, twins) = (&mut rest.outer, &mut rest.twins);
        twins.settle(|inner, outer| {
            let (way, is_cancelled) = if own.is_matched(inner) {
                (Side::Inner(inner), theirs.cancel_receive(outer))
            } else if theirs.is_matched(outer) {
                (Side::Outer(outer), own.cancel_receive(inner))
            } else {
                return None;
            };
            debug_assert!(is_cancelled, "both fabrics have a message for one receive");
            Some(way)
        });
    }

    /// Returns the side of a request, if it is not open.
    #[inline]
    fn side_of(&self, request: Request) -> Option<Side> {
        match Side::of(request) {
            Side::Twin(number) => match self.rest().twins.get(number) {
                Twin::Matched(way) => Some(way),
                _ => None,
            },
            way => Some(way),
        }
    }

    #[inline]
    pub(crate) fn start_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        let (inner, rest) = self.both_mut();
        let started = match rest.places.local(to.rank) {
            Some(rank) => inner
                .post_send(Destination { rank, ..to }, data, until)
                .map(Side::Inner)
                .map_err(|error| rest.outer_error(error)),
            None => rest.outer.post_send(to, data, until).map(Side::Outer),
        };
        self.settle();
        started.map(Side::request)
    }

    pub(crate) fn start_receive(
        &mut self,
        selector: Selector,
        room: Writable,
        in_place: bool,
    ) -> Result<Request> {
        let way = match self.where_from(selector) {
            Where::Inner(selector) => {
                let inner = self.inner_mut();
                let started = match in_place {
                    true => inner.post_receive_in_place(selector, room),
                    false => inner.post_receive(selector, room),
                };
                Side::Inner(started.map_err(|error| self.outer_error(error))?)
            }
            Where::Outer => Side::Outer(self.rest_mut().outer.post_receive(selector, room)?),
            Where::Both => self.start_twin(selector, room)?,
        };
        self.settle();
        Ok(way.request())
    }

    /// Posts a receive to one fabric, and to the other too unless the first has a message for it.
    fn start_twin(&mut self, selector: Selector, room: Writable) -> Result<Side> {
        let again = ClusterEndpoint::same_room(&room);
        let outer_first = !self.rest().outer_first;
        self.rest_mut().outer_first = outer_first;
        let (own, rest) = self.both_mut();
        if outer_first {
            let outer = rest.outer.post_receive(selector, room)?;
            if rest.outer.is_matched(outer) {
                return Ok(Side::Outer(outer));
            }
            let inner = own.post_receive(selector, again);
            let inner = inner.map_err(|error| rest.outer_error(error))?;
            Ok(rest.twins.add(inner, outer))
        } else {
            let inner = own.post_receive(selector, room);
            let inner = inner.map_err(|error| rest.outer_error(error))?;
            if own.is_matched(inner) {
                return Ok(Side::Inner(inner));
            }
            let outer = rest.outer.post_receive(selector, again)?;
            Ok(rest.twins.add(inner, outer))
        }
    }

    #[inline]
    pub(crate) fn has_ended(&self, request: Request) -> bool {
        match self.side_of(request) {
            Some(Side::Inner(request)) => self.inner().is_done(request),
            Some(Side::Outer(request)) => self.rest().outer.is_done(request),
            _ => false,
        }
    }

    #[inline]
    pub(crate) fn message_of(&self, request: Request) -> Envelope {
        match self.side_of(request) {
            Some(Side::Inner(request)) => {
                self.rest().places.outer_envelope(self.inner().envelope(request))
            }
            Some(Side::Outer(request)) => self.rest().outer.envelope(request),
            _ => panic!("the request is not done"),
        }
    }

    #[inline]
    pub(crate) fn forget(&mut self, request: Request) -> Envelope {
        let way = self.side_of(request);
        if let Side::Twin(number) = Side::of(request) {
            self.rest_mut().twins.remove(number);
        }
        match way {
            Some(Side::Inner(request)) => {
                let envelope = self.inner_mut().end(request);
                self.rest().places.outer_envelope(envelope)
            }
            Some(Side::Outer(request)) => self.rest_mut().outer.end(request),
            _ => panic!("the request is not done"),
        }
    }

    /// Returns the request in the inner fabric, if it is one of that.
    pub(crate) fn inner_request(&self, request: Request) -> Option<Request> {
        match self.side_of(request) {
            Some(Side::Inner(request)) => Some(request),
            _ => None,
        }
    }

    pub(crate) fn cancel(&mut self, request: Request) -> bool {
        match Side::of(request) {
            Side::Inner(request) => self.inner_mut().cancel_receive(request),
            Side::Outer(request) => self.rest_mut().outer.cancel_receive(request),
            Side::Twin(number) => {
                let Twin::Open { inner, outer } = self.rest().twins.get(number) else {
                    return false;
                };
                let (own, rest) = self.both_mut();
                rest.twins.remove(number);
                own.cancel_receive(inner) && rest.outer.cancel_receive(outer)
            }
        }
    }

    /// Searches one fabric after the other for a message, until one has it.
    pub(crate) fn find(
        &mut self,
        selector: Selector,
        mut inner: impl FnMut(&mut Inner, Selector) -> Result<Option<Envelope>>,
        mut outer: impl FnMut(&mut Outer, Selector) -> Result<Option<Envelope>>,
    ) -> Result<Option<Envelope>> {
        let (asks_inner, asks_outer) = match self.where_from(selector) {
            Where::Inner(_) => (true, false),
            Where::Outer => (false, true),
            Where::Both => (true, true),
        };
        self.rest_mut().polls = self.rest().polls.wrapping_add(1);
        if !(asks_inner && asks_outer) && self.rest().polls.is_multiple_of(POLLS_OF_ONE) {
            self.poll_both()?;
        }
        let outer_first = !self.rest().outer_first;
        self.rest_mut().outer_first = outer_first;
        for of_outer in [outer_first, !outer_first] {
            let found = match of_outer {
                true if asks_outer => outer(&mut self.rest_mut().outer, selector)?,
                false if asks_inner => {
                    let (own, rest) = self.both_mut();
                    let found = inner(own, rest.places.inner_selector(selector));
                    let found = found.map_err(|error| rest.outer_error(error))?;
                    found.map(|envelope| rest.places.outer_envelope(envelope))
                }
                _ => None,
            };
            self.settle();
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Returns whether a request can never complete, as far as both fabrics know.
    pub(crate) fn cannot_end(&self, request: Request) -> bool {
        match (self.side_of(request), Side::of(request)) {
            (Some(Side::Inner(request)), _) => self.inner().is_hopeless(request),
            (Some(Side::Outer(request)), _) => {
                self.note_outer(request);
                self.rest().outer.is_hopeless(request)
            }
            (_, Side::Twin(number)) => match self.rest().twins.get(number) {
                Twin::Open { outer, .. } => {
                    self.note_outer(outer);
                    self.rest().outer.is_hopeless(outer)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Notes what a request of the outer fabric waits for, if the launcher of this host asks.
    fn note_outer(&self, request: Request) {
        let seat = self.inner().seat();
        if seat.is_noting_waits()
            && let Some(awaited) = self.rest().outer.awaited_by(request)
        {
            seat.note_awaited(|| awaited);
        }
    }

    /// Returns the error of a request that can never complete. Every later call returns this error too.
    pub(crate) fn give_up(&mut self, request: Request) -> Error {
        let way = self.side_of(request).unwrap_or_else(|| match Side::of(request) {
            Side::Twin(number) => match self.rest().twins.get(number) {
                Twin::Open { outer, .. } => Side::Outer(outer),
                _ => Side::Twin(number),
            },
            way => way,
        });
        match way {
            Side::Outer(request) => self.rest_mut().outer.give_up_on(request),
            Side::Inner(request) => {
                let error = self.inner_mut().give_up_on(request);
                self.outer_error(error)
            }
            Side::Twin(_) => Error::UnknownRequest,
        }
    }
}
