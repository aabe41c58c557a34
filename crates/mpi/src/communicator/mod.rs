//! Communicators: processes with messages of their own, and the objects attached to them.

mod across_runs;
mod between;
mod make;
mod part;
mod shaped;

pub(crate) use across_runs::reach_all;
pub use between::Bridge;

use std::rc::Rc;

use contract::{Endpoint, wait_reports};

use crate::attribute::Attributes;
use crate::engine::{Context, Engine};
use crate::error::{ErrorClass, Result, ensure};
use crate::group::{Comparison, Group};
use crate::info::Info;
use crate::topology::RankTopology;

/// A communicator within one group, or between two (an intercommunicator).
pub struct Communicator<E: Endpoint> {
    context: Rc<Context<E>>,
    info: Info,
    attributes: Attributes,
    topology: Option<RankTopology>,
}

impl<E: Endpoint> Communicator<E> {
    /// Creates a communicator that has only a context.
    pub(crate) fn of(context: Context<E>) -> Self {
        // It takes a walk over the stack, so contexts inside the library do without.
        let endpoint = context.engine().endpoint().ok();
        if let Some(call) = endpoint.and_then(|mut one| wait_reports(&mut *one)?.remember_call()) {
            context.identity().set_maker(call);
        }
        Communicator {
            context: Rc::new(context),
            info: Info::new(),
            attributes: Attributes::new(),
            topology: None,
        }
    }

    /// Returns its members and their space of messages, for [`SendCall`](crate::SendCall) and the like.
    #[inline(always)]
    pub fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    /// Returns the engine of this process.
    #[inline]
    pub fn engine(&self) -> &Rc<Engine<E>> {
        self.context.engine()
    }

    /// Returns this process's rank in its group.
    #[inline]
    pub fn rank(&self) -> usize {
        match self.context.two_groups() {
            None => self.context.rank(),
            Some(both) => both.me - both.own().start,
        }
    }

    /// Returns the number of members of this process's group.
    #[inline]
    pub fn size(&self) -> usize {
        match self.context.two_groups() {
            None => self.context.size(),
            Some(both) => both.own().len(),
        }
    }

    /// Returns the members of this process's group.
    pub fn group(&self) -> Group {
        match self.context.two_groups() {
            None => self.context.group().clone(),
            Some(both) => self.context.members()[both.own()].to_vec().into(),
        }
    }

    /// Returns the other group of an intercommunicator.
    pub fn remote_group(&self) -> Option<&Group> {
        self.context.two_groups().map(|_| self.context.peers())
    }

    /// Fails for an intercommunicator.
    ///
    /// # Errors
    /// [`ErrorClass::Communicator`].
    pub fn check_one_group(&self) -> Result {
        let one = self.context.two_groups().is_none();
        ensure!(
            one,
            ErrorClass::Communicator,
            "an intercommunicator, which the call has no use for"
        );
        Ok(())
    }

    /// Returns its name.
    pub fn name(&self) -> String {
        self.context.identity().name()
    }

    /// Sets its name.
    pub fn set_name(&self, name: impl Into<String>) {
        self.context.identity().set_name(name);
    }

    /// Returns the hints that the program has given.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Returns the attributes that programs and libraries have attached to it.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns its topology, if it has one.
    pub fn topology(&self) -> Option<&RankTopology> {
        self.topology.as_ref()
    }

    /// Compares two communicators: only a communicator and itself are identical.
    pub fn compare(&self, other: &Communicator<E>) -> Comparison {
        if Rc::ptr_eq(&self.context, &other.context) {
            return Comparison::Identical;
        }
        let remote = match (self.remote_group(), other.remote_group()) {
            (None, None) => Comparison::Identical,
            (Some(one), Some(other)) => one.compare(other),
            _ => Comparison::Unequal,
        };
        match (self.group().compare(&other.group()), remote) {
            (Comparison::Identical, Comparison::Identical) => Comparison::Congruent,
            (Comparison::Unequal, _) | (_, Comparison::Unequal) => Comparison::Unequal,
            _ => Comparison::Similar,
        }
    }

    /// Frees it. Every member calls this in the end. `object` is the number by which the functions of its attributes
    /// identify it.
    ///
    /// # Errors
    /// Errors of the functions of its attributes, which then stay, and errors that end the run.
    pub fn free(&self, object: usize) -> Result {
        self.attributes.clear(object)?;
        self.context.send_buffers().own().flush(self.engine())?;
        self.context.close()
    }
}
