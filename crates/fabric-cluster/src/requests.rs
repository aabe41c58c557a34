//! Requests of the cluster, and their counterparts in the two fabrics.
//!
//! A request of one fabric keeps its number, with two bits that identify the fabric. A receive from any rank is posted
//! to both, until one of them has matched a message with it. Then the other's is cancelled, before that fabric makes
//! progress again. So no receive gets two messages, and each fabric sees all receives that its messages may match, in
//! the order in which they were posted.

use contract::Request;

/// The fabric of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// A request between ranks of this host.
    Inner(Request),
    /// A request between hosts.
    Outer(Request),
    /// A receive from any rank that was posted to both, by its number among those.
    Twin(usize),
}

/// A receive that was posted to both fabrics.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Twin {
    /// Neither has matched a message.
    Open { inner: Request, outer: Request },
    /// One of them has, and the other was cancelled.
    Matched(Side),
    /// The place is free.
    Free,
}

/// The receives that were posted to both fabrics. Their numbers are reused.
#[derive(Default)]
pub(crate) struct Twins {
    places: Vec<Twin>,
    free: Vec<usize>,
    /// Numbers of the open ones.
    open: Vec<usize>,
}

const SIDE_BITS: u32 = 2;

impl Side {
    /// Returns the side of a request of the cluster.
    #[inline]
    pub(crate) fn of(request: Request) -> Self {
        let number = request.0 >> SIDE_BITS;
        match request.0 & ((1 << SIDE_BITS) - 1) {
            0 => Side::Inner(Request(number)),
            1 => Side::Outer(Request(number)),
            _ => Side::Twin(number as usize),
        }
    }

    /// Returns the request of the cluster.
    #[inline]
    pub(crate) fn request(self) -> Request {
        let (number, bits) = match self {
            Side::Inner(request) => (request.0, 0),
            Side::Outer(request) => (request.0, 1),
            Side::Twin(number) => (number as u32, 2),
        };
        Request(number << SIDE_BITS | bits)
    }
}

impl Twins {
    /// Adds an open receive.
    pub(crate) fn add(&mut self, inner: Request, outer: Request) -> Side {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(Twin::Free);
            self.places.len() - 1
        });
        self.places[number] = Twin::Open { inner, outer };
        self.open.push(number);
        Side::Twin(number)
    }

    pub(crate) fn get(&self, number: usize) -> Twin {
        self.places[number]
    }

    /// Returns whether none is open.
    #[inline]
    pub(crate) fn are_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// Calls `settle` for each open receive, which returns the side that has matched it, after ensuring that in both
    /// fabrics.
    pub(crate) fn settle(&mut self, mut settle: impl FnMut(Request, Request) -> Option<Side>) {
        let Twins { places, open, .. } = self;
        open.retain(|&number| {
            let Twin::Open { inner, outer } = places[number] else { return false };
            match settle(inner, outer) {
                None => true,
                Some(way) => {
                    places[number] = Twin::Matched(way);
                    false
                }
            }
        });
    }

    /// Frees a receive.
    pub(crate) fn remove(&mut self, number: usize) {
        self.open.retain(|&open| open != number);
        self.places[number] = Twin::Free;
        self.free.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_identifies_its_fabric() {
        for way in [Side::Inner(Request(0)), Side::Outer(Request(77)), Side::Twin(5)] {
            assert_eq!(Side::of(way.request()), way);
        }
        assert_ne!(Side::Inner(Request(3)).request(), Side::Outer(Request(3)).request());
    }

    #[test]
    fn a_receive_that_one_fabric_has_matched_is_open_no_more_and_its_number_is_used_again() {
        let mut twins = Twins::default();
        let first = twins.add(Request(10), Request(20));
        let second = twins.add(Request(11), Request(21));
        assert_eq!((first, second), (Side::Twin(0), Side::Twin(1)));
        let mut asked = Vec::new();
        twins.settle(|inner, outer| {
            asked.push((inner.0, outer.0));
            (inner.0 == 10).then_some(Side::Inner(inner))
        });
        assert_eq!(asked, [(10, 20), (11, 21)]);
        assert!(matches!(twins.get(0), Twin::Matched(Side::Inner(Request(10)))));
        assert!(!twins.are_settled());
        twins.remove(1);
        assert!(twins.are_settled());
        assert_eq!(twins.add(Request(12), Request(22)), Side::Twin(1));
    }
}
