//! The two fabrics as one value.
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use contract::{Error, Writable};
use fabric_shm::ShmEndpoint;
use fabric_tcp::Reporter;

use crate::contexts::Contexts;
use crate::outer::Outer;
use crate::places::Places;
use crate::requests::Twins;

/// The fabric among the ranks of a host.
pub(crate) type Inner = ShmEndpoint;

/// One rank's endpoint of a run on several hosts.
///
/// It owns what it points to. The part of this host is a pointer because that fabric calls back with itself while it
/// waits: then a second value that owns nothing represents this one ([`ClusterEndpoint::seen_as`]).
pub struct ClusterEndpoint {
    inner: NonNull<Inner>,
    rest: NonNull<Outside>,
}

/// Everything but the part of this host.
pub(crate) struct Outside {
    pub(crate) outer: Outer,
    pub(crate) places: Places,
    /// Number of this host among the hosts, with which the places of its memory begin.
    pub(crate) host: u16,
    pub(crate) twins: Twins,
    pub(crate) contexts: Contexts,
    /// The fabric that is searched first for a message of any rank: the other one than last time.
    pub(crate) outer_first: bool,
    /// Number of polls of the inner fabric, some of which also poll the outer one.
    pub(crate) polls: u32,
    /// True if this rank has declared that it leaves.
    pub(crate) has_left: bool,
}

impl Outside {
    /// Returns an error of the inner fabric as one of the run. If that has failed, the inner fabric has got the error
    /// from here.
    #[cold]
    pub(crate) fn outer_error(&self, error: Error) -> Error {
        self.outer.failure().unwrap_or_else(|| self.places.outer_error(error))
    }
}

impl ClusterEndpoint {
    pub(crate) fn new(inner: Inner, rest: Outside) -> Self {
        ClusterEndpoint { inner: owned(inner), rest: owned(rest) }
    }

    /// Returns the object that sends reports to the process that started the run, also while a program uses this rank.
    pub fn reporter(&self) -> Reporter {
        self.rest().outer.reporter()
    }

    /// Returns a value that owns nothing, while `inner` is borrowed from the one with the same `rest`.
    pub(crate) fn seen_as(inner: &mut Inner, rest: NonNull<Outside>) -> ManuallyDrop<Self> {
        ManuallyDrop::new(ClusterEndpoint { inner: NonNull::from(inner), rest })
    }

    /// Returns the pointer for [`seen_as`](ClusterEndpoint::seen_as).
    pub(crate) fn rest_pointer(&self) -> NonNull<Outside> {
        self.rest
    }

    #[inline]
    pub(crate) fn inner(&self) -> &Inner {
        // SAFETY: it lives as long as its owner, whose representative alone uses it.
        unsafe { self.inner.as_ref() }
    }

    #[inline]
    pub(crate) fn inner_mut(&mut self) -> &mut Inner {
        // SAFETY: as above.
        unsafe { self.inner.as_mut() }
    }

    #[inline]
    pub(crate) fn rest(&self) -> &Outside {
        // SAFETY: as above. While the inner fabric waits, only the representative of the owner has a reference to the
        // rest.
        unsafe { self.rest.as_ref() }
    }

    #[inline]
    pub(crate) fn rest_mut(&mut self) -> &mut Outside {
        // SAFETY: as above.
        unsafe { self.rest.as_mut() }
    }

    /// Returns both parts mutably.
    #[inline]
    pub(crate) fn both_mut(&mut self) -> (&mut Inner, &mut Outside) {
        // SAFETY: as above, and they are two values.
        unsafe { (self.inner.as_mut(), self.rest.as_mut()) }
    }

    /// Returns the same room again, for a receive that is posted to both fabrics.
    pub(crate) fn same_room(room: &Writable) -> Writable {
        // SAFETY: whoever made `room` promised the memory to the receive. One of the two requests is cancelled, without
        // a byte written, before the other can be given a message.
        unsafe { Writable::new(room.as_mut_ptr(), room.bytes()) }
    }

    /// Returns the parts.
    pub(crate) fn into_parts(self) -> (Inner, Outside) {
        let this = ManuallyDrop::new(self);
        // SAFETY: this is the last use of both pointers, which `owned` made.
        unsafe { (*Box::from_raw(this.inner.as_ptr()), *Box::from_raw(this.rest.as_ptr())) }
    }
}

fn owned<T>(value: T) -> NonNull<T> {
    NonNull::from(Box::leak(Box::new(value)))
}

impl Drop for ClusterEndpoint {
    fn drop(&mut self) {
        // SAFETY: instances that own nothing are never dropped; `owned` created the pointers. The part of this host is
        // dropped first: it informs the others of the host that this rank ends without a goodbye.
        unsafe {
            drop(Box::from_raw(self.inner.as_ptr()));
            drop(Box::from_raw(self.rest.as_ptr()));
        }
    }
}
