//! Routes over any graph, from a table.

use std::collections::VecDeque;

use super::Layout;

const NO_CHANNEL: u32 = u32::MAX;
/// Maximum number of nodes of a graph. Its table of routes grows with the square of this number.
const GRAPH_NODES_MAX: usize = 4096;

/// Returns the number of places that the links name. The links must connect all of them. Links lead both ways, so one
/// search from place 0 finds all places of a connected graph.
///
/// # Errors
/// A sentence, if a place is not connected with place 0 or there are too many.
pub(crate) fn joined(edges: &[(usize, usize)]) -> Result<usize, String> {
    let places = 1 + edges.iter().map(|&(a, b)| a.max(b)).max().unwrap_or(0);
    if places > GRAPH_NODES_MAX {
        return Err(format!("a graph has at most {GRAPH_NODES_MAX} nodes, not {places}"));
    }
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); places];
    for &(a, b) in edges {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut found = vec![false; places];
    found[0] = true;
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        for &next in &neighbours[at] {
            if !std::mem::replace(&mut found[next], true) {
                open.push(next);
            }
        }
    }
    match found.iter().position(|found| !found) {
        None => Ok(places),
        Some(unreached) => Err(format!("no links lead from node {unreached} to node 0")),
    }
}

/// Builds a graph with shortest paths. Of several shortest paths it takes the one over the neighbour that is named
/// first. Places beyond the first `nodes` forward packets, as switches do.
pub(super) fn graph(edges: &[(usize, usize)], nodes: usize) -> Result<Layout, String> {
    let places = joined(edges)?;
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
    }
    Ok(Layout::Graph { next, ends, places })
}
