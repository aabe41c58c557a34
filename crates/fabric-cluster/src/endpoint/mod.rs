//! The [`Endpoint`](contract::Endpoint) of a rank of a cluster.
#![allow(unsafe_code)]

mod implementation;

use std::ptr::NonNull;

use contract::{
    ContextPlace, Error, FabricDescription, LongWaits, NewContext, Readable, RemoteAddress,
    RemoteMemory, Result, WaitPlace, WaitReports, Writable,
};
use engine::{MessageEngine, Messages};
use fabric_shm::{HostCollectives, Owner, Rings};
use fabric_tcp::Reporter;
use hosts::{Clock, Placement};
use launcher::Seat;

use crate::contexts::{Contexts, Opened};
use crate::routes::Routes;

/// The message engine of a rank.
pub(crate) type Engine = MessageEngine<Routes>;

/// One rank's endpoint of a run on several hosts.
pub struct ClusterEndpoint {
    pub(crate) engine: Engine,
    /// The collectives of contexts inside this host.
    pub(crate) collectives: HostCollectives,
    pub(crate) contexts: Contexts,
    /// Number of this host among the hosts, with which the places of its memory begin.
    pub(crate) host: u16,
    pub(crate) placement: Placement,
    pub(crate) clock: Clock,
    pub(crate) description: FabricDescription,
}

impl ClusterEndpoint {
    fn seat(&self) -> &Seat {
        self.engine.transport().rings.seat()
    }

    /// Returns the place of a context among those inside this host, if all its members are here.
    #[inline]
    fn inner_place(&self, place: ContextPlace) -> Option<ContextPlace> {
        self.contexts.get(place)?.inner
    }

    /// Returns the object that sends reports to the process that started the run, also while a program uses this rank.
    pub fn reporter(&self) -> Reporter {
        self.engine.transport().outer.reporter()
    }

    /// Opens a context. One with ranks of this host only uses boards; the others use messages.
    fn open(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.engine.check()?;
        self.engine.open_context(context.number, context.members);
        let routes = self.engine.transport_mut();
        let local: Option<Vec<usize>> =
            context.members.iter().map(|&rank| routes.places.local(rank)).collect();
        let inner = match local {
            Some(members) => {
                let context = NewContext { members: &members, ..context };
                Some(self.collectives.open(&routes.rings, &context))
            }
            None => {
                self.collectives.withdraw(&routes.rings, context.offers[context.me]);
                None
            }
        };
        Ok(self.contexts.add(Opened { number: context.number, inner }))
    }
}

impl Owner for ClusterEndpoint {
    const IS_COMPILED: bool = false;

    fn collectives(&mut self) -> &mut HostCollectives {
        &mut self.collectives
    }

    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        let (messages, routes) = self.engine.parts_mut();
        (messages, &mut routes.rings)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    fn fail(&mut self, error: Error) -> Error {
        self.engine.fail(error)
    }
}

/// Reports of long waits go to the launcher of this host.
impl LongWaits for ClusterEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        Some(self.seat())
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.engine.report_wait(place);
    }
}

/// Shift of the host's number in places of memory, which keeps the places of different hosts apart.
const HOST_SHIFT: u32 = 48;

impl RemoteMemory for ClusterEndpoint {
    fn place_of(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        let place = self.seat().place_of(memory, bytes)?;
        Some(place | u64::from(self.host) << HOST_SHIFT)
    }

    // Ranks of other hosts cannot access memory at such a place.
    fn allocate_on_host(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        self.seat().allocate(bytes)
    }

    #[inline]
    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        let is_here = place >> HOST_SHIFT == u64::from(self.host);
        let place = place & ((1 << HOST_SHIFT) - 1);
        if is_here { self.seat().memory_at(place, bytes) } else { None }
    }

    // This must hold for all ranks, so not if some are on other hosts.
    fn reads_memory(&self) -> bool {
        let routes = self.engine.transport();
        routes.places.are_all_here() && routes.rings.may_use_cma()
    }

    unsafe fn read_memory(&mut self, from: RemoteAddress, to: Writable) -> Result<()> {
        self.check_here(from.rank)?;
        // SAFETY: the caller promises the same.
        unsafe { self.engine.transport().rings.read_memory_of(from, to) }
    }

    unsafe fn write_memory(&mut self, to: RemoteAddress, from: Readable) -> Result<()> {
        self.check_here(to.rank)?;
        // SAFETY: the caller promises the same.
        unsafe { self.engine.transport().rings.write_memory_of(to, from) }
    }
}

impl ClusterEndpoint {
    fn check_here(&self, rank: usize) -> Result<()> {
        match self.engine.transport().places.is_here(rank) {
            true => Ok(()),
            false => Err(Error::Unsupported {
                fabric: "this fabric".into(),
                what: format!("reach the memory of rank {rank}, which is on another host"),
            }),
        }
    }
}
