//! Started calls, which proceed while their rank does something else.

use collectives::plan::Collective;
use collectives::{Manner, ReductionId};

use super::reductions::{add, sum};
use super::*;
use crate::primitive::yield_processor;

/// A rank that advances a call without waiting.
struct Passing<'a>(&'a mut Engine);

impl Caller for Passing<'_> {
    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        self.0.parts_mut()
    }

    fn wait_until(
        &mut self,
        _done: &mut dyn FnMut(&mut dyn Caller) -> bool,
    ) -> contract::Result<()> {
        unreachable!("it does not wait")
    }

    fn waits(&self) -> bool {
        false
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        error
    }
}

impl Member {
    /// Starts an allreduce. Returns its ticket.
    fn start(&mut self, bytes: usize) -> u32 {
        let Call { call_id, plan } =
            self.call(CallShape::of_bytes(Collective::Allreduce, bytes), 0);
        self.team.start(Call { call_id: call_id.in_manner(Manner::Nonblocking), plan })
    }

    /// Advances a started allreduce. Returns whether it has ended.
    fn advance(&mut self, ticket: u32, send: &[u8], receive: &mut [u8]) -> bool {
        let Some(call) = self.team.started_call(ticket) else { return false };
        let mut passing = Passing(&mut self.rank.0);
        let mut caller: &mut dyn Caller = &mut passing;
        let mut apply = add;
        let apply: &mut Apply<'_> = &mut apply;
        let combine = Combine { element_bytes: 1, id: ReductionId::new(1, 1), apply };
        let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
        // SAFETY: both have the call's length and stay until it has ended.
        let outcome = unsafe { self.team.allreduce(&mut caller, call, memory, combine) };
        self.team.note_started(outcome).map(|outcome| assert_eq!(outcome, Ok(()))).is_some()
    }

    /// Starts two allreduces, and advances them until both have ended.
    fn start_two(&mut self, bytes: usize) {
        let tickets = [self.start(bytes), self.start(bytes)];
        let mut receive = [vec![0; bytes], vec![0; bytes]];
        for (number, ticket) in tickets.into_iter().enumerate() {
            let send = data(number, self.team.me, bytes);
            while !self.advance(ticket, &send, &mut receive[number]) {
                yield_processor();
            }
            assert_eq!(receive[number], sum(number, 2, bytes));
        }
    }
}

#[test]
fn started_allreduces_go_on_where_they_stopped() {
    check(Places::OwnProcessors, 3, |member| member.start_two(8));
}

#[test]
fn a_started_allreduce_in_pieces_stops_for_slots_and_for_parts() {
    check(Places::OwnProcessors, 2, |member| member.start_two(2 * PIECE_BYTES));
}
