//! Access to the memory of other ranks without their participation.

use std::ptr::NonNull;

use super::one_sided::OneSided;
use crate::{Error, Readable, Request, Result, Writable};

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

/// Memory of other ranks that an endpoint can access. The provided methods are for a fabric that can access none;
/// windows then use messages.
#[allow(unsafe_code)]
pub trait RemoteMemory {
    /// Returns the fabric's place of `bytes` bytes of this rank's memory, if every rank can access them directly. All
    /// memory from [`allocate`](crate::Endpoint::allocate) has a place, other memory may.
    fn place_of(&self, _memory: *const u8, _bytes: usize) -> Option<u64> {
        None
    }

    /// As [`place_of`](RemoteMemory::place_of), for memory of
    /// [`allocate_on_host`](RemoteMemory::allocate_on_host) and parts of it.
    fn place_on_host(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        self.place_of(memory, bytes)
    }

    /// Allocates memory that every rank can access directly, on any fabric: for programs that share memory on purpose.
    /// Returns `None` if the ranks are not all on one host. The memory is not initialised;
    /// [`release`](crate::Endpoint::release) frees it.
    fn allocate_on_host(&mut self, _bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    /// Returns the address in this process of the `bytes` bytes at such a place of any rank.
    fn memory_at(&self, _place: u64, _bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    /// Returns whether [`read_memory`](RemoteMemory::read_memory) and [`write_memory`](RemoteMemory::write_memory) are
    /// supported, for any memory of any rank.
    fn reads_memory(&self) -> bool {
        false
    }

    /// Fills `to` from the memory of another rank. That rank does not participate.
    ///
    /// # Errors
    /// [`Error::System`] if there is no such memory, and [`Error::Unsupported`].
    ///
    /// # Safety
    /// That rank has promised that its bytes may be read.
    unsafe fn read_memory(&mut self, _from: RemoteAddress, _to: Writable) -> Result<()> {
        let (fabric, what) = ("this fabric".into(), "read another rank's memory".into());
        Err(Error::Unsupported { fabric, what })
    }

    /// Copies `from` to the memory of another rank.
    ///
    /// # Errors
    /// As for [`read_memory`](RemoteMemory::read_memory).
    ///
    /// # Safety
    /// That rank has promised that its bytes may be written.
    unsafe fn write_memory(&mut self, _to: RemoteAddress, _from: Readable) -> Result<()> {
        let (fabric, what) = ("this fabric".into(), "write another rank's memory".into());
        Err(Error::Unsupported { fabric, what })
    }

    /// Returns the one-sided operations of the network, if it has any.
    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        None
    }

    /// Returns whether the network executes accesses to memory by itself, by agents of the ranks.
    fn has_agents(&self) -> bool {
        false
    }

    /// Passes all accesses in `context` to this rank to `agent`, from now on, including those that have arrived before.
    fn place_agent(&self, _context: u32, _agent: Box<dyn Agent>) {}

    /// Removes the agent of a context.
    fn remove_agent(&self, _context: u32) {}

    /// Sends `request` to the agent of rank `to`, and posts the receive of its answer, by tag and room. Returns both
    /// requests, that of the answer last.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the network has no agents, and those that end the run.
    fn post_access(
        &mut self,
        _to: usize,
        _context: u32,
        _access: RemoteAccess,
        _request: Readable,
        _answer: (u32, Writable),
    ) -> Result<[Request; 2]> {
        let (fabric, what) = ("this fabric".into(), "access memory by an agent".into());
        Err(Error::Unsupported { fabric, what })
    }
}
