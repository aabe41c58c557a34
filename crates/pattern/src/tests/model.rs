//! A slow model of all possible executions: every order of events, tried one by one.

use std::collections::HashSet;

use crate::SHORT_BYTES;

/// The next action of a node of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Receive,
    Send { to: usize, bytes: u32 },
}

/// Rules of the transfer of messages.
#[derive(Clone, Copy)]
pub(super) enum Rule<'a> {
    /// Every message is buffered, and a receive takes any.
    Generous,
    /// A long message waits for the one posted receive, which takes any.
    Waiting,
    /// A long message waits for the one posted receive, which takes only messages from the sender given here.
    FromSources(&'a [Vec<u32>]),
}

/// The outcomes of all orders of events.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Ends {
    /// True if every node completes with every message received in some order.
    pub(super) good: bool,
    /// True if that is not so in some order.
    pub(super) bad: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    positions: Vec<usize>,
    received: Vec<usize>,
    /// Number of messages that arrived at a node from each node and wait for its receives.
    arrived: Vec<Vec<u32>>,
}

/// Tries every order of events.
pub(super) fn ends(code: &[Vec<Op>], rule: Rule<'_>) -> Ends {
    let nodes = code.len();
    let begin = State {
        positions: vec![0; nodes],
        received: vec![0; nodes],
        arrived: vec![vec![0; nodes]; nodes],
    };
    let mut ends = Ends::default();
    let mut seen = HashSet::from([begin.clone()]);
    let mut open = vec![begin];
    while let Some(state) = open.pop() {
        let next: Vec<State> =
            (0..nodes).flat_map(|node| successors(&state, node, code, rule)).collect();
        if next.is_empty() {
            let done = (0..nodes).all(|node| state.positions[node] == code[node].len());
            let empty = state.arrived.iter().flatten().all(|&count| count == 0);
            if done && empty { ends.good = true } else { ends.bad = true }
        }
        open.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
    }
    ends
}

fn successors(state: &State, node: usize, code: &[Vec<Op>], rule: Rule<'_>) -> Vec<State> {
    let with = |change: &dyn Fn(&mut State)| {
        let mut next = state.clone();
        next.positions[node] += 1;
        change(&mut next);
        next
    };
    match code[node].get(state.positions[node]) {
        None => Vec::new(),
        Some(&Op::Send { to, bytes }) => match has_room(state, node, to, bytes, rule) {
            true => vec![with(&|next| next.arrived[to][node] += 1)],
            false => Vec::new(),
        },
        Some(Op::Receive) => (0..code.len())
            .filter(|&from| state.arrived[node][from] > 0 && wants(state, node, from, rule))
            .map(|from| {
                with(&|next| {
                    next.arrived[node][from] -= 1;
                    next.received[node] += 1;
                })
            })
            .collect(),
    }
}

fn has_room(state: &State, from: usize, to: usize, bytes: u32, rule: Rule<'_>) -> bool {
    match rule {
        Rule::Generous => true,
        _ if bytes <= SHORT_BYTES => true,
        Rule::Waiting => state.arrived[to].iter().all(|&count| count == 0),
        Rule::FromSources(_) => state.arrived[to][from] == 0 && wants(state, to, from, rule),
    }
}

/// Returns whether the receive that `node` has posted takes a message from `from`.
fn wants(state: &State, node: usize, from: usize, rule: Rule<'_>) -> bool {
    match rule {
        Rule::FromSources(sources) => {
            let own = &sources[node];
            !own.is_empty() && own[state.received[node] % own.len()] as usize == from
        }
        _ => true,
    }
}
