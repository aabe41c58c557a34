//! Segments: memory of a node that others map by its key.

use super::error::{ClusterError, ClusterResult};
use super::layout::{Link, SEGMENTS, WORD, present};
use super::library::{OwnSegment, Sci};
use super::signals::OWN_MAX;

/// Number of words of a segment in the directory.
const WIDTH: usize = 4;
/// Offset of the last of them in bytes.
const LINK: u64 = 3 * WORD as u64;

/// A segment, at the node that made it or at one that has mapped it.
#[derive(Debug, PartialEq, Eq)]
pub struct Segment {
    node: usize,
    index: usize,
    key: u32,
    serial: u32,
    offset: usize,
    bytes: usize,
    claim: Claim,
}

/// A node's right to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Own,
    Mapped,
    Nothing,
}

impl Segment {
    /// Returns the node whose memory it is.
    pub fn node(&self) -> usize {
        self.node
    }

    /// Returns its key at that node.
    pub fn key(&self) -> u32 {
        self.key
    }

    /// Returns its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Fails unless the node has this right to it.
    fn check(&self, wanted: Claim) -> ClusterResult<()> {
        let (node, key) = (self.node, self.key);
        match self.claim {
            Claim::Nothing => Err(ClusterError::NoSuchSegment { node, key }),
            claim if claim == wanted => Ok(()),
            _ => Err(ClusterError::NotYours { key, owner: node }),
        }
    }

    /// Returns the place of `bytes` bytes at `offset` of it in its node's memory.
    fn place(&self, offset: usize, bytes: usize) -> ClusterResult<u64> {
        if self.claim == Claim::Nothing {
            return Err(ClusterError::NoSuchSegment { node: self.node, key: self.key });
        }
        if offset > self.bytes || bytes > self.bytes - offset {
            let (key, segment_bytes) = (self.key, self.bytes);
            return Err(ClusterError::OutsideSegment { key, offset, bytes, segment_bytes });
        }
        Ok((self.offset + offset) as u64)
    }
}

