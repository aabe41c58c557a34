//! The stages of a pattern: which messages are under way together when all nodes go in step, and the links they share.
//!
//! A stage is the time of one message. Real nodes are not synchronised, as section 4.3.3 of the paper states; where
//! messages are equally long, though, the stages are about right, and they are what a pattern is designed by.

pub use crate::execution::Message;
use crate::execution::{Buffering, Interleaving, execute};
use crate::program::Pattern;

/// The messages of each stage of a period, each stage in the order of the senders.
///
/// In a stage each node sends at most one message and has room for one; a message that finds its receiver busy goes in
/// a later stage. Waits (`W`) take no stage. A pattern whose short messages have to be buffered gets stages in which
/// they are.
pub fn stages(pattern: &Pattern) -> Vec<Vec<Message>> {
    let (stages, complete) = staged(pattern, Buffering::None);
    if complete { stages } else { staged(pattern, Buffering::All).0 }
}

fn staged(pattern: &Pattern, buffering: Buffering) -> (Vec<Vec<Message>>, bool) {
    let mut stages: Vec<Vec<Message>> = Vec::new();
    let mut keep = |stage: usize, message: Message| {
        if stages.len() <= stage {
            stages.resize(stage + 1, Vec::new());
        }
        stages[stage].push(message);
    };
    let ending = execute(pattern, buffering, Interleaving::InStep, &mut keep);
    (stages, ending.stuck.is_empty())
}

/// The load of the links of a line of nodes in a stage: the maximum of messages in one direction on one link.
///
/// Node i is joined to i - 1 and i + 1; a message takes every link between its ends.
pub fn link_contention(stage: &[Message]) -> usize {
    let crossings = |rightward: bool| {
        let last = stage.iter().map(|message| message.from.max(message.to)).max().unwrap_or(0);
        (0..last)
            .map(|link| stage.iter().filter(|m| crosses(m, link, rightward)).count())
            .max()
            .unwrap_or(0)
    };
    crossings(true).max(crossings(false))
}

/// Whether a message goes over the link between `link` and `link + 1`, this way.
fn crosses(message: &Message, link: u32, rightward: bool) -> bool {
    let (left, right) =
        if rightward { (message.from, message.to) } else { (message.to, message.from) };
    left <= link && link < right
}

/// The load of nodes in a stage: the maximum of messages that one node sends and receives.
pub fn node_contention(stage: &[Message]) -> usize {
    let at = |node: u32| stage.iter().filter(|m| m.from == node || m.to == node).count();
    stage.iter().flat_map(|m| [at(m.from), at(m.to)]).max().unwrap_or(0)
}
