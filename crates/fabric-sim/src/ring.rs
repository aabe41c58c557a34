//! The collectives of the SHARC ring. After one barrier every node expects the data, so they travel around the ring
//! without headers and without requests (MPI-SHARC, section 3.2).
//!
//! Each collective is written as the actions of a node on its two links: receive from the left, send to the right.

use collectives::Collective;
use contract::{
    AgreedCall, CallId, CollectiveCall, Error, Request, Result, Selector, Tag, TimeSpan, Work,
    WorkKind,
};

use crate::endpoint::{Idle, SimEndpoint, WORLD_COLLECTIVES};
use crate::machine::RingCollectives;

/// Longest piece of a broadcast in bytes: a node's buffer for packets in transit.
const PACKET_BYTES: usize = 2048;
/// The barrier's token: one word.
const TOKEN: [u8; 4] = [0; 4];

// Tags beyond those of the generic collectives, so that a rank in one of those detects the mismatch.
const BARRIER: u32 = 0xf_0000;
const BROADCAST: u32 = 0xf_1000;
const ALLGATHER: u32 = 0xf_2000;

fn tag(mark: u32, root: usize) -> Tag {
    Tag::from_wire((Tag::MAX + 1) | mark | (root as u32 & 0xfff))
}

/// Returns whether the ring has a collective of its own for this call.
pub(crate) fn carries(call: &CollectiveCall<'_>) -> bool {
    use Collective::{Allgather, Barrier, Broadcast};
    matches!(call.collective, Barrier | Broadcast | Allgather)
}

/// Executes such a collective of all ranks.
///
/// # Panics
/// If the ring has no collective of its own for this call.
pub(crate) fn carry_out<'a>(
    endpoint: &mut SimEndpoint<'a>,
    idle: Idle<'_, 'a>,
    costs: &RingCollectives,
    call: CollectiveCall<'_>,
) -> Result<()> {
    let (id, name) = (call.id(), call.id().name());
    let CollectiveCall { collective, root, bytes, send, mut receive, stated_bytes, .. } = call;
    let mark = match collective {
        Collective::Barrier => BARRIER,
        Collective::Broadcast => BROADCAST,
        Collective::Allgather => ALLGATHER,
        other => panic!("the ring has no collective of its own for {other:?}"),
    };
    let mut node = Node { endpoint, idle, costs, id, name, tag: tag(mark, root) };
    let room = receive.as_mut().map_or(&mut [][..], |room| room.part_mut(0..room.bytes()));
    match collective {
        Collective::Broadcast => node.broadcast(root, room),
        Collective::Allgather => {
            let send = send.as_ref().map(|send| send.as_slice());
            node.allgather(send, room, bytes, stated_bytes)
        }
        _ => node.meet(node.size() - 1),
    }
}

/// One rank's part in one call.
struct Node<'r, 'a> {
    endpoint: &'r mut SimEndpoint<'a>,
    idle: Idle<'r, 'a>,
    costs: &'r RingCollectives,
    id: CallId,
    name: &'static str,
    tag: Tag,
}

impl Node<'_, '_> {
    fn me(&self) -> usize {
        self.endpoint.number()
    }

    fn size(&self) -> usize {
        self.endpoint.ranks()
    }

    fn left(&self) -> usize {
        (self.me() + self.size() - 1) % self.size()
    }

    fn work(&self, span: TimeSpan) {
        self.endpoint.work(span);
    }

    fn begin_pass(&mut self, data: &[u8]) -> Result<Request> {
        let right = (self.me() + 1) % self.size();
        self.endpoint.begin_bare_send(right, self.tag.value(), data)
    }

    fn end_pass(&mut self, sending: Request) -> Result<()> {
        self.endpoint.end_bare_send(sending, &mut *self.idle)
    }

    /// Sends `data` to the right.
    fn pass(&mut self, data: &[u8]) -> Result<()> {
        let sending = self.begin_pass(data)?;
        self.end_pass(sending)
    }

