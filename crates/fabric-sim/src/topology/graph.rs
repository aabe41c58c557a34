//! Routes over any graph, as a table.

use std::collections::VecDeque;

use super::Kind;

const NO_CHANNEL: u32 = u32::MAX;
/// A graph's table of routes grows with the square of the nodes.
const GRAPH_NODES_MAX: usize = 4096;

/// Shortest paths; of several the one over the neighbour named first.
pub(super) fn graph(edges: &[(usize, usize)], nodes: usize) -> Result<Kind, String> {
    if nodes > GRAPH_NODES_MAX {
        return Err(format!("a graph has at most {GRAPH_NODES_MAX} nodes, not {nodes}"));
    }
    if let Some((a, b)) = edges.iter().find(|(a, b)| *a >= nodes || *b >= nodes) {
        return Err(format!("the link {a}-{b} leaves the nodes 0 to {}", nodes - 1));
    }
    let ends: Vec<(u32, u32)> =
        edges.iter().flat_map(|&(a, b)| [(a as u32, b as u32), (b as u32, a as u32)]).collect();
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (channel, &(_, to)) in ends.iter().enumerate() {
        into[to as usize].push(channel as u32);
    }
    let mut next = vec![NO_CHANNEL; nodes * nodes];
    for to in 0..nodes {
        let mut open = VecDeque::from([to]);
        while let Some(at) = open.pop_front() {
            for &channel in &into[at] {
                let before = ends[channel as usize].0 as usize;
                if before != to && next[before * nodes + to] == NO_CHANNEL {
                    next[before * nodes + to] = channel;
                    open.push_back(before);
                }
            }
        }
        if let Some(apart) = (0..nodes).find(|&n| n != to && next[n * nodes + to] == NO_CHANNEL) {
            return Err(format!("no links lead from node {apart} to node {to}"));
        }
    }
    Ok(Kind::Graph { next, ends })
}
