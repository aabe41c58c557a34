//! The endpoint itself: a pointer to that of a fabric, and one to the processes of other runs.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use contract::{Endpoint, Result};
use launched::{Holder, Joined, over};

use super::others::Others;

/// An endpoint of one of the fabrics, and connections to processes of other runs, once the program needs them.
///
/// It owns the targets of its pointers. While an endpoint waits, a value that owns nothing represents it
/// ([`Chosen::seen_as`]).
pub(crate) struct Chosen {
    pub(super) fabric: Fabric,
    pub(super) others: NonNull<Others>,
}

/// Pointers to endpoints, which may be copied.
#[derive(Clone, Copy)]
pub(super) enum Pointers {}

impl Holder for Pointers {
    type Of<E> = NonNull<E>;
}

pub(super) type Fabric = Joined<Pointers>;

/// Evaluates the same expression with the endpoint of any fabric.
macro_rules! with {
    ($chosen:expr, $endpoint:ident => $body:expr) => {
        launched::over!($chosen.fabric, pointer => {
            // SAFETY: it lives as long as its owner, which is borrowed.
            let $endpoint = unsafe { pointer.as_ref() };
            $body
        })
    };
    ($chosen:expr, mut $endpoint:ident $(, $variant:ident)? => $body:expr) => {
        launched::over!($chosen.fabric, pointer $(, $variant)? => {
            // SAFETY: it lives as long as its owner, which is borrowed alone.
            let $endpoint = unsafe { &mut *pointer.as_ptr() };
            $body
        })
    };
}
pub(super) use with;

impl Chosen {
    /// Joins the run for which this process was launched, or creates one of this process alone.
    ///
    /// # Errors
    /// Errors of joining.
    pub(crate) fn join() -> Result<Self> {
        let fabric = over!(launched::join()?, endpoint, variant => variant(owned(endpoint)));
        Ok(Chosen { fabric, others: owned(Others::default()) })
    }

    /// Returns the name of the fabric for `cornerstone launch`.
    pub(crate) fn name(&self) -> &'static str {
        self.fabric.name()
    }

    /// Returns the function that must be called when the program enters the library (true) and when it returns, if the
    /// fabric has one: a simulated machine does not count the time in between as computing.
    pub(crate) fn library_observer(&self) -> Option<extern "C" fn(bool)> {
        match self.fabric {
            // SAFETY: it lives as long as its owner, which is borrowed.
            Fabric::Simulated(endpoint) => Some(unsafe { endpoint.as_ref() }.library_observer()),
            _ => None,
        }
    }

    /// Returns a value that owns nothing, while `endpoint` is borrowed from the one with the same `others`.
    #[inline(always)]
    pub(super) fn seen_as<E>(
        endpoint: &mut E,
        variant: fn(NonNull<E>) -> Fabric,
        others: NonNull<Others>,
    ) -> ManuallyDrop<Chosen> {
        ManuallyDrop::new(Chosen { fabric: variant(NonNull::from(endpoint)), others })
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
        // SAFETY: this is the last use of the pointer.
        let status = with!(this, mut endpoint => unsafe { taken(endpoint.into()) }.finish(outcome));
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
        // SAFETY: it is not used again; those that own nothing are never dropped.
        with!(self, mut endpoint => drop(unsafe { taken(endpoint.into()) }));
        // SAFETY: as above.
        drop(unsafe { taken(self.others) });
    }
}