    /// Receives from the left. The message must be of the same call, and fill `buffer`. `name` is the name of the call
    /// in an error.
    fn take(&mut self, name: &'static str, buffer: &mut [u8]) -> Result<()> {
        let left = self.left();
        let source = Some(left as u32);
        let selector = Selector { context: WORLD_COLLECTIVES, source, tag: None };
        let expected_bytes = buffer.len();
        let received = self.endpoint.receive_idling(selector, buffer, &mut *self.idle)?;
        let (own, found) = (self.tag, Tag::from_wire(received.tag));
        let me = self.me();
        if found != own {
            let call = |id| AgreedCall { id, bytes: expected_bytes };
            let theirs = found.call_id().map(|id| (left, call(id)));
            let error = theirs.and_then(|theirs| Error::of_calls((me, call(self.id)), theirs));
            return Err(error.unwrap_or_else(|| Error::of_unknown_call((me, self.id), left)));
        }
        let found_bytes = received.bytes;
        if found_bytes != expected_bytes {
            let what = format!("the data of rank {left}");
            return Err(Error::UnequalCounts {
                collective: name.into(),
                what,
                expected_bytes,
                found_bytes,
            });
        }
        Ok(())
    }

    fn take_token(&mut self) -> Result<()> {
        let mut token = TOKEN;
        self.take("barrier", &mut token)?;
        self.work(self.costs.barrier_hop);
        Ok(())
    }

    /// Waits until every rank has arrived. A token goes around once to gather all, and once more to release them;
    /// `last` is released last. So every rank that waits for data of `last` is ready when `last` begins.
    fn meet(&mut self, last: usize) -> Result<()> {
        let first = (last + 1) % self.size();
        self.work(self.costs.barrier_entry);
        if self.me() == first {
            self.pass(&TOKEN)?;
            self.take_token()?;
            return self.pass(&TOKEN);
        }
        self.take_token()?;
        self.pass(&TOKEN)?;
        self.take_token()?;
        if self.me() == last { Ok(()) } else { self.pass(&TOKEN) }
    }

    /// Copies `buffer` of rank `root` to all, packet after packet around the ring: while a node forwards one packet,
    /// the next one arrives.
    fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        self.meet(root)?;
        let last = (root + self.size() - 1) % self.size();
        // Without data there is still a message, so that ranks with different lengths detect the mismatch.
        let count = buffer.len().div_ceil(PACKET_BYTES).max(1);
        for index in 0..count {
            let end = buffer.len().min((index + 1) * PACKET_BYTES);
            let packet = &mut buffer[index * PACKET_BYTES..end];
            if self.me() == root {
                if index > 0 {
                    self.work(self.costs.packet);
                }
                self.pass(packet)?;
                continue;
            }
            self.take(self.name, packet)?;
            if self.me() != last {
                self.work(self.costs.forward);
                self.pass(packet)?;
            }
        }
        Ok(())
    }

    /// Puts `send` of rank r into block r of every rank's `receive`. A rank without `send` has its block there already.
    ///
    /// With `stated_bytes`, the rank takes part with blocks of that length, so that its neighbour detects the mismatch, and
    /// then fails.
    fn allgather(
        &mut self,
        send: Option<&[u8]>,
        receive: &mut [u8],
        each: usize,
        stated_bytes: Option<usize>,
    ) -> Result<()> {
        if let Some(stated_bytes) = stated_bytes {
            let what = "the block of this rank".into();
            self.rotate(&mut vec![0; self.size() * stated_bytes])?;
            let (expected_bytes, found_bytes) = (each, stated_bytes);
            let collective = self.name.into();
            return Err(Error::UnequalCounts { collective, what, expected_bytes, found_bytes });
        }
        if let Some(send) = send {
            let own = self.me() * each..(self.me() + 1) * each;
            self.endpoint.spend(Work::new(WorkKind::CopyBytes, each as u64));
            receive[own].copy_from_slice(send);
        }
        self.rotate(receive)
    }

    /// Sends the block that this node received last, step by step, at all nodes at the same time.
    fn rotate(&mut self, buffer: &mut [u8]) -> Result<()> {
        let (me, size) = (self.me(), self.size());
        self.work(self.costs.allgather_entry);
        self.meet(size - 1)?;
        let bytes = buffer.len() / size;
        for step in 0..size - 1 {
            self.work(self.costs.allgather_step);
            let (old, new) = ((me + size - step) % size, (me + size - step - 1) % size);
            let sending = self.begin_pass(&buffer[old * bytes..][..bytes])?;
            self.take(self.name, &mut buffer[new * bytes..][..bytes])?;
            self.end_pass(sending)?;
        }
        Ok(())
    }
}
