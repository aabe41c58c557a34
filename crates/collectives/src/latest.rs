//! The schedules that a member has built lately: a program that repeats its calls builds each once.

use std::cell::RefCell;
use std::rc::Rc;

use crate::{Algorithm, Call, Own, Schedule};

/// Number of schedules that are kept: the collectives of one loop of a program.
const MOST: usize = 4;

/// A call as one member carries it out, and its schedule.
struct Built {
    call: Call,
    algorithm: Algorithm,
    own: Own,
    schedule: Rc<Schedule>,
}

/// The latest schedules of one member, among the same members on the same hosts. The latest is the first.
#[derive(Default)]
pub struct LatestSchedules(RefCell<Vec<Built>>);

impl LatestSchedules {
    /// Returns the schedule of a call, which `build` builds if it is none of the latest.
    pub fn get(
        &self,
        call: &Call,
        algorithm: Algorithm,
        own: Own,
        build: impl FnOnce() -> Schedule,
    ) -> Rc<Schedule> {
        let mut latest = self.0.borrow_mut();
        let is_same =
            |one: &Built| (one.algorithm, one.own) == (algorithm, own) && one.call == *call;
        match latest.iter().position(is_same) {
            Some(place) => latest[..=place].rotate_right(1),
            None => {
                latest.truncate(MOST - 1);
                let schedule = Rc::new(build());
                latest.insert(0, Built { call: call.clone(), algorithm, own, schedule });
            }
        }
        Rc::clone(&latest[0].schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Membership, Order};

    #[test]
    fn the_latest_four_calls_are_built_once() {
        let latest = LatestSchedules::default();
        // Returns whether the schedule of an allreduce of this number of units was built.
        let builds = |length, algorithm| {
            let call = Call::Allreduce { length, order: Order::Any };
            let mut is_built = false;
            let schedule = latest.get(&call, algorithm, Own::InInput, || {
                is_built = true;
                call.schedule(algorithm, Membership { me: 1, size: 3 }, Own::InInput, None)
            });
            assert_eq!(schedule.scratch(), length);
            is_built
        };
        use Algorithm::{RecursiveDoubling, Ring};
        assert!((6..10).all(|length| builds(length, RecursiveDoubling)));
        assert!((6..10).all(|length| !builds(length, RecursiveDoubling)));
        // The call of 6 units is the oldest, until it is made again.
        assert!(!builds(6, RecursiveDoubling) && builds(10, RecursiveDoubling));
        assert!(!builds(6, RecursiveDoubling) && builds(7, RecursiveDoubling));
        let call = Call::Barrier;
        let ring = Call::Allreduce { length: 6, order: Order::Any };
        let of = |call: &Call, algorithm| {
            latest.get(call, algorithm, Own::InOutput, Schedule::default).scratch()
        };
        assert_eq!((of(&call, Ring), of(&ring, Ring)), (0, 0));
    }
}
