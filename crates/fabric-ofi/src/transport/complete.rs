//! The steps after operations of the provider have completed.

use contract::{Envelope, Request, Result, Untrusted};
use engine::{Contents, Location, Messages, Rts, Unexpected};

use super::Libfabric;
use crate::objects::Completed;
use crate::slots::Slot;
use crate::tags::ImmediateData;

impl Libfabric {
    /// Handles completed operations, and gives the provider those that wait for room.
    pub(super) fn make_progress(&mut self, messages: &mut Messages) -> Result<()> {
        self.take_completed(messages)?;
        while let Some(&post) = self.posts.front() {
            if !self.hand_over(messages, post)? {
                break;
            }
            self.posts.pop_front();
            self.activity += 1;
        }
        while let Some(&receive) = self.data_receives.front() {
            if !self.receive_data(messages, receive)? {
                break;
            }
            self.data_receives.pop_front();
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
        Ok(())
    }

    fn take_completed(&mut self, messages: &mut Messages) -> Result<()> {
        let mut completed = std::mem::take(&mut self.completed);
        let read = self.objects().and_then(|objects| objects.completed(&mut completed));
        self.activity += completed.len() as u64;
        let taken = completed.drain(..).try_for_each(|one| self.complete(messages, one));
        self.completed = completed;
        read.and(taken)?;
        self.take_messages(messages)
    }

    fn complete(&mut self, messages: &mut Messages, one: Completed) -> Result<()> {
        let slot = one.token.slot();
        if let Some(error) = one.error {
            let what = match self.slots.get(slot) {
                Slot::Access(access) => format!("an access to memory of rank {}", access.to),
                Slot::Send(_, to) => format!("a message to rank {to}"),
                Slot::Data(request) => {
                    format!("data of rank {}", messages.transfers[*request].envelope.source)
                }
                // No rank sends more than the receives for messages and words have room for.
                _ => "a message of another rank".into(),
            };
            return Err(self.objects()?.provider.failed(&what, i64::from(error)));
        }
        let receives =
            matches!(self.slots.get(slot), Slot::Words | Slot::Message(_) | Slot::Data(_));
        self.traffic[1] += u64::from(receives);
        match self.slots.get(slot) {
            Slot::Words => {
                self.receive_words(slot)?;
                return self.take_word(messages, one.data);
            }
            Slot::Message(_) => {
                let buffer = self.buffers.iter_mut().find(|(number, _)| *number == slot);
                buffer.into_iter().for_each(|(_, completed)| *completed = Some(one));
                return Ok(());
            }
            _ => {}
        }
        match self.slots.take(slot) {
            Slot::Send(request, to) => {
                messages.transfers[request].done = true;
                self.peers[to].under_way -= 1;
            }
            Slot::Data(request) => {
                self.receiving -= 1;
                let Envelope { source, bytes, room, .. } = messages.transfers[request].envelope;
                if !Untrusted::new(one.bytes).is(bytes.min(room)) {
                    let what = format!("{} bytes of data that were not cleared", one.bytes);
                    return Err(messages.refuse(source as usize, &what));
                }
                messages.transfers[request].done = true;
            }
            Slot::Access(access) => {
                messages.transfers[access.request].done = true;
                self.accessed(&access);
            }
            _ => {}
        }
        Ok(())
    }

    /// Finds the receives of the messages that have arrived, in the order in which the provider has found a place for
    /// them.
    fn take_messages(&mut self, messages: &mut Messages) -> Result<()> {
        while let Some(&(slot, Some(one))) = self.buffers.front() {
            let (envelope, is_long) = self.envelope(messages, &one)?;
            match (messages.match_receive(&envelope), is_long) {
                (Some(request), true) => self.accept_rts(messages, request, number_of(&one))?,
                (Some(request), false) => self.fill(messages, request, slot, envelope.bytes),
                (None, true) => {
                    let rts = Rts { request: number_of(&one), location: Location::Remote };
                    let contents = Contents::Rts(rts);
                    messages.unexpected.add(Unexpected { envelope, contents });
                }
                (None, false) => {
                    let buffer = self.slots.buffer_mut(slot).unwrap_or_default();
                    let contents = Contents::Copy(buffer[..envelope.bytes].to_vec());
                    messages.unexpected.add(Unexpected { envelope, contents });
                }
            }
            self.buffers.pop_front();
            self.receive_message(slot)?;
        }
        Ok(())
    }

    fn fill(&mut self, messages: &mut Messages, request: Request, slot: u32, bytes: usize) {
        let buffer = self.slots.buffer_mut(slot).unwrap_or_default();
        messages.transfers[request].append(&buffer[..bytes]);
    }

    /// Returns the envelope of a message, and whether it is the RTS of a long one.
    fn envelope(&self, messages: &mut Messages, one: &Completed) -> Result<(Envelope, bool)> {
        let (context, tag, is_long) = self.objects()?.provider.tags.parts(one.tag);
        let source = self.sender(messages, one.data)? as u32;
        let bytes = match ImmediateData::of_rts(one.data) {
            ImmediateData::Rts { bytes, .. } if is_long => bytes as usize,
            _ => one.bytes,
        };
        if !is_long && bytes > super::EAGER_MAX {
            return Err(messages.refuse(source as usize, &format!("{bytes} bytes without an RTS")));
        }
        Ok((Envelope { context, source, tag, bytes, room: bytes }, is_long))
    }

    /// Returns the rank that a word names as its sender.
    fn sender(&self, messages: &mut Messages, word: u64) -> Result<usize> {
        let named = ImmediateData::sender(word) as usize;
        let sender = Untrusted::new(named).below(self.peers.len());
        sender.filter(|&sender| sender != self.rank).ok_or_else(|| {
            messages.refuse(named, "a message that names no other rank of this run as its sender")
        })
    }

    /// Handles a word of another rank.
    fn take_word(&mut self, messages: &mut Messages, word: u64) -> Result<()> {
        let polls = self.polls;
        let sender = self.sender(messages, word)?;
        match ImmediateData::of_engine(word) {
            Some(ImmediateData::Cts { number, bytes, .. }) => {
                self.send_data(messages, sender, number, Untrusted::new(bytes as usize))
            }
            Some(ImmediateData::Left(_)) => {
                self.peers[sender].left_at = Some(polls);
                Ok(())
            }
            Some(ImmediateData::Goodbye(_)) => {
                self.peers[sender].goodbye_at = Some(polls);
                Ok(())
            }
            _ => Err(messages.refuse(sender, "a word of no kind")),
        }
    }
}

/// Returns the number of the long message whose RTS this is.
fn number_of(one: &Completed) -> u32 {
    match ImmediateData::of_rts(one.data) {
        ImmediateData::Rts { number, .. } => number,
        _ => 0,
    }
}
