//! Starting of operations.

use contract::{
    Completion, Destination, Envelope, Error, Readable, Request, Result, Selector, Writable,
};

use super::{EAGER_MAX, Engine, Post, QueuedReceive};
use crate::slots::{Content, ReceiveStage, Receiving, SendStage, Sending, Slot};
use crate::tags::{Beside, Tags};

impl Engine {
    /// Starts to send `data`. A message of this rank to itself is copied, unless it is synchronous.
    pub(crate) fn post_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        let Destination { rank: to, context, tag } = to;
        let bytes = data.bytes();
        let is_synchronous = until == Completion::Synchronous;
        let is_long = is_synchronous || bytes > EAGER_MAX;
        let provider = &self.objects()?.provider;
        let message_tag = provider.tags.message(self.rank as u32, context, tag, is_long)?;
        if bytes as u64 > Beside::BYTES_MAX || bytes > provider.message_bytes_max {
            return Err(provider.cannot(&format!("carry a message of {bytes} bytes")));
        }
        let is_own = to == self.rank;
        let content = match is_own && !is_synchronous {
            true => Content::Own(data.as_slice().into()),
            false => Content::Lent(data),
        };
        let envelope = Envelope { context, source: self.rank as u32, tag, bytes, room: bytes };
        let stage = SendStage::Posted;
        let send = Sending { to, envelope, content, stage, is_forgotten: false };
        let slot = self.slots.add(Slot::Send(send));
        let posted = match is_long {
            true => self.post_long(slot, to, message_tag),
            false => {
                let beside = Beside::Sender(self.rank as u32).to_word();
                self.post(Post { slot, to, tag: message_tag, beside, bytes })
            }
        };
        if let Err(error) = posted {
            self.slots.free(slot);
            return Err(error);
        }
        self.own_under_way += usize::from(is_own);
        Ok(Request(slot))
    }

    /// Sends the RTS of the long message of `slot`. The data follow when the receiver asks for them.
    fn post_long(&mut self, slot: u32, to: usize, tag: u64) -> Result<()> {
        let number = self.next_number(to)?;
        let Some(send) = self.slots.send_mut(slot) else { return Ok(()) };
        send.stage = SendStage::Waits(number);
        let (sender, bytes) = (self.rank as u32, send.envelope.bytes as u64);
        let beside = Beside::Rts { sender, number, bytes }.to_word();
        let rts = self.slots.add(Slot::Word);
        self.post(Post { slot: rts, to, tag, beside, bytes: 0 })
    }

    fn next_number(&mut self, to: usize) -> Result<u32> {
        let number = self.peers[to].next_number;
        // The previous long message with this number may still be under way.
        if self.slots.held(to, number).is_some() {
            return Err(Error::Unsupported {
                fabric: "the fabric 'ofi'".into(),
                what: format!("have {} long sends to rank {to} under way", Beside::NUMBERS),
            });
        }
        self.peers[to].next_number = (number + 1) % Beside::NUMBERS;
        Ok(number)
    }

    /// Sends a word to the engine of another rank.
    pub(super) fn tell(&mut self, to: usize, word: Beside) -> Result<()> {
        let tag = self.objects()?.provider.tags.word();
        let slot = self.slots.add(Slot::Word);
        self.post(Post { slot, to, tag, beside: word.to_word(), bytes: 0 })
    }

    /// Gives a send to the provider, after all sends that wait for room there.
    pub(super) fn post(&mut self, post: Post) -> Result<()> {
        self.activity += 1;
        if !self.posts.is_empty() || !self.hand_over(post)? {
            self.posts.push_back(post);
        }
        Ok(())
    }

    /// Gives a send to the provider now. Returns false if the provider has no room.
    pub(super) fn hand_over(&mut self, post: Post) -> Result<bool> {
        let data = match self.slots.get(post.slot) {
            Slot::Send(send) => send.content.readable().part(0..post.bytes),
            _ => Readable::empty(),
        };
        let token = self.slots.token(post.slot);
        let is_taken = self.objects()?.send(post.to, post.tag, data, post.beside, token)?;
        self.traffic[0] += u64::from(is_taken);
        Ok(is_taken)
    }

    /// Starts to receive a message into `room`.
    pub(crate) fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        if self.retains(selector.context) {
            return self.post_retained(selector, room);
        }
        self.withdraw_any()?;
        let (slot, is_delivered) = self.add_receive(selector, room)?;
        let receive = QueuedReceive::Message(slot);
        if !is_delivered && (!self.queued.is_empty() || !self.hand_receive(receive)?) {
            self.queued.push_back(receive);
        }
        Ok(Request(slot))
    }

    /// Creates a receive. Gives it the oldest unexpected message that it accepts, if there is one, and returns whether
    /// there was.
    pub(super) fn add_receive(
        &mut self,
        selector: Selector,
        room: Writable,
    ) -> Result<(u32, bool)> {
        let waiting = self.unexpected.take(&selector);
        // Claimed messages are in a context for which tags have no room, and are already here.
        if waiting.is_none() {
            self.objects()?.provider.tags.receive(&selector)?;
        }
        self.activity += 1;
        let slot = self.slots.add(Slot::Receive(Receiving {
            selector,
            room,
            bounce: None,
            envelope: None,
            stage: ReceiveStage::Queued,
        }));
        let is_delivered = waiting.is_some();
        if let Some((envelope, body)) = waiting {
            self.deliver(slot, envelope, body)?;
        }
        Ok((slot, is_delivered))
    }

    /// Gives a receive to the provider. Returns false if the provider has no room for it.
    pub(super) fn hand_receive(&mut self, receive: QueuedReceive) -> Result<bool> {
        match receive {
            QueuedReceive::Message(slot) => self.hand_receive_of_message(slot),
            QueuedReceive::Data(slot, source, number) => {
                self.hand_receive_of_data(slot, source, number)
            }
        }
    }

    /// Gives the provider a receive of a message whose length is unknown. Providers do not agree on how they report a
    /// message that is longer than its receive, so each receive that the provider gets has room for the longest
    /// undivided message.
    fn hand_receive_of_message(&mut self, slot: u32) -> Result<bool> {
        if self.posted == self.posted_max {
            return Ok(false);
        }
        let tags = self.objects()?.provider.tags;
        let token = self.slots.token(slot);
        let Some(one) = self.slots.receive_mut(slot) else { return Ok(true) };
        let (source, tag) = (one.selector.source, tags.receive(&one.selector)?);
        let (start, bytes) = match one.room.bytes() < EAGER_MAX {
            true => {
                let bounce = self.bounces.pop().unwrap_or_else(|| vec![0; EAGER_MAX]);
                (one.bounce.insert(bounce).as_mut_ptr(), EAGER_MAX)
            }
            false => (one.room.as_mut_ptr(), one.room.bytes()),
        };
        // SAFETY: the memory is the room that the program has lent until the receive ends, or the engine's own. The
        // engine's is initialised and stays where it is until `take_bounce`, when the operation has completed.
        let room = unsafe { Writable::new(start, bytes) };
        let is_taken = self.objects()?.receive(directed(tags, source), tag, &room, token)?;
        if is_taken {
            self.posted += 1;
            self.slots.set_stage(slot, ReceiveStage::Posted);
        } else {
            self.take_bounce(slot, 0);
        }
        Ok(is_taken)
    }

    /// Gives the provider a receive of the data of a long message, into as much of the program's memory as the receiver
    /// asks the sender to fill.
    fn hand_receive_of_data(&mut self, slot: u32, source: u32, number: u32) -> Result<bool> {
        let Slot::Receive(one) = self.slots.get(slot) else { return Ok(true) };
        // SAFETY: these are the first bytes of the room that the program has lent until the receive ends.
        let room = unsafe { Writable::new(one.room.as_mut_ptr(), one.kept_bytes()) };
        let (objects, token) = (self.objects()?, self.slots.token(slot));
        let tags = objects.provider.tags;
        let tag = (tags.data(source, number), 0);
        objects.receive(directed(tags, Some(source)), tag, &room, token)
    }

    /// Copies the first `bytes` bytes of a receive's bounce buffer, if it has one, to its room, and keeps the buffer
    /// for other receives. The provider must have completed the operation.
    pub(super) fn take_bounce(&mut self, slot: u32, bytes: usize) {
        let Some(one) = self.slots.receive_mut(slot) else { return };
        if let Some(bounce) = one.bounce.take() {
            one.room.write(0, &bounce[..bytes.min(EAGER_MAX)]);
            self.bounces.push(bounce);
        }
    }

    /// Gives a receive for words to the provider.
    pub(super) fn receive_words(&mut self, slot: u32) -> Result<()> {
        let objects = self.objects()?;
        let tag = (objects.provider.tags.word(), 0);
        match objects.receive(None, tag, &Writable::empty(), self.slots.token(slot))? {
            true => Ok(()),
            false => Err(objects.provider.cannot("take as many receives as this fabric needs")),
        }
    }
}

/// Returns the address that a receive names, where the tags have no room for the sender.
fn directed(tags: Tags, source: Option<u32>) -> Option<u32> {
    source.filter(|_| !tags.have_sender())
}
