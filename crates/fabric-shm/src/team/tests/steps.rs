//! Calls that only move data.

use collectives::plan::{Collective, Pieces, Transport};

use super::*;
use crate::primitive::watch;

impl Member {
    fn barrier(&mut self) {
        let call = self.call(CallShape::of_bytes(Collective::Barrier, 0), 0);
        ended(self.team.barrier(&mut self.rank, call.call_id)).unwrap();
    }

    /// Broadcasts from a root. `change` changes the plan.
    fn broadcast(&mut self, number: usize, root: usize, bytes: usize, change: fn(&mut Plan)) {
        let mut call = self.call(CallShape::of_bytes(Collective::Broadcast, bytes), root);
        change(&mut call.plan);
        let expected = data(number, root, bytes);
        let mut memory = match self.team.me == root {
            true => expected.clone(),
            false => vec![0; bytes],
        };
        watch(memory.as_ptr(), bytes);
        // SAFETY: the memory has the call's length.
        let outcome =
            unsafe { self.team.broadcast(&mut self.rank, call, root, memory.as_mut_ptr()) };
        assert_eq!((ended(outcome), memory), (Ok(()), expected));
    }

    fn allgather(&mut self, number: usize, each: usize) {
        let call = self.call(CallShape::of_bytes(Collective::Allgather, each), 0);
        let (send, mut receive) = (data(number, self.team.me, each), vec![0; 2 * each]);
        let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
        // SAFETY: there is a block, and room for both.
        let outcome = unsafe { self.team.allgather(&mut self.rank, call, memory) };
        let expected = [data(number, 0, each), data(number, 1, each)].concat();
        assert_eq!((ended(outcome), receive), (Ok(()), expected));
    }

    /// Scatters blocks. `change` changes the plan.
    fn scatter(&mut self, number: usize, each: usize, change: fn(&mut Plan)) {
        let mut call = self.call(CallShape::of_bytes(Collective::Scatter, each), 0);
        change(&mut call.plan);
        let (send, mut receive) = (data(number, 0, 2 * each), vec![0; each]);
        let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
        // SAFETY: there is a block for both, and room for one.
        let outcome = unsafe { self.team.scatter(&mut self.rank, call, 0, memory) };
        let own = self.team.me * each..(self.team.me + 1) * each;
        assert_eq!((ended(outcome), receive), (Ok(()), send[own].to_vec()));
    }

    fn gather(&mut self, number: usize, each: usize) {
        let call = self.call(CallShape::of_bytes(Collective::Gather, each), 0);
        let (send, mut receive) = (data(number, self.team.me, each), vec![0; 2 * each]);
        let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
        // SAFETY: there is a block, and room for both.
        let outcome = unsafe { self.team.gather(&mut self.rank, call, 0, memory) };
        assert_eq!(ended(outcome), Ok(()));
        if self.team.me == 0 {
            assert_eq!(receive, [data(number, 0, each), data(number, 1, each)].concat());
        }
    }

    /// Exchanges blocks in windows of as many steps.
    fn all_to_all(&mut self, number: usize, each: usize, window: usize) {
        let mut call = self.call(CallShape::of_bytes(Collective::AllToAll, each), 0);
        call.plan.pieces = Pieces::new(each, PIECE_BYTES, window);
        let me = self.team.me;
        let (send, mut receive) = (data(number, me, 2 * each), vec![0; 2 * each]);
        let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
        // SAFETY: there is a block for both, and room for both.
        let outcome = unsafe { self.team.all_to_all(&mut self.rank, call, memory) };
        let block = |of: usize| data(number, of, 2 * each)[me * each..(me + 1) * each].to_vec();
        assert_eq!((ended(outcome), receive), (Ok(()), [block(0), block(1)].concat()));
    }
}

#[test]
fn barriers_keep_members_in_step() {
    for places in [Places::OwnProcessors, Places::Oversubscribed] {
        check(places, 3, |member| (0..3).for_each(|_| member.barrier()));
    }
}

#[test]
fn broadcasts_reuse_slots_once_they_are_read() {
    check(Places::OwnProcessors, 3, |member| {
        // The third uses the slot of the first.
        (1..=3).for_each(|number| member.broadcast(number, 0, 8, |_| {}));
    });
}

#[test]
fn a_root_that_sleeps_until_a_slot_is_free_is_woken() {
    check(Places::Oversubscribed, 2, |member| {
        (1..=3).for_each(|number| member.broadcast(number, 0, 8, |_| {}));
    });
}

#[test]
fn a_broadcast_in_pieces_goes_through_the_slots_in_turn() {
    check(Places::OwnProcessors, 2, |member| {
        member.broadcast(1, 1, 96, |plan| plan.pieces = Pieces::new(96, 32, 1));
    });
}

#[test]
fn memory_that_was_shown_is_changed_only_after_the_other_has_accessed_it() {
    check(Places::OwnProcessors, 3, |member| {
        member.broadcast(1, 0, 2 * PIECE_BYTES, |plan| {
            (plan.transport, plan.pieces) =
                (Transport::MemoryInHalves, Pieces::one(2 * PIECE_BYTES));
        });
    });
}

#[test]
fn members_of_an_allgather_swap_their_places() {
    check(Places::OwnProcessors, 2, |member| {
        // Both slots are used once swapped and once swapped back.
        (1..=5).for_each(|number| member.allgather(number, PIECE_BYTES));
    });
}

#[test]
fn an_allgather_of_short_blocks_lies_in_the_headers() {
    for places in [Places::OwnProcessors, Places::Oversubscribed] {
        check(places, 2, |member| (1..=3).for_each(|number| member.allgather(number, 8)));
    }
}

#[test]
fn a_root_writes_to_a_members_board_only_between_its_steps() {
    check(Places::OwnProcessors, 3, |member| {
        (1..=3).for_each(|number| member.scatter(number, PIECE_BYTES, |_| {}));
    });
}

#[test]
fn a_member_whose_board_is_filled_is_woken() {
    check(Places::Oversubscribed, 2, |member| {
        let board_by_board = |plan: &mut Plan| plan.transport = Transport::BoardByBoard;
        (1..=3).for_each(|number| member.scatter(number, PIECE_BYTES, board_by_board));
    });
}

#[test]
fn a_gathering_root_reads_each_part_before_it_is_overwritten() {
    check(Places::OwnProcessors, 3, |member| {
        (1..=3).for_each(|number| member.gather(number, PIECE_BYTES));
    });
}

#[test]
fn slots_that_are_filled_together_are_read_behind_the_last() {
    check(Places::OwnProcessors, 3, |member| {
        (1..=2).for_each(|number| member.all_to_all(number, 2 * PIECE_BYTES, 2));
    });
}

/// Each member leaves after a call. Then the first clears its board.
#[test]
fn a_board_is_cleared_only_after_all_members_have_left() {
    check(Places::OwnProcessors, 3, |member| {
        member.allgather(1, PIECE_BYTES);
        let Member { rank, team } = member;
        let me = team.me;
        let board = std::mem::replace(team, Team::world(rank.0.transport())).leave();
        if me == 0 {
            // SAFETY: the model keeps the board until both have ended.
            let board = unsafe { &*board };
            while !board.left.is_everybody(2) {
                crate::primitive::yield_processor();
            }
            let slots = board as *const crate::board::Board;
            crate::primitive::note_write(slots.wrapping_add(1).cast(), SLOTS * SLOT_BYTES);
        }
    });
}
