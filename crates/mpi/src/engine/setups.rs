//! Setups of partitioned messages, and the receives that match them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use contract::{Completion, Destination, Endpoint, LongWaits, Request, Selector};

use crate::error::Result;
use crate::memory::Storage;

/// Tag of setups among the messages inside collectives: above those of all calls, and below those of the leaders of
/// groups.
const TAG: u32 = 1 << 29;

/// A sender's setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) tag: u32,
    /// Number of the context in which its partitions travel.
    pub(crate) number: u32,
    pub(crate) partitions: usize,
    /// Length of all partitions together.
    pub(crate) bytes: usize,
}

/// A receive that waits for a setup.
pub(crate) trait AwaitsSetup {
    /// Returns the tag that it accepts.
    fn tag(&self) -> u32;

    /// Records its sender.
    fn meet(&self, sender: Setup);
}

impl Setup {
    const BYTES: usize = 24;

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = [self.tag, self.number].map(u32::to_ne_bytes).concat();
        bytes.extend((self.partitions as u64).to_ne_bytes());
        bytes.extend((self.bytes as u64).to_ne_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let short =
            |at: usize| u32::from_ne_bytes(*bytes[at..].first_chunk().expect("a setup is whole"));
        let long =
            |at: usize| u64::from_ne_bytes(*bytes[at..].first_chunk().expect("a setup is whole"));
        let (partitions, bytes) = (long(8) as usize, long(16) as usize);
        Setup { tag: short(0), number: short(4), partitions, bytes }
    }

    /// Starts to send the setup to a rank of the run. The returned memory must be kept until that has ended.
    ///
    /// # Errors
    /// Errors that end the run.
    pub(crate) fn send<E: Endpoint>(
        self,
        endpoint: &mut E,
        context: u32,
        to: usize,
    ) -> Result<(Request, Storage)> {
        let memory = Storage::from(self.to_bytes());
        let data = memory.readable(0..memory.bytes());
        let to = Destination { rank: to, context, tag: TAG };
        let started = endpoint.post_send(to, data, Completion::Local)?;
        Ok((started, memory))
    }
}

/// The setups and the receives of one context.
#[derive(Default)]
pub(crate) struct Setups(RefCell<Vec<Sender>>);

/// The setups and the receives of one sender.
struct Sender {
    /// The sender, as a rank of the run.
    rank: usize,
    /// Receives that have matched no setup, in the order of their creation.
    waiting: VecDeque<Rc<dyn AwaitsSetup>>,
    /// Setups that have matched no receive, in their order.
    unmet: VecDeque<Setup>,
    /// The posted receive of the next setup.
    next: Option<(Request, Storage)>,
}

impl Sender {
    /// Matches setups with receives.
    fn meet(&mut self) {
        self.unmet.retain(|&setup| {
            let place = self.waiting.iter().position(|one| one.tag() == setup.tag);
            if let Some(receive) = place.and_then(|place| self.waiting.remove(place)) {
                receive.meet(setup);
                return false;
            }
            true
        });
    }

    /// Receives setups while receives wait for them.
    fn advance<E: Endpoint>(&mut self, context: u32, endpoint: &mut E) -> Result {
        self.meet();
        while !self.waiting.is_empty() {
            let (started, memory) = match &self.next {
                Some((started, memory)) => (*started, memory.clone()),
                None => {
                    let memory = Storage::zeroed(Setup::BYTES);
                    let source = Some(self.rank as u32);
                    let selector = Selector { context, source, tag: Some(TAG) };
                    let room = memory.writable(0..memory.bytes());
                    (endpoint.post_receive(selector, room)?, memory)
                }
            };
            if !endpoint.is_done(started) {
                self.next = Some((started, memory));
                return Ok(());
            }
            self.next = None;
            endpoint.end(started);
            self.unmet.push_back(memory.with(0..memory.bytes(), Setup::from_bytes));
            self.meet();
        }
        Ok(())
    }
}

impl Drop for Sender {
    /// A receive that is still posted needs its memory for ever.
    fn drop(&mut self) {
        std::mem::forget(self.next.take());
    }
}

impl Setups {
    /// Adds a receive that waits for a setup of a rank of the run.
    pub(crate) fn expect(&self, rank: usize, receive: Rc<dyn AwaitsSetup>) {
        let mut senders = self.0.borrow_mut();
        let found = senders.iter().position(|one| one.rank == rank);
        let place = found.unwrap_or_else(|| {
            let (waiting, unmet) = (VecDeque::new(), VecDeque::new());
            senders.push(Sender { rank, waiting, unmet, next: None });
            senders.len() - 1
        });
        senders[place].waiting.push_back(receive);
    }

    /// Receives the setups that have arrived.
    pub(crate) fn advance<E: Endpoint>(&self, context: u32, endpoint: &mut E) {
        for sender in self.0.borrow_mut().iter_mut() {
            // A failure of the run is reported by the wait of which this is a part.
            let _ = sender.advance(context, endpoint);
        }
    }

    /// Returns the posted receive of an awaited setup, if its sender has left.
    pub(crate) fn unsatisfiable(&self, rank: usize, waits: &mut dyn LongWaits) -> Option<Request> {
        let senders = self.0.borrow();
        let next = senders.iter().find(|one| one.rank == rank)?.next.as_ref()?.0;
        waits.cannot_complete(next).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Receive(u32, Cell<u32>);

    impl AwaitsSetup for Receive {
        fn tag(&self) -> u32 {
            self.0
        }

        fn meet(&self, sender: Setup) {
            self.1.set(sender.number);
        }
    }

    #[test]
    fn receives_meet_the_senders_of_their_tag_in_the_order_of_both() {
        let setup = |tag, number| Setup { tag, number, partitions: 1, bytes: 8 };
        let receives = [7, 5, 7].map(|tag| Rc::new(Receive(tag, Cell::new(0))));
        let mut from = Sender {
            rank: 0,
            waiting: receives.iter().map(|one| one.clone() as Rc<dyn AwaitsSetup>).collect(),
            unmet: [setup(7, 1), setup(9, 2), setup(7, 3)].into(),
            next: None,
        };
        from.meet();
        assert_eq!(receives.each_ref().map(|one| one.1.get()), [1, 0, 3]);
        assert_eq!((&from.unmet, from.waiting.len()), (&[setup(9, 2)].into(), 1));
    }

    #[test]
    fn a_setup_survives_its_journey() {
        let one = Setup { tag: 1 << 30, number: 3, partitions: 1 << 33, bytes: 1 << 40 };
        assert_eq!(Setup::from_bytes(&one.to_bytes()), one);
    }
}
