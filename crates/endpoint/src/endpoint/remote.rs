//! Access to the memory of other ranks without their participation.

use std::ptr::NonNull;

use super::Endpoint;
use super::one_sided::OneSided;
use crate::{InPlace, Readable, Request, Result, Selector, Writable};

/// A place in another rank's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// The rank.
    pub rank: usize,
    /// The address there.
    pub address: u64,
}

/// Effect of an access on another rank's memory, for networks on which kinds of access have different costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Replaces its contents by the data.
    Put,
    /// Fetches its contents.
    Get,
    /// Changes its contents atomically: updates of elements, locks, notices.
    Update,
}

/// An access to another rank's memory, as far as the network distinguishes accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAccess {
    /// Its kind.
    pub kind: AccessKind,
    /// Number of bytes of data that go to the other rank.
    pub there_bytes: u64,
    /// Number of bytes of data that come back.
    pub back_bytes: u64,
}

/// The answer of an agent to a rank.
#[derive(Debug)]
pub struct AgentAnswer {
    /// The rank.
    pub to: usize,
    /// Tag of the answer.
    pub tag: u32,
    /// Data of the answer.
    pub data: Vec<u8>,
}

/// Executes accesses to a rank's memory on the network's request, without participation of the rank.
pub trait Agent {
    /// Executes the request of rank `source` and appends the answers that can be sent now. Returns whether the agent's
    /// rank may wait for its effect.
    fn serve(&mut self, source: usize, request: &[u8], answers: &mut Vec<AgentAnswer>) -> bool;
}

/// The accesses to memory that a network executes by itself.
pub enum NetworkMemory<'a> {
    /// By operations on registered memory.
    OneSided(&'a mut dyn OneSided),
    /// By agents of the ranks.
    Agents(&'a mut dyn Agents),
}

/// The agents of this rank in the network, and accesses to those of others.
pub trait Agents {
    /// Passes all accesses in `context` to this rank to `agent`, from now on, including those that have arrived before.
    fn place(&mut self, context: u32, agent: Box<dyn Agent>);

    /// Removes the agent of a context.
    fn remove(&mut self, context: u32);

    /// Sends `request` to the agent of rank `to`, and posts the receive of its answer, by tag and room. Returns both
    /// requests, that of the answer last.
    ///
    /// # Errors
    /// Errors that end the run.
    fn post_access(
        &mut self,
        to: usize,
        context: u32,
        access: RemoteAccess,
        request: Readable,
        answer: (u32, Writable),
    ) -> Result<[Request; 2]>;
}

/// The highest bits of a place of memory are the host, so that places of different hosts differ.
const HOST_SHIFT: u32 = 48;

/// Memory that the ranks of a host access directly.
#[derive(Clone, Copy)]
pub struct HostMemory<'a> {
    /// The memory of this host.
    pub arenas: &'a dyn Arenas,
    /// Number of this host, which no other host has.
    pub host: u16,
    /// True if windows use it wherever they can. Otherwise it is for programs that share memory on purpose.
    pub is_for_windows: bool,
    /// Copies from and to any memory of any rank of the run, if the system makes them.
    pub copies: Option<&'a dyn MemoryCopies>,
}

impl HostMemory<'_> {
    /// Returns the place of `bytes` bytes of this rank's memory, if every rank of the host can access them. All memory
    /// from [`Arenas::allocate`] has a place, other memory may.
    pub fn place_of(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        let place = self.arenas.place_of(memory, bytes)?;
        Some(place | u64::from(self.host) << HOST_SHIFT)
    }

    /// Returns the address in this process of the `bytes` bytes at such a place of any rank, if it is on this host.
    pub fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        let is_here = place >> HOST_SHIFT == u64::from(self.host);
        let place = place & ((1 << HOST_SHIFT) - 1);
        if is_here { self.arenas.memory_at(place, bytes) } else { None }
    }
}

/// Allocates memory that windows use, if this fabric has any ([`Arenas::allocate`]).
pub fn allocate_for_windows<E: Endpoint>(endpoint: &E, bytes: usize) -> Option<NonNull<u8>> {
    endpoint.host_memory().filter(|memory| memory.is_for_windows)?.arenas.allocate(bytes)
}

/// Memory of one host that its ranks share. Places are below 2^48.
#[allow(unsafe_code)]
pub trait Arenas {
    /// Returns the place of the `bytes` bytes at `memory`, by which every rank of the host finds them, if they have one.
    fn place_of(&self, memory: *const u8, bytes: usize) -> Option<u64>;

    /// Returns the address in this process of the `bytes` bytes at such a place.
    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>>;

    /// Allocates page-aligned memory that has a place, if there is any. It is not initialised.
    fn allocate(&self, bytes: usize) -> Option<NonNull<u8>>;

    /// Frees such memory.
    ///
    /// # Safety
    /// `memory` came from [`allocate`](Arenas::allocate) with as many bytes, and is no longer used.
    unsafe fn release(&self, memory: NonNull<u8>, bytes: usize);
}

/// Copies between this rank and any memory of any other, which does not participate.
#[allow(unsafe_code)]
pub trait MemoryCopies {
    /// Fills `to` from the memory of another rank.
    ///
    /// # Errors
    /// [`Error::System`](crate::Error::System) if there is no such memory.
    ///
    /// # Safety
    /// That rank has promised that its bytes may be read.
    unsafe fn read(&self, from: RemoteAddress, to: Writable) -> Result<()>;

    /// Copies `from` to the memory of another rank.
    ///
    /// # Errors
    /// As for [`read`](MemoryCopies::read).
    ///
    /// # Safety
    /// That rank has promised that its bytes may be written.
    unsafe fn write(&self, to: RemoteAddress, from: Readable) -> Result<()>;
}

/// Receives of messages that stay in their senders' memory, for programs that read them once.
pub trait InPlaceReceives {
    /// As [`post_receive`](crate::Endpoint::post_receive), for a message that stays in its sender's memory if it can.
    ///
    /// # Errors
    /// Errors that end the run.
    fn post(&mut self, selector: Selector, room: Writable) -> Result<Request>;

    /// Returns the message of a receive that is done, before its [`end`](crate::Endpoint::end), if it stayed with its
    /// sender.
    fn lend(&mut self, request: Request) -> Option<InPlace>;

    /// Returns such a message to its sender.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`](crate::Error::UnknownRequest) if this rank has received no such message.
    fn give_back(&mut self, message: InPlace) -> Result<()>;
}
