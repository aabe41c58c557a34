//! The endpoint itself: a pointer to that of a fabric, and one to the processes of other runs.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use contract::{Endpoint, Result};
use fabric_cluster::ClusterEndpoint;
use fabric_ofi::OfiEndpoint;
use fabric_proxy::ProxyEndpoint;
use fabric_shm::ShmEndpoint;
use fabric_tcp::TcpEndpoint;
use launched::Joined;

use super::others::Others;

/// An endpoint of one of the fabrics, and connections to processes of other runs, once the program needs them.
///
/// It owns the targets of its pointers. While an endpoint waits, a value that owns nothing represents it
/// ([`Chosen::seen_as`]).
pub(crate) struct Chosen {
    pub(super) fabric: Fabric,
    pub(super) others: NonNull<Others>,
}

#[derive(Clone, Copy)]
pub(super) enum Fabric {
    Shm(NonNull<ShmEndpoint>),
    Tcp(NonNull<TcpEndpoint>),
    Cluster(NonNull<ClusterEndpoint>),
    Ofi(NonNull<OfiEndpoint>),
    Proxy(NonNull<ProxyEndpoint>),
}

impl From<Joined> for Fabric {
    fn from(joined: Joined) -> Self {
        match joined {
            Joined::SharedMemory(endpoint) => Fabric::Shm(owned(endpoint)),
            Joined::Tcp(endpoint) => Fabric::Tcp(owned(endpoint)),
            Joined::Cluster(endpoint) => Fabric::Cluster(owned(endpoint)),
            Joined::Ofi(endpoint) => Fabric::Ofi(owned(endpoint)),
            Joined::Simulated(endpoint) => Fabric::Proxy(owned(endpoint)),
        }
    }
}

/// Marks a cold path.
#[cold]
#[inline(always)]
pub(super) fn rare() {}

impl Chosen {
    /// Joins the run for which this process was launched, or creates one of this process alone.
    ///
    /// # Errors
    /// Errors of joining.
    pub(crate) fn join() -> Result<Self> {
        let fabric = Fabric::from(launched::join()?);
        Ok(Chosen { fabric, others: owned(Others::default()) })
    }

    /// Returns the name of the fabric for `cornerstone launch`.
    pub(crate) fn name(&self) -> &'static str {
        match self.fabric {
            Fabric::Shm(_) => "local",
            Fabric::Tcp(_) => "tcp",
            Fabric::Cluster(_) => "cluster",
            Fabric::Ofi(_) => "ofi",
            Fabric::Proxy(_) => "sim",
        }
    }

    /// Returns the function that must be called when the program enters the library (true) and when it returns, if the
    /// fabric has one: a simulated machine does not count the time in between as computing.
    pub(crate) fn library_observer(&self) -> Option<extern "C" fn(bool)> {
        match self.fabric {
            // SAFETY: it lives as long as its owner, which is borrowed.
            Fabric::Proxy(endpoint) => Some(unsafe { endpoint.as_ref() }.library_observer()),
            _ => None,
        }
    }

    /// Returns a value that owns nothing, while `endpoint` is borrowed from the one with the same `others`.
    #[inline(always)]
    pub(super) fn seen_as<E>(
        endpoint: &mut E,
        kind: fn(NonNull<E>) -> Fabric,
        others: NonNull<Others>,
    ) -> ManuallyDrop<Chosen> {
        ManuallyDrop::new(Chosen { fabric: kind(NonNull::from(endpoint)), others })
    }

    #[inline(always)]
    pub(super) fn others(&self) -> &Others {
        // SAFETY: it lives as long as its owner. While an endpoint waits, only the representative of the owner has a
        // reference to it.
        unsafe { self.others.as_ref() }
    }

    #[inline(always)]
    pub(super) fn others_mut(&mut self) -> &mut Others {
        // SAFETY: as above.
        unsafe { self.others.as_mut() }
    }

    /// Ends the part of the fabric only.
    pub(super) fn finish_fabric(self, outcome: Result<()>) -> i32 {
        let this = ManuallyDrop::new(self);
        let status = match this.fabric {
            // SAFETY: this is the last use of the pointer.
            Fabric::Shm(endpoint) => unsafe { taken(endpoint) }.finish(outcome),
            // SAFETY: as above.
            Fabric::Tcp(endpoint) => unsafe { taken(endpoint) }.finish(outcome),
            // SAFETY: as above.
            Fabric::Cluster(endpoint) => unsafe { taken(endpoint) }.finish(outcome),
            // SAFETY: as above.
            Fabric::Ofi(endpoint) => unsafe { taken(endpoint) }.finish(outcome),
            // SAFETY: as above.
            Fabric::Proxy(endpoint) => unsafe { taken(endpoint) }.finish(outcome),
        };
        // SAFETY: as above. The fabric has reported the outcome to its ranks before the connections with others end.
        drop(unsafe { taken(this.others) });
        status
    }
}

