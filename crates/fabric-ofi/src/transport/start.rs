//! Starting of operations.

use contract::{Error, Readable, Request, Result, Untrusted, Writable};
use engine::Messages;

use super::{DataReceive, EAGER_MAX, Libfabric, Post};
use crate::slots::Slot;
use crate::tags::{ImmediateData, Tags};

impl Libfabric {
    /// Starts the send of a transfer of the table.
    pub(super) fn send(
        &mut self,
        messages: &mut Messages,
        to: usize,
        request: Request,
    ) -> Result<()> {
        let send = messages.transfers[request];
        let (envelope, bytes) = (send.envelope, send.room);
        let is_long = send.is_synchronous || bytes > EAGER_MAX;
        let provider = &self.objects()?.provider;
        let tags = provider.tags;
        let message_tag =
            tags.message(self.rank as u32, envelope.context, envelope.tag, is_long)?;
        if bytes as u64 > ImmediateData::BYTES_MAX || bytes > provider.message_bytes_max {
            return Err(provider.cannot(&format!("carry a message of {bytes} bytes")));
        }
        if is_long {
            return self.send_rts(messages, to, request, message_tag);
        }
        let immediate = ImmediateData::Sender(self.rank as u32).to_word();
        self.post_send(messages, to, (request, bytes), message_tag, immediate)
    }

    fn post_send(
        &mut self,
        messages: &Messages,
        to: usize,
        (request, bytes): (Request, usize),
        tag: u64,
        immediate: u64,
    ) -> Result<()> {
        let slot = self.slots.add(Slot::Send(request, to));
        self.peers[to].under_way += 1;
        self.post(messages, Post { slot, to, tag, immediate, bytes })
    }

    /// Sends the RTS of a long message. The data follow when the receiver asks for them.
    fn send_rts(
        &mut self,
        messages: &Messages,
        to: usize,
        request: Request,
        tag: u64,
    ) -> Result<()> {
        let number = self.next_number(to)?;
        self.peers[to].held.push((number, request));
        let bytes = messages.transfers[request].room as u64;
        let immediate = ImmediateData::Rts { sender: self.rank as u32, number, bytes }.to_word();
        let slot = self.slots.add(Slot::Word);
        self.post(messages, Post { slot, to, tag, immediate, bytes: 0 })
    }

    fn next_number(&mut self, to: usize) -> Result<u32> {
        let peer = &mut self.peers[to];
        let number = peer.next_number;
        // The previous long message with this number may still be under way.
        if peer.held.iter().any(|&(held, _)| held == number) {
            return Err(Error::Unsupported {
                fabric: "the fabric 'ofi'".into(),
                what: format!("have {} long sends to rank {to} under way", ImmediateData::NUMBERS),
            });
        }
        peer.next_number = (number + 1) % ImmediateData::NUMBERS;
        Ok(number)
    }

    /// Sends the data of the long message for which a rank has sent its CTS, as far as that has room.
    pub(super) fn send_data(
        &mut self,
        messages: &mut Messages,
        to: usize,
        number: u32,
        wanted: Untrusted<usize>,
    ) -> Result<()> {
        let held = &mut self.peers[to].held;
        let place = held.iter().position(|&(held, _)| held == number);
        let request = place.map(|place| held.swap_remove(place).1);
        let cleared = request
            .and_then(|request| Some((request, wanted.at_most(messages.transfers[request].room)?)));
        let Some((request, bytes)) = cleared else {
            return Err(messages.refuse(to, "a CTS for a message without an RTS"));
        };
        let tag = self.objects()?.provider.tags.data(self.rank as u32, number);
        let immediate = ImmediateData::Sender(self.rank as u32).to_word();
        self.post_send(messages, to, (request, bytes), tag, immediate)
    }

    /// Sends a word to another rank.
    pub(super) fn notify(
        &mut self,
        messages: &Messages,
        to: usize,
        word: ImmediateData,
    ) -> Result<()> {
        let tag = self.objects()?.provider.tags.word();
        let slot = self.slots.add(Slot::Word);
        self.post(messages, Post { slot, to, tag, immediate: word.to_word(), bytes: 0 })
    }

