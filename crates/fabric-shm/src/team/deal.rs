//! Scatter of long blocks where ranks share processors: one member's block after the other's.
//!
//! A member whose block is there goes on though the others' are not: by the time that the last is there the first has long left.

use contract::Result;

use super::{Host, Pieces, Team, Whom};
use crate::board::{SLOT_BYTES, SLOTS};
use crate::wait;

/// From this length of a block on (scatter of 4 and 8 KiB takes as long either way, of 16 KiB by four and eight ranks on two processors 0.9
/// of the time, of 256 KiB 0.83 and 0.69, of 1 MiB 0.69 and 0.63).
const FROM_BYTES: usize = 16 << 10;

impl Team {
    /// Whether the blocks of a scatter go one after the other.
    #[inline]
    pub(super) fn deals(&self, each: usize) -> bool {
        each >= FROM_BYTES && self.shares_processors
    }

    /// Scatter, a board after the other.
    ///
    /// # Safety
    /// As for `scatter`.
    pub(super) unsafe fn scatter_by_dealing<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        let (me, is_root) = (self.me, self.me == root);
        let pieces = Pieces::new(each, SLOT_BYTES).in_fewest_windows();
        let outcome = self.run(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                if !is_root {
                    return;
                }
                let Some((first, window)) = pieces.ended_window(epoch, piece) else { return };
                let (start, bytes) = pieces.get_all(&window);
                // Which call it is. That a block is there is said to its member alone.
                (0..window.len() as u32).for_each(|step| team.publish(first.wrapping_add(step)));
                for member in team.elsewhere_first() {
                    let span = team.span(member, first, bytes);
                    // SAFETY: the bytes are within the block that our caller promised. All have ended the steps that used these
                    // slots before, and in these nobody but the root writes to any board.
                    unsafe { span.put(0, send.add(member * each + start), bytes) };
                    team.board(member).counters[epoch as usize % SLOTS].done.set(epoch, me as u32);
                    let segment = host.engine().segment();
                    wait::wake_if_asleep(segment.block(team.members[member]).sleep_word());
                }
            },
            |team, host, epoch, piece| {
                if is_root {
                    return Ok(());
                }
                let Some((last, window)) = pieces.begun_window(epoch, piece) else {
                    return Ok(());
                };
                let (start, bytes) = pieces.get_all(&window);
                team.wait_for_part(host, root, last)?;
                team.wait_for(host, last, Whom::One(root), |team| {
                    team.board(me).counters[last as usize % SLOTS].done.get(last).is_some()
                })?;
                // SAFETY: as above; the block stays until these steps have ended.
                unsafe { team.span(me, epoch, bytes).take(0, receive.add(start), bytes) };
                Ok(())
            },
        );
        if is_root && !receive.is_null() {
            // SAFETY: our caller's promise. Last, for the others wait for theirs.
            unsafe { std::ptr::copy(send.add(me * each), receive, each) };
        }
        self.owes_turn = is_root;
        outcome
    }

    /// The other members, those on this rank's processor last: they run only once it gives way.
    fn elsewhere_first(&self) -> impl Iterator<Item = usize> + use<> {
        let beside = self.groups.as_ref().map_or(Vec::new(), |groups| groups.beside.clone());
        let elsewhere: Vec<usize> = self.others().filter(|other| !beside.contains(other)).collect();
        elsewhere.into_iter().chain(beside)
    }
}
