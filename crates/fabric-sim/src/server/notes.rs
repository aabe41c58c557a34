//! The events of a rank for recordings.

use std::collections::HashMap;
use std::sync::Mutex;

use contract::{Envelope, Request, Selector, TimeSpan};
use recording::{RankEvent, RecordedCollective, Recorder, Room, SentMessage};

/// Context of messages inside collectives of all ranks.
const WORLD_COLLECTIVES: u32 = 1;
/// Context of claimed messages.
const CLAIMED: u32 = u32::MAX;

/// Records the events of a rank, if a recording is requested.
pub(super) struct Notes<'a> {
    recorder: Option<&'a Mutex<Recorder>>,
    rank: usize,
    /// Started operations by request, without those that belong to a recorded collective.
    posts: HashMap<u32, Post>,
    /// Number of operations started.
    started: u64,
    /// Claimed messages, by their new tag.
    claims: HashMap<u32, Envelope>,
    inner: Inner,
    /// True if the program is in a collective of all ranks, as far as its requests show.
    in_collective: bool,
    /// Number of nested polls in progress. Requests of the process during them are the library's, beside a wait.
    polls: u32,
}

/// A started operation.
#[derive(Clone, Copy)]
struct Post {
    number: u64,
    place: u64,
    /// True if it accepts messages of several ranks or tags.
    is_open: bool,
}

/// The messages that belong to recorded collectives of all ranks. The messages of a collective have a tag of their own,
/// which the first message after the announcement shows.
#[derive(Default)]
struct Inner {
    /// True if the collective that is announced next is recorded.
    is_recorded: bool,
    /// The same for the announced collective, until its tag is known.
    expected: Option<bool>,
    tags: HashMap<u32, bool>,
}

impl Inner {
    fn announce(&mut self) {
        self.expected = Some(std::mem::take(&mut self.is_recorded));
    }

    /// Returns whether a message belongs to a recorded collective.
    fn has(&mut self, context: u32, tag: Option<u32>) -> bool {
        let (WORLD_COLLECTIVES, Some(tag)) = (context, tag) else { return false };
        if let Some(recorded) = self.expected.take() {
            self.tags.insert(tag, recorded);
        }
        self.tags.get(&tag).copied().unwrap_or(false)
    }
}

impl<'a> Notes<'a> {
    pub(super) fn new(recorder: Option<&'a Mutex<Recorder>>, rank: usize) -> Self {
        let (posts, claims, inner) = Default::default();
        let (in_collective, polls) = Default::default();
        Notes { recorder, rank, posts, started: 0, claims, inner, in_collective, polls }
    }

    /// Records that a poll begins, or that the last one ends.
    pub(super) fn note_poll(&mut self, begins: bool) {
        self.polls = if begins { self.polls + 1 } else { self.polls - 1 };
    }

    /// Records that the program makes a request that no collective makes.
    pub(super) fn leave_collective(&mut self) {
        self.in_collective &= self.polls > 0;
    }

    /// Returns whether a request is the library's, made while the program waits.
    pub(super) fn is_librarys(&self) -> bool {
        self.polls > 0
    }

