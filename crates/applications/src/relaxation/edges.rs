//! The exchange of edges between neighbours: in memory on a rank, by messages between ranks.

use contract::{Buffer, Rank, Result, Source, Tag, TagSelector};

use super::tile::Tile;
use super::tiling::{Direction, Tiling};

/// First tag of edges. A tag is made of the receiving partition and its side.
const FIRST_TAG: u32 = 16;
const NUMBER: usize = size_of::<f64>();
/// Length in bytes of the trailer after the points of an edge: the iteration after which all ranks stop, or zero.
const TRAILER: usize = size_of::<u64>();

/// An edge that comes from another rank and one that goes to it.
struct Border {
    /// The partition of this rank, by its number among those of the rank.
    tile: usize,
    direction: Direction,
    other: usize,
    /// The tags of the edge that comes and of the one that goes.
    coming: Tag,
    going: Tag,
    incoming: Option<Buffer>,
    outgoing: Option<Buffer>,
}

/// The edges of a rank.
pub(super) struct Edges {
    /// Neighbours on this rank: a partition, its side, and the partition there.
    inner: Vec<(usize, Direction, usize)>,
    borders: Vec<Border>,
    line: Vec<f64>,
    /// The iteration after which all ranks stop, once this rank has received it; until then zero. Every edge passes it
    /// on.
    pub(super) stop_after: u64,
    /// Number of messages sent in a run.
    pub(super) messages: u64,
}

impl Edges {
    pub(super) fn new(tiling: &Tiling, me: usize, tiles: &[Tile]) -> Result<Self> {
        let first = tiling.tiles_of(me).start;
        let tag = |tile: usize, direction: Direction| {
            Tag::new(FIRST_TAG + 4 * tile as u32 + direction as u32)
        };
        let (mut inner, mut borders, mut longest) = (Vec::new(), Vec::new(), 0);
        for tile in tiling.tiles_of(me) {
            for direction in Direction::ALL {
                let Some(other) = tiling.neighbour(tile, direction) else { continue };
                let length = tiles[tile - first].edge_length(direction);
                longest = longest.max(length);
                if tiling.owner(other) == me {
                    inner.push((tile - first, direction, other - first));
                    continue;
                }
                let bytes = length * NUMBER + TRAILER;
                borders.push(Border {
                    tile: tile - first,
                    direction,
                    other: tiling.owner(other),
                    coming: tag(tile, direction),
                    going: tag(other, direction.opposite()),
                    incoming: Some(Buffer::try_zeroed(bytes)?),
                    outgoing: Some(Buffer::try_zeroed(bytes)?),
                });
            }
        }
        Ok(Edges { inner, borders, line: vec![0.0; longest], stop_after: 0, messages: 0 })
    }

    /// Copies the outermost points of all neighbours to the rims of this rank's partitions.
    pub(super) fn exchange(&mut self, rank: &mut dyn Rank, tiles: &mut [Tile]) -> Result<()> {
        let mut receives = Vec::with_capacity(self.borders.len());
        let mut sends = Vec::with_capacity(self.borders.len());
        for border in &mut self.borders {
            let (from, tag) = (Source::Rank(border.other), TagSelector::Is(border.coming));
            if let Some(buffer) = border.incoming.take() {
                receives.push(rank.post_receive(from, tag, buffer)?);
            }
        }
        for border in &mut self.borders {
            let Some(mut buffer) = border.outgoing.take() else { continue };
            let points = buffer.len() - TRAILER;
            let (edge, trailer) = buffer.split_at_mut(points);
            tiles[border.tile].read_edge(border.direction, bytemuck::cast_slice_mut(edge));
            trailer.copy_from_slice(&self.stop_after.to_le_bytes());
            sends.push(rank.post_send(border.other, border.going, buffer)?);
            self.messages += 1;
        }
        for &(tile, direction, other) in &self.inner {
            let edge = &mut self.line[..tiles[tile].edge_length(direction)];
            tiles[other].read_edge(direction.opposite(), edge);
            tiles[tile].set_rim(direction, edge);
        }
        for (border, receive) in self.borders.iter_mut().zip(receives) {
            let buffer = rank.wait(receive)?.buffer;
            let (edge, trailer) = buffer.split_at(buffer.len() - TRAILER);
            tiles[border.tile].set_rim(border.direction, bytemuck::cast_slice(edge));
            let stop_after = trailer.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            self.stop_after = self.stop_after.max(stop_after);
            border.incoming = Some(buffer);
        }
        for (border, send) in self.borders.iter_mut().zip(sends) {
            border.outgoing = Some(rank.wait(send)?.buffer);
        }
        Ok(())
    }
}
