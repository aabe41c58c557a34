//! Collectives of the library itself, on bytes in its own memory.

use std::cell::RefCell;
use std::rc::Rc;

use collectives::{Blocks as ByteBlocks, Call, CallId, Manner, Own};
use contract::Endpoint;

use crate::engine::Context;
use crate::error::Result;
use crate::memory::Storage;
use crate::schedule::{self, Areas, CallMemory, Chosen, CollectiveContext, Schedule, Work};

/// Gathers the same number of bytes from every member, in the order of their ranks.
///
/// # Errors
/// Errors that end the run.
pub(crate) fn allgather_bytes<E: Endpoint + 'static>(
    at: CollectiveContext<E>,
    mine: &[u8],
) -> Result<Vec<u8>> {
    let all = Rc::new(RefCell::new(Vec::new()));
    let place = all.clone();
    schedule::finish(gather_then(at, mine, Manner::Blocking, move |_, bytes| {
        *place.borrow_mut() = bytes.to_vec();
        Ok(())
    }))?;
    Ok(all.take())
}

/// Returns the schedule of such a gather, which passes the bytes on.
pub(crate) fn gather_then<E: Endpoint>(
    at: CollectiveContext<E>,
    mine: &[u8],
    manner: Manner,
    then: impl FnOnce(&mut E, &[u8]) -> Result + 'static,
) -> Schedule<E> {
    let blocks = ByteBlocks::equal(at.members.size(), mine.len());
    let all = Storage::zeroed(blocks.total());
    let areas = Areas::of_bytes().own_input(mine).own_output(all.clone());
    schedule_of(at, Call::Allgather { blocks }, areas, manner)
        .then(move |endpoint| all.with(0..all.bytes(), |bytes| then(endpoint, bytes)))
}

fn schedule_of<E: Endpoint>(
    at: CollectiveContext<E>,
    call: Call,
    areas: Areas,
    manner: Manner,
) -> Schedule<E> {
    let chosen = Chosen::new(Work::Call(call), (at.members.size(), None), 1, manner);
    Schedule::new(at, &chosen, CallMemory::new(Own::InInput, areas))
}

/// Runs the members' next collective with a call id, from one own area to another.
fn run<E: Endpoint + 'static>(
    context: &Rc<Context<E>>,
    id: CallId,
    call: Call,
    input: &[u8],
    output: &Storage,
) -> Result {
    let at = CollectiveContext::next(context, id);
    let areas = Areas::of_bytes().own_input(input).own_output(output.clone());
    schedule::finish(schedule_of(at, call, areas, Manner::Blocking))
}

/// Sends each member a block of any length, and receives one from each.
///
/// # Errors
/// Errors that end the run.
pub(crate) fn all_to_all_bytes<E: Endpoint + 'static>(
    context: &Rc<Context<E>>,
    id: CallId,
    blocks: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>> {
    let equal = ByteBlocks::equal(blocks.len(), 8);
    let lengths: Vec<u8> =
        blocks.iter().flat_map(|block| (block.len() as u64).to_ne_bytes()).collect();
    let theirs = Storage::zeroed(lengths.len());
    let call = Call::AllToAll { input: equal.clone(), output: equal };
    run(context, id, call, &lengths, &theirs)?;
    let theirs = theirs.with(0..theirs.bytes(), |bytes| {
        let length = |word: &[u8]| u64::from_ne_bytes(*word.first_chunk().expect("a whole word"));
        ByteBlocks::of_lengths(bytes.chunks(8).map(|word| length(word) as usize))
    });
    let all = Storage::zeroed(theirs.total());
    let input = ByteBlocks::of_lengths(blocks.iter().map(Vec::len));
    let call = Call::AllToAll { input, output: theirs.clone() };
    run(context, id, call, &blocks.concat(), &all)?;
    let block = |index| all.with(theirs.one(index), <[u8]>::to_vec);
    Ok((0..blocks.len()).map(block).collect())
}

/// Sends the bytes of `root`, which alone has any, to all members.
///
/// # Errors
/// Errors that end the run.
pub(crate) fn broadcast_bytes<E: Endpoint + 'static>(
    context: &Rc<Context<E>>,
    id: CallId,
    root: usize,
    bytes: &[u8],
) -> Result<Vec<u8>> {
    let spread = |bytes: Storage| -> Result<Storage> {
        let call = Call::Broadcast { root, length: bytes.bytes() };
        run(context, id, call, &[], &bytes)?;
        Ok(bytes)
    };
    let length = spread((bytes.len() as u64).to_ne_bytes().to_vec().into())?;
    let length = length.with(0..8, |word| u64::from_ne_bytes(word.try_into().expect("8 bytes")));
    let here = if context.rank() == root { bytes.to_vec() } else { vec![0; length as usize] };
    let all = spread(here.into())?;
    Ok(all.with(0..all.bytes(), <[u8]>::to_vec))
}
