//! The safe, blocking face of every fabric: [`Rank`] over an [`Endpoint`].

mod rank;
mod split;
mod window;

use crate::context::{Context, ContextNumbers};
use crate::requests::RequestTable;
use crate::{
    Buffer, ClockQuality, CollectiveCall, Combine, Completed, Completion, ContextOffer,
    Destination, Endpoint, Envelope, Error, FabricDescription, Isolation, NewContext,
    OperatingSystem, Posted, Priority, PriorityGranted, Progress, Rank, RankWindow, Readable,
    Reduction, Request, Result, Selector, Series, SharedLine, Source, Status, Tag, TagSelector,
    Time, WindowCall, Work, Writable, boards_of, collective,
};

/// A process that is one rank of a run: an endpoint, and the operations that a program has posted to it.
///
/// Programs access it through [`world`](Process::world), a [`Rank`] of the context of all ranks.
pub struct Process<E: Endpoint> {
    endpoint: E,
    world: Context,
    posted: RequestTable,
    numbers: ContextNumbers,
    /// The requests of the current `wait_any`, kept so that a wait allocates nothing.
    waited_for: Vec<Request>,
}

impl<E: Endpoint> Process<E> {
    /// Creates the process with this endpoint.
    pub fn new(endpoint: E) -> Self {
        let (rank, size) = (endpoint.rank(), endpoint.size());
        Process {
            world: Context::world(rank, size, |one| endpoint.computer().services.host_of(one)),
            endpoint,
            posted: RequestTable::new(rank),
            numbers: ContextNumbers::new(rank, size, 1),
            waited_for: Vec::new(),
        }
    }

    /// Returns this process as a rank of the context of all ranks.
    pub fn world(&mut self) -> Member<'_, E> {
        let context = self.world.clone();
        Member { process: self, context }
    }

    /// Returns the endpoint.
    pub fn endpoint(&self) -> &E {
        &self.endpoint
    }

    /// Returns the endpoint mutably.
    pub fn endpoint_mut(&mut self) -> &mut E {
        &mut self.endpoint
    }

    /// Returns the endpoint alone, for another face.
    ///
    /// # Panics
    /// If a posted operation has not been completed: the endpoint uses its buffer.
    pub fn into_endpoint(self) -> E {
        assert!(self.posted.is_empty(), "operations are under way");
        self.endpoint
    }

    /// Ends this rank's part of the run, and returns the status with which the process should exit.
    pub fn finish(self, outcome: Result<()>) -> i32 {
        self.endpoint.finish(outcome)
    }
}

/// A process as a rank of one of its contexts.
pub struct Member<'a, E: Endpoint> {
    process: &'a mut Process<E>,
    context: Context,
}

/// Returns the context of messages with a tag. Tags reserved for collectives have a context of their own, which no
/// wildcard of a program matches.
#[inline]
fn context_of(context: &Context, tag: Tag) -> u32 {
    if tag.is_reserved() { context.of_collectives() } else { context.of_programs() }
}

