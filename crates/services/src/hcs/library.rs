//! The lower library: its start and end, and the waiting in its calls.

use contract::{
    Buffer, Context, Posted, Progress, Rank, RankWindow, Source, TagSelector, Time, TimeSpan,
};

use super::error::{ClusterError, ClusterResult};
use super::layout::{Layout, Link, SEGMENTS, WORD, words};
use super::pool::Pool;

/// The options of a cluster, the same on all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterOptions {
    /// Maximum time that calls without a time-out of their own wait for other nodes.
    pub timeout: TimeSpan,
    /// Memory of a node for segments, in bytes.
    pub shared_bytes: usize,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        ClusterOptions { timeout: TimeSpan::from_us(60_000_000), shared_bytes: 1 << 20 }
    }
}

/// The result of [`sci_lib_info`](Sci::sci_lib_info).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SciInfo {
    /// This node.
    pub node: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Name of the fabric.
    pub fabric: String,
    /// True if the nodes can access each other's memory. Otherwise a node serves accesses to its memory in its own
    /// calls.
    pub memory_is_shared: bool,
    /// Number of receive ports of this node.
    pub ports: usize,
    /// Number of segments of this node.
    pub segments: usize,
    /// Memory of this node that no segment has, in bytes.
    pub free_bytes: usize,
}

/// The state of the lower library at one node. To use it, [enter](SciLib::enter) it.
pub struct SciLib {
    pub(super) context: Context,
    pub(super) window: RankWindow,
    pub(super) layout: Layout,
    pub(super) options: ClusterOptions,
    pub(super) pool: Pool,
    /// Name and serial number of this node's receive ports.
    pub(super) ports: Vec<Option<(u32, u32)>>,
    /// Key, place, length and serial number of this node's segments.
    pub(super) segments: Vec<Option<OwnSegment>>,
    /// The serial number of the port or segment that was made last.
    pub(super) serial: u32,
    /// Long blocks that are under way.
    sending: Vec<Posted>,
    /// Number of messages to each node, and from each.
    pub(super) sent: Vec<u64>,
    pub(super) received: Vec<u64>,
}

/// A segment of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnSegment {
    pub(super) key: u32,
    pub(super) offset: usize,
    pub(super) bytes: usize,
    pub(super) serial: u32,
}

/// Opens the library on all ranks, which are the nodes. Each must call it, as a collective, with the same options.
///
/// # Errors
/// Those of the fabric.
pub fn sci_init_lib(rank: &mut dyn Rank, options: ClusterOptions) -> ClusterResult<SciLib> {
    let nodes = rank.size();
    let layout = Layout { nodes, pool_bytes: options.shared_bytes };
    let context = rank.split(Some(0), 0)?.expect("this rank has given a colour");
    let window = rank.open_window(layout.bytes())?;
    Ok(SciLib {
        context,
        window,
        layout,
        options,
        pool: Pool::new(layout.pool(), layout.pool_bytes),
        ports: vec![None; layout.ports()],
        segments: vec![None; SEGMENTS],
        serial: 0,
        sending: Vec::new(),
        sent: vec![0; nodes],
        received: vec![0; nodes],
    })
}

impl SciLib {
    /// Returns the library's calls. `rank` is the one with which it was opened.
    pub fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank) -> Sci<'a> {
        let rank = rank.within(&self.context);
        Sci { lib: self, rank }
    }

    /// Closes the library on all nodes, as a collective: it waits until all have called it. Blocks that were not read
    /// are dropped, and all ports and segments are gone. Returns the number of dropped blocks.
    ///
    /// # Errors
    /// Those of the fabric.
    pub fn sci_close_lib(mut self, rank: &mut dyn Rank) -> ClusterResult<u64> {
        let unread = self.enter(rank).drain()?;
        rank.close_window(self.window)?;
        rank.close(self.context)?;
        Ok(unread)
    }
}

/// The calls of the lower library.
///
/// Messages between ports, and segments of memory, by the names of SCI_LIB. A call that finds nothing returns at once.
/// A call that waits for another node ends with [`TimedOut`](ClusterError::TimedOut). Every call may also return an
/// error of the fabric, which names a node that died.
pub struct Sci<'a> {
    pub(super) lib: &'a mut SciLib,
    pub(super) rank: Box<dyn Rank + 'a>,
}

