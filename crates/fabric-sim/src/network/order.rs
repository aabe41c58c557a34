//! Keeps the order of messages from one node to another. A later message may come over a faster network, and an earlier
//! one or its packets may be sent again, but messages arrive in the order of their launches.

use std::collections::{HashMap, VecDeque};

use crate::network::{Outcome, Parcel};

/// The messages under way between each two nodes.
#[derive(Default)]
pub(super) struct Order {
    /// Messages in the order of their launches, each with true if all of it has come.
    between: HashMap<(u32, u32), VecDeque<(u32, bool)>>,
}

impl Order {
    pub(super) fn begin(&mut self, parcel: Parcel) {
        let queue = self.between.entry((parcel.from, parcel.to)).or_default();
        queue.push_back((parcel.message, false));
    }

    /// Records that all of a message has come. The message, and those that have waited for it, arrive as soon as all
    /// before them have arrived.
    pub(super) fn end(&mut self, parcel: Parcel, outcomes: &mut Vec<Outcome>) {
        let queue = self.between.get_mut(&(parcel.from, parcel.to)).expect("it has begun");
        let mut same = queue.iter_mut().filter(|(message, _)| *message == parcel.message);
        same.next().expect("it is under way").1 = true;
        while let Some(&(message, true)) = queue.front() {
            queue.pop_front();
            outcomes.push(Outcome::Arrived(message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message_kind::MessageKind;

    fn parcel(message: u32, to: u32) -> Parcel {
        Parcel { message, from: 0, to, bytes: 1, kind: MessageKind::Data, access: None }
    }

    #[test]
    fn those_that_come_early_wait_for_the_ones_before_them() {
        let (mut order, mut outcomes) = (Order::default(), Vec::new());
        [parcel(7, 1), parcel(3, 1), parcel(5, 2)].into_iter().for_each(|one| order.begin(one));
        order.end(parcel(3, 1), &mut outcomes);
        assert_eq!(outcomes, []);
        order.end(parcel(5, 2), &mut outcomes);
        assert_eq!(outcomes, [Outcome::Arrived(5)]);
        order.end(parcel(7, 1), &mut outcomes);
        let arrived = [5, 7, 3].map(Outcome::Arrived);
        assert_eq!(outcomes, arrived);
    }
}
