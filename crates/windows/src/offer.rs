//! The values that the members of a new window exchange.

use std::ptr::NonNull;

use super::control::Control;
use endpoint::{AtomicElements, Endpoint, HostMemory, NetworkMemory, RemotePlace};

/// Length of a dynamic window, to which a member adds memory at any time: offsets are addresses of its process.
pub const DYNAMIC_BYTES: u64 = i64::MAX as u64;

/// Represents the lack of a place.
const NOWHERE: u64 = u64::MAX;

/// A member's description of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowOffer {
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// The fabric's place of the memory.
    place: u64,
    control_address: u64,
    control_place: u64,
    pub(super) can_attach: bool,
    /// True if an agent in the network serves the memory.
    pub(super) has_agent: bool,
    /// The place of the memory for one-sided operations of the network, if it was registered.
    pub(super) registered: Option<RemotePlace>,
    /// The elements for which the network executes all updates.
    pub(super) atomics: AtomicElements,
}

/// Flags in a word of an offer; the elements of [`WindowOffer::atomics`] are in its upper half.
const CAN_ATTACH: u64 = 1;
const HAS_AGENT: u64 = 2;
const IS_REGISTERED: u64 = 4;
const ATOMICS_SHIFT: u32 = 32;

impl WindowOffer {
    /// Length of the offer in bytes.
    pub const BYTES: usize = 64;

    /// Returns the offer as bytes.
    pub fn to_bytes(&self) -> [u8; WindowOffer::BYTES] {
        let RemotePlace { key, start } =
            self.registered.unwrap_or(RemotePlace { key: 0, start: 0 });
        let flag = |holds: bool, flag: u64| if holds { flag } else { 0 };
        let words = [
            self.address,
            self.bytes,
            self.place,
            self.control_address,
            self.control_place,
            flag(self.can_attach, CAN_ATTACH)
                | flag(self.has_agent, HAS_AGENT)
                | flag(self.registered.is_some(), IS_REGISTERED)
                | u64::from(self.atomics.to_bits()) << ATOMICS_SHIFT,
            key,
            start,
        ];
        let mut bytes = [0; WindowOffer::BYTES];
        for (word, place) in words.iter().zip(bytes.chunks_exact_mut(8)) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// Returns the offer of the bytes that [`to_bytes`](WindowOffer::to_bytes) returned.
    pub fn from_bytes(bytes: &[u8; WindowOffer::BYTES]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_ne_bytes(words[index]);
        WindowOffer {
            address: word(0),
            bytes: word(1),
            place: word(2),
            control_address: word(3),
            control_place: word(4),
            can_attach: word(5) & CAN_ATTACH != 0,
            has_agent: word(5) & HAS_AGENT != 0,
            registered: (word(5) & IS_REGISTERED != 0)
                .then(|| RemotePlace { key: word(6), start: word(7) }),
            atomics: AtomicElements::from_bits((word(5) >> ATOMICS_SHIFT) as u16),
        }
    }

    /// Returns whether the fabric has a place for the memory.
    pub(super) fn is_shared(&self) -> bool {
        self.place != NOWHERE
    }

    /// Returns the memory, if this process can access it.
    pub(super) fn base(&self, memory: &HostMemory<'_>) -> Option<NonNull<u8>> {
        let bytes = usize::try_from(self.bytes).ok()?;
        memory.memory_at(self.place, bytes).filter(|_| self.is_shared())
    }

    /// Returns the control block, if this process can access it.
    pub(super) fn control(&self, memory: &HostMemory<'_>) -> Option<NonNull<Control>> {
        let seen = memory.memory_at(self.control_place, size_of::<Control>())?;
        Some(seen.cast()).filter(|_| self.control_place != NOWHERE)
    }

    /// Returns the offset to subtract from an address of the member's process to get the fabric's place.
    pub(super) fn shift(&self) -> u64 {
        self.control_address.wrapping_sub(self.control_place)
    }
}

/// A member's part of a new window: its memory, and its control block.
pub struct WindowPart {
    offer: WindowOffer,
    base: Option<NonNull<u8>>,
    control: NonNull<Control>,
    /// True if the control block came from the endpoint, not from the heap.
    is_allocated: bool,
    /// The registration of the memory with the network, if it has any.
    registered: Option<RemotePlace>,
}

impl WindowPart {
    /// Creates the part for the `bytes` bytes at `start`, or for the member's whole memory if `bytes` is
    /// [`DYNAMIC_BYTES`].
    ///
    /// # Safety
    /// The memory may be read and written, by any process, until the window is closed, and is initialised. For a
    /// dynamic window that applies to all memory that the others access.
    pub unsafe fn new<E: Endpoint>(endpoint: &mut E, start: *mut u8, bytes: u64) -> Self {
        // SAFETY: the caller promises the same.
        unsafe { Self::with(endpoint, (start, bytes), false) }
    }

