//! A process's participation in a run, from the beginning to the end.

use std::cell::Cell;
use std::rc::Rc;

use contract::{ContextPlace, Endpoint, Error as Failure};

use crate::collective::explain_difference;
use crate::communicator::{Bridge, Communicator};
use crate::engine::{Context, Engine, GROUPS_CONTEXT, SELF_CONTEXT, WORLD_CONTEXT};
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::group::Group;
use crate::operation::Predefined;
use crate::point::explain_messages;
use crate::port::{Meetings, Port};

/// A process's participation in a run.
pub struct Universe<E: Endpoint> {
    engine: Rc<Engine<E>>,
    world: Rc<Communicator<E>>,
    own: Rc<Communicator<E>>,
    /// Communicator in which groups without a common communicator agree. No message of a program travels there.
    groups: Communicator<E>,
    meetings: Meetings<E>,
    ended_badly: Cell<bool>,
}

impl<E: Endpoint + 'static> Universe<E> {
    /// Creates that of the rank whose endpoint is `endpoint`.
    pub fn new(endpoint: E) -> Self {
        let engine = Rc::new(Engine::new(endpoint));
        let make = |group: Group, number, place, name: &str| {
            let context = Context::new(engine.clone(), group).expect("this process is a member");
            let communicator = Communicator::of(context.with_place(number, place));
            communicator.set_name(name);
            Rc::new(communicator)
        };
        // A world of one shares nothing.
        let place = (engine.size() > 1).then_some(ContextPlace::WORLD);
        let world = make(Group::world(engine.size()), WORLD_CONTEXT, place, "MPI_COMM_WORLD");
        let own = make(vec![engine.rank()].into(), SELF_CONTEXT, None, "MPI_COMM_SELF");
        let groups = Context::new(engine.clone(), Group::world(engine.size()));
        let groups = groups.expect("this process is a member").with_place(GROUPS_CONTEXT, None);
        let meetings = Meetings::new(&engine);
        let (groups, ended_badly) = (Communicator::of(groups), Cell::new(false));
        Universe { groups, meetings, engine, world, own, ended_badly }
    }

    /// Returns the engine of this process.
    #[inline(always)]
    pub fn engine(&self) -> &Rc<Engine<E>> {
        &self.engine
    }

    /// Returns the communicator of all processes of the run.
    #[inline]
    pub fn world(&self) -> &Rc<Communicator<E>> {
        &self.world
    }

    /// Returns the communicator of this process alone.
    #[inline]
    pub fn own(&self) -> &Rc<Communicator<E>> {
        &self.own
    }

    /// Creates a communicator for the members of a group, which alone make the call, with a name that separates it from
    /// similar calls. Returns `None` to a process outside the group. Requires no other communicator.
    ///
    /// # Errors
    /// [`ErrorClass::Group`] for members that the run does not have, and errors that end the run.
    pub fn create_from_group(&self, group: &Group, name: &str) -> Result<Option<Communicator<E>>> {
        self.groups.create_group(group, tag_of(name))
    }

    /// Creates a communicator between two groups, whose members make the call, each with its own group first. The
    /// leaders are ranks of their groups; `name` separates similar calls.
    ///
    /// # Errors
    /// [`ErrorClass::Group`] if this process is not in its group, [`ErrorClass::Rank`] for leaders that are not
    /// members, and as for [`Communicator::join_across`].
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
    /// [`ErrorClass::Other`] if the fabric does not support other runs.
    pub fn open_port(&self) -> Result<Port> {
        self.meetings.open_port()
    }

    /// Closes a port.
    ///
    /// # Errors
    /// [`ErrorClass::Port`] if it is not open, or belongs to another process.
    pub fn close_port(&self, port: &Port) -> Result {
        self.meetings.close_port(port)
    }

    /// Creates a communicator between `own`, whose members all make the call, and the next callers of a port. Only the
    /// root passes the port, which must be its own. `goes_on` is called there from time to time, and its error ends the
    /// wait.
    ///
    /// # Errors
    /// [`ErrorClass::Port`] at the root, then [`ErrorClass::Communicator`] at the others, [`ErrorClass::Rank`] for a
    /// root that is not a member, and errors that end the run.
    pub fn accept(
        &self,
        own: &Communicator<E>,
        root: usize,
        port: impl FnOnce() -> Result<Port>,
        goes_on: &dyn Fn() -> Result,
    ) -> Result<Communicator<E>> {
        let answer = || self.meetings.answer(&port()?, goes_on);
        own.join_across_runs(root, ErrorClass::Port, answer)
    }

    /// Creates a communicator between `own`, whose members all make the call, and processes that accept calls at a
    /// port, which only the root passes.
    ///
    /// # Errors
    /// As for [`accept`](Universe::accept).
    pub fn connect(
        &self,
        own: &Communicator<E>,
        root: usize,
        port: impl FnOnce() -> Result<Port>,
    ) -> Result<Communicator<E>> {
        own.join_across_runs(root, ErrorClass::Port, || self.meetings.call(&port()?))
    }

    /// Returns whether this process has left the run.
    pub fn has_left(&self) -> bool {
        self.engine.is_leaving()
    }

    /// Leaves the run: completes operations in progress, and waits for the others. Every process calls this in the end.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn finalize(&self) -> Result {
        self.engine.send_buffer().flush(&self.engine)?;
        self.engine.finish_orphans()?;
        self.engine.announce_end()?;
        // No rank leaves while another may still need its help with a message.
        let mut sum = [0_u64; 4];
        let [balance, left_over] = self.engine.messages().residue();
        let failed = self.engine.failed_calls();
        let own = [self.engine.call_logs.residue(), balance, left_over, failed];
        self.world.allreduce(&own[..], &mut sum[..], Predefined::Sum)?;
        self.compare(sum)?;
        let Some(endpoint) = self.engine.take_endpoint() else { return Ok(()) };
        let status = endpoint.finish(Ok(()));
        self.ended_badly.set(status != 0);
        ensure!(status == 0, ErrorClass::Other, "the run did not end well");
        Ok(())
    }

    /// Finds out what the processes disagree about, if the sums of their residues show that they do.
    ///
    /// # Errors
    /// The disagreement, at one of them.
    fn compare(&self, [calls, balance, left_over, failed]: [u64; 4]) -> Result {
        if failed != 0 {
            // A program that handles errors was told, and knows what does not match since.
            return Ok(());
        }
        let world = self.world.context();
        if calls != 0
            && let Some(difference) = explain_difference(world)?
        {
            return Err(difference);
        }
        match (balance, left_over) {
            (0, 0) => Ok(()),
            _ => explain_messages(world, left_over == 0)?.map_or(Ok(()), Err),
        }
    }

    /// Returns whether this process has left a run that another has ended, which whoever started the run reports.
    pub fn ended_badly(&self) -> bool {
        self.ended_badly.get()
    }

    /// Aborts the run: every rank's pending call fails, and whoever started the run reports this rank and the reason.
    ///
    /// Returns the status that the process should exit with, or `None` if it has left the run before.
    pub fn abort(&self, why: &str) -> Option<i32> {
        let endpoint = self.engine.take_endpoint()?;
        Some(endpoint.finish(Err(Failure::Program(why.into()))))
    }
}

/// Returns the tag of a name (FNV-1a, in 31 bits). The order of the calls separates names with the same tag.
fn tag_of(name: &str) -> u32 {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash >> 1
}

/// Runs a program as one rank of a run. Returns the status that the process should exit with.
///
/// An error of the program, or of its end, ends the whole run, and whoever started it prints the error. In a run of one
/// rank, which may have no launcher, it is printed here.
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

/// Converts a communicator's error for a program that uses the contract's.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Program(error.to_string())
    }
}
