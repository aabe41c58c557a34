//! Tags for formats without contexts: one for each pair of a context and a tag.

use std::collections::BTreeMap;

use crate::{RankEvent, Recording, Room, SentMessage};

/// The requirement for a receive to be expressed in these formats.
pub(super) struct Sender {
    pub(super) from: u32,
    pub(super) tag: u32,
}

/// Tags by contexts and tags.
pub(super) struct Tags(BTreeMap<(u32, u32), u32>);

impl Tags {
    /// Those of all messages that are sent.
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
        // In their order, so that a program of one context has small ones.
        tags.values_mut().zip(0..).for_each(|(tag, number)| *tag = number);
        Tags(tags)
    }

    /// The first tag that no message has.
    pub(super) fn count(&self) -> u32 {
        self.0.len() as u32
    }

    pub(super) fn of_message(&self, message: &SentMessage) -> u32 {
        self.0.get(&(message.context, message.tag)).copied().unwrap_or(self.count())
    }

    /// Whom a receive of `rank` is from.
    ///
    /// # Errors
    /// For a receive that takes messages of several ranks or tags.
    pub(super) fn of_receive(&self, rank: usize, room: &Room) -> Result<Sender, String> {
        match (room.selector.source, room.selector.tag) {
            (Some(from), Some(tag)) => {
                let known = self.0.get(&(room.selector.context, tag)).copied();
                Ok(Sender { from, tag: known.unwrap_or(self.count()) })
            }
            _ => Err(format!(
                "rank {rank} has a receive of any rank or any tag that no message has ended, which this format cannot say"
            )),
        }
    }
}
