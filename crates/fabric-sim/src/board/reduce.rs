//! Reduce and allreduce over boards. Parts are combined from the last rank's to the first one's, always with the lower
//! rank's on the left.

use std::ops::Range;

use collectives::plan::{Owners, part_of};
use contract::{Combine, Result, TimeSpan};

use super::Call;
use super::charged::Charge;

impl Call<'_, '_> {
    /// Combines `send` of all ranks into `receive` of the root.
    pub(super) fn reduce(
        mut self,
        root: usize,
        send: &[u8],
        receive: &mut [u8],
        mut combine: Combine<'_>,
    ) -> Result<()> {
        let (is_root, pieces) = (self.me() == root, self.pieces());
        self.run(
            |call, step, piece| {
                let range = pieces.range(piece);
                if is_root {
                    // A root that combines everything itself reads its own part in place.
                    if call.claims_chunks(range.len()) {
                        call.note(Charge::Write, range.len());
                        call.copy(range.len());
                    }
                    call.endpoint.put_part(step, &send[range]);
                } else {
                    call.put_piece(step, range, send);
                }
            },
            |call, step, piece| {
                if !is_root {
                    return Ok(());
                }
                let range = pieces.range(piece);
                let time = call.combining(range.len());
                let (own, result) = (&send[range.clone()], &mut receive[range]);
                combine_parts(call, step, own, result, &mut combine, time)
            },
        )
    }

    /// Combines `send` of all ranks into `receive` of all ranks.
    pub(super) fn allreduce(
        mut self,
        send: &[u8],
        receive: &mut [u8],
        mut combine: Combine<'_>,
    ) -> Result<()> {
        if self.plan.owners == Owners::Members {
            return self.allreduce_by_shares(send, receive, combine);
        }
        let (size, pieces) = (self.size(), self.pieces());
        self.run(
            |call, step, piece| call.put_piece(step, pieces.range(piece), send),
            |call, step, piece| {
                let range = pieces.range(piece);
                let bytes = range.len();
                let divided = call.claims_chunks(bytes);
                let own = if divided { bytes / size } else { bytes };
                let others = call.board.take.of((bytes - own) as u64);
                call.note(Charge::Read, bytes - own);
                let combined = call.combining(own);
                let time = if divided { combined + others } else { combined };
                let (own, result) = (&send[range.clone()], &mut receive[range]);
                combine_parts(call, step, own, result, &mut combine, time)
            },
        )
    }

    /// As [`allreduce`](Call::allreduce), but each rank combines a share of every piece. It puts all but that share,
    /// combines the share into its memory and onto its board, and takes the others' from theirs.
    ///
    /// The fabric needs no steps for the combined shares, which lie in the slots of the parts that were put. Here each
    /// window's shares have steps of their own.
    fn allreduce_by_shares(
        mut self,
        send: &[u8],
        receive: &mut [u8],
        mut combine: Combine<'_>,
    ) -> Result<()> {
        let (me, size, pieces) = (self.me(), self.size(), self.pieces());
        let element_bytes = combine.element_bytes;
        let share = |range: &Range<usize>, owner: usize| {
            let share = part_of(owner, size, range.len(), element_bytes);
            range.start + share.start..range.start + share.end
        };
        for first in (0..pieces.count()).step_by(pieces.window) {
            let mut put = Vec::with_capacity(pieces.window);
            for piece in pieces.window(first) {
                let range = pieces.range(piece);
                let step = self.begin_step()?;
                let written_bytes = range.len() - share(&range, me).len();
                self.put(step, written_bytes, &send[range.clone()]);
                put.push((step, range));
            }
            let mut combined = Vec::with_capacity(pieces.window);
            for (step, range) in put {
                let own = share(&range, me);
                let time = self.combining(own.len());
                let (from, result) = (&send[range.clone()], &mut receive[range.clone()]);
                combine_parts(&mut self, step, from, result, &mut combine, time)?;
                self.endpoint.end_step(step);
                let step = self.begin_step()?;
                self.put_piece(step, own, receive);
                combined.push((step, range));
            }
            for (step, range) in combined {
                for of in self.others() {
                    let bytes = share(&range, of).len();
                    self.take(of, step, (bytes, bytes), |_| {})?;
                }
                self.endpoint.end_step(step);
            }
        }
        Ok(())
    }

    /// Returns whether the ranks divide the combining of a piece of that length among them.
    fn claims_chunks(&self, bytes: usize) -> bool {
        self.plan.owners_of(bytes) == Owners::Chunks
    }
}

/// Combines all ranks' parts, from the last one's to the first one's, once all have arrived. It takes `time`.
fn combine_parts(
    call: &mut Call<'_, '_>,
    step: u64,
    own: &[u8],
    result: &mut [u8],
    combine: &mut Combine<'_>,
    time: TimeSpan,
) -> Result<()> {
    let me = call.me();
    call.others().try_for_each(|of| call.part(of, step, own.len(), |_| {}))?;
    call.work(time);
    for of in (0..call.size()).rev() {
        let is_last = of + 1 == call.size();
        let mut add = |part: &[u8]| {
            if is_last {
                result.copy_from_slice(part);
            } else {
                let to = result.as_mut_ptr();
                (combine.apply)(part.as_ptr(), to.cast_const(), to, part.len());
            }
        };
        if of == me { add(own) } else { call.endpoint.with_part(of, step, add) }
    }
    Ok(())
}