    /// Gives a send to the provider, after all sends that wait for room there.
    fn post(&mut self, messages: &Messages, post: Post) -> Result<()> {
        self.activity += 1;
        if !self.posts.is_empty() || !self.hand_over(messages, post)? {
            self.posts.push_back(post);
        }
        Ok(())
    }

    /// Gives a send to the provider now. Returns false if the provider has no room.
    pub(super) fn hand_over(&mut self, messages: &Messages, post: Post) -> Result<bool> {
        let data = match self.slots.get(post.slot) {
            Slot::Send(request, _) => {
                let data = &messages.transfers[*request].data()[..post.bytes];
                // SAFETY: the program has lent these bytes until the request is done, which is when the provider has
                // completed the operation.
                unsafe { Readable::new(data.as_ptr(), data.len()) }
            }
            _ => Readable::empty(),
        };
        let token = self.slots.token(post.slot);
        let is_taken = self.objects()?.send(post.to, post.tag, data, post.immediate, token)?;
        self.traffic[0] += u64::from(is_taken);
        Ok(is_taken)
    }

    /// Begins to receive the data of the long message that a receive has matched.
    pub(super) fn accept_rts(
        &mut self,
        messages: &mut Messages,
        request: Request,
        number: u32,
    ) -> Result<()> {
        let source = messages.transfers[request].envelope.source as usize;
        let receive = DataReceive { request, source, number };
        if !self.data_receives.is_empty() || !self.receive_data(messages, receive)? {
            self.data_receives.push_back(receive);
        }
        Ok(())
    }

    /// Gives the provider the receive of data, into as much of the program's memory as the receiver asks the sender to
    /// fill, and asks for them. Returns false if the provider has no room for it.
    pub(super) fn receive_data(
        &mut self,
        messages: &mut Messages,
        receive: DataReceive,
    ) -> Result<bool> {
        let DataReceive { request, source, number } = receive;
        if self.receiving == self.receiving_max {
            return Ok(false);
        }
        let kept = messages.transfers[request].envelope.bytes;
        let memory = messages.transfers[request].room_mut(0..kept);
        // SAFETY: these are the first bytes of the room that the program has lent until the receive ends.
        let room = unsafe { Writable::new(memory.as_mut_ptr(), memory.len()) };
        let tags = self.objects()?.provider.tags;
        let slot = self.slots.add(Slot::Data(request));
        let (tag, token) = ((tags.data(source as u32, number), 0), self.slots.token(slot));
        let is_taken = self.objects()?.receive(directed(tags, source), tag, &room, token)?;
        if !is_taken {
            self.slots.take(slot);
            return Ok(false);
        }
        self.receiving += 1;
        let (sender, bytes) = (self.rank as u32, room.bytes() as u64);
        self.notify(messages, source, ImmediateData::Cts { sender, number, bytes })?;
        Ok(true)
    }

    /// Gives the provider a receive for words.
    pub(super) fn receive_words(&mut self, slot: u32) -> Result<()> {
        let tag = (self.objects()?.provider.tags.word(), 0);
        self.post_receive(slot, tag, &Writable::empty())
    }

    /// Gives the provider a receive for the next message of any rank.
    pub(super) fn receive_message(&mut self, slot: u32) -> Result<()> {
        let tag = self.objects()?.provider.tags.receive_any();
        let Some(buffer) = self.slots.buffer_mut(slot) else { return Ok(()) };
        // SAFETY: the memory belongs to the slot, stays where it is, and is not accessed until the operation has
        // completed.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        self.buffers.push_back((slot, None));
        self.post_receive(slot, tag, &room)
    }

    fn post_receive(&self, slot: u32, tag: (u64, u64), room: &Writable) -> Result<()> {
        let objects = self.objects()?;
        match objects.receive(None, tag, room, self.slots.token(slot))? {
            true => Ok(()),
            false => Err(objects.provider.cannot("take as many receives as this fabric needs")),
        }
    }
}

/// Returns the address that a receive of data names, where the tags have no room for the sender.
fn directed(tags: Tags, source: usize) -> Option<u32> {
    (!tags.have_sender()).then_some(source as u32)
}