impl Sci<'_> {
    /// Creates a segment of `bytes` zeros, which others find by its key.
    ///
    /// # Errors
    /// [`SegmentInUse`](ClusterError::SegmentInUse), [`Reserved`](ClusterError::Reserved),
    /// [`NoRoom`](ClusterError::NoRoom), and [`DirectoryFull`](ClusterError::DirectoryFull) with 64 segments.
    pub fn sci_create_shm(&mut self, key: u32, bytes: usize) -> ClusterResult<Segment> {
        let node = self.me();
        if key > OWN_MAX {
            return Err(ClusterError::Reserved { what: "segment", number: key });
        }
        if self.lib.segments.iter().flatten().any(|other| other.key == key) {
            return Err(ClusterError::SegmentInUse { node, key });
        }
        let Some(index) = self.lib.segments.iter().position(Option::is_none) else {
            let (count, what) = (SEGMENTS, "segments");
            return Err(ClusterError::DirectoryFull { node, count, what });
        };
        let Some(offset) = self.lib.pool.take(bytes) else {
            return Err(ClusterError::NoRoom { node, bytes, free: self.lib.pool.longest() });
        };
        let serial = self.next_serial();
        let own = OwnSegment { key, offset, bytes, serial };
        self.publish(index, own)?;
        self.lib.segments[index] = Some(own);
        Ok(Segment { node, index, key, serial, offset, bytes, claim: Claim::Own })
    }

    /// Writes a segment into the directory. Its key must be written last, so that a reader that finds it finds the
    /// rest.
    fn publish(&mut self, index: usize, own: OwnSegment) -> ClusterResult<()> {
        let (me, place) = (self.me(), self.lib.layout.segment(index));
        let zeros = vec![0; own.bytes];
        self.lib.window.put(&mut *self.rank, me, own.offset as u64, &zeros)?;
        let link = Link { serial: own.serial, held: 0 }.to_word();
        let words = [own.offset as u64, own.bytes as u64, link, present(own.key)];
        for (at, word) in [1, 2, 3, 0].into_iter().zip(words) {
            self.store(me, place + at * WORD as u64, 0, word)?;
        }
        Ok(())
    }

    /// Maps segment `key` of a node.
    ///
    /// # Errors
    /// [`NoSuchSegment`](ClusterError::NoSuchSegment), [`NoSuchNode`](ClusterError::NoSuchNode).
    pub fn sci_map_shm(&mut self, node: usize, key: u32) -> ClusterResult<Segment> {
        self.check_node(node)?;
        let layout = self.lib.layout;
        let directory = (layout.segment(0), SEGMENTS, WIDTH);
        let missing = ClusterError::NoSuchSegment { node, key };
        let found = self.find_entry(node, directory, present(key))?;
        let Some((index, entry)) = found else { return Err(missing) };
        let serial = Link::from_word(entry[3]).serial;
        let (offset, bytes) = (entry[1] as usize, entry[2] as usize);
        let claim = Claim::Mapped;
        let segment = Segment { node, index, key, serial, offset, bytes, claim };
        if self.count_map(&segment, true)? { Ok(segment) } else { Err(missing) }
    }

    /// Counts a map of a segment, or its end. Returns false if the segment is gone.
    fn count_map(&mut self, segment: &Segment, more: bool) -> ClusterResult<bool> {
        let place = self.lib.layout.segment(segment.index) + LINK;
        let mut seen = self.link(segment.node, place)?;
        while seen.serial == segment.serial {
            let held = if more { seen.held + 1 } else { seen.held.saturating_sub(1) };
            let new = Link { held, ..seen };
            let found = self.swap(segment.node, place, seen.to_word(), new.to_word())?;
            let found = Link::from_word(found);
            if found == seen {
                return Ok(true);
            }
            seen = found;
        }
        Ok(false)
    }

    /// Ends a map. The segment cannot be used through it any more.
    ///
    /// # Errors
    /// [`NotYours`](ClusterError::NotYours) for a segment that this node has made, and not mapped.
    pub fn sci_unmap_shm(&mut self, segment: &mut Segment) -> ClusterResult<()> {
        segment.check(Claim::Mapped)?;
        self.count_map(segment, false)?;
        segment.claim = Claim::Nothing;
        Ok(())
    }

    /// Removes a segment that this node has made.
    ///
    /// # Errors
    /// [`SegmentMapped`](ClusterError::SegmentMapped) while it is mapped, and [`NotYours`](ClusterError::NotYours).
    pub fn sci_remove_shm(&mut self, segment: &mut Segment) -> ClusterResult<()> {
        segment.check(Claim::Own)?;
        match self.retract(segment)? {
            0 => {
                self.lib.pool.give_back(segment.offset, segment.bytes);
                self.lib.segments[segment.index] = None;
                segment.claim = Claim::Nothing;
                Ok(())
            }
            maps => Err(ClusterError::SegmentMapped { key: segment.key, maps }),
        }
    }

    /// Takes a segment out of the directory, unless it is mapped. Returns the number of maps.
    fn retract(&mut self, segment: &Segment) -> ClusterResult<u32> {
        let (me, place) = (self.me(), self.lib.layout.segment(segment.index));
        let free = Link { serial: segment.serial, held: 0 };
        let gone = Link { serial: self.next_serial(), held: 0 };
        let found = self.swap(me, place + LINK, free.to_word(), gone.to_word())?;
        let maps = Link::from_word(found).held;
        if maps == 0 {
            self.store(me, place, present(segment.key), 0)?;
        }
        Ok(maps)
    }

    /// Writes to a segment. Other nodes see the data when this returns.
    ///
    /// # Errors
    /// [`OutsideSegment`](ClusterError::OutsideSegment).
    pub fn write_shm(
        &mut self,
        segment: &Segment,
        offset: usize,
        data: &[u8],
    ) -> ClusterResult<()> {
        let place = segment.place(offset, data.len())?;
        self.lib.window.put(&mut *self.rank, segment.node, place, data)?;
        Ok(self.lib.window.flush(&mut *self.rank, Some(segment.node))?)
    }

    /// Reads from a segment.
    ///
    /// # Errors
    /// [`OutsideSegment`](ClusterError::OutsideSegment).
    pub fn read_shm(
        &mut self,
        segment: &Segment,
        offset: usize,
        room: &mut [u8],
    ) -> ClusterResult<()> {
        let place = segment.place(offset, room.len())?;
        self.fetch(segment.node, place, room)
    }
}
