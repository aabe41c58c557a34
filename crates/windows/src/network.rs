//! Operations that the network executes by itself, on members' memory that was registered for it.
//!
//! Puts and gets are writes and reads. Accumulating operations are atomic operations of the network if it executes all
//! of them on such elements, and the elements are aligned. Both depend only on the element, so that all members update
//! it in the same way. A member updates its own elements in the network as well, because processors' atomics and those
//! of the network need not be atomic with respect to each other.

use super::requests::{Pending, WORD};
use super::update::{Action, Stretch, Update};
use super::{Target, Ticket, Window};
use endpoint::{
    AtomicElement, AtomicOperation, Endpoint, Error, NetworkMemory, OneSided, OneSidedOperation,
    Readable, Result, Writable,
};

/// The network's operation for an action.
#[derive(Clone, Copy)]
pub(super) enum NetworkAction {
    Write,
    Read,
    Atomic(AtomicElement, AtomicOperation),
    CompareAndSwap(AtomicElement),
}

/// The stretches of an update that the network accesses.
pub(super) enum Division {
    WithoutNetwork,
    InNetwork(NetworkAction),
    /// Those with aligned elements.
    Both(NetworkAction),
}

impl NetworkAction {
    /// Returns the elements that it updates.
    fn element(self) -> Option<AtomicElement> {
        match self {
            NetworkAction::Write | NetworkAction::Read => None,
            NetworkAction::Atomic(element, _) | NetworkAction::CompareAndSwap(element) => {
                Some(element)
            }
        }
    }

    fn operand_bytes(self, bytes: usize) -> usize {
        match self {
            NetworkAction::Read => 0,
            NetworkAction::Write | NetworkAction::Atomic(..) => bytes,
            NetworkAction::CompareAndSwap(_) => 2 * bytes,
        }
    }

    /// Returns whether it can access these bytes of a member.
    fn reaches(self, target: &Target, stretch: &Stretch) -> bool {
        let bytes = self.element().map_or(1, AtomicElement::bytes) as u64;
        let address = target.address.wrapping_add(stretch.offset);
        address.is_multiple_of(bytes) && stretch.bytes.is_multiple_of(bytes)
    }
}

impl Window {
    /// Returns the network's operation for an action on aligned elements, if it has one.
    fn on_network(&self, action: Action) -> Option<NetworkAction> {
        match action {
            Action::Replace => Some(NetworkAction::Write),
            Action::Nothing => Some(NetworkAction::Read),
            Action::Combine(code) | Action::CompareAndSwap(code) => {
                let (element, operation) = (self.arithmetic.atomic)(code)?;
                let on_network = match action {
                    Action::Combine(_) => NetworkAction::Atomic(element, operation),
                    _ => NetworkAction::CompareAndSwap(element),
                };
                self.atomics.contains(element).then_some(on_network)
            }
        }
    }

    /// Returns whether such actions of others on aligned elements of this member's memory are requests, which it
    /// [serves](Window::is_served).
    pub fn serves(&self, action: Action) -> bool {
        let in_network =
            self.targets[self.me].registered.is_some() && self.on_network(action).is_some();
        self.is_served() && !in_network
    }

    /// Returns the stretches of an update that the network accesses.
    pub(super) fn division(&self, target: usize, update: &Update<'_>, fetches: bool) -> Division {
        let Update { action, stretches, .. } = *update;
        let one = &self.targets[target];
        if one.registered.is_none() {
            return Division::WithoutNetwork;
        }
        let is_own = target == self.me && !action.is_atomic();
        // The network has no put that fetches, and no get that does not fetch.
        let is_none =
            matches!((action, fetches), (Action::Replace, true) | (Action::Nothing, false));
        let Some(on_network) = self.on_network(action) else { return Division::WithoutNetwork };
        let mut not_empty = stretches.iter().filter(|stretch| stretch.bytes > 0);
        if is_own || is_none {
            Division::WithoutNetwork
        } else if not_empty.clone().all(|stretch| on_network.reaches(one, stretch)) {
            Division::InNetwork(on_network)
        } else if not_empty.any(|stretch| on_network.reaches(one, stretch)) {
            Division::Both(on_network)
        } else {
            Division::WithoutNetwork
        }
    }

