//! The [`Endpoint`](contract::Endpoint) of a rank of a cluster.
#![allow(unsafe_code)]

mod implementation;

use contract::{ContextPlace, Error, FabricDescription, NewContext, Result};
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
