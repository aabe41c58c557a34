//! Machines with a network of another shape, of the same links.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use super::Machine;
use crate::topology::Shape;

/// Number of places at an input of a node that a network with closed rings needs, because a packet that enters a ring
/// leaves one free.
const RING_PACKETS: u32 = 2;

impl FromStr for Shape {
    type Err = String;

    /// Parses a shape by its name in machine files. A grid may have its extents, as in `torus:4x4x4`, and a fat tree
    /// has its arity, as in `fat-tree:8`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, numbers) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
        let numbers: Option<Vec<usize>> = match numbers {
            None => None,
            Some(words) => Some(
                words
                    .split('x')
                    .map(|word| word.parse().ok().filter(|&number| number > 0))
                    .collect::<Option<_>>()
                    .ok_or(format!("'{words}' is no list of extents, such as 4x4"))?,
            ),
        };
        let extents = || numbers.clone().unwrap_or(vec![0, 0]);
        Ok(match (name, numbers.as_deref()) {
            ("line", None) => Shape::Line,
            ("ring", None) => Shape::Ring { one_way: false },
            ("mesh", _) => Shape::Mesh(extents()),
            ("torus", _) => Shape::Torus(extents()),
            ("eight-neighbours", None | Some([_, _])) => Shape::EightNeighbours(extents()),
            ("hypercube", None) => Shape::Hypercube,
            ("bus", None) => Shape::Bus,
            ("switch", None) => Shape::Switch,
            ("fat-tree", Some(&[arity])) if arity >= 2 => Shape::FatTree { arity },
            _ => {
                return Err(format!(
                    "'{text}' is none of: line, ring, mesh, torus, eight-neighbours, hypercube, bus, switch, \
                     fat-tree:ARITY; a grid may have extents, as in torus:4x4x4"
                ));
            }
        })
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let grid = |f: &mut Formatter<'_>, name: &str, extents: &[usize]| {
            f.write_str(name)?;
            if extents.contains(&0) {
                return Ok(());
            }
            let words: Vec<String> = extents.iter().map(usize::to_string).collect();
            write!(f, ":{}", words.join("x"))
        };
        match self {
            Shape::Line => f.write_str("line"),
            Shape::Ring { one_way: false } => f.write_str("ring"),
            Shape::Ring { one_way: true } => f.write_str("ring one way"),
            Shape::Mesh(extents) => grid(f, "mesh", extents),
            Shape::Torus(extents) => grid(f, "torus", extents),
            Shape::EightNeighbours(extents) => grid(f, "eight-neighbours", extents),
            Shape::Hypercube => f.write_str("hypercube"),
            Shape::Bus => f.write_str("bus"),
            Shape::Switch => f.write_str("switch"),
            Shape::FatTree { arity } => write!(f, "fat-tree:{arity}"),
            Shape::Graph(links) => write!(f, "graph of {} links", links.len()),
        }
    }
}

impl Machine {
    /// Returns the same machine with an outermost network of another shape, of the same links. It has no faults and no
    /// collectives around a ring. Rings of SCI become links without transactions.
    pub fn shaped(&self, shape: &Shape) -> Machine {
        let mut machine = self.clone();
        machine.faults.clear();
        machine.ring_collectives = None;
        machine.sci = None;
        machine.network.shape = shape.clone();
        machine.network.buffer_packets = machine.network.buffer_packets.max(RING_PACKETS);
        machine
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    #[test]
    fn shapes_are_named_as_in_machine_files() {
        for name in [
            "line",
            "ring",
            "mesh:3x4",
            "torus",
            "eight-neighbours",
            "hypercube",
            "bus",
            "switch",
            "fat-tree:4",
        ] {
            assert_eq!(name.parse::<Shape>().unwrap().to_string(), name);
        }
        assert_eq!("torus:4x4x2".parse(), Ok(Shape::Torus(vec![4, 4, 2])));
        assert_eq!("mesh".parse(), Ok(Shape::Mesh(vec![0, 0])));
        assert_eq!("fat-tree:8".parse(), Ok(Shape::FatTree { arity: 8 }));
        for wrong in
            ["fat-tree", "fat-tree:1", "switch:4", "torus:4x", "torus:0", "eight-neighbours:3", ""]
        {
            assert!(wrong.parse::<Shape>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn another_shape_keeps_the_links() {
        let cluster = find("cluster").unwrap();
        let ring = cluster.shaped(&Shape::Ring { one_way: false });
        assert_eq!(ring.network.shape, Shape::Ring { one_way: false });
        assert_eq!(
            ring.shaped(&cluster.network.shape).network.byte_time,
            cluster.network.byte_time
        );
        assert_eq!(find("sharc-ring").unwrap().shaped(&Shape::Switch).ring_collectives, None);
    }
}
