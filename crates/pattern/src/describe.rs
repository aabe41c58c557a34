//! A pattern in words: the actions of each node, and the messages of each stage.

use std::fmt::Write;

use crate::program::{Cursor, Pattern, Step};
use crate::stages::{Message, link_contention, node_contention, stages};

/// Maximum number of nodes described one by one, and of actions of each.
const NODES_SHOWN: usize = 16;
const STEPS_SHOWN: usize = 24;
/// Maximum number of stages described one by one, and of messages of each.
const STAGES_SHOWN: usize = 40;
const MESSAGES_SHOWN: usize = 8;

/// Returns `pattern` in words, in several lines.
pub fn describe(pattern: &Pattern) -> String {
    let mut text = format!(
        "{}: {}, {} and {} a period\n",
        pattern.name,
        counted(pattern.nodes.len() as u64, "node"),
        counted(pattern.messages_a_period(), "message"),
        bytes(pattern.bytes_a_period()),
    );
    for node in 0..pattern.nodes.len().min(NODES_SHOWN) {
        let _ = writeln!(text, "  node {node} {}", node_in_words(pattern, node));
    }
    if pattern.nodes.len() > NODES_SHOWN {
        let _ = writeln!(text, "  and {} more nodes", pattern.nodes.len() - NODES_SHOWN);
    }
    text + &stages_in_words(&stages(pattern))
}

fn node_in_words(pattern: &Pattern, node: usize) -> String {
    let mut words = Vec::new();
    let mut sources = pattern.sources[node].iter();
    let mut cursor = Cursor::default();
    while let Some((_, step)) = cursor.next(&pattern.nodes[node].actions) {
        if words.len() == STEPS_SHOWN {
            words.push("and so on".into());
            break;
        }
        words.push(match step {
            Step::Send { to, bytes: length } => {
                format!("sends {} to {to}", bytes(u64::from(length)))
            }
            Step::Receive => match sources.next() {
                Some(source) => format!("receives from {source}"),
                None => "receives".into(),
            },
            Step::WaitUntil { fraction } => format!("waits until {fraction:.3} of the period"),
        });
    }
    if words.is_empty() { "does nothing".into() } else { words.join(", ") }
}

fn stages_in_words(stages: &[Vec<Message>]) -> String {
    let mut text = format!("with all nodes in step: {}\n", counted(stages.len() as u64, "stage"));
    for (index, stage) in stages.iter().take(STAGES_SHOWN).enumerate() {
        let mut messages: Vec<String> = stage
            .iter()
            .take(MESSAGES_SHOWN)
            .map(|m| format!("{} -> {} ({})", m.from, m.to, bytes(u64::from(m.bytes))))
            .collect();
        if stage.len() > MESSAGES_SHOWN {
            messages.push(format!("{} more", stage.len() - MESSAGES_SHOWN));
        }
        let _ = writeln!(text, "  stage {}: {}", index + 1, messages.join(", "));
    }
    if stages.len() > STAGES_SHOWN {
        let _ = writeln!(text, "  and {} more stages", stages.len() - STAGES_SHOWN);
    }
    let most = |of: fn(&[Message]) -> usize| stages.iter().map(|s| of(s)).max().unwrap_or(0);
    text += &format!(
        "at most {} at once at a node; on a line of nodes, at most {} one way over a link\n",
        counted(most(node_contention) as u64, "message"),
        most(link_contention)
    );
    text
}

/// Returns `count` things in words, in the plural if needed.
fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// Returns a size in the largest binary unit that divides it.
pub fn bytes(size: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| size >= *unit && size.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", size / unit),
        None => format!("{size} B"),
    }
}
