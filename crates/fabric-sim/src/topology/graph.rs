//! Routes over any graph, as a table.

use std::collections::VecDeque;

use super::Kind;

const NO_CHANNEL: u32 = u32::MAX;
/// A graph's table of routes grows with the square of the nodes.
const GRAPH_NODES_MAX: usize = 4096;

/// Shortest paths; of several the one over the neighbour named first. Places that links name beyond the first `nodes` pass
/// packets on, as switches do.
pub(super) fn graph(edges: &[(usize, usize)], nodes: usize) -> Result<Kind, String> {
    let places = 1 + edges.iter().map(|&(a, b)| a.max(b)).max().unwrap_or(0);
    if places > GRAPH_NODES_MAX {
        return Err(format!("a graph has at most {GRAPH_NODES_MAX} nodes, not {places}"));
    }
    if nodes > places {
        return Err(format!("the links join nodes 0 to {}, and {nodes} are needed", places - 1));
    }
    let ends: Vec<(u32, u32)> =
        edges.iter().flat_map(|&(a, b)| [(a as u32, b as u32), (b as u32, a as u32)]).collect();
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); places];
    for (channel, &(_, to)) in ends.iter().enumerate() {
        into[to as usize].push(channel as u32);
    }
    let mut next = vec![NO_CHANNEL; places * places];
    for to in 0..places {
        let mut open = VecDeque::from([to]);
        while let Some(at) = open.pop_front() {
            for &channel in &into[at] {
                let before = ends[channel as usize].0 as usize;
                if before != to && next[before * places + to] == NO_CHANNEL {
                    next[before * places + to] = channel;
                    open.push_back(before);
                }
            }
        }
        if let Some(apart) = (0..places).find(|&n| n != to && next[n * places + to] == NO_CHANNEL) {
            return Err(format!("no links lead from node {apart} to node {to}"));
        }
    }
    Ok(Kind::Graph { next, ends, places })
}
