//! What the executor of plans writes to boards, reads there and combines, recorded for each call of the table that the
//! simulator is held against as well.

#[cfg(test)]
#[path = "../../../collectives/tests/traffic/mod.rs"]
mod table;

use collectives::plan::{Boards, CallShape, Capabilities, Collective, THRESHOLDS, Transport};
use collectives::{CallId, ReductionId};
use contract::Combine;

use super::{Call, Memory, Team};
use crate::board::{BOARD_BYTES, SLOT_BYTES, SLOTS};
use crate::primitive::recorded::{Access, accesses_of};
use crate::segment::{Segment, in_threads};
use crate::transport::{Engine, Rings};
use table::{Case, ROOT, Subject, Traffic};

const ELEMENT_BYTES: usize = 8;

#[test]
fn the_executor_does_what_the_table_says() {
    table::check(Subject::Fabric, traffic);
}

/// Makes the call of a case once, with a thread for each rank.
fn traffic(case: &Case) -> Vec<Traffic> {
    in_threads(case.ranks, |segment| traffic_of(case, segment))
}

/// Makes the call of one rank.
fn traffic_of(case: &Case, segment: Segment) -> Traffic {
    let mut engine = Rings::begin(segment);
    let mut team = Team::world(engine.transport());
    let before = team.epoch;
    let accesses = accesses_of(|| make(&mut team, &mut engine, case));
    engine.transport().segment().seat().finish(Ok(()));
    let steps = team.epoch.wrapping_sub(before) as usize;
    Traffic { steps, ..summary(&team, &accesses, is_reduction(case.collective)) }
}

/// Makes the call as the endpoint does.
fn make(team: &mut Team, engine: &mut Engine, &Case { collective, bytes, .. }: &Case) {
    let boards = Boards {
        most_ranks: THRESHOLDS.boards_most_ranks,
        most_bytes: THRESHOLDS.boards_most_bytes,
        slots: SLOTS,
        slot_bytes: SLOT_BYTES,
        piece_bytes: THRESHOLDS.piece_bytes,
    };
    let element_bytes = if is_reduction(collective) { ELEMENT_BYTES } else { 1 };
    let shape = CallShape { collective, bytes, element_bytes };
    let plan = team.plan(shape, &Capabilities { boards, cma: false });
    assert_ne!(plan.transport, Transport::Messages, "the table has calls over boards");
    team.count_call();
    let call = Call { call_id: CallId::rooted(collective, ROOT), plan };
    let blocks = if is_reduction(collective) { 1 } else { team.size() };
    let (send, mut receive) = (vec![0_u8; blocks * bytes], vec![0_u8; blocks * bytes]);
    let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
    // What is combined does not matter.
    let mut apply = |_: *const u8, _: *const u8, _: *mut u8, _: usize| {};
    let id = ReductionId::new(1, 1);
    let combine = Combine { element_bytes: ELEMENT_BYTES, id, apply: &mut apply };
    // SAFETY: both places have a block for each member.
    let outcome = unsafe {
        match collective {
            Collective::Barrier => team.barrier(engine, call.call_id),
            Collective::Broadcast => team.broadcast(engine, call, ROOT, memory.receive),
            Collective::Scatter => team.scatter(engine, call, ROOT, memory),
            Collective::Gather => team.gather(engine, call, ROOT, memory),
            Collective::Allgather => team.allgather(engine, call, memory),
            Collective::AllToAll => team.all_to_all(engine, call, memory),
            Collective::Reduce => team.reduce(engine, call, ROOT, memory, combine),
            Collective::Allreduce => team.allreduce(engine, call, memory, combine),
            other => panic!("{other:?} has no boards"),
        }
    };
    assert!(outcome.is_ok());
}

fn is_reduction(collective: Collective) -> bool {
    matches!(collective, Collective::Reduce | Collective::Allreduce)
}

/// Sums accesses. In a reduction, two reads and a write of the same length are a combination; others count if they are
/// to boards.
fn summary(team: &Team, mut accesses: &[Access], is_reduction: bool) -> Traffic {
    let boards: Vec<usize> = team.boards.iter().map(|board| board.addr()).collect();
    let is_on_board = |access: &Access| {
        let start = access.start.addr();
        boards.iter().any(|&board| (board..board + BOARD_BYTES).contains(&start))
    };
    let is_combination = |three: &[Access]| {
        is_reduction
            && three.iter().map(|one| one.is_write).eq([false, false, true])
            && three.iter().all(|one| one.bytes == three[0].bytes)
    };
    let mut traffic = Traffic::default();
    while let [first, rest @ ..] = accesses {
        if accesses.get(..3).is_some_and(is_combination) {
            traffic.combined += first.bytes;
            accesses = &accesses[3..];
            continue;
        }
        if is_on_board(first) {
            *if first.is_write { &mut traffic.written } else { &mut traffic.read } += first.bytes;
        }
        accesses = rest;
    }
    traffic
}
