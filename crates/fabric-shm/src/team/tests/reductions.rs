//! Calls that combine data.

use collectives::ReductionId;
use collectives::plan::{Collective, Owners, Pieces};

use super::*;

/// Adds bytes.
pub(super) fn add(left: *const u8, right: *const u8, result: *mut u8, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: the caller of an operation promises bytes at all three places.
        unsafe { *result.add(index) = (*left.add(index)).wrapping_add(*right.add(index)) };
    }
}

impl Member {
    /// Makes an allreduce, or a reduction to the first member. `change` changes the plan.
    pub(super) fn reduce(
        &mut self,
        number: usize,
        bytes: usize,
        to_all: bool,
        change: fn(&mut Plan),
    ) {
        let collective = if to_all { Collective::Allreduce } else { Collective::Reduce };
        let mut call = self.call(CallShape::of_bytes(collective, bytes), 0);
        change(&mut call.plan);
        let (send, mut receive) = (data(number, self.team.me, bytes), vec![0; bytes]);
        let members = self.team.size();
        let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
        let mut apply = add;
        let apply: &mut Apply<'_> = &mut apply;
        let combine = Combine { element_bytes: 1, id: ReductionId::new(1, 1), apply };
        // SAFETY: both have the call's length.
        let outcome = unsafe {
            match to_all {
                true => self.team.allreduce(&mut self.rank, call, memory, combine),
                false => self.team.reduce(&mut self.rank, call, 0, memory, combine),
            }
        };
        assert_eq!(ended(outcome), Ok(()));
        if to_all || self.team.me == 0 {
            assert_eq!(receive, sum(number, members, bytes));
        }
    }
}

/// Returns the result of a reduction.
pub(super) fn sum(number: usize, members: usize, bytes: usize) -> Vec<u8> {
    let parts = (0..members).map(|member| data(number, member, bytes));
    let sum = |index| parts.clone().fold(0, |sum: u8, part| sum.wrapping_add(part[index]));
    (0..bytes).map(sum).collect()
}

#[test]
fn short_allreduces_reuse_slots_once_both_have_read_them() {
    for places in [Places::OwnProcessors, Places::Oversubscribed] {
        check(places, 2, |member| {
            (1..=3).for_each(|number| member.reduce(number, 8, true, |_| {}));
        });
    }
}

#[test]
fn a_long_allreduce_goes_through_the_slots_in_turn() {
    check(Places::OwnProcessors, 3, |member| member.reduce(1, 3 * PIECE_BYTES, true, |_| {}));
}

#[test]
fn a_root_that_combines_alone_keeps_its_own_part() {
    check(Places::OwnProcessors, 3, |member| {
        (1..=3).for_each(|number| member.reduce(number, PIECE_BYTES, false, |_| {}));
    });
}

#[test]
fn each_chunk_is_claimed_once_and_read_when_done() {
    check(Places::Oversubscribed, 2, |member| {
        member.reduce(1, 2 << 10, true, |plan| assert_eq!(plan.owners, Owners::Chunks));
    });
}

#[test]
fn members_read_each_others_shares_once_they_are_combined() {
    check(Places::OwnProcessors, 2, |member| {
        member.reduce(1, 6 * PIECE_BYTES, true, |plan| {
            plan.owners = Owners::Members;
            plan.pieces = Pieces::new(6 * PIECE_BYTES, 2 * PIECE_BYTES, 1);
        });
    });
}

/// Shares of processors, in windows of two slots.
fn by_processor(plan: &mut Plan) {
    plan.owners = Owners::Processors;
    plan.pieces = Pieces::new(4 * PIECE_BYTES, 2 * PIECE_BYTES, 2);
}

#[test]
fn the_result_of_the_last_to_arrive_is_read_after_it_is_combined() {
    check(Places::OneProcessor, 2, |member| {
        member.reduce(1, 4 * PIECE_BYTES, true, by_processor);
    });
}

#[test]
fn processors_read_each_others_shares_once_they_are_combined() {
    check(Places::TwoProcessors, 2, |member| {
        (1..=2).for_each(|number| member.reduce(number, 4 * PIECE_BYTES, true, by_processor));
    });
}
