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

/// What an access does to another rank's memory, for networks on which kinds of access cost differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Its data take the place of what is there.
    Put,
    /// It fetches what is there.
    Get,
    /// It changes what is there atomically: updates of elements, locks, notices.
    Update,
}

/// An access to another rank's memory, as the network sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAccess {
    /// What it does.
    pub kind: AccessKind,
    /// The data that go there.
    pub there_bytes: u64,
    /// The data that come back.
    pub back_bytes: u64,
}

/// What an agent sends to a rank.
#[derive(Debug)]
pub struct AgentAnswer {
    /// The rank.
    pub to: usize,
    /// The tag by which it waits for the answer.
    pub tag: u32,
    /// The answer.
    pub data: Vec<u8>,
}

/// Carries out accesses to a rank's memory where the network asks for it, without the rank's taking part.
pub trait Agent {
    /// Carries out the request of rank `source` and appends the answers that can be given now. Returns whether the
    /// agent's rank may wait for what was done.
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

    /// Whether the network carries out accesses to memory by itself, by agents of the ranks.
    fn has_agents(&self) -> bool {
        false
    }

    /// Gives all accesses in `context` that come to this rank to `agent`, from now on, and those that have come before.
    fn place_agent(&self, _context: u32, _agent: Box<dyn Agent>) {}

    /// Ends that.
    fn remove_agent(&self, _context: u32) {}

    /// Sends `request` to the agent of rank `to`, and posts the receive of its answer, by tag and room. Returns both
    /// requests, that of the answer last.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the network has no agents, and those that end the run.
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
