//! The events that a rank waits for, described for users that investigate why a program makes no progress.
//!
//! Ranks are those of the run. A context of programs has an even number, twice that of its communicator; the next odd
//! one belongs to the messages inside its collectives. [`WaitTerms`] name it as the program knows it.

use crate::{Envelope, Selector};

/// Number of unexpected messages that are named individually.
pub(crate) const NAMED_MESSAGES: usize = 4;
/// Number of ranks that are named individually.
const NAMED_RANKS: usize = 8;

/// Maximum number of operations that a waiting rank reports: each is compared with those before.
pub const AWAITED_MAX: usize = 256;

/// The terms of a face for what a rank waits for. A fabric knows contexts by their numbers only, which mean nothing to
/// people. Asked only for a report, possibly while the face is in the middle of a call.
pub trait WaitTerms {
    /// Returns the words that name a context after what is waited for in it, such as ` in communicator "rows" of ranks
    /// 0 to 3`; no words for the context of all ranks. `None` for a context that the face does not know.
    fn place(&self, context: u32) -> Option<String>;

    /// Returns what ends a wait, such as `until rank 1 calls MPI_Win_post`, if that is no message of the program
    /// itself. The [place](WaitTerms::place) is not part of these words.
    fn explain(&self, awaited: &Awaited) -> Option<String>;

    /// Returns lines about this rank that explain the waits of others.
    fn remarks(&self) -> Vec<String>;
}

/// Something that a rank waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A message that has not arrived yet.
    Message(Selector),
    /// The data of a message whose envelope has arrived.
    Data(Envelope),
    /// A message of this rank that another rank has not received.
    Receive {
        /// Rank of the receiver.
        to: usize,
        /// The message.
        envelope: Envelope,
    },
    /// Members that have not reached a collective, or must proceed in it.
    Members {
        /// Context of the messages of programs there.
        context: u32,
        /// Name of the collective.
        collective: String,
        /// Number of its members.
        members: usize,
        /// Members that have not reached it; empty if they are not known.
        missing: Vec<usize>,
    },
    /// Access to a rank's memory in a window.
    Lock {
        /// Context of the window's messages.
        context: u32,
        /// The rank.
        of: usize,
        /// Who has access.
        holder: LockHolder,
    },
}

/// Who has access to a rank's memory in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// This rank, exclusively.
    Rank(usize),
    /// Some ranks share it.
    Several,
    /// Only the rank that serves the memory knows.
    Unknown,
}

impl Awaited {
    /// Returns words for people, in the terms of the face if there is one.
    pub fn describe(&self, terms: Option<&dyn WaitTerms>) -> String {
        let explained = terms.and_then(|terms| terms.explain(self));
        let what = explained.unwrap_or_else(|| self.in_general_terms());
        what + &place(self.context(), terms)
    }

    /// Returns the context of what is waited for.
    pub fn context(&self) -> u32 {
        match self {
            Awaited::Message(selector) => selector.context,
            Awaited::Data(envelope) | Awaited::Receive { envelope, .. } => envelope.context,
            Awaited::Members { context, .. } | Awaited::Lock { context, .. } => *context,
        }
    }

    /// Returns words for people that do not depend on the face.
    pub fn in_general_terms(&self) -> String {
        match self {
            Awaited::Message(selector) => {
                let Selector { context, tag, .. } = *selector;
                let source = selector.source_in_words();
                match (is_of_collectives(context), tag) {
                    (true, _) => format!("for the part of {source}"),
                    (false, Some(tag)) => format!("for tag {tag} of {source}"),
                    (false, None) => format!("for any tag of {source}"),
                }
            }
            Awaited::Data(envelope) => {
                let Envelope { source, tag, bytes, .. } = *envelope;
                format!(
                    "for the data of a message of {bytes} bytes with tag {tag} of rank {source}"
                )
            }
            Awaited::Receive { to, envelope } => {
                let Envelope { context, tag, bytes, .. } = *envelope;
                match is_of_collectives(context) {
                    true => format!("until rank {to} takes its part of {bytes} bytes"),
                    false => format!("until rank {to} receives {bytes} bytes with tag {tag}"),
                }
            }
            Awaited::Members { collective, members, missing, .. } if missing.is_empty() => {
                format!("in {} of {members} ranks", with_article(collective))
            }
            Awaited::Members { collective, members, missing, .. } => {
                let missing = name_ranks(missing);
                format!("for {missing} in {} of {members} ranks", with_article(collective))
            }
            Awaited::Lock { of, holder, .. } => {
                let holder = match holder {
                    LockHolder::Rank(holder) => format!(", which rank {holder} holds,"),
                    LockHolder::Several => ", which other ranks share,".into(),
                    LockHolder::Unknown => String::new(),
                };
                format!("for the lock of rank {of}{holder}")
            }
        }
    }
}

