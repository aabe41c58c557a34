//! The fastest path for sends and receives of plain data, blocking or started: no object is created, cloned or counted.
//!
//! Everything unusual, including wrong arguments, is left to the general path: then these functions return `None` and
//! have no effect. All of them are forced into their callers; the engine of `fabric-shm` gives the reason.

use contract::{Completion, Destination, Endpoint, Envelope, Readable, Selector, Writable};

use crate::datatype::Signature;
use crate::engine::{Context, Engine};
use crate::error::Result;
use crate::request::LightRequest;

impl<E: Endpoint> Engine<E> {
    /// Returns the destination of a message to another member: the rank of the run, which is not this one.
    #[inline(always)]
    fn other_member(&self, context: &Context<E>, to: usize) -> Option<usize> {
        let to = *context.peers().members().get(to)?;
        (to != self.rank()).then_some(to)
    }

    /// Sends plain data to another member in standard mode.
    #[inline(always)]
    pub fn send_plainly(
        &self,
        context: &Context<E>,
        to: usize,
        tag: u32,
        (data, signature): (Readable, Signature),
    ) -> Option<Result> {
        let to = self.other_member(context, to)?;
        if !self.is_idle() || self.is_synchronous() {
            return None;
        }
        let mut endpoint = self.endpoint().ok()?;
        let to = Destination { rank: to, context: context.of_programs(), tag };
        self.note_sent(to, signature);
        let sent = endpoint.send(to, data.as_slice());
        Some(sent.map_err(Into::into))
    }

    /// Starts a standard send of plain data to another member.
    #[inline(always)]
    pub fn start_send_plainly(
        &self,
        context: &Context<E>,
        to: usize,
        tag: u32,
        (data, signature): (Readable, Signature),
    ) -> Option<Result<LightRequest>> {
        let to = self.other_member(context, to)?;
        if self.is_synchronous() {
            return None;
        }
        let to = Destination { rank: to, context: context.of_programs(), tag };
        let mut endpoint = self.endpoint().ok()?;
        self.note_sent(to, signature);
        let started = match endpoint.send_at_once(to, data) {
            Ok(true) => return Some(Ok(LightRequest::Sent)),
            Ok(false) => endpoint.post_send(to, data, Completion::Local),
            Err(error) => Err(error),
        };
        Some(started.map(LightRequest::Send).map_err(Into::into))
    }

    /// Receives plain data from one member. The message may be too long.
    #[inline(always)]
    pub fn receive_plainly(
        &self,
        context: &Context<E>,
        source: usize,
        tag: Option<u32>,
        (mut room, class): (Writable, u8),
    ) -> Option<Result<Envelope>> {
        let member = *context.peers().members().get(source)?;
        let selector =
            Selector { context: context.of_programs(), source: Some(member as u32), tag };
        if !self.is_idle() {
            return None;
        }
        let bytes = room.bytes();
        let received = self.endpoint().ok()?.receive(selector, room.part_mut(0..bytes));
        if let Ok(envelope) = &received {
            self.note_received(envelope, Signature::of_received(class, envelope.bytes));
        }
        Some(received.map_err(Into::into))
    }

    /// Starts to receive plain data from one rank or any, in a context whose ranks are those of the run.
    #[inline(always)]
    pub fn start_receive_plainly(
        &self,
        context: &Context<E>,
        source: Option<u32>,
        tag: Option<u32>,
        (room, class): (Writable, u8),
    ) -> Option<Result<LightRequest>> {
        let is_known = source.is_none_or(|source| (source as usize) < context.size());
        if !context.is_identity() || !is_known || self.is_synchronous() {
            return None;
        }
        let selector = Selector { context: context.of_programs(), source, tag };
        let started = self.endpoint().ok()?.post_receive(selector, room);
        let light = |started| LightRequest::Receive(started, class);
        Some(started.map(light).map_err(Into::into))
    }
}
