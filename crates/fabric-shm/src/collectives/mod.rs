//! The collectives of contexts whose members share this host, over boards if they are faster than messages.
//!
//! An [`Owner`] is an endpoint that has these: that of shared memory, or that of a cluster, for the contexts inside a
//! host.

mod calls;
mod contexts;

use contract::{ContextPlace, Error, Result};
use engine::Messages;

use crate::team::Team;
use crate::transport::Rings;
use contexts::RetiredBoard;

/// The collectives of one rank over boards.
pub struct HostCollectives {
    purpose: Purpose,
    /// The teams of contexts, by their places. A context has none if some member has no board, and while one of its
    /// collectives is in progress. The teams lie in the segment of the rank's rings.
    teams: Vec<Option<Box<Team>>>,
    /// Places of closed contexts.
    free_places: Vec<ContextPlace>,
    /// Boards that may be reused once everybody has left them.
    retired: Vec<RetiredBoard>,
}

/// The kind of user whose messages an endpoint carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A program over the contract. A collective in which the ranks are in different calls ends the run.
    Program,
    /// A library with an interface of its own. Such a collective fails alone, and the run goes on.
    Library,
}

/// An endpoint with collectives over boards.
pub trait Owner: Sized {
    /// True if collectives are compiled for this owner. Otherwise they call it by a table, which costs some nanoseconds for
    /// each step.
    const IS_COMPILED: bool;

    /// Returns the collectives.
    fn collectives(&mut self) -> &mut HostCollectives;

    /// Returns the messages of the rank and its rings.
    fn parts(&mut self) -> (&mut Messages, &mut Rings);

    /// Waits until `done` returns true, which is called after every poll.
    ///
    /// # Errors
    /// Permanent errors.
    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()>;

    /// Ends the run for this rank, and returns why.
    fn fail(&mut self, error: Error) -> Error;
}

impl HostCollectives {
    /// Returns those of a rank that has the context of all ranks of its rings.
    pub fn new(rings: &Rings, purpose: Purpose) -> Self {
        HostCollectives {
            purpose,
            teams: vec![Some(Box::new(Team::world(rings)))],
            free_places: Vec::new(),
            retired: Vec::new(),
        }
    }
}
