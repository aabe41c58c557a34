//! Waits of ranks for each other.
//!
//! A rank waits for another while its call lasts and the other has not yet begun what the call needs. The rest of the
//! call's time is the cost of communication, not of waiting.

use crate::arrivals::{Arrival, LEAST_S, WaitKind};
use crate::record::RankRecord;

/// A time in which a rank waited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// Its reason.
    pub kind: WaitKind,
    /// Index of the record of the rank that waited, and of its event.
    pub waiter: usize,
    /// See above.
    pub event: usize,
    /// Index of the record of the rank that it waited for, and of the event with which that rank arrived.
    pub cause: usize,
    /// See above.
    pub cause_event: usize,
    /// Start of the wait, in seconds.
    pub begin_s: f64,
    /// Arrival of the other rank, or the end of the call if that was earlier, in seconds.
    pub end_s: f64,
}

impl Wait {
    /// Returns its length in seconds.
    pub fn span_s(&self) -> f64 {
        self.end_s - self.begin_s
    }
}

/// Returns the waits of calls for the parts of other ranks that they ended with, in their order. Time in polls is not
/// among them: a rank that polls may do something else instead.
pub fn waits(records: &[RankRecord], arrivals: &[Arrival]) -> Vec<Wait> {
    let wait = |arrival: &Arrival| {
        let Arrival { kind, waiter, event, cause, cause_event, came_s, .. } = *arrival;
        let call = &records[waiter].events[event];
        let seconds = |ticks| records[waiter].clock.seconds(ticks);
        let (begin_s, end_s) = (seconds(call.begin), seconds(call.end).min(came_s));
        let wait = Wait { kind, waiter, event, cause, cause_event, begin_s, end_s };
        (wait.span_s() > LEAST_S && waiter != cause).then_some(wait)
    };
    arrivals.iter().filter_map(wait).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::{Dependence, arrivals};
    use crate::event::{Kind, NOBODY};
    use crate::matching::messages;
    use crate::testing::Run;

    fn all(run: &Run, depends: Dependence) -> Vec<Wait> {
        let messages = messages(&run.records);
        waits(&run.records, &arrivals(&run.records, &messages, &|_, _| depends))
    }

    fn found(run: &Run, depends: Dependence) -> Vec<(WaitKind, usize, usize, u64)> {
        let found = all(run, depends);
        let us = |wait: &Wait| (wait.span_s() * 1e6).round() as u64;
        found.iter().map(|wait| (wait.kind, wait.waiter, wait.cause, us(wait))).collect()
    }

    /// The receive is posted at 100 us, the send begins at 600: 500 us are waiting, the 10 after that are not.
    #[test]
    fn a_receiver_waits_for_a_late_sender() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 600, 605);
        run.receive(1, 0, 3, 100, 100, 610);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateSender, 1, 0, 500)]);
    }

    #[test]
    fn a_message_that_was_there_makes_nobody_wait() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 50, 55);
        run.receive(1, 0, 3, 100, 100, 110);
        assert_eq!(found(&run, Dependence::All), []);
    }

    /// The send blocks from 100 us on, the receive is posted at 400: 300 us. The started send's wait begins at 150.
    #[test]
    fn a_sender_waits_for_a_late_receiver_if_it_is_still_there() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 100, 450);
        run.receive(1, 0, 3, 400, 400, 460);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateReceiver, 0, 1, 300)]);
        let mut run = Run::of(2);
        run.start_send(0, 1, 3, 100, 101);
        run.end_send(0, 1, 3, 100, 150, 450);
        run.receive(1, 0, 3, 400, 400, 460);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateReceiver, 0, 1, 250)]);
    }

    /// The send blocks from 100 us on. Rank 1 posts the receive at 400, in the second of its three calls, and the
    /// third call ends it.
    #[test]
    fn a_late_receiver_came_with_the_call_that_posted_the_receive() {
        let mut run = Run::of(2);
        run.send(0, 1, 3, 100, 450);
        run.event(1, Kind::Call, 10, 390);
        run.event(1, Kind::Call, 400, 401);
        run.receive(1, 0, 3, 400, 420, 460);
        let found = all(&run, Dependence::All);
        let causes: Vec<_> =
            found.iter().map(|wait| (wait.kind, wait.cause, wait.cause_event)).collect();
        assert_eq!(causes, [(WaitKind::LateReceiver, 1, 1)]);
    }

    /// Two messages end in one call of rank 2 that lasts from 10 to 310. One was sent at 100, the other at 300.
    #[test]
    fn a_call_waits_for_the_last_of_its_operations_only() {
        let mut run = Run::of(3);
        run.send(0, 2, 3, 100, 101);
        run.send(1, 2, 3, 300, 301);
        run.receive(2, 0, 3, 1, 10, 310);
        run.receive(2, 1, 3, 2, 10, 310);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateSender, 2, 1, 290)]);
    }

    /// Rank 0 is in an exchange from 100 to 450. The message that it receives was there; the receive of the one that it
    /// sends is posted at 400.
    #[test]
    fn an_exchange_waits_for_a_late_receiver_too() {
        let mut run = Run::of(3);
        run.send(2, 0, 3, 90, 91);
        run.start_send(0, 1, 3, 100, 450);
        run.receive(0, 2, 3, 100, 100, 450);
        run.receive(1, 0, 3, 400, 400, 460);
        assert_eq!(found(&run, Dependence::All), [(WaitKind::LateReceiver, 0, 1, 300)]);
    }

    /// Ranks enter at 10, 20 and 50, and leave at these times. Rank 1 is the root.
    fn entered(left: [u64; 3]) -> Run {
        let mut run = Run::of(3);
        for ((rank, begin), end) in [(0, 10), (1, 20), (2, 50)].into_iter().zip(left) {
            run.collective(rank, 0, 1, begin, end);
        }
        run
    }

    #[test]
    fn at_a_collective_ranks_wait_for_those_that_they_depend_on() {
        let kind = WaitKind::Collective;
        let all = entered([60, 60, 60]);
        assert_eq!(found(&all, Dependence::All), [(kind, 0, 2, 40), (kind, 1, 2, 30)]);
        assert_eq!(found(&entered([25, 22, 52]), Dependence::OnRoot), [(kind, 0, 1, 10)]);
        assert_eq!(found(&entered([12, 60, 52]), Dependence::OfRoot), [(kind, 1, 2, 30)]);
        assert_eq!(found(&entered([12, 22, 52]), Dependence::OnLower), []);
    }

    /// All leave 10 us after the last, so the root's arrival, 40 us before, is not what rank 0 waited for.
    #[test]
    fn a_member_that_is_held_longer_than_it_needs_waits_for_the_last_one() {
        let kind = WaitKind::Collective;
        let expected = [(kind, 0, 2, 40), (kind, 1, 2, 30)];
        assert_eq!(found(&entered([60, 60, 60]), Dependence::OnRoot), expected);
    }

    #[test]
    fn a_collective_that_was_started_waits_where_it_ends() {
        let mut run = Run::of(2);
        run.collective(0, 0, NOBODY, 10, 11).kind = Kind::CollectiveStarted;
        run.collective(1, 0, NOBODY, 80, 81).kind = Kind::CollectiveStarted;
        run.collective(0, 0, NOBODY, 30, 90).kind = Kind::CollectiveEnded;
        let expected = [(WaitKind::Collective, 0, 1, 50)];
        assert_eq!(found(&run, Dependence::All), expected);
    }

    #[test]
    fn a_collective_that_not_all_have_come_to_is_left_out() {
        let mut run = Run::of(3);
        run.collective(0, 0, NOBODY, 10, 60);
        run.collective(1, 0, NOBODY, 20, 60);
        assert_eq!(found(&run, Dependence::All), []);
    }
}
