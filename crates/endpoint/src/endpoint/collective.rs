//! A collective in the form for fabrics that implement it themselves.

use collectives::plan::CallShape;
use collectives::{AgreedCall, CallId, Collective, ReductionId};

use super::{ContextOffer, ContextPlace, Endpoint};
use crate::{Error, Readable, Reduction, Result, Writable};

/// One call of a collective. Roots are ranks of the context. All lengths are in bytes and the same at all members.
///
/// A member that has nothing to send, or receives nothing, has no memory for it, or empty memory. If the block that it
/// sends is missing, this block is in its place in the other memory.
#[derive(Debug)]
pub struct CollectiveCall<'a> {
    /// The collective.
    pub collective: Collective,
    /// Its root, or 0 if it has none.
    pub root: usize,
    /// Length of all data, or of one block if each member has its own.
    pub bytes: usize,
    /// The data to send: all of them at the root of a scatter, in an all-to-all and in reductions, otherwise one block.
    pub send: Option<Readable>,
    /// Room for the received data. In a broadcast, the data at the root, where they are only read. In a reduction, the
    /// memory of `send`, or memory that does not overlap it.
    pub receive: Option<Writable>,
    /// The operation of a reduction.
    pub combine: Option<Combine<'a>>,
    /// Length that this member reports to the others if its own arguments contradict each other. All of them then fail.
    pub stated_bytes: Option<usize>,
}

/// The collectives of contexts, as far as a fabric compares the calls of their members.
pub trait ContextCollectives {
    /// Announces a collective that the members make by messages; the call is the same at all of them. Returns the number
    /// to pass to [`find_mismatch`](ContextCollectives::find_mismatch), or 0 if this fabric compares nothing.
    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32;

    /// Returns why the collective that was announced with `number` can never complete, or `None` if it still can. A
    /// rank that waits for its messages calls this whenever
    /// [`is_check_due`](crate::LongWaits::is_check_due). Whether the members' next calls succeed again is
    /// up to the fabric.
    fn find_mismatch(&mut self, _place: ContextPlace, _number: u32) -> Option<Error> {
        None
    }

    /// Asks the members that have left for their calls with this number. Returns whether all have answered, so that
    /// [`find_mismatch`](ContextCollectives::find_mismatch) knows of each difference to them.
    fn have_left_compared(&mut self, _place: ContextPlace, _number: u32) -> bool {
        true
    }

    /// Returns the boards of the contexts, if this fabric has any.
    fn boards(&mut self) -> Option<&mut dyn Boards> {
        None
    }
}

/// Memory that the members of a context on one host share for their collectives.
pub trait Boards {
    /// Returns this rank's part of a new context. The members exchange their parts, then open the context or withdraw.
    fn offer(&mut self) -> ContextOffer;

    /// Withdraws an offer for which no context will be created.
    fn withdraw(&mut self, offer: ContextOffer);

    /// Returns whether [`start`](Boards::start) may start collectives of this context, at all members alike.
    fn can_start(&self, place: ContextPlace) -> bool;

    /// Starts a collective if that is better than messages; returns `None` otherwise, at all members alike.
    /// [`advance`](Boards::advance) does all the work. The started collectives of a context end in the order in which they
    /// were started, and before a later [`collective`](crate::Endpoint::collective), whose `idle` advances them.
    fn start(
        &mut self,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective>;

    /// Advances a started collective as far as possible without waiting. Returns its outcome once it has ended, with the
    /// errors of a [`collective`](crate::Endpoint::collective). `call` must be the same each time, and its memory is used
    /// until then. Must be called after every poll.
    fn advance(
        &mut self,
        started: StartedCollective,
        call: CollectiveCall<'_>,
    ) -> Option<Result<()>>;
}

/// Returns the boards of a context's fabric, if it has any.
pub fn boards_of<E: Endpoint>(endpoint: &mut E, place: ContextPlace) -> Option<&mut dyn Boards> {
    endpoint.context_collectives(place)?.boards()
}

/// A started collective that has not ended: the value that
/// [`Boards::start`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartedCollective {
    /// The fabric's place of its context.
    pub place: ContextPlace,
    /// Its number in the context.
    pub number: u32,
}

impl<'a> CollectiveCall<'a> {
    #[inline(always)]
    fn new(collective: Collective, bytes: usize) -> Self {
        CollectiveCall {
            collective,
            root: 0,
            bytes,
            send: None,
            receive: None,
            combine: None,
            stated_bytes: None,
        }
    }

    #[inline(always)]
    fn between(
        collective: Collective,
        bytes: usize,
        send: Option<Readable>,
        receive: Option<Writable>,
    ) -> Self {
        CollectiveCall { send, receive, ..CollectiveCall::new(collective, bytes) }
    }

    #[inline(always)]
    fn combining(
        collective: Collective,
        bytes: usize,
        send: Readable,
        receive: Writable,
        combine: Combine<'a>,
    ) -> Self {
        let call = CollectiveCall::between(collective, bytes, Some(send), Some(receive));
        CollectiveCall { combine: Some(combine), ..call }
    }

