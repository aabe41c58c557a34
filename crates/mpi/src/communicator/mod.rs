//! Communicators: some processes with messages of their own, and what programs hang on that.

mod agree;
mod make;
mod part;

use std::cell::RefCell;
use std::rc::Rc;

use contract::Endpoint;

use crate::attribute::Attributes;
use crate::cartesian::Cartesian;
use crate::engine::{Context, Engine};
use crate::error::Result;
use crate::group::{Comparison, Group};
use crate::info::Info;

/// A communicator within one group.
pub struct Communicator<E: Endpoint> {
    context: Rc<Context<E>>,
    name: RefCell<String>,
    info: Info,
    attributes: Attributes,
    topology: Option<Cartesian>,
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

    /// The engine of this process.
    #[inline]
    pub fn engine(&self) -> &Rc<Engine<E>> {
        self.context.engine()
    }

    /// This process's rank in it.
    #[inline]
    pub fn rank(&self) -> usize {
        self.context.rank()
    }

    /// How many members it has.
    #[inline]
    pub fn size(&self) -> usize {
        self.context.size()
    }

    /// Its members.
    pub fn group(&self) -> &Group {
        self.context.group()
    }

    /// What it is called.
    pub fn name(&self) -> String {
        self.name.borrow().clone()
    }

    /// Calls it something.
    pub fn set_name(&self, name: impl Into<String>) {
        *self.name.borrow_mut() = name.into();
    }

    /// The hints that the program has given.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// What programs and libraries have hung on it.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Its grid, if it has one.
    pub fn topology(&self) -> Option<&Cartesian> {
        self.topology.as_ref()
    }

    /// How two of them compare: identical are only those that are one.
    pub fn compare(&self, other: &Communicator<E>) -> Comparison {
        if Rc::ptr_eq(&self.context, &other.context) {
            return Comparison::Identical;
        }
        match self.group().compare(other.group()) {
            Comparison::Identical => Comparison::Congruent,
            other => other,
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
