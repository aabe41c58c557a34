//! Windows: memory of each member of a communicator that the others put to, get from and update.
//!
//! The operations and the locks themselves are the contract's ([`contract::Window`]); this module adds datatypes,
//! epochs, and MPI's attributes of a window.

mod epoch;
mod locks;
mod make;
mod operate;
mod quick;
mod service;
mod stretches;
mod sync;
mod transfer;

use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

use contract::Endpoint;

use crate::attribute::Attributes;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::group::Group;
use crate::info::Info;
use epoch::Epochs;
pub use epoch::Promise;
pub use locks::Lock;
use service::Service;
use sync::Signals;
pub use transfer::Place;

/// The origin of a window's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// The program has provided it.
    Create,
    /// The window has allocated it.
    Allocate,
    /// The window has allocated it, and every member can access it directly.
    Shared,
    /// The program adds and removes it.
    Dynamic,
}

/// Memory that a window has allocated for this member.
enum Allocation {
    /// No memory.
    Nothing,
    /// From the fabric.
    Allocated(NonNull<u8>, usize),
    /// From the heap.
    Own(#[expect(dead_code)] crate::memory::Storage),
}

/// Memory of each member of a communicator that the others can access.
pub struct Window<E: Endpoint> {
    /// Communicator of its own among the same members, with what programs attach to the window.
    communicator: Communicator<E>,
    service: Rc<Service<E>>,
    flavor: Flavor,
    start: *mut u8,
    bytes: u64,
    /// Unit of displacements of each member, in bytes.
    units: Box<[i64]>,
    made: RefCell<Allocation>,
    epochs: Epochs,
    signals: Signals,
}

impl<E: Endpoint> Window<E> {
    /// Returns the engine of this process.
    #[inline]
    pub fn engine(&self) -> &Rc<Engine<E>> {
        self.communicator.engine()
    }

    /// Returns its members.
    pub fn group(&self) -> &Group {
        self.communicator.context().group()
    }

    /// Returns this process's rank in it.
    pub fn rank(&self) -> usize {
        self.communicator.rank()
    }

    /// Returns the number of members.
    pub fn size(&self) -> usize {
        self.communicator.size()
    }

    /// Returns the origin of its memory.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// Returns the address of this member's memory. For a dynamic window that is the beginning of all memory.
    pub fn base(&self) -> *mut u8 {
        self.start
    }

    /// Returns the length of this member's memory; 0 for a dynamic window.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the unit of displacements of a member's memory, in bytes.
    pub fn unit(&self, rank: usize) -> i64 {
        self.units[rank]
    }

    /// Returns its name.
    pub fn name(&self) -> String {
        self.communicator.name()
    }

    /// Sets its name.
    pub fn set_name(&self, name: impl Into<String>) {
        self.communicator.set_name(name);
    }

    /// Returns the hints that the program has given.
    pub fn info(&self) -> &Info {
        self.communicator.info()
    }

    /// Returns the attributes that programs and libraries have attached to it.
    pub fn attributes(&self) -> &Attributes {
        self.communicator.attributes()
    }

    /// Returns the address of a member's memory in this process, its length, and its unit of displacements: of the
    /// first member that has any, if none is named. Null and 0 if this process cannot access it.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`]; [`ErrorClass::RmaFlavor`] for a dynamic window.
    pub fn query(&self, rank: Option<usize>) -> Result<(*mut u8, u64, i64)> {
        let fits = self.flavor != Flavor::Dynamic;
        ensure!(fits, ErrorClass::RmaFlavor, "a dynamic window has no memory of its own");
        let window = self.service.window();
        let nothing = (std::ptr::null_mut(), 0, self.units[self.rank()]);
        let first = || (0..self.size()).find(|&one| window.bytes_of(one) > 0);
        let Some(rank) = rank.or_else(first) else { return Ok(nothing) };
        self.communicator.context().member(rank)?;
        let bytes = window.bytes_of(rank);
        let start = window.here(rank, 0, 0).filter(|_| bytes > 0);
        Ok(start.map_or(nothing, |start| (start.as_ptr(), bytes, self.units[rank])))
    }

    /// Adds memory to a dynamic window.
    ///
    /// # Errors
    /// [`ErrorClass::RmaFlavor`] if it is not dynamic, [`ErrorClass::RmaAttach`] for memory without an address.
    pub fn attach(&self, start: *mut u8, bytes: u64) -> Result {
        self.check_dynamic()?;
        if start.is_null() && bytes > 0 {
            return Err(Error::new(ErrorClass::RmaAttach, "memory at a null pointer"));
        }
        self.service.window_mut().attach(start as u64, bytes);
        Ok(())
    }

    /// Removes memory from a dynamic window.
    ///
    /// # Errors
    /// [`ErrorClass::RmaFlavor`] if it is not dynamic, [`ErrorClass::RmaAttach`] if none was added there.
    pub fn detach(&self, start: *const u8) -> Result {
        self.check_dynamic()?;
        if !self.service.window_mut().detach(start as u64) {
            let what = format!("no memory was attached at {start:?}");
            return Err(Error::new(ErrorClass::RmaAttach, what));
        }
        Ok(())
    }

    fn check_dynamic(&self) -> Result {
        if self.flavor == Flavor::Dynamic {
            return Ok(());
        }
        Err(Error::new(ErrorClass::RmaFlavor, "not a dynamic window"))
    }
}