/// Allocates the target of a [`Chosen`].
fn owned<E>(endpoint: E) -> NonNull<E> {
    NonNull::from(Box::leak(Box::new(endpoint)))
}

/// Takes the target of a [`Chosen`].
///
/// # Safety
/// [`owned`] allocated the target, and the pointer is not used any more.
unsafe fn taken<E>(endpoint: NonNull<E>) -> E {
    // SAFETY: the caller promises the same.
    *unsafe { Box::from_raw(endpoint.as_ptr()) }
}

impl Drop for Chosen {
    fn drop(&mut self) {
        match self.fabric {
            // SAFETY: it is not used again; those that own nothing are never dropped.
            Fabric::Shm(endpoint) => drop(unsafe { taken(endpoint) }),
            // SAFETY: as above.
            Fabric::Tcp(endpoint) => drop(unsafe { taken(endpoint) }),
            // SAFETY: as above.
            Fabric::Cluster(endpoint) => drop(unsafe { taken(endpoint) }),
            // SAFETY: as above.
            Fabric::Ofi(endpoint) => drop(unsafe { taken(endpoint) }),
            // SAFETY: as above.
            Fabric::Proxy(endpoint) => drop(unsafe { taken(endpoint) }),
        }
        // SAFETY: as above.
        drop(unsafe { taken(self.others) });
    }
}

/// Evaluates the same expression with the endpoint of any fabric.
macro_rules! with {
    ($chosen:expr, $endpoint:ident => $body:expr) => {
        with!(shared of $chosen, $endpoint, _kind => $body)
    };
    ($chosen:expr, mut $endpoint:ident => $body:expr) => {
        with!(alone of $chosen, $endpoint, _kind => $body)
    };
    ($chosen:expr, mut $endpoint:ident, $kind:ident => $body:expr) => {
        with!(alone of $chosen, $endpoint, $kind => $body)
    };
    (at shared $pointer:ident) => { &*$pointer.as_ptr() };
    (at alone $pointer:ident) => { &mut *$pointer.as_ptr() };
    ($seen:ident of $chosen:expr, $endpoint:ident, $kind:ident => $body:expr) => {
        match $chosen.fabric {
            Fabric::Shm(pointer) => {
                // SAFETY: it lives as long as its owner, which is borrowed alike.
                let ($endpoint, $kind) = (unsafe { with!(at $seen pointer) }, Fabric::Shm);
                $body
            }
            Fabric::Tcp(pointer) => {
                rare();
                // SAFETY: as above.
                let ($endpoint, $kind) = (unsafe { with!(at $seen pointer) }, Fabric::Tcp);
                $body
            }
            Fabric::Cluster(pointer) => {
                rare();
                // SAFETY: as above.
                let ($endpoint, $kind) = (unsafe { with!(at $seen pointer) }, Fabric::Cluster);
                $body
            }
            Fabric::Ofi(pointer) => {
                rare();
                // SAFETY: as above.
                let ($endpoint, $kind) = (unsafe { with!(at $seen pointer) }, Fabric::Ofi);
                $body
            }
            Fabric::Proxy(pointer) => {
                rare();
                // SAFETY: as above.
                let ($endpoint, $kind) = (unsafe { with!(at $seen pointer) }, Fabric::Proxy);
                $body
            }
        }
    };
}
pub(super) use with;
