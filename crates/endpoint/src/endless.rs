//! The errors of waits that can never end, because of ranks that have ended their part or of the waiting rank itself.

use crate::awaited::{NAMED_MESSAGES, is_of_collectives};
use crate::{Envelope, Error, Selector};

/// What a rank no longer does, if others wait for it in a collective.
const TAKING_PART: &str = "it took its part in a collective";

impl Error {
    /// Returns the error of rank `me` whose message to rank `to` will never be received.
    pub fn never_received(me: usize, to: usize, message: &Envelope) -> Self {
        let Envelope { context, tag, bytes, .. } = *message;
        if to == me {
            let explanation =
                format!("rank {me} waits until it receives a message of {bytes} bytes to itself");
            return Error::Deadlock { explanation };
        }
        let before = match is_of_collectives(context) {
            true => TAKING_PART.into(),
            false => {
                format!("it received a message of {bytes} bytes with tag {tag} that was sent to it")
            }
        };
        Error::RankEnded { rank: to, before }
    }

    /// Returns the error of rank `me` of `size` ranks, to which no rank will send what it waits for. `unexpected` are
    /// the messages that no receive of it has matched: often the cause is a wrong tag.
    pub fn never_sent(
        me: usize,
        size: usize,
        awaited: &Selector,
        unexpected: impl Iterator<Item = Envelope>,
    ) -> Self {
        let Selector { context, source, tag } = *awaited;
        // The same message in another communicator is a mistake, too.
        let is_of_another = |one: &Envelope| {
            one.context != context && source == Some(one.source) && tag == Some(one.tag)
        };
        let is_near = |one: &Envelope| match one.context == context {
            true => source.is_none_or(|source| source == one.source),
            false => is_of_another(one) && !is_of_collectives(one.context),
        };
        let mut unmatched: Vec<String> = Vec::new();
        for one in unexpected.filter(is_near) {
            let place = if is_of_another(&one) { " in another communicator" } else { "" };
            let words = format!("of {} bytes with tag {}{place}", one.bytes, one.tag);
            if unmatched.len() < NAMED_MESSAGES && !unmatched.contains(&words) {
                unmatched.push(words);
            }
        }
        let unmatched = match unmatched.is_empty() {
            true => String::new(),
            false => format!("; no receive has matched its message {}", unmatched.join(" or ")),
        };
        let tag = tag.map_or("any tag".into(), |tag| format!("tag {tag}"));
        let explanation = match source.map(|one| one as usize) {
            Some(rank) if rank != me => {
                let before = match is_of_collectives(context) {
                    true => TAKING_PART.into(),
                    false => {
                        format!("it sent a message with {tag} that is waited for{unmatched}")
                    }
                };
                return Error::RankEnded { rank, before };
            }
            None if size > 1 => {
                let unmatched = unmatched.replace("its message", "a message");
                format!(
                    "rank {me} waits for a message with {tag} of any rank, and all others have ended{unmatched}"
                )
            }
            _ => format!("rank {me} waits for a message of its own, with {tag}"),
        };
        Error::Deadlock { explanation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_never_sent_is_told_with_those_that_were_sent_instead() {
        let awaited = |source, tag| Selector { context: 4, source, tag };
        let of = |context, source, tag| Envelope { context, source, tag, bytes: 4, room: 4 };
        let unexpected = [of(4, 0, 1), of(4, 0, 1), of(6, 0, 5), of(4, 2, 7)];
        let never = |awaited| Error::never_sent(1, 3, &awaited, unexpected.into_iter());
        assert_eq!(
            never(awaited(Some(0), Some(2))).to_string(),
            "rank 0 ended its part of the run before it sent a message with tag 2 that is waited for; \
             no receive has matched its message of 4 bytes with tag 1"
        );
        assert_eq!(
            never(awaited(None, Some(9))).to_string(),
            "deadlock: rank 1 waits for a message with tag 9 of any rank, and all others have ended; \
             no receive has matched a message of 4 bytes with tag 1 or of 4 bytes with tag 7"
        );
        assert!(
            never(awaited(Some(0), Some(5)))
                .to_string()
                .ends_with("with tag 1 or of 4 bytes with tag 5 in another communicator")
        );
        let collective = Selector { context: 5, source: Some(2), tag: Some(1 << 24) };
        let error = never(collective);
        assert!(!error.is_by_another() && error.to_string().ends_with(TAKING_PART), "{error}");
        assert_eq!(Error::never_received(1, 2, &of(5, 1, 1 << 24)), error);
    }
}