impl Sci<'_> {
    /// Returns the resources of this node, and its fabric.
    pub fn sci_lib_info(&self) -> SciInfo {
        SciInfo {
            node: self.me(),
            nodes: self.lib.layout.nodes,
            fabric: self.rank.describe().name,
            memory_is_shared: !self.lib.window.is_served(),
            ports: self.lib.ports.iter().flatten().count(),
            segments: self.lib.segments.iter().flatten().count(),
            free_bytes: self.lib.pool.free_bytes(),
        }
    }

    /// Returns this rank, for its clock and its computing. Waiting in its calls serves no other node.
    pub fn rank(&mut self) -> &mut dyn Rank {
        &mut *self.rank
    }

    pub(super) fn me(&self) -> usize {
        self.lib.window.rank()
    }

    pub(super) fn check_node(&self, node: usize) -> ClusterResult<()> {
        let nodes = self.lib.layout.nodes;
        if node < nodes { Ok(()) } else { Err(ClusterError::NoSuchNode { node, nodes }) }
    }

    /// Returns a new number for a port or segment, which no earlier one has had.
    pub(super) fn next_serial(&mut self) -> u32 {
        self.lib.serial += 1;
        self.lib.serial
    }

    /// Begins a wait.
    pub(super) fn wait(&self, timeout: TimeSpan) -> Wait {
        Wait { begin: self.rank.now(), timeout }
    }

    pub(super) fn fetch(&mut self, node: usize, offset: u64, room: &mut [u8]) -> ClusterResult<()> {
        Ok(self.lib.window.get(&mut *self.rank, node, offset, room)?)
    }

    pub(super) fn load(&mut self, node: usize, offset: u64) -> ClusterResult<u64> {
        let mut word = [0; WORD];
        self.fetch(node, offset, &mut word)?;
        Ok(u64::from_ne_bytes(word))
    }

    /// Replaces a word by `new` if it is `expected`. Returns its former value.
    pub(super) fn swap(
        &mut self,
        node: usize,
        offset: u64,
        expected: u64,
        new: u64,
    ) -> ClusterResult<u64> {
        let place = (node, offset);
        Ok(self.lib.window.compare_and_swap(&mut *self.rank, place, expected, new)?)
    }

    /// Replaces a word by `new`, whatever its value. `expected` is a guess of that value.
    pub(super) fn store(
        &mut self,
        node: usize,
        offset: u64,
        expected: u64,
        new: u64,
    ) -> ClusterResult<()> {
        let mut seen = expected;
        loop {
            let found = self.swap(node, offset, seen, new)?;
            if found == seen {
                return Ok(());
            }
            seen = found;
        }
    }

    /// Searches for a name in a directory of `count` entries of `width` words, whose first word is the name. Returns
    /// its place and its entry.
    pub(super) fn find_entry(
        &mut self,
        node: usize,
        (start, count, width): (u64, usize, usize),
        name: u64,
    ) -> ClusterResult<Option<(usize, Vec<u64>)>> {
        let mut bytes = vec![0; count * width * WORD];
        self.fetch(node, start, &mut bytes)?;
        let words: Vec<u64> = words(&bytes).collect();
        let entries = words.chunks_exact(width).enumerate();
        let mut found = entries.filter(|(_, entry)| entry[0] == name);
        Ok(found.next().map(|(index, entry)| (index, entry.to_vec())))
    }

    /// Sends a message. A long one is copied, and its send continues after this call.
    pub(super) fn send(&mut self, to: usize, tag: contract::Tag, data: &[u8]) -> ClusterResult<()> {
        if data.len() <= contract::EAGER_BYTES {
            self.rank.send(to, tag, data)?;
            self.lib.sent[to] += 1;
            return Ok(());
        }
        let posted = self.rank.post_send(to, tag, Buffer::from_bytes(data))?;
        self.lib.sent[to] += 1;
        self.lib.sending.push(posted);
        Ok(())
    }

    /// Returns whether long blocks are under way.
    pub(super) fn is_sending(&mut self) -> ClusterResult<bool> {
        self.test_sending()?;
        Ok(!self.lib.sending.is_empty())
    }

    fn test_sending(&mut self) -> ClusterResult<()> {
        for posted in std::mem::take(&mut self.lib.sending) {
            if let Progress::Pending(same) = self.rank.test(posted)? {
                self.lib.sending.push(same);
            }
        }
        Ok(())
    }

    /// Receives a message if one has come.
    pub(super) fn try_receive(
        &mut self,
        from: Source,
        tag: contract::Tag,
        room: &mut [u8],
    ) -> ClusterResult<Option<usize>> {
        let Some(found) = self.rank.probe(from, tag.into())? else { return Ok(None) };
        if found.bytes > room.len() {
            let (from, bytes, room) = (found.source, found.bytes, room.len());
            return Err(ClusterError::BlockTooLong { from, bytes, room });
        }
        let status = self.rank.receive(Source::Rank(found.source), tag.into(), room)?;
        self.lib.received[status.source] += 1;
        Ok(Some(status.bytes))
    }

    /// Receives unread data, after the last send of all nodes. This completes long blocks.
    fn drain(&mut self) -> ClusterResult<u64> {
        // Until all nodes have arrived, one may still request this node's memory.
        self.lib.window.fence(&mut *self.rank)?;
        let counts: Vec<u8> = self.lib.sent.iter().flat_map(|count| count.to_ne_bytes()).collect();
        let mut all = vec![0; counts.len()];
        self.rank.all_to_all(&counts, &mut all)?;
        let mut unread = 0;
        for (from, sent) in words(&all).enumerate() {
            while self.lib.received[from] < sent {
                unread += 1;
                self.drop_one(from)?;
            }
        }
        while !self.lib.sending.is_empty() {
            let (_, _buffer) = self.rank.wait_any(&mut self.lib.sending)?;
        }
        Ok(unread)
    }

    fn drop_one(&mut self, from: usize) -> ClusterResult<()> {
        let found = loop {
            if let Some(found) = self.rank.probe(Source::Rank(from), TagSelector::Any)? {
                break found;
            }
            self.serve()?;
        };
        let mut room = Buffer::try_zeroed(found.bytes)?;
        self.rank.receive(Source::Rank(from), found.tag.into(), &mut room)?;
        self.lib.received[from] += 1;
        Ok(())
    }

    /// Serves other nodes' accesses to this node's memory, if they cannot reach it directly. Does not wait. For
    /// programs that wait for a change of their memory.
    pub fn serve(&mut self) -> ClusterResult<()> {
        Ok(self.lib.window.advance(&mut *self.rank)?)
    }

    pub(super) fn link(&mut self, node: usize, offset: u64) -> ClusterResult<Link> {
        self.load(node, offset).map(Link::from_word)
    }
}

