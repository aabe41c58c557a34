//! Wiring of the links of an array. Links are generated from the number of processors.

/// A scheme of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// Left and right neighbours in a row whose ends are not joined.
    Row,
    /// As `Row`, with the ends joined.
    Ring,
    /// The eight neighbours on a torus, row by row. Processors that do not exist have no links.
    EightNeighbours {
        /// Rows of the torus.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Processor i and the one whose number is i with its bits rotated by one (Stone 1971). The number of processors is
    /// a power of two.
    PerfectShuffle,
    /// Cycles of this many processors in place of the corners of a cube (Preparata and Vuillemin 1981). Processor
    /// number `corner * dimensions + place` is joined with those before and after it on its cycle, and with the one of
    /// the same place at the corner that differs in bit `place`.
    CubeConnectedCycles {
        /// Dimensions of the cube, and length of a cycle.
        dimensions: u32,
    },
}

impl Wiring {
    /// Returns the links between `nodes` processors, each once, the lower number first, in ascending order.
    ///
    /// # Errors
    /// A sentence, if this wiring cannot join that number of processors.
    pub fn links(self, nodes: usize) -> Result<Vec<(usize, usize)>, String> {
        let mut links: Vec<(usize, usize)> = match self {
            Wiring::Row => (1..nodes).map(|right| (right - 1, right)).collect(),
            Wiring::Ring => (0..nodes).map(|node| (node, (node + 1) % nodes)).collect(),
            Wiring::EightNeighbours { rows, columns } => {
                if nodes > rows * columns {
                    return Err(format!(
                        "a torus of {rows} by {columns} has no place for {nodes} processors"
                    ));
                }
                (0..nodes).flat_map(|node| eight(node, rows, columns)).collect()
            }
            Wiring::PerfectShuffle => {
                if !nodes.is_power_of_two() {
                    return Err(format!(
                        "a perfect shuffle joins a power of two of processors, not {nodes}"
                    ));
                }
                (0..nodes).map(|node| (node, shuffle(node, nodes))).collect()
            }
            Wiring::CubeConnectedCycles { dimensions } => {
                let wanted =
                    1usize.checked_shl(dimensions).map(|corners| corners * dimensions as usize);
                if wanted != Some(nodes) || dimensions == 0 {
                    return Err(format!(
                        "cube-connected cycles of {dimensions} dimensions join {} processors, not {nodes}",
                        wanted.unwrap_or(0)
                    ));
                }
                (0..nodes).flat_map(|node| cycle_and_cube(node, dimensions as usize)).collect()
            }
        };
        for link in &mut links {
            *link = (link.0.min(link.1), link.0.max(link.1));
        }
        links.retain(|&(low, high)| low != high && high < nodes);
        links.sort_unstable();
        links.dedup();
        Ok(links)
    }
}

/// Returns the links of several wirings together, no pair twice.
///
/// # Errors
/// A sentence, if a wiring cannot join the processors or a processor would have more than `links_max` links.
pub(super) fn combined_links(
    wirings: &[Wiring],
    nodes: usize,
    links_max: usize,
) -> Result<Vec<(usize, usize)>, String> {
    let mut links = Vec::new();
    for wiring in wirings {
        links.extend(wiring.links(nodes)?);
    }
    links.sort_unstable();
    links.dedup();
    for node in 0..nodes {
        let own = links.iter().filter(|(low, high)| *low == node || *high == node).count();
        if own > links_max {
            return Err(format!(
                "processor {node} would have {own} links, and it has {links_max} sockets"
            ));
        }
    }
    Ok(links)
}

fn eight(node: usize, rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let (row, column) = (node / columns, node % columns);
    // Down, right and the diagonals down; the other four are those of the neighbours.
    [(1, 0), (0, 1), (1, 1), (1, columns - 1)].into_iter().map(move |(down, right)| {
        (node, (row + down) % rows * columns + (column + right) % columns)
    })
}

