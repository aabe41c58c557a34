//! One-sided operations of a network, as the engine's.
#![allow(unsafe_code)]

use contract::{
    AtomicElement, AtomicElements, OneSided, OneSidedOperation, RemotePlace, Request, Result,
};

use crate::{MessageEngine, Transport};

/// Only used where the transport has [access](Transport::access_mut).
impl<T: Transport> OneSided for MessageEngine<T> {
    unsafe fn register(&mut self, start: *mut u8, bytes: usize) -> Option<RemotePlace> {
        // SAFETY: the caller promises the same.
        unsafe { self.transport.access_mut()?.register(start, bytes) }
    }

    fn unregister(&mut self, place: RemotePlace) {
        self.transport.access_mut().into_iter().for_each(|access| access.unregister(place));
    }

    fn atomic_elements(&self) -> AtomicElements {
        let access = self.transport.access();
        access.map_or_else(AtomicElements::default, |access| access.atomic_elements())
    }

    fn longest_bytes(&self, element: Option<AtomicElement>) -> usize {
        self.transport.access().map_or(usize::MAX, |access| access.longest_bytes(element))
    }

    unsafe fn start(
        &mut self,
        to: usize,
        place: RemotePlace,
        offset: u64,
        operation: OneSidedOperation,
    ) -> Result<Request> {
        let MessageEngine { messages, transport, .. } = self;
        let access = transport.access_mut().expect("only a network with access is used");
        // SAFETY: the caller promises the same.
        unsafe { access.start(messages, to, (place, offset), operation) }
    }
}