    /// As [`new`](WindowPart::new), for memory that the program shares among the ranks of a host on purpose
    /// ([`HostMemory`](endpoint::HostMemory)).
    ///
    /// # Safety
    /// As for [`new`](WindowPart::new).
    pub unsafe fn on_host<E: Endpoint>(endpoint: &mut E, start: *mut u8, bytes: u64) -> Self {
        // SAFETY: the caller promises the same.
        unsafe { Self::with(endpoint, (start, bytes), true) }
    }

    /// As [`new`](WindowPart::new), or as [`on_host`](WindowPart::on_host).
    ///
    /// # Safety
    /// As for [`new`](WindowPart::new).
    unsafe fn with<E: Endpoint>(
        endpoint: &mut E,
        (start, bytes): (*mut u8, u64),
        is_on_host: bool,
    ) -> Self {
        let memory = endpoint.host_memory().filter(|one| is_on_host || one.is_for_windows);
        let allocated = memory.and_then(|one| one.arenas.allocate(size_of::<Control>()));
        let allocated = allocated.map(NonNull::cast::<Control>);
        let control = allocated.unwrap_or_else(|| NonNull::from(Box::leak(Box::default())));
        if allocated.is_some() {
            // SAFETY: nothing else uses it, and it is all atomics, for which zeros are valid.
            unsafe { control.write_bytes(0, 1) };
        }
        let place = |start: *const u8, bytes: usize| {
            memory.and_then(|one| one.place_of(start, bytes)).unwrap_or(NOWHERE)
        };
        let control_start = control.as_ptr().cast_const().cast::<u8>();
        let is_dynamic = bytes == DYNAMIC_BYTES;
        let control_place = place(control_start, size_of::<Control>());
        let place = match bytes {
            DYNAMIC_BYTES => NOWHERE,
            // No member accesses it: any valid place will do.
            0 => control_place,
            _ => place(start, bytes as usize),
        };
        let can_attach = memory.is_some_and(|one| one.copies.is_some());
        let (mut registered, mut atomics, mut nothing) = (None, AtomicElements::default(), None);
        let network = endpoint.network_memory();
        let has_agent = matches!(network, Some(NetworkMemory::Agents(_)));
        if let Some(NetworkMemory::OneSided(network)) = network {
            atomics = network.atomic_elements();
            // No member accesses it: any place will do.
            nothing = (bytes == 0).then_some(RemotePlace { key: 0, start: 0 });
            if !is_dynamic && bytes > 0 && place == NOWHERE {
                // SAFETY: the caller promises the same until the window is closed, which ends the registration.
                registered = unsafe { network.register(start, bytes as usize) };
            }
        }
        let offer = WindowOffer {
            address: if is_dynamic { 0 } else { start as u64 },
            bytes,
            place,
            control_address: control_start as u64,
            control_place,
            can_attach,
            has_agent,
            registered: registered.or(nothing),
            atomics,
        };
        let base = NonNull::new(start).or((bytes == 0).then(NonNull::dangling));
        WindowPart { offer, base, control, is_allocated: allocated.is_some(), registered }
    }

    /// Makes the other members access it by messages only.
    #[must_use]
    pub fn by_messages_only(mut self) -> Self {
        (self.offer.place, self.offer.control_place) = (NOWHERE, NOWHERE);
        (self.offer.can_attach, self.offer.has_agent) = (false, false);
        self.offer.registered = None;
        self
    }

    /// Returns the offer for the others.
    pub fn offer(&self) -> WindowOffer {
        self.offer
    }

    pub(super) fn base(&self) -> Option<NonNull<u8>> {
        self.base
    }

    pub(super) fn control(&self) -> NonNull<Control> {
        self.control
    }

    /// Frees its allocations.
    pub fn close<E: Endpoint>(self, endpoint: &mut E) {
        if let (Some(registered), Some(NetworkMemory::OneSided(network))) =
            (self.registered, endpoint.network_memory())
        {
            network.unregister(registered);
        }
        // SAFETY: both were allocated in `new`, and the block is no longer used.
        unsafe {
            match endpoint.host_memory() {
                _ if !self.is_allocated => drop(Box::from_raw(self.control.as_ptr())),
                Some(memory) => memory.arenas.release(self.control.cast(), size_of::<Control>()),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_survives_as_bytes() {
        let offer = WindowOffer {
            address: 1,
            bytes: DYNAMIC_BYTES,
            place: NOWHERE,
            control_address: 1000,
            control_place: 400,
            can_attach: true,
            has_agent: false,
            registered: None,
            atomics: AtomicElements::default(),
        };
        let with_agent = WindowOffer { can_attach: false, has_agent: true, ..offer };
        assert_eq!(WindowOffer::from_bytes(&with_agent.to_bytes()), with_agent);
        let registered = Some(RemotePlace { key: 7, start: 1 << 40 });
        let atomics = AtomicElements::from_bits(0x281);
        let registered = WindowOffer { registered, atomics, ..offer };
        assert_eq!(WindowOffer::from_bytes(&registered.to_bytes()), registered);
        assert_eq!(WindowOffer::from_bytes(&offer.to_bytes()), offer);
        assert_eq!((offer.shift(), offer.is_shared()), (600, false));
    }
}
