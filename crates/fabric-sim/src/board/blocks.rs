//! Scatter, gather, allgather and all-to-all over boards.

use std::ops::Range;

use collectives::plan::THRESHOLDS;
use contract::Result;

use super::Call;

impl Call<'_, '_> {
    /// Copies block r of `send` at the root to rank r. The root's own block is not copied if the root has no `receive`.
    pub(super) fn scatter(
        mut self,
        root: usize,
        send: &[u8],
        receive: Option<&mut [u8]>,
        each: usize,
    ) -> Result<()> {
        let (me, size) = (self.me(), self.size());
        // A part lies on its receiver's board, so each may be as long as a piece.
        let pieces = self.pieces();
        if me == root {
            if let Some(receive) = receive {
                self.copy(each);
                receive.copy_from_slice(&send[me * each..][..each]);
            }
            let show = |call: &mut Call<'_, '_>, step, piece| {
                let part = across(send, each, pieces.range(piece));
                call.put(step, part.len() / size * (size - 1), &part);
            };
            return self.run(show, |_, _, _| Ok(()));
        }
        let Some(receive) = receive else {
            return self.unequal("the block of this rank".into(), each, 0);
        };
        self.run(
            |_, _, _| {},
            |call, step, piece| {
                let range = pieces.range(piece);
                let bytes = range.len();
                call.take(root, step, (size * bytes, bytes), |part| {
                    receive[range].copy_from_slice(&part[me * bytes..][..bytes]);
                })
            },
        )
    }

    /// Puts `send` of rank r into block r of the root's `receive`. A root without `send` has its block there already.
    pub(super) fn gather(
        mut self,
        root: usize,
        send: Option<&[u8]>,
        receive: &mut [u8],
        each: usize,
    ) -> Result<()> {
        let me = self.me();
        let pieces = self.pieces();
        if me != root {
            let send = send.unwrap_or_default();
            let show = |call: &mut Call<'_, '_>, step, piece| {
                call.put_piece(step, pieces.range(piece), send);
            };
            return self.run(show, |_, _, _| Ok(()));
        }
        let mut own = 0;
        if let Some(send) = send {
            receive[me * each..][..each].copy_from_slice(send);
            own = each;
        }
        self.run(
            |_, _, _| {},
            |call, step, piece| {
                // The root copies its own block while it would wait.
                while own > 0 && !call.others().all(|of| call.endpoint.sees_part(of, step)) {
                    own -= call.copy_part(own.min(THRESHOLDS.own_block_chunk_bytes), each);
                }
                take_blocks(call, step, pieces.range(piece), each, receive)
            },
        )?;
        while own > 0 {
            own -= self.copy_part(own.min(THRESHOLDS.own_block_chunk_bytes), each);
        }
        Ok(())
    }

    /// Puts `send` of rank r into block r of every rank's `receive`. A rank without `send` has its block there already.
    ///
    /// With `stated_bytes`, the rank takes part with blocks of that length, so that all ranks detect the mismatch, and then
    /// fails.
    pub(super) fn allgather(
        mut self,
        send: Option<&[u8]>,
        receive: &mut [u8],
        each: usize,
        stated_bytes: Option<usize>,
    ) -> Result<()> {
        if let Some(stated_bytes) = stated_bytes {
            self.plan.pieces.bytes = stated_bytes;
            let mut scratch = vec![0; self.size() * stated_bytes];
            let failed = self.unequal("the block of this rank".into(), each, stated_bytes);
            return self.allgather(None, &mut scratch, stated_bytes, None).and(failed);
        }
        let (me, pieces, copies_own) = (self.me(), self.pieces(), send.is_some());
        if let Some(send) = send {
            receive[me * each..][..each].copy_from_slice(send);
        }
        let own = receive[me * each..][..each].to_vec();
        self.run(
            |call, step, piece| {
                call.put_piece(step, pieces.range(piece), &own);
                if copies_own {
                    call.copy_part(pieces.range(piece).len(), each);
                }
            },
            |call, step, piece| take_blocks(call, step, pieces.range(piece), each, receive),
        )
    }

    /// Copies block r of `send` of rank s to rank r, as block s of its `receive`. A rank without `send` has its blocks
    /// in `receive`. `stated_bytes` is as for `allgather`.
    pub(super) fn all_to_all(
        mut self,
        send: Option<&[u8]>,
        receive: &mut [u8],
        each: usize,
        stated_bytes: Option<usize>,
    ) -> Result<()> {
        let (me, size) = (self.me(), self.size());
        if let Some(stated_bytes) = stated_bytes {
            self.plan.pieces.bytes = stated_bytes;
            let (blocks, mut scratch) =
                (vec![0; size * stated_bytes], vec![0; size * stated_bytes]);
            let failed = self.unequal("the block of this rank".into(), each, stated_bytes);
            return self.all_to_all(Some(&blocks), &mut scratch, stated_bytes, None).and(failed);
        }
        let copy = send.is_none().then(|| receive.to_vec());
        let send = send.or(copy.as_deref()).unwrap_or_default();
        if copy.is_some() {
            self.copy(size * each);
        } else if self.plan.own_block_first {
            self.copy(each);
        }
        let copies_last = copy.is_none() && !self.plan.own_block_first;
        receive[me * each..][..each].copy_from_slice(&send[me * each..][..each]);
        // No rank reads its own block, so that has no room on a board.
        let parts = size - 1;
        let place = |of: usize, on: usize| if of > on { of - 1 } else { of };
        let pieces = self.pieces();
        self.run(
            |call, step, piece| {
                let range = pieces.range(piece);
                let mut part = across(send, each, range.clone());
                part.drain(me * range.len()..(me + 1) * range.len());
                call.put(step, part.len(), &part);
                if copies_last {
                    call.copy_part(range.len(), each);
                }
            },
            |call, step, piece| {
                let range = pieces.range(piece);
                let bytes = range.len();
                call.others().try_for_each(|of| {
                    call.take(of, step, (parts * bytes, bytes), |part| {
                        receive[of * each + range.start..][..bytes]
                            .copy_from_slice(&part[place(me, of) * bytes..][..bytes]);
                    })
                })
            },
        )
    }
}

/// Takes every other rank's piece of its block.
fn take_blocks(
    call: &mut Call<'_, '_>,
    step: u64,
    range: Range<usize>,
    each: usize,
    buffer: &mut [u8],
) -> Result<()> {
    let bytes = range.len();
    call.others().try_for_each(|of| {
        call.take(of, step, (bytes, bytes), |part| {
            buffer[of * each + range.start..][..bytes].copy_from_slice(part);
        })
    })
}

/// Returns the same range of every block, one after another.
fn across(blocks: &[u8], each: usize, range: Range<usize>) -> Vec<u8> {
    let starts = (0..blocks.len()).step_by(each.max(1));
    starts.flat_map(|start| &blocks[start + range.start..start + range.end]).copied().collect()
}