/// A wait for an action of other nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    begin: Time,
    timeout: TimeSpan,
}

/// Time in picoseconds for which a wait polls without pause. Latency does not matter in longer waits.
const POLLED_PS: u64 = 400_000_000;
/// Divisor of the waited time for the length of a pause, and the maximum of that length in picoseconds.
const PART: u64 = 8;
const PAUSE_MAX_PS: u64 = 1_000_000_000;

impl Wait {
    /// Serves the other nodes, and pauses if the wait is a long one.
    ///
    /// # Errors
    /// [`TimedOut`](ClusterError::TimedOut), in which `what` is the event that has not happened.
    pub(super) fn advance(
        self,
        sci: &mut Sci<'_>,
        what: impl FnOnce() -> String,
    ) -> ClusterResult<()> {
        sci.serve()?;
        let now = sci.rank.now();
        let waited = now.since(self.begin);
        if waited >= self.timeout {
            return Err(ClusterError::TimedOut { what: what(), after: self.timeout });
        }
        if waited.as_ps() > POLLED_PS {
            let left = self.timeout.as_ps() - waited.as_ps();
            let pause = (waited.as_ps() / PART).min(PAUSE_MAX_PS).min(left);
            sci.rank.wait_until(now + TimeSpan::from_ps(pause));
        }
        Ok(())
    }
}
