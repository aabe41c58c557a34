//! Messages from one node to another arrive in the order in which they set out, though later ones may come by a faster
//! network, or earlier ones or packets of theirs be sent again.

use std::collections::{HashMap, VecDeque};

use crate::network::{Outcome, Parcel};

/// What is under way between each two nodes.
#[derive(Default)]
pub(super) struct Order {
    /// Messages in the order of their launches, and whether all of each is there.
    between: HashMap<(u32, u32), VecDeque<(u32, bool)>>,
}

impl Order {
    pub(super) fn begins(&mut self, parcel: Parcel) {
        let queue = self.between.entry((parcel.from, parcel.to)).or_default();
        queue.push_back((parcel.message, false));
    }

    /// All of a message is there: it arrives, with those that have waited for it, as soon as those before it have.
    pub(super) fn ends(&mut self, parcel: Parcel, outcomes: &mut Vec<Outcome>) {
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
        [parcel(7, 1), parcel(3, 1), parcel(5, 2)].into_iter().for_each(|one| order.begins(one));
        order.ends(parcel(3, 1), &mut outcomes);
        assert_eq!(outcomes, []);
        order.ends(parcel(5, 2), &mut outcomes);
        assert_eq!(outcomes, [Outcome::Arrived(5)]);
        order.ends(parcel(7, 1), &mut outcomes);
        let arrived = [5, 7, 3].map(Outcome::Arrived);
        assert_eq!(outcomes, arrived);
    }
}