    /// Executes an update in which the network accesses only some stretches.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it fetches, and as for [`update`](Window::update).
    pub(super) fn divide<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        on_network: NetworkAction,
        (update, fetches): (&Update<'_>, bool),
    ) -> Result<Option<Ticket>> {
        if fetches {
            let what = "fetch elements of which only some are aligned, in one operation".into();
            return Err(Error::Unsupported { fabric: "a window of this fabric".into(), what });
        }
        let (mut there, mut rest) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        let mut operand = update.operand;
        for &stretch in update.stretches {
            let (here, later) =
                operand.split_at(update.action.operand_bytes(stretch.bytes as usize));
            operand = later;
            let part = match on_network.reaches(&self.targets[target], &stretch) {
                true => &mut there,
                false => &mut rest,
            };
            part.0.push(stretch);
            part.1.extend_from_slice(here);
        }
        self.start(endpoint, target, on_network, (&there.0, &there.1, false))?;
        let update = Update { stretches: &rest.0, operand: &rest.1, ..*update };
        self.update_without_network(endpoint, target, &update, None)
    }

    /// Starts the operations. Returns a ticket for the fetched data.
    pub(super) fn start<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        on_network: NetworkAction,
        (stretches, operand, fetches): (&[Stretch], &[u8], bool),
    ) -> Result<Option<Ticket>> {
        let all: u64 = stretches.iter().map(|stretch| stretch.bytes).sum();
        if all == 0
            || matches!(on_network, NetworkAction::Atomic(_, AtomicOperation::Read)) && !fetches
        {
            return Ok(None);
        }
        let one = &self.targets[target];
        let (Some(NetworkMemory::OneSided(network)), Some(place)) =
            (endpoint.network_memory(), one.registered)
        else {
            unreachable!("only the network registers memory");
        };
        // Compare-and-swap fetches in any case.
        let receives = fetches || matches!(on_network, NetworkAction::CompareAndSwap(_));
        let answer_bytes = if receives { all as usize } else { 0 };
        let mut pending = Pending::new(target, operand.to_vec(), answer_bytes);
        let (sent, mut room) = (&pending.sent[..], &mut pending.room[WORD..]);
        let longest = longest_of(network, on_network.element());
        let mut from = 0;
        for stretch in stretches {
            let bytes = stretch.bytes as usize;
            let halves = (from, from + bytes);
            for begin in (0..bytes).step_by(longest) {
                let piece = longest.min(bytes - begin);
                let fetched = if receives { piece } else { 0 };
                let (first, rest) = std::mem::take(&mut room).split_at_mut(fetched);
                room = rest;
                let operation = operation(on_network, sent, (halves, begin, piece), first);
                // SAFETY: the member has registered this memory and promised it to its window. All stretches were
                // checked to be in it, and to be aligned.
                let request = unsafe {
                    network.start(one.rank, place, stretch.offset + begin as u64, operation)?
                };
                pending.requests.push(request);
            }
            from += on_network.operand_bytes(bytes);
        }
        (pending.is_in_network, pending.is_detached) = (true, !fetches);
        let ticket = self.pending_requests.keep_started(pending);
        Ok(fetches.then_some(ticket))
    }
}

/// Returns the maximum number of bytes of an operation: whole elements.
fn longest_of(network: &dyn OneSided, element: Option<AtomicElement>) -> usize {
    let bytes = element.map_or(1, AtomicElement::bytes);
    (network.longest_bytes(element) / bytes * bytes).max(bytes)
}

/// Returns an operation on `piece` bytes from `begin` on of a stretch, whose operand begins at the first of `halves` in
/// `sent`. The second half, for compare-and-swap, begins at the other.
fn operation(
    on_network: NetworkAction,
    sent: &[u8],
    ((first, second), begin, piece): ((usize, usize), usize, usize),
    fetched: &mut [u8],
) -> OneSidedOperation {
    // SAFETY: both vectors are kept unchanged until all requests are done.
    let (part, room) = unsafe {
        let part = |half: usize| Readable::new(sent[half + begin..][..piece].as_ptr(), piece);
        (part, Writable::new(fetched.as_mut_ptr(), fetched.len()))
    };
    match on_network {
        NetworkAction::Write => OneSidedOperation::Write(part(first)),
        NetworkAction::Read => OneSidedOperation::Read(room),
        NetworkAction::Atomic(element, operation) => {
            let fetched = (room.bytes() > 0).then_some(room);
            OneSidedOperation::Atomic { element, operation, operand: part(first), fetched }
        }
        NetworkAction::CompareAndSwap(element) => OneSidedOperation::CompareAndSwap {
            element,
            compare: part(first),
            new: part(second),
            fetched: room,
        },
    }
}
