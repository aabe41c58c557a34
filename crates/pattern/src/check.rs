//! Checks of a pattern before it runs: messages without a receive, receives without a message, and deadlocks.

use std::collections::BTreeMap;

use crate::execution::{Buffering, Ending, Interleaving, Message, Stuck, execute};
use crate::mistake::{Mistake, TextPlace};
use crate::program::{Action, Cursor, Pattern, Step};
use random::SplitMix64;

/// Length in bytes up to which messages are taken to be buffered: a send of one never waits for its receive. The send
/// of a longer one may.
pub const SHORT_BYTES: u32 = 1024;

/// Number of random orders that are tried if the regular one ends in a deadlock.
const ORDERS_TRIED: u64 = 24;

/// Checks that `pattern` runs to its end on every machine, and records in it the node from which each receive takes its
/// message. Otherwise returns all mistakes in it.
pub(crate) fn check(pattern: &mut Pattern) -> Result<(), Vec<Mistake>> {
    let ending = execute(pattern, Buffering::All, Interleaving::InStep, &mut |_, _| {});
    if !ending.stuck.is_empty() || ending.left_over.iter().any(|&left| left > 0) {
        return Err(unbalanced(pattern, &ending));
    }
    let (ending, sources) = sources(pattern, Interleaving::InStep);
    if ending.stuck.is_empty() {
        pattern.sources = sources;
        return Ok(());
    }
    let random = (0..ORDERS_TRIED).map(|seed| Interleaving::Random(SplitMix64::new(seed)));
    let mut tried = random.map(|order| self::sources(pattern, order));
    match tried.find(|(ending, _)| ending.stuck.is_empty()) {
        Some((_, sources)) => {
            pattern.sources = sources;
            Ok(())
        }
        None => {
            let why = format!(
                "the nodes wait for one another wherever a message above {SHORT_BYTES} bytes waits \
                 for its receive, of which each node has one posted"
            );
            Err(vec![deadlock(pattern, &ending.stuck, &why)])
        }
    }
}

/// Runs a period in which long messages wait for their receives. Returns its end, and the sender of the message that
/// each receive of each node takes.
///
/// Assume that the period completes, and that each receive from then on waits for the sender that it had here. Then
/// every other order of events completes too, because two nodes cannot contend for anything any more. At the end the
/// state is the same as at the beginning. So the next period, which some nodes begin before others have ended this one,
/// completes as well.
fn sources(pattern: &Pattern, order: Interleaving) -> (Ending, Vec<Vec<u32>>) {
    let mut sources = vec![Vec::new(); pattern.nodes.len()];
    let mut keep = |_, message: Message| sources[message.to as usize].push(message.from);
    let ending = execute(pattern, Buffering::UpTo(SHORT_BYTES), order, &mut keep);
    (ending, sources)
}

/// Returns the mistakes if not every message is received although all are buffered.
fn unbalanced(pattern: &Pattern, ending: &Ending) -> Vec<Mistake> {
    let traffic = Traffic::of(pattern);
    let mut mistakes = unreceived(pattern, &traffic, ending);
    mistakes.extend(unserved(pattern, &traffic, ending));
    if mistakes.is_empty() {
        mistakes.push(deadlock(pattern, &ending.stuck, "the nodes wait for one another"));
    }
    mistakes
}

/// The number of messages between each two nodes in a period.
struct Traffic(BTreeMap<(usize, usize), u64>);

impl Traffic {
    fn of(pattern: &Pattern) -> Self {
        let mut counts = BTreeMap::new();
        for (from, node) in pattern.nodes.iter().enumerate() {
            let mut cursor = Cursor::default();
            while let Some((_, step)) = cursor.next(&node.actions) {
                if let Step::Send { to, .. } = step {
                    *counts.entry((to as usize, from)).or_default() += 1;
                }
            }
        }
        Traffic(counts)
    }

    /// Returns the senders to a node, with their numbers of messages.
    fn to(&self, node: usize) -> Vec<(usize, u64)> {
        let entries = self.0.range((node, 0)..(node + 1, 0));
        entries.map(|(&(_, from), &count)| (from, count)).collect()
    }
}

/// Returns a mistake for each node to which more messages are sent than it receives.
fn unreceived(pattern: &Pattern, traffic: &Traffic, ending: &Ending) -> Vec<Mistake> {
    let left_over = ending.left_over.iter().enumerate().filter(|(_, left)| **left > 0);
    let mistake = |(to, &left): (usize, &u64)| {
        let senders = traffic.to(to);
        let sent: u64 = senders.iter().map(|(_, count)| count).sum();
        let (from, _) = *senders.last().expect("somebody sent what is left over");
        let message = format!(
            "node {to} receives {}, and {} to it ({}): nobody receives {}",
            messages(sent - left),
            are_sent(sent),
            list(&senders),
            if left == 1 { "the last".into() } else { format!("the last {left}") },
        );
        Mistake::new(last_send(pattern, from, to), message)
    };
    left_over.map(mistake).collect()
}

