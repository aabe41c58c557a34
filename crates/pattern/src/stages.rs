//! The stages of a pattern: the messages that are under way together when all nodes run in step, and the links that
//! they share.
//!
//! A stage is the time of one message. Real nodes are not synchronised, as section 4.3.3 of the paper states. If
//! messages are equally long, the stages are a good approximation, and patterns are designed with them.

pub use crate::execution::Message;
use crate::execution::{Buffering, Interleaving, execute};
use crate::program::Pattern;

/// Returns the messages of each stage of a period, each stage in the order of the senders.
///
/// In a stage each node sends at most one message and has room for one; a message to a busy receiver goes in a later
/// stage. Waits (`W`) take no stage. If short messages of a pattern must be buffered, they are buffered in its stages.
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

/// Returns the load of the links of a line of nodes in a stage: the maximum number of messages in one direction on one
/// link.
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

/// Returns whether a message goes over the link between `link` and `link + 1` in this direction.
fn crosses(message: &Message, link: u32, rightward: bool) -> bool {
    let (left, right) =
        if rightward { (message.from, message.to) } else { (message.to, message.from) };
    left <= link && link < right
}

/// Returns the load of nodes in a stage: the maximum number of messages that one node sends and receives.
pub fn node_contention(stage: &[Message]) -> usize {
    let at = |node: u32| stage.iter().filter(|m| m.from == node || m.to == node).count();
    stage.iter().flat_map(|m| [at(m.from), at(m.to)]).max().unwrap_or(0)
}
