//! Arbiters, which decide the packet that a channel carries next.

use contract::Time;

use crate::machine::MergePolicy;

/// The request for a channel by the packet at the head of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The input at which it waits. Each input has one request at a time.
    pub(crate) input: u32,
    /// Time at which the packet's message was sent.
    pub(crate) sent_at: Time,
    /// True if it comes from the node's own packet engine.
    pub(crate) injected: bool,
    /// Number of free places that it needs in the buffer behind the channel.
    pub(crate) places: u32,
}

/// An arbiter. Requests are added as they arrive. It decides when all requests of an instant have arrived.
pub(crate) trait Merge {
    /// Adds a request, which stays until it is granted.
    fn add(&mut self, request: Request);
    /// Returns the request to grant among those that need at most `places` free places, or `None` if there is none.
    fn arbitrate(&self, places: u32) -> Option<Request>;
    /// Removes a granted request, and records it for the next decision.
    fn update(&mut self, granted: Request);
    /// Removes all requests and returns them in the order in which they would be considered.
    fn clear(&mut self) -> Vec<Request>;
}

/// Creates an arbiter of this policy.
pub(crate) fn new(policy: MergePolicy) -> Box<dyn Merge> {
    match policy {
        MergePolicy::RoundRobin => Box::new(RoundRobin::default()),
        MergePolicy::Age => {
            Box::new(Ordered::new(|request| (request.sent_at.as_ps(), request.input)))
        }
        MergePolicy::FixedPriority => {
            Box::new(Ordered::new(|request| (u64::from(request.injected), request.input)))
        }
    }
}

/// Grants the inputs in turn, beginning after the last granted one.
#[derive(Default)]
struct RoundRobin {
    /// Requests in the order of their inputs.
    requests: Vec<Request>,
    next: u32,
}

impl Merge for RoundRobin {
    fn add(&mut self, request: Request) {
        let place = self.requests.partition_point(|other| other.input < request.input);
        self.requests.insert(place, request);
    }

    fn arbitrate(&self, places: u32) -> Option<Request> {
        let turn = self.requests.partition_point(|request| request.input < self.next);
        let (before, after) = self.requests.split_at(turn);
        after.iter().chain(before).find(|request| request.places <= places).copied()
    }

    fn update(&mut self, granted: Request) {
        self.requests.retain(|request| request.input != granted.input);
        self.next = granted.input + 1;
    }

    fn clear(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
    }
}

/// Grants the request with the least key.
struct Ordered<K> {
    key: K,
    requests: Vec<Request>,
}

impl<K: Fn(&Request) -> (u64, u32)> Ordered<K> {
    fn new(key: K) -> Self {
        Ordered { key, requests: Vec::new() }
    }
}

impl<K: Fn(&Request) -> (u64, u32)> Merge for Ordered<K> {
    fn add(&mut self, request: Request) {
        let key = (self.key)(&request);
        let place = self.requests.partition_point(|other| (self.key)(other) < key);
        self.requests.insert(place, request);
    }

    fn arbitrate(&self, places: u32) -> Option<Request> {
        self.requests.iter().find(|request| request.places <= places).copied()
    }

    fn update(&mut self, granted: Request) {
        self.requests.retain(|request| request.input != granted.input);
    }

    fn clear(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(input: u32, sent_at_ps: u64) -> Request {
        Request { input, sent_at: Time::from_ps(sent_at_ps), injected: input == 0, places: 1 }
    }

    /// Grants requests until none is left. Returns the inputs in the order of their grants.
    fn order(policy: MergePolicy, requests: &[Request]) -> Vec<u32> {
        let mut merge = new(policy);
        requests.iter().for_each(|&request| merge.add(request));
        std::iter::from_fn(|| {
            let granted = merge.arbitrate(1)?;
            merge.update(granted);
            Some(granted.input)
        })
        .collect()
    }

    #[test]
    fn policies_choose_by_turn_by_age_and_by_rank() {
        let requests = [request(2, 10), request(0, 5), request(1, 20)];
        assert_eq!(order(MergePolicy::RoundRobin, &requests), [0, 1, 2]);
        assert_eq!(order(MergePolicy::Age, &requests), [0, 2, 1]);
        // Input 0 belongs to the node itself.
        assert_eq!(order(MergePolicy::FixedPriority, &requests), [1, 2, 0]);
    }

    #[test]
    fn a_turn_goes_on_after_the_last_grant() {
        let mut merge = new(MergePolicy::RoundRobin);
        merge.add(request(1, 0));
        merge.update(merge.arbitrate(1).unwrap());
        merge.add(request(0, 0));
        merge.add(request(1, 0));
        merge.add(request(3, 0));
        assert_eq!(merge.arbitrate(1).unwrap().input, 3);
    }

    #[test]
    fn a_request_that_needs_more_room_is_passed_over() {
        let mut merge = new(MergePolicy::RoundRobin);
        merge.add(Request { places: 2, ..request(0, 0) });
        merge.add(request(1, 0));
        assert_eq!(merge.arbitrate(1).unwrap().input, 1);
        assert_eq!(merge.arbitrate(2).unwrap().input, 0);
    }
}
