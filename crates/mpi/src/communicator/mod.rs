//! Communicators: some processes with messages of their own, and what programs hang on that.

mod across_runs;
mod agree;
mod between;
mod make;
mod part;
mod shaped;

pub(crate) use across_runs::reach_all;
pub use between::Bridge;

use std::cell::RefCell;
use std::rc::Rc;

use contract::Endpoint;

use crate::attribute::Attributes;
use crate::engine::{Context, Engine};
use crate::error::{ErrorClass, Result, ensure};
use crate::group::{Comparison, Group};
use crate::info::Info;
use crate::topology::RankTopology;

/// A communicator within one group, or between two (an intercommunicator).
pub struct Communicator<E: Endpoint> {
    context: Rc<Context<E>>,
    name: RefCell<String>,
    info: Info,
    attributes: Attributes,
    topology: Option<RankTopology>,
}

impl<E: Endpoint> Communicator<E> {
    /// One with nothing but a context.
    pub(crate) fn of(context: Context<E>) -> Self {
        Communicator {
            context: Rc::new(context),
            name: RefCell::default(),
            info: Info::new(),
            attributes: Attributes::new(),
            topology: None,
        }
    }

    /// Its members and their space of messages, for [`SendCall`](crate::SendCall) and the like.
    #[inline(always)]
    pub fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    /// Returns the engine of this process.
    #[inline]
    pub fn engine(&self) -> &Rc<Engine<E>> {
        self.context.engine()
    }

    /// This process's rank in its group.
    #[inline]
    pub fn rank(&self) -> usize {
        match self.context.two_groups() {
            None => self.context.rank(),
            Some(both) => both.me - both.own().start,
        }
    }

    /// Returns how many members this process's group has.
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

    /// Returns the other group, if it is between two.
    pub fn remote_group(&self) -> Option<&Group> {
        self.context.two_groups().map(|_| self.context.peers())
    }

    /// Fails for one between two groups.
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

    /// Returns what it is called.
    pub fn name(&self) -> String {
        self.name.borrow().clone()
    }

    /// Calls it something.
    pub fn set_name(&self, name: impl Into<String>) {
        *self.name.borrow_mut() = name.into();
    }

    /// Returns the hints that the program has given.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Returns what programs and libraries have hung on it.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Its topology, if it has one.
    pub fn topology(&self) -> Option<&RankTopology> {
        self.topology.as_ref()
    }

    /// Returns how two of them compare: identical are only those that are one.
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

    /// Gives it up, as all members do in the end. `object` is the number that the functions of its attributes know it by.
    ///
    /// # Errors
    /// Those of the functions of its attributes, which then stay, and those that end the run.
    pub fn free(&self, object: usize) -> Result {
        self.attributes.clear(object)?;
        self.context.send_buffer().flush(self.engine())?;
        self.context.close()
    }
}
