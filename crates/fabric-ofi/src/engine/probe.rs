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

    /// Receives all unexpected messages that the provider has. While receives are retained, the receive for them stays with
    /// the provider, so that each poll need not post and cancel it.
    pub(crate) fn drain(&mut self) -> Result<()> {
        while self.post_any()? {
            self.take_completed()?;
            if self.any.completed.is_none() && !self.retained.is_empty() {
                break;
            }
            if !self.withdraw_any()? {
                break;
            }
        }
        Ok(())
    }

    /// Gives the provider the receive that accepts every message. Returns false if the provider has no room for it.
    fn post_any(&mut self) -> Result<bool> {
        if !self.any.is_posted {
            let token = self.slots.token(self.any.slot);
            let memory = &mut self.any.memory;
            // SAFETY: the memory is the engine's own, and is not accessed until the operation has completed.
            let room = unsafe { Writable::new(memory.as_mut_ptr(), memory.len()) };
            let objects = self.objects()?;
            let tag = objects.provider.tags.receive_any();
            self.any.is_posted = objects.receive(None, tag, &room, token)?;
        }
        Ok(self.any.is_posted)
    }

    /// Takes that receive back from the provider, if the provider has it. Returns whether it has a message, which is
    /// then matched.
    ///
    /// Must be called before the provider gets a receive of the program: the older receive of every message would take
    /// the messages of that one.
    pub(super) fn withdraw_any(&mut self) -> Result<bool> {
        if !self.any.is_posted {
            return Ok(false);
        }
        if self.any.completed.is_none() {
            self.objects()?.cancel(self.slots.token(self.any.slot));
        }
        // The provider either reports the cancellation, or it has found a message meanwhile and completes that.
        while self.any.completed.is_none() {
            std::thread::yield_now();
            self.take_completed()?;
        }
        self.any.is_posted = false;
        match self.any.completed.take().filter(|one| one.end != End::Cancelled) {
            Some(one) => self.keep(one).map(|()| true),
            None => Ok(false),
        }
    }

    /// Gives such a message to the oldest receive that the provider does not have and that accepts it, else keeps it.
    fn keep(&mut self, one: Completed) -> Result<()> {
        let (envelope, is_long) = self.message(&one, one.bytes)?;
        let envelope = Envelope { room: envelope.bytes, ..envelope };
        self.own_under_way -= usize::from(envelope.source as usize == self.rank);
        self.activity += 1;
        let body = match is_long {
            true => Body::Rts(one.data),
            false => Body::Whole(self.any.memory[..envelope.bytes.min(EAGER_MAX)].to_vec()),
        };
        // Of one context, receives that wait for room are older than those that are retained.
        match self.take_queued(&envelope).or_else(|| self.take_retained(&envelope)) {
            Some(slot) => self.deliver(slot, envelope, body),
            None => {
                self.unexpected.keep(envelope, body);
                Ok(())
            }
        }
    }

    /// Removes and returns the oldest receive that waits for room at the provider and accepts this message.
    fn take_queued(&mut self, envelope: &Envelope) -> Option<u32> {
        let accepts = |queued: &QueuedReceive| match *queued {
            QueuedReceive::Message(slot) => self.accepts(slot, envelope),
            QueuedReceive::Data(..) => false,
        };
        let place = self.queued.iter().position(accepts)?;
        match self.queued.remove(place)? {
            QueuedReceive::Message(slot) => Some(slot),
            QueuedReceive::Data(..) => None,
        }
    }

    /// Returns whether the receive of this slot accepts a message.
    pub(super) fn accepts(&self, slot: u32, envelope: &Envelope) -> bool {
        match self.slots.get(slot) {
            Slot::Receive(receive) => receive.selector.accepts(envelope),
            _ => false,
        }
    }

    /// Cancels a receive. Returns false if it has found a message.
    pub(crate) fn cancel_receive(&mut self, request: Request) -> Result<bool> {
        match self.stage(request.0) {
            Some(ReceiveStage::Queued) => {
                self.queued.retain(|one| *one != QueuedReceive::Message(request.0));
            }
            Some(ReceiveStage::Retained) => self.retained.retain(|&one| one != request.0),
            Some(ReceiveStage::Posted) => {
                self.slots.set_stage(request.0, ReceiveStage::Cancelling);
                self.objects()?.cancel(self.slots.token(request.0));
                // As in `withdraw_any`.
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
