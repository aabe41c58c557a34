//! The events that a rank waits for, described for users that investigate why a program makes no progress.
//!
//! Ranks are those of the run. A context of programs has an even number, twice that of its communicator; the next odd
//! one belongs to the messages inside its collectives.

use std::fmt;

use crate::{Envelope, Selector};

/// Number of unexpected messages that are named individually.
const NAMED_MESSAGES: usize = 4;
/// Number of ranks that are named individually.
const NAMED_RANKS: usize = 8;

/// Maximum number of operations that a waiting rank reports: each is compared with those before.
pub const AWAITED_MAX: usize = 256;

/// An event that a rank waits for.
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
        /// Name of the collective.
        collective: String,
        /// Number of its members.
        members: usize,
        /// Members that have not reached it; empty if they are not known.
        missing: Vec<usize>,
    },
    /// Access to a rank's memory in a window.
    Lock {
        /// The rank.
        of: usize,
        /// The rank with exclusive access, if there is one.
        holder: Option<usize>,
    },
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Message(selector) => {
                let Selector { context, source, tag } = *selector;
                let source = match source {
                    Some(rank) => format!("rank {rank}"),
                    None => "any rank".into(),
                };
                match (is_of_collectives(context), tag) {
                    (true, _) => write!(f, "for the part of {source}")?,
                    (false, Some(tag)) => write!(f, "for tag {tag} of {source}")?,
                    (false, None) => write!(f, "for any tag of {source}")?,
                }
                f.write_str(&place(context))
            }
            Awaited::Data(envelope) => {
                let Envelope { context, source, tag, bytes, .. } = *envelope;
                write!(
                    f,
                    "for the data of a message of {bytes} bytes with tag {tag} of rank {source}"
                )?;
                f.write_str(&place(context))
            }
            Awaited::Receive { to, envelope } => {
                let Envelope { context, tag, bytes, .. } = *envelope;
                match is_of_collectives(context) {
                    true => write!(f, "until rank {to} takes its part of {bytes} bytes")?,
                    false => write!(f, "until rank {to} receives {bytes} bytes with tag {tag}")?,
                }
                f.write_str(&place(context))
            }
            Awaited::Members { collective, members, missing } if missing.is_empty() => {
                write!(f, "in a {collective} of {members} ranks")
            }
            Awaited::Members { collective, members, missing } => {
                let missing = name_ranks(missing);
                write!(f, "for {missing} in a {collective} of {members} ranks")
            }
            Awaited::Lock { of, holder } => {
                write!(f, "for the lock of the window of rank {of}")?;
                match holder {
                    Some(holder) => write!(f, ", which rank {holder} holds"),
                    None => f.write_str(", which other ranks share"),
                }
            }
        }
    }
}

fn is_of_collectives(context: u32) -> bool {
    context % 2 == 1 && context != u32::MAX
}

/// Returns the description of a context other than that of all ranks.
fn place(context: u32) -> String {
    match context / 2 {
        0 => String::new(),
        _ if context == u32::MAX => " (a matched message)".into(),
        number => format!(" in communicator {number}"),
    }
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
pub fn describe_unexpected<'a>(messages: impl Iterator<Item = &'a Envelope>) -> Vec<String> {
    let mut kinds: Vec<(Envelope, usize)> = Vec::new();
    for message in messages.filter(|one| !is_of_collectives(one.context)) {
        match kinds.iter_mut().find(|(kind, _)| kind == message) {
            Some((_, count)) => *count += 1,
            None => kinds.push((*message, 1)),
        }
    }
    let line = |(envelope, count): &(Envelope, usize)| {
        let Envelope { context, source, tag, bytes, .. } = *envelope;
        let messages = if *count == 1 { "message" } else { "messages" };
        let place = place(context);
        format!(
            "unexpected there: {count} {messages} of {bytes} bytes with tag {tag} of rank {source}{place}"
        )
    };
    let mut lines: Vec<String> = kinds.iter().take(NAMED_MESSAGES).map(line).collect();
    let others: usize = kinds.iter().skip(NAMED_MESSAGES).map(|(_, count)| count).sum();
    if others > 0 {
        lines.push(format!("unexpected there: {others} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_described_in_terms_of_the_program() {
        let of = |context, source, tag| Awaited::Message(Selector { context, source, tag });
        assert_eq!(of(0, Some(1), Some(7)).to_string(), "for tag 7 of rank 1");
        assert_eq!(of(6, None, None).to_string(), "for any tag of any rank in communicator 3");
        assert_eq!(of(1, Some(2), Some(90)).to_string(), "for the part of rank 2");
        let envelope = Envelope { context: 0, source: 4, tag: 8, bytes: 4, room: 4 };
        let receive = Awaited::Receive { to: 1, envelope };
        assert_eq!(receive.to_string(), "until rank 1 receives 4 bytes with tag 8");
        assert!(Awaited::Data(envelope).to_string().contains("of rank 4"));
    }

    #[test]
    fn ranks_missing_from_a_collective_are_named() {
        let of = |missing: &[usize]| {
            let missing = missing.to_vec();
            Awaited::Members { collective: "barrier".into(), members: 9, missing }.to_string()
        };
        assert_eq!(of(&[]), "in a barrier of 9 ranks");
        assert_eq!(of(&[3]), "for rank 3 in a barrier of 9 ranks");
        assert_eq!(of(&[0, 1, 2, 5, 7, 8]), "for ranks 0 to 2, 5, 7, 8 in a barrier of 9 ranks");
        let many: Vec<usize> = (0..40).step_by(2).collect();
        assert_eq!(name_ranks(&many), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and others");
    }

    #[test]
    fn unexpected_messages_of_one_kind_are_one_line_and_those_of_collectives_none() {
        let of = |context, tag| Envelope { context, source: 1, tag, bytes: 4, room: 4 };
        let few = [of(0, 8), of(0, 8), of(1, 3), of(2, 8)];
        assert_eq!(
            describe_unexpected(few.iter()),
            [
                "unexpected there: 2 messages of 4 bytes with tag 8 of rank 1",
                "unexpected there: 1 message of 4 bytes with tag 8 of rank 1 in communicator 1"
            ]
        );
        let many: Vec<Envelope> = (0..7).map(|tag| of(0, tag)).collect();
        assert_eq!(describe_unexpected(many.iter()).last().unwrap(), "unexpected there: 3 more");
    }
}
