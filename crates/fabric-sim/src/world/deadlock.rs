//! Explanations of deadlocks, in words.

use contract::{Error, Request, Selector, Source, Tag, TagSelector};

use super::World;
use super::operation::{State, Waiting};

/// Largest number of ranks that are named: on a large machine the first few show the mistake.
const NAMED_MAX: usize = 16;

impl World {
    pub(super) fn explain_deadlock(&self) -> String {
        let unended = self.ranks.iter().filter(|rank| !matches!(rank.waiting, Waiting::Ended));
        let waiting = unended.count();
        let everyone = self.size() <= NAMED_MAX;
        let mut words: Vec<String> = (0..self.size())
            .filter(|&rank| everyone || !matches!(self.ranks[rank].waiting, Waiting::Ended))
            .take(NAMED_MAX)
            .map(|rank| format!("rank {rank} {}", self.describe_wait(rank)))
            .collect();
        if !everyone && waiting > NAMED_MAX {
            words.push(format!("and {} more ranks wait", waiting - NAMED_MAX));
        }
        let stuck = self.network.packets_inside();
        if stuck > 0 {
            words.push(format!(
                "{stuck} packets are stuck in the network, each waiting for a place that another holds"
            ));
        }
        words.extend(self.unequal_lengths().map(Error::to_string));
        words.join("; ")
    }

    fn describe_wait(&self, rank: usize) -> String {
        match &self.ranks[rank].waiting {
            Waiting::Ended => "has ended".into(),
            Waiting::Request(request) => self.describe_requests(rank, &[*request]),
            Waiting::Requests(requests) => self.describe_requests(rank, requests),
            Waiting::Anything => {
                let requests: Vec<Request> = self.ranks[rank].operations.all().collect();
                self.describe_requests(rank, &requests)
            }
            Waiting::Part { of, .. } => format!("waits in a collective for the part of rank {of}"),
            Waiting::Place { .. } => {
                "waits in a collective until all ranks have read what it showed them".into()
            }
            Waiting::Running | Waiting::Time => "runs".into(),
        }
    }

    fn describe_requests(&self, rank: usize, requests: &[Request]) -> String {
        let described = requests.iter().filter_map(|&one| self.describe_request(rank, one));
        let words = described.collect::<Vec<_>>().join(" or ");
        let words = if words.is_empty() { "for a message".into() } else { words };
        format!("waits {words}{}", self.describe_unmatched(rank))
    }

    /// Returns the purpose of a request in progress.
    pub(super) fn describe_request(&self, rank: usize, request: Request) -> Option<String> {
        match self.ranks[rank].operations.state(request) {
            State::Sending { to, envelope } => {
                let (bytes, tag) = (envelope.bytes, Tag::from_wire(envelope.tag));
                let context = in_context(envelope.context);
                Some(format!("to send {bytes} bytes with {tag} to rank {to}{context}"))
            }
            State::Receiving { selector, .. } => {
                let from = selector.source.map_or(Source::Any, |one| Source::Rank(one as usize));
                let (tag, context) = (tag_of(selector), in_context(selector.context));
                Some(format!("to receive {tag} from {from}{context}"))
            }
            State::Free | State::Done(_) => None,
        }
    }

    /// Describes messages that have arrived at a rank and that its receives do not take: often the cause is a wrong
    /// tag.
    fn describe_unmatched(&self, rank: usize) -> String {
        let arrived = self.ranks[rank].mailbox.arrived().take(3);
        let words: Vec<String> = arrived
            .map(|arrived| {
                let envelope = arrived.envelope;
                let (tag, context) = (Tag::from_wire(envelope.tag), in_context(envelope.context));
                format!("{tag} from rank {}{context}", envelope.source)
            })
            .collect();
        if words.is_empty() {
            String::new()
        } else {
            format!(" (it has, not asked for, {})", words.join(", "))
        }
    }
}

/// Returns the tag that a receive accepts. Each context has two contexts of messages: even numbers for the messages of
/// programs, odd numbers for those inside collectives.
fn tag_of(selector: &Selector) -> TagSelector {
    match selector.tag {
        Some(tag) => TagSelector::Is(Tag::from_wire(tag)),
        None if selector.context.is_multiple_of(2) => TagSelector::Any,
        None => TagSelector::AnyReserved,
    }
}

/// Returns words that name a context, except the context of all ranks.
fn in_context(context: u32) -> String {
    if context < 2 { String::new() } else { format!(" in context {}", context / 2) }
}