    /// Returns whether a recording is requested.
    pub(super) fn is_wanted(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns whether a message belongs to a collective that is recorded as such.
    pub(super) fn is_inner(&mut self, context: u32, tag: Option<u32>) -> bool {
        self.inner.has(context, tag)
    }

    fn note(&self, event: RankEvent) -> u64 {
        let Some(mut recorder) = self.recorder.and_then(|recorder| recorder.lock().ok()) else {
            return 0;
        };
        if self.is_librarys() {
            let mark = if self.in_collective { RankEvent::Meanwhile } else { RankEvent::Aside };
            recorder.note(self.rank, mark);
        }
        recorder.note(self.rank, event)
    }

    pub(super) fn computed(&self, span: TimeSpan) {
        self.note(RankEvent::Compute(span));
    }

    pub(super) fn slept(&self, span: TimeSpan) {
        self.note(RankEvent::Sleep(span));
    }

    /// Records a blocking send, with the receive at the same time, if there was one, and its message.
    pub(super) fn sent(&mut self, message: SentMessage, received: Option<(Room, Envelope)>) {
        let event = match received {
            Some((room, envelope)) => RankEvent::Exchange(message, self.settled(room, &envelope)),
            None => RankEvent::Send(message),
        };
        self.note(event);
    }

    /// Records a blocking receive and its message.
    pub(super) fn received(&mut self, room: Room, envelope: &Envelope) {
        let room = self.settled(room, envelope);
        self.note(RankEvent::Receive(room));
    }

    /// Returns the receive with a selector of just that message: a replay must match the same.
    fn settled(&self, room: Room, envelope: &Envelope) -> Room {
        Room { selector: settled(room.selector, envelope), ..room }
    }

    pub(super) fn posted_send(
        &mut self,
        request: Request,
        message: SentMessage,
        synchronous: bool,
    ) {
        if !self.is_inner(message.context, Some(message.tag)) && self.is_wanted() {
            self.posted(request, RankEvent::PostSend { message, synchronous }, false);
        }
    }

    pub(super) fn posted_receive(&mut self, request: Request, mut room: Room) {
        if self.is_inner(room.selector.context, room.selector.tag) || !self.is_wanted() {
            return;
        }
        if room.selector.context == CLAIMED
            && let Some(envelope) = room.selector.tag.and_then(|tag| self.claims.remove(&tag))
        {
            let Envelope { context, source, tag, .. } = envelope;
            room.selector = Selector { context, source: Some(source), tag: Some(tag) };
        }
        let is_open = room.selector.source.is_none() || room.selector.tag.is_none();
        self.posted(request, RankEvent::PostReceive(room), is_open);
    }

    fn posted(&mut self, request: Request, event: RankEvent, is_open: bool) {
        let place = self.note(event);
        self.posts.insert(request.0, Post { number: self.started, place, is_open });
        self.started += 1;
    }

    /// Records the end of a started operation; `envelope` is its message.
    pub(super) fn ended(&mut self, request: Request, envelope: &Envelope) {
        let Some(post) = self.posts.remove(&request.0) else { return };
        if post.is_open
            && let Some(mut recorder) = self.recorder.and_then(|one| one.lock().ok())
        {
            let Envelope { context, source, tag, .. } = *envelope;
            let selector = Selector { context, source: Some(source), tag: Some(tag) };
            recorder.note_match(self.rank, post.place, selector);
        }
        self.note(RankEvent::End(self.started - 1 - post.number));
    }

    pub(super) fn cancelled(&mut self, request: Request) {
        if let Some(post) = self.posts.remove(&request.0) {
            self.note(RankEvent::Cancel(self.started - 1 - post.number));
        }
    }

    pub(super) fn claimed(&mut self, tag: u32, envelope: Envelope) {
        if self.is_wanted() {
            self.claims.insert(tag, envelope);
        }
    }

    /// Records a collective of all ranks.
    pub(super) fn collective(&mut self, collective: RecordedCollective) {
        self.note(RankEvent::Collective(collective));
        self.in_collective = true;
    }

    /// Records that the collective is over, or that it is executed by messages, which follow.
    pub(super) fn carried_out(&mut self, by_messages: bool) {
        self.inner.is_recorded = by_messages;
        self.in_collective = by_messages;
    }

    pub(super) fn announced(&mut self, of_all_ranks: bool) {
        if of_all_ranks {
            self.inner.announce();
        }
    }
}

fn settled(selector: Selector, envelope: &Envelope) -> Selector {
    Selector { source: Some(envelope.source), tag: Some(envelope.tag), ..selector }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_belong_to_the_collective_whose_tag_they_have() {
        let mut inner = Inner { is_recorded: true, ..Inner::default() };
        inner.announce();
        assert!(!inner.has(0, Some(7)), "a message of the program");
        assert!(inner.has(1, Some(7)) && inner.has(1, Some(7)));
        // Another collective, which was started and is not recorded as a collective, continues beside a recorded one.
        inner.announce();
        assert!(!inner.has(1, Some(8)) && inner.has(1, Some(7)) && !inner.has(1, Some(8)));
    }
}
