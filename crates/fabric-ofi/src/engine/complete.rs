//! The steps after operations of the provider have completed.

use contract::{Envelope, Error, Result};

use super::{Engine, Post, QueuedReceive};
use crate::objects::{Completed, End};
use crate::slots::{ReceiveStage, SendStage, Slot};
use crate::tags::Beside;
use crate::unexpected::Body;

impl Engine {
    /// Handles completed operations, and gives the provider those that wait for room.
    pub(crate) fn poll(&mut self) -> Result<()> {
        self.take_completed()?;
        while let Some(&post) = self.posts.front() {
            if !self.hand_over(post)? {
                break;
            }
            self.posts.pop_front();
            self.activity += 1;
        }
        if !self.queued.is_empty() {
            self.withdraw_any()?;
        }
        while let Some(&receive) = self.queued.front() {
            if !self.hand_receive(receive)? {
                break;
            }
            self.queued.pop_front();
            self.activity += 1;
        }
        while let Some(&access) = self.accesses.front() {
            if !self.hand_access(access)? {
                break;
            }
            self.accesses.pop_front();
            self.activity += 1;
        }
        self.polls += 1;
        // The provider does not have these receives, but it may have their messages.
        let waits = self.queued.iter().any(|one| matches!(one, QueuedReceive::Message(_)));
        if waits || !self.retained.is_empty() || self.any.is_posted {
            self.drain()?;
        }
        Ok(())
    }

    pub(super) fn take_completed(&mut self) -> Result<()> {
        let mut completed = std::mem::take(&mut self.completed);
        let read = self.objects().and_then(|objects| objects.completed(&mut completed));
        // `drain` may cancel its receive again and again in a wait in which nothing moves.
        let moved = completed.iter().filter(|one| one.end != End::Cancelled);
        self.activity += moved.count() as u64;
        let taken = completed.drain(..).try_for_each(|one| self.complete(one));
        self.completed = completed;
        read.and(taken)
    }

    fn complete(&mut self, one: Completed) -> Result<()> {
        let slot = one.token.slot();
        let error = match (one.end, self.slots.get(slot)) {
            (End::Well, _) | (End::Cancelled, Slot::Any) => None,
            (End::Cancelled, Slot::Receive(one)) if one.stage == ReceiveStage::Cancelling => None,
            // This rank has not cancelled it, so the provider cannot complete it.
            (End::Cancelled, _) => Some(libc::ECANCELED),
            (End::Failed(error), _) => Some(error),
        };
        if let Some(error) = error {
            let what = match self.slots.get(slot) {
                Slot::Access(access) => format!("an access to memory of rank {}", access.to),
                _ => "a message".into(),
            };
            return Err(self.objects()?.provider.failed(&what, i64::from(error)));
        }
        let receives = matches!(self.slots.get(slot), Slot::Words | Slot::Any | Slot::Receive(_));
        self.traffic[1] += u64::from(receives && one.end == End::Well);
        match self.slots.get(slot) {
            Slot::Word => self.slots.free(slot),
            Slot::Words => {
                self.receive_words(slot)?;
                self.take_word(one.data)?;
            }
            Slot::Any => self.any.completed = Some(one),
            Slot::Send(_) => self.sent(slot),
            Slot::Access(_) => self.accessed(slot),
            Slot::Receive(receive) => match (receive.stage, one.end) {
                (_, End::Cancelled) => {
                    self.posted -= 1;
                    self.take_bounce(slot, 0);
                    self.slots.set_stage(slot, ReceiveStage::Cancelled);
                }
                (ReceiveStage::Data, _) => self.slots.set_stage(slot, ReceiveStage::Done),
                _ => self.received(slot, one)?,
            },
            Slot::Free => {}
        }
        Ok(())
    }

    fn sent(&mut self, slot: u32) {
        let Some(send) = self.slots.send_mut(slot) else { return };
        send.stage = SendStage::Done;
        if send.is_forgotten {
            self.slots.free(slot);
        }
    }

