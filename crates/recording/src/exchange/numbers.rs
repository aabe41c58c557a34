//! Tags for formats without contexts: one for each pair of a context and a tag.

use std::collections::BTreeMap;

use crate::{RankEvent, Recording, Room, SentMessage};

/// The sender and the tag of a receive, which these formats require.
pub(super) struct Sender {
    pub(super) from: u32,
    pub(super) tag: u32,
}

/// Tags by contexts and tags.
pub(super) struct Tags(BTreeMap<(u32, u32), u32>);

impl Tags {
    /// Creates the tags of all sent messages.
    pub(super) fn of(recording: &Recording) -> Self {
        let mut tags = BTreeMap::new();
        let all = (0..recording.ranks()).flat_map(|rank| recording.events(rank));
        for event in all {
            if let RankEvent::Send(SentMessage { context, tag, .. })
            | RankEvent::Exchange(SentMessage { context, tag, .. }, _)
            | RankEvent::PostSend { message: SentMessage { context, tag, .. }, .. } = event
            {
                tags.insert((context, tag), 0);
            }
        }
        // Tags follow the order of pairs, so that a program with one context has small tags.
        tags.values_mut().zip(0..).for_each(|(tag, number)| *tag = number);
        Tags(tags)
    }

    /// Returns the first tag that no message has.
    pub(super) fn count(&self) -> u32 {
        self.0.len() as u32
    }

    pub(super) fn of_message(&self, message: &SentMessage) -> u32 {
        self.0.get(&(message.context, message.tag)).copied().unwrap_or(self.count())
    }

    /// Returns the sender and the tag for a receive of `rank`.
    ///
    /// # Errors
    /// If the receive accepts messages of several ranks or tags.
    pub(super) fn of_receive(&self, rank: usize, room: &Room) -> Result<Sender, String> {
        match (room.selector.source, room.selector.tag) {
            (Some(from), Some(tag)) => {
                let tag_of_room = self.0.get(&(room.selector.context, tag)).copied();
                Ok(Sender { from, tag: tag_of_room.unwrap_or(self.count()) })
            }
            _ => Err(format!(
                "rank {rank} has a receive of any rank or any tag that no message has ended, which this format cannot say"
            )),
        }
    }
}