/// Returns the bits of a number below `nodes`, a power of two, rotated by one to the left.
fn shuffle(node: usize, nodes: usize) -> usize {
    match nodes {
        1 => 0,
        _ => (node << 1 | node >> (nodes.trailing_zeros() - 1)) & (nodes - 1),
    }
}

fn cycle_and_cube(node: usize, dimensions: usize) -> [(usize, usize); 2] {
    let (corner, place) = (node / dimensions, node % dimensions);
    let next = corner * dimensions + (place + 1) % dimensions;
    [(node, next), (node, (corner ^ 1 << place) * dimensions + place)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degree(links: &[(usize, usize)], node: usize) -> usize {
        links.iter().filter(|(low, high)| *low == node || *high == node).count()
    }

    #[test]
    fn a_ring_is_a_row_whose_ends_are_joined() {
        assert_eq!(Wiring::Row.links(4).unwrap(), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(Wiring::Ring.links(4).unwrap(), [(0, 1), (0, 3), (1, 2), (2, 3)]);
        assert_eq!(Wiring::Ring.links(2).unwrap(), [(0, 1)]);
        assert_eq!(Wiring::Ring.links(1).unwrap(), []);
    }

    /// By hand for processor 0 of 6 by 6: right 1, left 5, down 6, up 30, diagonals 7, 11, 31, 35.
    #[test]
    fn eight_neighbours_lie_around_a_processor() {
        let links = Wiring::EightNeighbours { rows: 6, columns: 6 }.links(36).unwrap();
        assert_eq!(links.len(), 36 * 8 / 2);
        let of_0: Vec<_> = links.iter().filter(|link| link.0 == 0).map(|link| link.1).collect();
        assert_eq!(of_0, [1, 5, 6, 7, 11, 30, 31, 35]);
        assert!((0..36).all(|node| degree(&links, node) == 8));
    }

    /// By hand for eight: 1 to 2 to 4 to 1, 3 to 6 to 5 to 3; 0 and 7 stay.
    #[test]
    fn a_shuffle_rotates_the_bits() {
        let links = Wiring::PerfectShuffle.links(8).unwrap();
        assert_eq!(links, [(1, 2), (1, 4), (2, 4), (3, 5), (3, 6), (5, 6)]);
        assert_eq!(Wiring::PerfectShuffle.links(1).unwrap(), []);
        assert_eq!(Wiring::PerfectShuffle.links(2).unwrap(), []);
        let error = Wiring::PerfectShuffle.links(36).unwrap_err();
        assert_eq!(error, "a perfect shuffle joins a power of two of processors, not 36");
    }

    /// Three dimensions: 24 processors with three links each, so 36 links. Processor 5 is place 2 of corner 1: on its
    /// cycle are 3 and 4, and bit 2 leads to corner 5, processor 17.
    #[test]
    fn cycles_take_the_place_of_corners() {
        let links = Wiring::CubeConnectedCycles { dimensions: 3 }.links(24).unwrap();
        assert_eq!(links.len(), 36);
        assert!((0..24).all(|node| degree(&links, node) == 3));
        for link in [(3, 5), (4, 5), (5, 17)] {
            assert!(links.contains(&link), "{link:?}");
        }
        assert!(Wiring::CubeConnectedCycles { dimensions: 3 }.links(36).is_err());
        assert!(Wiring::CubeConnectedCycles { dimensions: 70 }.links(36).is_err());
    }

    #[test]
    fn wirings_join_and_no_processor_has_more_links_than_sockets() {
        let both = [Wiring::EightNeighbours { rows: 6, columns: 6 }, Wiring::PerfectShuffle];
        let links = combined_links(&both, 32, 12).unwrap();
        assert!((0..32).all(|node| degree(&links, node) <= 10));
        let error = combined_links(&both, 32, 9).unwrap_err();
        assert!(error.ends_with("would have 10 links, and it has 9 sockets"), "{error}");
        assert!(combined_links(&[Wiring::EightNeighbours { rows: 2, columns: 2 }], 5, 12).is_err());
    }
}
