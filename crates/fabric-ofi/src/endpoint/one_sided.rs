//! One-sided operations on registered memory, if the provider has them.

use contract::{
    AtomicElement, AtomicElements, OneSided, OneSidedOperation, RemotePlace, Request, Result,
};

use super::OfiEndpoint;

impl OneSided for OfiEndpoint {
    unsafe fn register(&mut self, start: *mut u8, bytes: usize) -> Option<RemotePlace> {
        self.engine.transport_mut().objects_mut()?.register(start, bytes)
    }

    fn unregister(&mut self, place: RemotePlace) {
        // After an error nothing is registered any more.
        self.engine
            .transport_mut()
            .objects_mut()
            .into_iter()
            .for_each(|objects| objects.unregister(place));
    }

    fn atomic_elements(&self) -> AtomicElements {
        let objects = self.engine.transport().objects();
        objects.map_or_else(|_| AtomicElements::default(), |objects| objects.atomic_elements())
    }

    fn longest_bytes(&self, element: Option<AtomicElement>) -> usize {
        self.engine.transport().objects().map_or(usize::MAX, |objects| match element {
            Some(element) => objects.atomic_bytes_max(element),
            None => objects.provider.message_bytes_max,
        })
    }

    unsafe fn start(
        &mut self,
        to: usize,
        place: RemotePlace,
        offset: u64,
        operation: OneSidedOperation,
    ) -> Result<Request> {
        let (messages, transport) = self.engine.parts_mut();
        let started = transport.start_access(messages, to, (place, offset), operation);
        transport.known(messages, started)
    }
}