impl<E: Endpoint> Member<'_, E> {
    #[inline]
    fn destination(&self, to: usize, tag: Tag) -> Result<Destination> {
        let rank = self.context.run_rank(to)?;
        Ok(Destination { rank, context: context_of(&self.context, tag), tag: tag.value() })
    }

    #[inline]
    fn selector(&self, from: Source, tag: TagSelector) -> Result<Selector> {
        let source = match from {
            Source::Any => None,
            Source::Rank(rank) => Some(self.context.run_rank(rank)? as u32),
        };
        let (context, tag) = match tag {
            TagSelector::Any => (self.context.of_programs(), None),
            TagSelector::AnyReserved => (self.context.of_collectives(), None),
            TagSelector::Is(tag) => (context_of(&self.context, tag), Some(tag.value())),
        };
        Ok(Selector { context, source, tag })
    }

    /// Converts an envelope to the contract's status. Truncation is an error.
    #[inline]
    fn status(&self, envelope: Envelope) -> Result<Status> {
        let source = self.context.own_rank(envelope.source as usize);
        if envelope.is_cut() {
            return Err(Error::Truncated {
                from: source,
                tag: envelope.tag,
                message_bytes: envelope.bytes,
                buffer_bytes: envelope.room,
            });
        }
        Ok(Status { source, tag: Tag::from_wire(envelope.tag), bytes: envelope.bytes })
    }

    /// Ends a request that is done, and returns its buffer.
    fn complete(&mut self, posted: Posted, request: Request) -> Result<Completed> {
        let endpoint = &mut self.process.endpoint;
        let in_place = endpoint.in_place().and_then(|receives| receives.lend(request));
        let envelope = endpoint.end(request);
        let buffer = self.process.posted.take(&posted)?;
        Ok(Completed { buffer, status: self.status(envelope)?, in_place })
    }

    fn post_receive_as(
        &mut self,
        from: Source,
        tag: TagSelector,
        mut buffer: Buffer,
        in_place: bool,
    ) -> Result<Posted> {
        let selector = self.selector(from, tag)?;
        // SAFETY: the table keeps the buffer, whose pages do not move with it, until the request has ended.
        #[allow(unsafe_code)]
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        let endpoint = &mut self.process.endpoint;
        let in_place = if in_place { endpoint.in_place() } else { None };
        let request = match in_place {
            Some(receives) => receives.post(selector, room)?,
            None => endpoint.post_receive(selector, room)?,
        };
        Ok(self.process.posted.keep(request, buffer))
    }

    /// Lets the fabric execute a collective, if the lengths of the call agree with each other.
    #[inline]
    fn native(&mut self, sound: bool, call: CollectiveCall<'_>) -> Option<Result<()>> {
        if !sound {
            return None;
        }
        self.process.endpoint.collective(self.context.place(), call, &mut |_| {})
    }

    /// As `native`, for a reduction.
    fn native_reduction(
        &mut self,
        sound: bool,
        reduction: Reduction,
        call: impl FnOnce(Combine<'_>) -> CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        let mut failed = None;
        let mut apply = |left: *const u8, right: *const u8, result: *mut u8, bytes: usize| {
            // SAFETY: the fabric passes places of as many bytes, and only right and result may be the same.
            #[allow(unsafe_code)]
            let (left, result) = unsafe {
                if right != result.cast_const() {
                    std::ptr::copy_nonoverlapping(right, result, bytes);
                }
                (
                    std::slice::from_raw_parts(left, bytes),
                    std::slice::from_raw_parts_mut(result, bytes),
                )
            };
            if let Err(error) = reduction.combine(result, left) {
                failed = Some(error);
            }
        };
        let element_bytes = reduction.element.bytes();
        let combine = Combine { element_bytes, id: reduction.id(), apply: &mut apply };
        let outcome = self.native(sound, call(combine))?;
        Some(outcome.and(failed.map_or(Ok(()), Err)))
    }
}

impl<E: Endpoint> Member<'_, E> {
    /// Executes a scan, exclusive or not.
    fn scan_of(
        &mut self,
        exclusive: bool,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        let whole = send.len().is_multiple_of(reduction.element.bytes());
        let sound = whole && receive.len() == send.len();
        let (send_lent, receive_lent) = (lend(send), lend_mut(receive));
        let native = self.native_reduction(sound, reduction, |combine| {
            CollectiveCall::scan(exclusive, send_lent, receive_lent, combine)
        });
        match native {
            Some(outcome) => outcome,
            None => collective::scan(self, None, exclusive, reduction, send, receive),
        }
    }
}

/// Lends memory to a call that returns only when the fabric no longer uses it.
#[allow(unsafe_code)]
fn lend(data: &[u8]) -> Readable {
    // SAFETY: used for collectives only, which an endpoint executes before it returns; the slice is borrowed until
    // then.
    unsafe { Readable::new(data.as_ptr(), data.len()) }
}

/// As `lend`, for writing.
#[allow(unsafe_code)]
fn lend_mut(room: &mut [u8]) -> Writable {
    // SAFETY: as above.
    unsafe { Writable::new(room.as_mut_ptr(), room.len()) }
}