/// Returns a mistake for each node that waits for more messages than are sent to it.
fn unserved(pattern: &Pattern, traffic: &Traffic, ending: &Ending) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for stuck in &ending.stuck {
        let senders = traffic.to(stuck.node);
        let sent: u64 = senders.iter().map(|(_, count)| count).sum();
        let receives = pattern.nodes[stuck.node].totals().receives;
        if sent >= receives {
            continue;
        }
        let from =
            if senders.is_empty() { String::new() } else { format!(" ({})", list(&senders)) };
        let message = format!(
            "node {} receives {}, and {} to it{from}: it would wait here for ever",
            stuck.node,
            messages(receives),
            are_sent(sent),
        );
        mistakes.push(Mistake::new(place(pattern, stuck.node, stuck.action), message));
    }
    mistakes
}

fn are_sent(count: u64) -> String {
    match count {
        0 => "none is sent".into(),
        1 => "1 is sent".into(),
        _ => format!("{count} are sent"),
    }
}

fn messages(count: u64) -> String {
    match count {
        0 => "no message".into(),
        1 => "1 message".into(),
        _ => format!("{count} messages"),
    }
}

fn list(senders: &[(usize, u64)]) -> String {
    let mut all: Vec<String> =
        senders.iter().take(4).map(|(node, count)| format!("{count} by node {node}")).collect();
    if senders.len() > all.len() {
        all.push(format!("the rest by {} others", senders.len() - all.len()));
    }
    all.join(", ")
}

fn last_send(pattern: &Pattern, from: usize, to: usize) -> TextPlace {
    let actions = &pattern.nodes[from].actions;
    let is_send = |action: &Action| matches!(*action, Action::Send { to: target, .. } if target as usize == to);
    place(pattern, from, actions.iter().rposition(is_send).unwrap_or(0))
}

fn place(pattern: &Pattern, node: usize, action: usize) -> TextPlace {
    pattern.nodes[node].places[action]
}

/// Explains a circle of nodes that wait for one another.
fn deadlock(pattern: &Pattern, stuck: &[Stuck], why: &str) -> Mistake {
    let circle = circle(pattern, stuck);
    let links: Vec<String> = circle
        .iter()
        .map(|&(waits, whom)| link(pattern, &stuck[waits], stuck[whom].node))
        .collect();
    let first = &stuck[circle[0].0];
    Mistake::new(
        place(pattern, first.node, first.action),
        format!("deadlock: {why}: {}", links.join(", ")),
    )
}

fn link(pattern: &Pattern, stuck: &Stuck, whom: usize) -> String {
    let Stuck { node, action, step, .. } = stuck;
    let place = place(pattern, *node, *action);
    match step {
        Step::Send { bytes, .. } => {
            format!("node {node} waits at {place} to send {bytes} bytes until node {whom} receives")
        }
        _ => format!("node {node} waits at {place} for a message from node {whom}"),
    }
}

/// Returns a circle as pairs of indices in `stuck`: a node that waits, and the node that it waits for.
fn circle(pattern: &Pattern, stuck: &[Stuck]) -> Vec<(usize, usize)> {
    let mut path = Vec::new();
    // Begin with a node that waits to send, if there is one: such circles are short.
    let mut at = stuck.iter().position(|s| matches!(s.step, Step::Send { .. })).unwrap_or(0);
    while !path.contains(&at) {
        path.push(at);
        at = waits_for(pattern, stuck, at);
    }
    let begin = path.iter().position(|&seen| seen == at).expect("the loop ended because of it");
    let circle = &path[begin..];
    let next = circle.iter().cycle().skip(1);
    circle.iter().copied().zip(next.copied()).collect()
}

/// Returns the index of the node that a node waits for: the one that must receive, or the first that would still send.
fn waits_for(pattern: &Pattern, stuck: &[Stuck], at: usize) -> usize {
    let index = |node: usize| stuck.iter().position(|other| other.node == node);
    let found = match stuck[at].step {
        Step::Send { to, .. } => index(to as usize),
        _ => stuck.iter().position(|other| still_sends(pattern, other, stuck[at].node)),
    };
    // A stuck node waits for another stuck node: a node that is done has received all that was sent to it, and has sent
    // all its messages.
    found.expect("a node waits for one that waits")
}

fn still_sends(pattern: &Pattern, stuck: &Stuck, target: usize) -> bool {
    let is_it = |step: &Step| matches!(*step, Step::Send { to, .. } if to as usize == target);
    let mut cursor = stuck.cursor.clone();
    let actions = &pattern.nodes[stuck.node].actions;
    is_it(&stuck.step) || std::iter::from_fn(|| cursor.next(actions)).any(|(_, step)| is_it(&step))
}
