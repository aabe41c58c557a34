//! A process's part in a run: its world, from the beginning to the end.

use std::rc::Rc;

use contract::{ContextPlace, Endpoint, Error as Failure};

use crate::collective::{Barrier, Collective};
use crate::communicator::{Bridge, Communicator};
use crate::engine::{Context, Engine, GROUPS_CONTEXT, SELF_CONTEXT, WORLD_CONTEXT};
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::group::Group;
use crate::port::{Meetings, Port};

/// A process's part in a run.
pub struct Universe<E: Endpoint> {
    engine: Rc<Engine<E>>,
    world: Rc<Communicator<E>>,
    own: Rc<Communicator<E>>,
    /// Where groups agree that have no communicator in common: no message of a program travels there.
    groups: Communicator<E>,
    meetings: Meetings<E>,
}

impl<E: Endpoint + 'static> Universe<E> {
    /// That of the rank which `endpoint` is.
    pub fn new(endpoint: E) -> Self {
        let engine = Rc::new(Engine::new(endpoint));
        let make = |group: Group, number, place, name: &str| {
            let context = Context::new(engine.clone(), group).expect("this process is a member");
            let communicator = Communicator::of(context.with_place(number, place));
            communicator.set_name(name);
            Rc::new(communicator)
        };
        // In a world of one there is nobody to share anything with.
        let place = (engine.size() > 1).then_some(ContextPlace::WORLD);
        let world = make(Group::world(engine.size()), WORLD_CONTEXT, place, "MPI_COMM_WORLD");
        let own = make(vec![engine.rank()].into(), SELF_CONTEXT, None, "MPI_COMM_SELF");
        let groups = Context::new(engine.clone(), Group::world(engine.size()));
        let groups = groups.expect("this process is a member").with_place(GROUPS_CONTEXT, None);
        let meetings = Meetings::new(&engine);
        Universe { groups: Communicator::of(groups), meetings, engine, world, own }
    }

    /// Returns the engine of this process.
    #[inline(always)]
    pub fn engine(&self) -> &Rc<Engine<E>> {
        &self.engine
    }

    /// All processes of the run.
    #[inline]
    pub fn world(&self) -> &Rc<Communicator<E>> {
        &self.world
    }

    /// This process alone.
    #[inline]
    pub fn own(&self) -> &Rc<Communicator<E>> {
        &self.own
    }

    /// Returns a communicator for the members of a group, who alone call it, with a name that keeps such calls apart;
    /// none for who is not one of them. It needs no other communicator.
    ///
    /// # Errors
    /// [`ErrorClass::Group`] for members that the run does not have, and those that end the run.
    pub fn create_from_group(&self, group: &Group, name: &str) -> Result<Option<Communicator<E>>> {
        self.groups.create_group(group, tag_of(name))
    }

    /// Returns a communicator between two groups, whose members call it: each with its own group first. The leaders are
    /// ranks of their groups; `name` keeps such calls apart.
    ///
    /// # Errors
    /// [`ErrorClass::Group`] if this process is not in its group, [`ErrorClass::Rank`] for leaders that are no members, and
    /// as of [`Communicator::join_across`].
    pub fn create_between_groups(
        &self,
        (own, leader): (&Group, usize),
        (other, other_leader): (&Group, usize),
        name: &str,
    ) -> Result<Communicator<E>> {
        let across = other.member(other_leader as i64)?;
        let local = self.create_from_group(own, name)?;
        let missing = || Error::new(ErrorClass::Group, "this process is not in its own group");
        let local = local.ok_or_else(missing)?;
        let context = self.groups.context().clone();
        let bridge = || Ok(Bridge { context, leader: across, tag: tag_of(name) });
        let made = local.join_across(leader, bridge);
        local.free(0)?;
        made
    }

    /// Opens a port, at which processes of other runs may call this one.
    ///
    /// # Errors
    /// [`ErrorClass::Other`] where the fabric knows of no other runs.
    pub fn open_port(&self) -> Result<Port> {
        self.meetings.open_port()
    }

    /// Closes a port.
    ///
    /// # Errors
    /// [`ErrorClass::Port`] if it is not open, or another process's.
    pub fn close_port(&self, port: &Port) -> Result {
        self.meetings.close_port(port)
    }

    /// Returns a communicator between `own`, all of whose members call it, and those who call a port next. Only the
    /// root is asked for the port, which is its own. `goes_on` is asked there now and then, and its error ends the
    /// wait.
    ///
    /// # Errors
    /// [`ErrorClass::Port`] at the root, [`ErrorClass::Communicator`] at the others then, [`ErrorClass::Rank`] for a root that
    /// is no member, and those that end the run.
    pub fn accept(
        &self,
        own: &Communicator<E>,
        root: usize,
        port: impl FnOnce() -> Result<Port>,
        goes_on: &dyn Fn() -> Result,
    ) -> Result<Communicator<E>> {
        self.meetings.accept(own, root, port, goes_on)
    }

    /// Returns a communicator between `own`, all of whose members call it, and those who accept calls at a port, for
    /// which only the root is asked.
    ///
    /// # Errors
    /// As of [`accept`](Universe::accept).
    pub fn connect(
        &self,
        own: &Communicator<E>,
        root: usize,
        port: impl FnOnce() -> Result<Port>,
    ) -> Result<Communicator<E>> {
        self.meetings.connect(own, root, port)
    }

    /// Returns whether this process has left the run.
    pub fn has_left(&self) -> bool {
        self.engine.is_leaving()
    }

    /// Leaves the run, as all processes do in the end: completes what is under way, and waits for the others.
    ///
    /// # Errors
    /// Those that end the run.
    pub fn finalize(&self) -> Result {
        self.engine.send_buffer().flush(&self.engine)?;
        self.engine.finish_orphans()?;
        self.engine.announce_end()?;
        // No rank goes while another may still need its help with a message.
        Barrier::new(self.world.context().clone()).run()?;
        let Some(endpoint) = self.engine.take_endpoint() else { return Ok(()) };
        let status = endpoint.finish(Ok(()));
        ensure!(status == 0, ErrorClass::Other, "the run did not end well");
        Ok(())
    }

    /// Gives the run up: every rank's pending call fails, and whoever started the run names this rank and says why.
    ///
    /// Gives the status that the process should exit with; none if it has left the run before.
    pub fn abort(&self, why: &str) -> Option<i32> {
        let endpoint = self.engine.take_endpoint()?;
        Some(endpoint.finish(Err(Failure::Program(why.into()))))
    }
}

/// Returns the tag of a name (FNV-1a, in 31 bits). Names that share one are kept apart by the order of the calls.
fn tag_of(name: &str) -> u32 {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash >> 1
}

/// Runs a program as one rank of a run. Gives the status that the process should exit with.
///
/// An error of the program, or of its end, ends the whole run, and whoever started it prints the error; of a run of one rank,
/// which nobody need have started, it is printed here.
pub fn run<E: Endpoint + 'static>(
    endpoint: E,
    program: impl FnOnce(&Communicator<E>) -> std::result::Result<(), Box<dyn std::error::Error>>,
) -> i32 {
    let universe = Universe::new(endpoint);
    let ended = program(universe.world()).and_then(|()| Ok(universe.finalize()?));
    match ended {
        Ok(()) => 0,
        Err(error) => {
            let words = error.to_string();
            if universe.engine().size() == 1 {
                eprintln!("{words}");
            }
            universe.abort(&words).unwrap_or(1)
        }
    }
}

/// What a communicator's own error says where a program wants the contract's.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Program(error.to_string())
    }
}