    #[inline(always)]
    fn with_root(self, root: usize) -> Self {
        CollectiveCall { root, ..self }
    }

    /// Waits until all members have reached the barrier.
    #[inline(always)]
    pub fn barrier() -> Self {
        CollectiveCall::new(Collective::Barrier, 0)
    }

    /// Copies the root's data to all members; `data` is the data, or the room for it.
    #[inline(always)]
    pub fn broadcast(root: usize, data: Writable) -> Self {
        let bytes = data.bytes();
        CollectiveCall::between(Collective::Broadcast, bytes, None, Some(data)).with_root(root)
    }

    /// Copies block r, of `bytes` bytes, of the root's data to member r.
    #[inline(always)]
    pub fn scatter(root: usize, bytes: usize, send: Readable, receive: Option<Writable>) -> Self {
        CollectiveCall::between(Collective::Scatter, bytes, Some(send), receive).with_root(root)
    }

    /// Copies the data of member r to block r, of `bytes` bytes, at the root.
    #[inline(always)]
    pub fn gather(root: usize, bytes: usize, send: Option<Readable>, receive: Writable) -> Self {
        CollectiveCall::between(Collective::Gather, bytes, send, Some(receive)).with_root(root)
    }

    /// Copies the data of member r to block r, of `bytes` bytes, at every member.
    #[inline(always)]
    pub fn allgather(bytes: usize, send: Option<Readable>, receive: Writable) -> Self {
        CollectiveCall::between(Collective::Allgather, bytes, send, Some(receive))
    }

    /// Copies block r, of `bytes` bytes, of member s to block s of member r.
    #[inline(always)]
    pub fn all_to_all(bytes: usize, send: Option<Readable>, receive: Writable) -> Self {
        CollectiveCall::between(Collective::AllToAll, bytes, send, Some(receive))
    }

    /// Combines the data of all members at the root.
    #[inline(always)]
    pub fn reduce(root: usize, send: Readable, receive: Writable, combine: Combine<'a>) -> Self {
        let bytes = send.bytes();
        CollectiveCall::combining(Collective::Reduce, bytes, send, receive, combine).with_root(root)
    }

    /// Combines the data of all members at all of them, with the same bits at each.
    #[inline(always)]
    pub fn allreduce(send: Readable, receive: Writable, combine: Combine<'a>) -> Self {
        CollectiveCall::combining(Collective::Allreduce, send.bytes(), send, receive, combine)
    }

    /// Combines block r of the data of all members at member r.
    #[inline(always)]
    pub fn reduce_scatter(send: Readable, receive: Writable, combine: Combine<'a>) -> Self {
        let bytes = receive.bytes();
        CollectiveCall::combining(Collective::ReduceScatter, bytes, send, receive, combine)
    }

    /// Combines the data of the members up to each member at that member; if `exclusive`, without its own, so that the
    /// room of member 0 is not changed.
    #[inline(always)]
    pub fn scan(exclusive: bool, send: Readable, receive: Writable, combine: Combine<'a>) -> Self {
        let scan = [Collective::InclusiveScan, Collective::ExclusiveScan][usize::from(exclusive)];
        CollectiveCall::combining(scan, send.bytes(), send, receive, combine)
    }

    /// Returns the call with another length that this member reports, if there is one.
    #[inline(always)]
    pub fn stating(self, stated_bytes: Option<usize>) -> Self {
        CollectiveCall { stated_bytes, ..self }
    }

    /// Returns the shape of the call, as plans use it.
    #[inline(always)]
    pub fn shape(&self) -> CallShape {
        let CollectiveCall { collective, bytes, .. } = *self;
        let element_bytes = self.combine.as_ref().map_or(1, |combine| combine.element_bytes);
        CallShape { collective, bytes, element_bytes }
    }

    /// Returns the call id, on which all members agree.
    #[inline(always)]
    pub fn id(&self) -> CallId {
        let id = CallId::rooted(self.collective, self.root);
        match &self.combine {
            Some(combine) => id.combining(combine.id),
            None => id,
        }
    }
}

/// The operation of a reduction: the lower member's operand is on the left, in the order of the members.
pub struct Combine<'a> {
    /// Length of an element, at most [`Combine::LONGEST_ELEMENT`].
    pub element_bytes: usize,
    /// The operation and the type of the elements, as members compare them.
    pub id: ReductionId,
    /// Combines elements.
    pub apply: &'a mut Apply<'a>,
}

/// Stores left op right in result, for a number of bytes: whole elements, not aligned. Right and result may be the same
/// place; otherwise the three do not overlap.
pub type Apply<'a> = dyn FnMut(*const u8, *const u8, *mut u8, usize) + 'a;

impl Combine<'_> {
    /// Length of the longest element that a fabric must be able to combine natively.
    pub const LONGEST_ELEMENT: usize = 4096;

    /// Returns the reduction, if it is one of the contract's: a fabric may have a better implementation.
    #[inline(always)]
    pub fn reduction(&self) -> Option<Reduction> {
        Reduction::of_id(self.id)
    }
}

impl std::fmt::Debug for Combine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Combine")
            .field("element_bytes", &self.element_bytes)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
