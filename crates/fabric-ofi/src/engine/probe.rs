//! Probes, and cancelling of receives.
//!
//! Some providers cannot report a message without receiving it. A probe therefore receives all unexpected messages that
//! the provider has, in their order, and keeps them until a receive accepts them.

use contract::{Envelope, Request, Result, Selector, Writable};

use super::{EAGER_MAX, Engine, QueuedReceive};
use crate::objects::{Completed, End};
use crate::slots::{ReceiveStage, Slot};
use crate::unexpected::Body;

impl Engine {
    /// Returns the oldest message that has arrived without a receive and that `selector` accepts.
    pub(crate) fn probe(&mut self, selector: &Selector) -> Result<Option<Envelope>> {
        self.check()?;
        if let Some(found) = self.unexpected.find(selector) {
            return Ok(Some(found));
        }
        self.poll()?;
        self.drain()?;
        Ok(self.unexpected.find(selector))
    }

    /// The same, and moves the message to another context and tag.
    pub(crate) fn claim(
        &mut self,
        selector: &Selector,
        context: u32,
        tag: u32,
    ) -> Result<Option<Envelope>> {
        match self.probe(selector)? {
            Some(_) => Ok(self.unexpected.claim(selector, context, tag)),
            None => Ok(None),
        }
    }

    /// Receives all unexpected messages that the provider has.
    pub(crate) fn drain(&mut self) -> Result<()> {
        while let Some(one) = self.take_any()? {
            self.keep(one)?;
        }
        Ok(())
    }

    /// Receives the oldest of them.
    fn take_any(&mut self) -> Result<Option<Completed>> {
        let token = self.slots.token(self.any.0);
        let memory = &mut self.any.1;
        // SAFETY: the memory is the engine's own, and is not accessed until the operation has completed.
        let room = unsafe { Writable::new(memory.as_mut_ptr(), memory.len()) };
        self.any.2 = None;
        let objects = self.objects()?;
        if !objects.receive(None, objects.provider.tags.receive_any(), &room, token)? {
            return Ok(None);
        }
        self.take_completed()?;
        if self.any.2.is_none() {
            self.objects()?.cancel(token);
        }
        // The provider either reports the cancellation, or it has found a message meanwhile and completes that.
        while self.any.2.is_none() {
            std::thread::yield_now();
            self.take_completed()?;
        }
        Ok(self.any.2.take().filter(|one| one.end != End::Cancelled))
    }

    /// Gives such a message to the oldest receive that waits for room at the provider and accepts it, else keeps it.
    fn keep(&mut self, one: Completed) -> Result<()> {
        let (envelope, is_long) = self.message(&one, one.bytes)?;
        let envelope = Envelope { room: envelope.bytes, ..envelope };
        self.own_under_way -= usize::from(envelope.source as usize == self.rank);
        self.activity += 1;
        let body = match is_long {
            true => Body::Rts(one.data),
            false => Body::Whole(self.any.1[..envelope.bytes.min(EAGER_MAX)].to_vec()),
        };
        let accepts = |queued: &QueuedReceive| match queued {
            QueuedReceive::Message(slot) => match self.slots.get(*slot) {
                Slot::Receive(receive) => receive.selector.accepts(&envelope),
                _ => false,
            },
            QueuedReceive::Data(..) => false,
        };
        match self.queued.iter().position(accepts) {
            Some(place) => match self.queued.remove(place) {
                Some(QueuedReceive::Message(slot)) => self.deliver(slot, envelope, body),
                _ => Ok(()),
            },
            None => {
                self.unexpected.keep(envelope, body);
                Ok(())
            }
        }
    }

    /// Cancels a receive. Returns false if it has found a message.
    pub(crate) fn cancel_receive(&mut self, request: Request) -> Result<bool> {
        match self.stage(request.0) {
            Some(ReceiveStage::Queued) => {
                self.queued.retain(|one| *one != QueuedReceive::Message(request.0));
            }
            Some(ReceiveStage::Posted) => {
                self.slots.set_stage(request.0, ReceiveStage::Cancelling);
                self.objects()?.cancel(self.slots.token(request.0));
                // As in `take_any`.
                while self.stage(request.0) == Some(ReceiveStage::Cancelling) {
                    std::thread::yield_now();
                    self.take_completed()?;
                }
                if self.stage(request.0) != Some(ReceiveStage::Cancelled) {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
        self.slots.free(request.0);
        self.activity += 1;
        Ok(true)
    }

    fn stage(&self, slot: u32) -> Option<ReceiveStage> {
        match self.slots.get(slot) {
            Slot::Receive(receive) => Some(receive.stage),
            _ => None,
        }
    }
}