impl Selector {
    /// Returns words for its source.
    pub fn source_in_words(&self) -> String {
        self.source.map_or_else(|| "any rank".into(), |rank| format!("rank {rank}"))
    }
}

/// Returns the name of a call with its article.
pub fn with_article(call: &str) -> String {
    format!("{} {call}", if call.starts_with(['a', 'e', 'i', 'M']) { "an" } else { "a" })
}

/// Returns whether a context is of the messages inside collectives.
pub(crate) fn is_of_collectives(context: u32) -> bool {
    context % 2 == 1 && context != u32::MAX
}

/// Returns the words that name a context other than that of all ranks.
fn place(context: u32, terms: Option<&dyn WaitTerms>) -> String {
    if context == u32::MAX {
        return " (a matched message)".into();
    }
    let named = terms.and_then(|terms| terms.place(context));
    named.unwrap_or_else(|| match context / 2 {
        0 => String::new(),
        number => format!(" in context {number}"),
    })
}

/// Describes ranks, with consecutive ones as ranges.
pub fn name_ranks(ranks: &[usize]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for &rank in ranks {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => spans.push((rank, rank)),
        }
    }
    let name = |&(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    let named: Vec<String> = spans.iter().take(NAMED_RANKS).map(name).collect();
    let more = if spans.len() > NAMED_RANKS { " and others" } else { "" };
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{word} {}{more}", named.join(", "))
}

