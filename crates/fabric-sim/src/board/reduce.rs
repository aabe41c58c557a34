//! Reduce and allreduce over boards. Parts are combined from the last rank's to the first one's, the lower always on
//! the left.

use contract::{Combine, Result, TimeSpan};

use super::{Call, Pieces};

/// From this length on more than two ranks divide the combining of a piece among them.
const DIVIDE_COMBINING_FROM_BYTES: usize = 2048;

impl Call<'_, '_> {
    /// Combines `send` of all ranks into `receive` of the root.
    pub(super) fn reduce(
        mut self,
        root: usize,
        send: &[u8],
        receive: &mut [u8],
        mut combine: Combine<'_>,
    ) -> Result<()> {
        self.mark.reduction = combine.reduction;
        let is_root = self.me() == root;
        let pieces = Pieces::of_elements(self.board, combine.element_bytes, send.len());
        self.run(
            pieces.count(),
            |call, step, piece| {
                let range = pieces.range(piece);
                if is_root {
                    // A root that combines all by itself reads its own part where it is.
                    if divides_combining(call, range.len()) {
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
        self.mark.reduction = combine.reduction;
        let pieces = Pieces::of_elements(self.board, combine.element_bytes, send.len());
        let size = self.size();
        self.run(
            pieces.count(),
            |call, step, piece| call.put_piece(step, pieces.range(piece), send),
            |call, step, piece| {
                let range = pieces.range(piece);
                let bytes = range.len();
                let divided = divides_combining(call, bytes);
                let own = if divided { bytes / size } else { bytes };
                let others = call.board.take.of((bytes - own) as u64);
                let combined = call.combining(own);
                let time = if divided { combined + others } else { combined };
                let (own, result) = (&send[range.clone()], &mut receive[range]);
                combine_parts(call, step, own, result, &mut combine, time)
            },
        )
    }
}

/// Whether the ranks divide the combining of a piece of that length among them.
fn divides_combining(call: &Call<'_, '_>, bytes: usize) -> bool {
    call.size() > 2 && bytes >= DIVIDE_COMBINING_FROM_BYTES
}

/// Combines all ranks' parts, from the last one's to the first one's, once all are there; it takes `time`.
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
