//! Scatter of long blocks if ranks are oversubscribed: the root fills the members' boards one after the other.
//!
//! A member continues as soon as its block is there. When the last block is there, the first member has long left.

use super::agreement::Awaited;
use super::{Call, CompiledCaller, Memory, Result, Stop, Team};
use crate::board::SLOTS;

impl Team {
    /// Scatters one board after the other.
    ///
    /// # Safety
    /// As for `scatter`.
    pub(super) unsafe fn scatter_board_by_board<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let (me, is_root) = (self.me, self.me == root);
        let (pieces, each) = (call.plan.pieces, call.plan.pieces.bytes);
        let outcome = self.run(
            caller,
            &call,
            |team, caller, epoch, piece| {
                if !is_root {
                    return;
                }
                let Some((first, window)) = pieces.ended_window(epoch, piece) else { return };
                let (start, bytes) = pieces.get_all(&window);
                // This publishes the call. Only the member itself is notified that its block is there.
                team.publish_window(first, window.len());
                for member in team.remote_processors_first() {
                    let span = team.span(member, first, bytes);
                    // SAFETY: the bytes are within the block that the caller promised. All members have ended the steps
                    // that used these slots before, and in these only the root writes to any board.
                    unsafe { span.put(0, send.add(member * each + start), bytes) };
                    team.board(member).counters[epoch as usize % SLOTS].done.set(epoch, me as u32);
                    let segment = caller.rings().segment();
                    segment.seat().wake_if_asleep(team.members[member]);
                }
            },
            |team, caller, epoch, piece| {
                if is_root {
                    return Ok(());
                }
                let Some((last, window)) = pieces.begun_window(epoch, piece) else {
                    return Ok(());
                };
                let (start, bytes) = pieces.get_all(&window);
                team.wait_for_part(caller, root, last)?;
                team.wait_for(caller, last, Awaited::One(root), |team| {
                    team.board(me).counters[last as usize % SLOTS].done.get(last).is_some()
                })?;
                // SAFETY: as above; the block stays until these steps have ended.
                unsafe { team.span(me, epoch, bytes).take(0, receive.add(start), bytes) };
                Ok(())
            },
        );
        if matches!(outcome, Err(Stop::Later)) {
            return outcome;
        }
        if is_root && !receive.is_null() {
            // SAFETY: the caller promised both. Copied last, because the others wait for their blocks.
            unsafe { std::ptr::copy(send.add(me * each), receive, each) };
        }
        self.must_yield = is_root;
        outcome
    }

    /// Returns the other members, those on this rank's processor last: they run only once it yields.
    fn remote_processors_first(&self) -> impl Iterator<Item = usize> + use<> {
        let local = self.groups.local.clone();
        let remote: Vec<usize> = self.others().filter(|other| !local.contains(other)).collect();
        remote.into_iter().chain(local)
    }
}