/// Describes the unexpected messages of programs, one line for each kind.
pub fn describe_unexpected<'a>(
    messages: impl Iterator<Item = &'a Envelope>,
    terms: Option<&dyn WaitTerms>,
) -> Vec<String> {
    let mut kinds: Vec<(Envelope, usize)> = Vec::new();
    let is_of_program = |one: &&Envelope| {
        let explained = terms.and_then(|terms| terms.explain(&Awaited::Data(**one)));
        !is_of_collectives(one.context) && explained.is_none()
    };
    for message in messages.filter(is_of_program) {
        match kinds.iter_mut().find(|(kind, _)| kind == message) {
            Some((_, count)) => *count += 1,
            None => kinds.push((*message, 1)),
        }
    }
    let line = |(envelope, count): &(Envelope, usize)| {
        let Envelope { context, source, tag, bytes, .. } = *envelope;
        let messages = if *count == 1 { "message" } else { "messages" };
        let place = place(context, terms);
        format!(
            "not received there so far: {count} {messages} of {bytes} bytes with tag {tag} of rank {source}{place}"
        )
    };
    let mut lines: Vec<String> = kinds.iter().take(NAMED_MESSAGES).map(line).collect();
    let others: usize = kinds.iter().skip(NAMED_MESSAGES).map(|(_, count)| count).sum();
    if others > 0 {
        lines.push(format!("not received there so far: {others} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Context 6 is of rows, context 8 of a window.
    struct Terms;

    impl WaitTerms for Terms {
        fn place(&self, context: u32) -> Option<String> {
            match context / 2 {
                0 => Some(String::new()),
                3 => Some(" in communicator \"rows\"".into()),
                4 => Some(" in window \"queue\"".into()),
                _ => None,
            }
        }

        fn explain(&self, awaited: &Awaited) -> Option<String> {
            let is_of_window = |context: u32| context == 8;
            match awaited {
                Awaited::Message(one) if is_of_window(one.context) => {
                    Some(format!("until {} calls MPI_Win_post", one.source_in_words()))
                }
                Awaited::Data(one) if is_of_window(one.context) => Some("for an answer".into()),
                _ => None,
            }
        }

        fn remarks(&self) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn messages_are_described_in_terms_of_the_program() {
        let of = |context, source, tag| Awaited::Message(Selector { context, source, tag });
        let words = |one: Awaited| one.describe(Some(&Terms));
        assert_eq!(words(of(0, Some(1), Some(7))), "for tag 7 of rank 1");
        assert_eq!(words(of(6, None, None)), "for any tag of any rank in communicator \"rows\"");
        assert_eq!(of(6, None, None).describe(None), "for any tag of any rank in context 3");
        assert_eq!(words(of(1, Some(2), Some(90))), "for the part of rank 2");
        assert_eq!(
            words(of(8, Some(2), Some(1))),
            "until rank 2 calls MPI_Win_post in window \"queue\""
        );
        assert_eq!(
            words(of(u32::MAX, Some(2), Some(1))),
            "for tag 1 of rank 2 (a matched message)"
        );
        let envelope = Envelope { context: 0, source: 4, tag: 8, bytes: 4, room: 4 };
        let receive = Awaited::Receive { to: 1, envelope };
        assert_eq!(words(receive), "until rank 1 receives 4 bytes with tag 8");
        assert!(words(Awaited::Data(envelope)).contains("of rank 4"));
    }

    #[test]
    fn ranks_missing_from_a_collective_are_named() {
        let of = |missing: &[usize]| {
            let (collective, missing) = ("barrier".into(), missing.to_vec());
            let members = Awaited::Members { context: 6, collective, members: 9, missing };
            let words = members.describe(Some(&Terms));
            words.strip_suffix(" in communicator \"rows\"").unwrap().to_owned()
        };
        assert_eq!(of(&[]), "in a barrier of 9 ranks");
        assert_eq!(of(&[3]), "for rank 3 in a barrier of 9 ranks");
        assert_eq!(of(&[0, 1, 2, 5, 7, 8]), "for ranks 0 to 2, 5, 7, 8 in a barrier of 9 ranks");
        let many: Vec<usize> = (0..40).step_by(2).collect();
        assert_eq!(name_ranks(&many), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and others");
    }

    #[test]
    fn a_lock_is_named_with_its_holder_as_far_as_it_is_known() {
        let of = |holder| Awaited::Lock { context: 8, of: 1, holder }.describe(Some(&Terms));
        assert_eq!(
            of(LockHolder::Rank(0)),
            "for the lock of rank 1, which rank 0 holds, in window \"queue\""
        );
        assert_eq!(
            of(LockHolder::Several),
            "for the lock of rank 1, which other ranks share, in window \"queue\""
        );
        assert_eq!(of(LockHolder::Unknown), "for the lock of rank 1 in window \"queue\"");
    }

    #[test]
    fn unexpected_messages_of_one_kind_are_one_line_and_those_of_no_program_none() {
        let of = |context, tag| Envelope { context, source: 1, tag, bytes: 4, room: 4 };
        // Two are of collectives and of a window.
        let few = [of(0, 8), of(0, 8), of(1, 3), of(6, 8), of(8, 0)];
        assert_eq!(
            describe_unexpected(few.iter(), Some(&Terms)),
            [
                "not received there so far: 2 messages of 4 bytes with tag 8 of rank 1",
                "not received there so far: 1 message of 4 bytes with tag 8 of rank 1 in communicator \"rows\""
            ]
        );
        let many: Vec<Envelope> = (0..7).map(|tag| of(0, tag)).collect();
        let lines = describe_unexpected(many.iter(), None);
        assert_eq!(lines.last().unwrap(), "not received there so far: 3 more");
    }
}
