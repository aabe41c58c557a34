//! Checks distances and routes that were worked out by hand.

use super::*;

fn hops(shape: Shape, nodes: usize, from: usize, to: usize) -> usize {
    let mut channels = Vec::new();
    Topology::new(&shape, nodes, false).unwrap().route(from, to, &mut channels);
    channels.len()
}

#[test]
fn distances_are_those_of_the_shape() {
    assert_eq!(hops(Shape::Line, 16, 2, 13), 11);
    assert_eq!(hops(Shape::Ring { one_way: true }, 8, 1, 0), 7);
    assert_eq!(hops(Shape::Ring { one_way: false }, 8, 1, 0), 1);
    // This is from (1, 1) to (3, 0) in a grid of 4 by 4.
    assert_eq!(hops(Shape::Mesh(vec![4, 4]), 16, 5, 3), 3);
    assert_eq!(hops(Shape::Torus(vec![4, 4]), 16, 0, 15), 2);
    assert_eq!(hops(Shape::EightNeighbours(vec![6, 6]), 36, 0, 35), 1);
    assert_eq!(hops(Shape::EightNeighbours(vec![6, 6]), 36, 0, 15), 3);
    assert_eq!(hops(Shape::Hypercube, 32, 0b10101, 0b01100), 3);
    assert_eq!(hops(Shape::Bus, 9, 3, 4), 1);
    assert_eq!(hops(Shape::Switch, 9, 3, 4), 2);
    assert_eq!(hops(Shape::FatTree { arity: 4 }, 64, 0, 3), 2);
    assert_eq!(hops(Shape::FatTree { arity: 4 }, 64, 0, 63), 6);
    assert_eq!(hops(Shape::Graph(vec![(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]), 4, 1, 3), 2);
}

/// Follows every route with a table of the node at the end of each channel. The table is built from routes of one hop
/// only.
#[test]
fn routes_are_unbroken() {
    for (shape, nodes) in [
        (Shape::Mesh(vec![3, 4]), 12),
        (Shape::Torus(vec![3, 3, 3]), 27),
        (Shape::EightNeighbours(vec![5, 4]), 20),
        (Shape::Hypercube, 16),
        (Shape::Ring { one_way: false }, 7),
    ] {
        let topology = Topology::new(&shape, nodes, false).unwrap();
        let route = |from, to| {
            let mut channels = Vec::new();
            topology.route(from, to, &mut channels);
            channels
        };
        let mut leads = std::collections::HashMap::new();
        for from in 0..nodes {
            for to in (0..nodes).filter(|&to| to != from) {
                if let [channel] = route(from, to)[..] {
                    leads.insert((from, channel), to);
                }
            }
        }
        for from in 0..nodes {
            for to in (0..nodes).filter(|&to| to != from) {
                let end = route(from, to).into_iter().fold(from, |at, c| leads[&(at, c)]);
                assert_eq!(end, to, "{shape:?}: {from} to {to}");
            }
        }
    }
}

#[test]
fn all_to_one_shift_over_a_fat_tree_shares_no_link() {
    let topology = Topology::new(&Shape::FatTree { arity: 4 }, 64, false).unwrap();
    let mut used = std::collections::HashSet::new();
    for from in 0..64 {
        let mut channels = Vec::new();
        topology.route(from, (from + 16) % 64, &mut channels);
        assert!(channels.into_iter().all(|channel| used.insert(channel)));
    }
}

#[test]
fn nodes_of_a_graph_beyond_those_in_use_pass_packets_on() {
    // Two nodes are connected only by a third.
    assert_eq!(hops(Shape::Graph(vec![(0, 2), (2, 1)]), 2, 0, 1), 2);
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    assert!(Topology::new(&Shape::Mesh(vec![2, 2]), 5, false).is_err());
    let disconnected = Topology::new(&Shape::Graph(vec![(0, 1), (2, 3)]), 4, false).unwrap_err();
    assert_eq!(disconnected, "no links lead from node 2 to node 0");
    let small = Topology::new(&Shape::Graph(vec![(0, 1), (1, 2)]), 4, false).unwrap_err();
    assert_eq!(small, "the links join nodes 0 to 2, and 4 are needed");
}

/// One search finds all nodes, and the one that is not connected. A table of routes would have 4096 x 4096 entries.
#[test]
fn whether_a_graph_hangs_together_takes_no_table_of_routes() {
    let mut links: Vec<(usize, usize)> = (1..4096).map(|node| (node - 1, node)).collect();
    assert_eq!(joined(&links), Ok(4096));
    // Links lead both ways, so the order of the two nodes does not matter.
    assert_eq!(joined(&[(2, 1), (1, 0)]), Ok(3));
    links.remove(2000);
    assert_eq!(joined(&links), Err("no links lead from node 2001 to node 0".into()));
    assert_eq!(joined(&[(0, 4096)]), Err("a graph has at most 4096 nodes, not 4097".into()));
}

#[test]
fn links_are_named_by_where_they_lead_where_that_tells_them_apart() {
    let names = |shape, nodes| {
        let topology = Topology::new(&shape, nodes, false).unwrap();
        let mut channels = Vec::new();
        topology.route(0, 1, &mut channels);
        topology.route(1, 0, &mut channels);
        channels.into_iter().map(|channel| topology.channel_name(channel)).collect::<Vec<_>>()
    };
    assert_eq!(names(Shape::Line, 3), ["node 0 to 1", "node 1 to 0"]);
    assert_eq!(names(Shape::Ring { one_way: false }, 3), ["node 0 to 1", "node 1 to 0"]);
    // There are two links each way.
    assert_eq!(names(Shape::Ring { one_way: false }, 2), ["node 0 +x", "node 1 +x"]);
    assert_eq!(names(Shape::Mesh(vec![3, 3]), 9), ["node 0 +x", "node 1 -x"]);
}

#[test]
fn a_network_of_more_channels_than_are_simulated_is_refused() {
    let huge = [
        Shape::Torus(vec![1000, 1000, 1000]),
        Shape::Mesh(vec![usize::MAX, usize::MAX]),
        Shape::EightNeighbours(vec![60000, 60000]),
        Shape::FatTree { arity: 4_000_000_000 },
    ];
    for shape in huge {
        let refused = Topology::new(&shape, 4, true).unwrap_err();
        assert!(refused.contains("more than 16777216 links and ports"), "{shape:?}: {refused}");
    }
    // 256^3 places, of which each has six links, are too many; 128^3 are not: 128^3 * 6 = 12582912.
    assert!(Topology::new(&Shape::Torus(vec![256; 3]), 4, false).is_err());
    let channels = Topology::new(&Shape::Torus(vec![128; 3]), 4, false).unwrap().channels();
    assert_eq!(channels, 12_582_912);
}
