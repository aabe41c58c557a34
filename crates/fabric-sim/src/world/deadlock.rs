//! Why nothing more can happen, in words.

use super::World;
use super::operation::{State, Waiting};

/// Ranks named at most; of a great machine the first few tell the story.
const NAMED_MAX: usize = 16;

impl World {
    pub(super) fn explain_deadlock(&self) -> String {
        let unended = self.ranks.iter().filter(|rank| !matches!(rank.waiting, Waiting::Ended));
        let waiting = unended.count();
        let everyone = self.size() <= NAMED_MAX;
        let mut words: Vec<String> = (0..self.size())
            .filter(|&rank| everyone || !matches!(self.ranks[rank].waiting, Waiting::Ended))
            .take(NAMED_MAX)
            .map(|rank| format!("rank {rank} {}", self.words(rank)))
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
        words.join("; ")
    }

    fn words(&self, rank: usize) -> String {
        match &self.ranks[rank].waiting {
            Waiting::Ended => "has ended".into(),
            Waiting::Operation(number) => self.waiting_words(rank, std::slice::from_ref(number)),
            Waiting::Operations(numbers) => self.waiting_words(rank, numbers),
            Waiting::Part { of, .. } => format!("waits in a collective for the part of rank {of}"),
            Waiting::Place { .. } => {
                "waits in a collective until all ranks have read what it showed them".into()
            }
            Waiting::Running | Waiting::Time => "runs".into(),
        }
    }

    fn waiting_words(&self, rank: usize, numbers: &[u32]) -> String {
        let operations = &self.ranks[rank].operations;
        let words = numbers.iter().filter_map(|&number| match operations.state(number) {
            State::Sending { to, tag, bytes } => {
                Some(format!("to send {bytes} bytes with {tag} to rank {to}"))
            }
            State::Receiving { from, tag } => Some(format!("to receive {tag} from {from}")),
            State::Free | State::Finished(_) => None,
        });
        let words: Vec<String> = words.collect();
        format!("waits {}{}", words.join(" or "), self.unmatched(rank))
    }

    /// Messages that came to a rank and that its receives do not take: often a wrong tag.
    fn unmatched(&self, rank: usize) -> String {
        let arrived = self.ranks[rank].mailbox.waiting().take(3);
        let words: Vec<String> = arrived
            .map(|envelope| format!("{} from rank {}", envelope.tag, envelope.from))
            .collect();
        if words.is_empty() {
            String::new()
        } else {
            format!(" (it has, not asked for, {})", words.join(", "))
        }
    }
}