    /// Returns the envelope of a message that arrived in a receive of `room` bytes, and whether it is the RTS of a long
    /// one.
    pub(super) fn message(&self, one: &Completed, room: usize) -> Result<(Envelope, bool)> {
        let (context, tag, is_long) = self.objects()?.provider.tags.parts(one.tag);
        let source = Beside::sender(one.data);
        let bytes = match Beside::of_rts(one.data) {
            Beside::Rts { bytes, .. } if is_long => bytes as usize,
            _ => one.bytes,
        };
        if source as usize >= self.peers.len() {
            return Err(Error::Program(format!("a message names rank {source} as its sender")));
        }
        Ok((Envelope { context, source, tag, bytes, room }, is_long))
    }

    /// Completes a receive for which the provider has found a message.
    fn received(&mut self, slot: u32, one: Completed) -> Result<()> {
        self.posted -= 1;
        let Some(receive) = self.slots.receive_mut(slot) else { return Ok(()) };
        let room = receive.room.bytes();
        let (envelope, is_long) = self.message(&one, room)?;
        self.own_under_way -= usize::from(envelope.source as usize == self.rank);
        self.take_bounce(slot, if is_long { 0 } else { envelope.bytes });
        if is_long {
            return self.take_rts(slot, envelope, one.data);
        }
        if let Some(receive) = self.slots.receive_mut(slot) {
            (receive.envelope, receive.stage) = (Some(envelope), ReceiveStage::Done);
        }
        Ok(())
    }

    /// Gives a receive its message out of the unexpected messages.
    pub(super) fn deliver(&mut self, slot: u32, envelope: Envelope, body: Body) -> Result<()> {
        match body {
            Body::Rts(beside) => self.take_rts(slot, envelope, beside),
            Body::Whole(data) => {
                if let Some(receive) = self.slots.receive_mut(slot) {
                    receive.room.write(0, &data);
                    let room = receive.room.bytes();
                    receive.envelope = Some(Envelope { room, ..envelope });
                    receive.stage = ReceiveStage::Done;
                }
                Ok(())
            }
        }
    }

    /// Asks for the data of the long message of a receive that has the RTS: for as many bytes as it has room for.
    fn take_rts(&mut self, slot: u32, envelope: Envelope, beside: u64) -> Result<()> {
        let Beside::Rts { sender, number, .. } = Beside::of_rts(beside) else {
            return Ok(());
        };
        let Some(receive) = self.slots.receive_mut(slot) else { return Ok(()) };
        let room = receive.room.bytes();
        receive.envelope = Some(Envelope { room, ..envelope });
        receive.stage = ReceiveStage::Data;
        let bytes = receive.kept_bytes() as u64;
        let data = QueuedReceive::Data(slot, sender, number);
        if !self.hand_receive(data)? {
            // Before the receives of messages, which may wait for a long time.
            self.queued.push_front(data);
        }
        self.tell(sender as usize, Beside::Cts { sender: self.rank as u32, number, bytes })
    }

    /// Handles a word of another engine.
    fn take_word(&mut self, word: u64) -> Result<()> {
        let polls = self.polls;
        match Beside::of_engine(word) {
            Some(Beside::Cts { sender, number, bytes }) => {
                self.send_data(sender as usize, number, bytes as usize)
            }
            Some(Beside::Left(sender)) => {
                let peer = self.peers.get_mut(sender as usize);
                peer.into_iter().for_each(|peer| peer.left_at = Some(polls));
                Ok(())
            }
            Some(Beside::Goodbye(sender)) => {
                let peer = self.peers.get_mut(sender as usize);
                peer.into_iter().for_each(|peer| peer.goodbye_at = Some(polls));
                Ok(())
            }
            _ => Err(Error::Program("a rank of this run is of another version".into())),
        }
    }

    fn send_data(&mut self, to: usize, number: u32, wanted: usize) -> Result<()> {
        let Some(slot) = self.slots.held(to, number) else { return Ok(()) };
        let Some(send) = self.slots.send_mut(slot) else { return Ok(()) };
        send.stage = SendStage::Posted;
        let bytes = wanted.min(send.envelope.bytes);
        let tag = self.objects()?.provider.tags.data(self.rank as u32, number);
        let beside = Beside::Sender(self.rank as u32).to_word();
        self.post(Post { slot, to, tag, beside, bytes })
    }
}
