//! The execution of other members' requests on a member's memory, by the member itself or by its agent in the network.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use endpoint::Untrusted;

use super::control::{Control, NOTICES};
use super::offer::DYNAMIC_BYTES;
use super::requests::{OUT_OF_WINDOW, SUCCESS};
use super::update::{Action, Arithmetic, Stretch};
use super::wire::{self, Head, Kind};

/// A member that waits for access.
struct Waiting {
    source: usize,
    by: Requested,
    exclusive: bool,
}

/// The origin of a request for access.
#[derive(Clone, Copy)]
enum Requested {
    /// By a message with this ticket.
    Message(u32),
    /// The server's own member.
    Own,
}

/// An answer to a member.
pub(super) struct Answer {
    pub(super) member: usize,
    pub(super) ticket: u32,
    pub(super) data: Vec<u8>,
}

/// A member's memory, and the members that wait for access.
pub(super) struct Server {
    control: NonNull<Control>,
    base: Option<NonNull<u8>>,
    bytes: u64,
    arithmetic: Arithmetic,
    /// Number of requests answered so far.
    count: u64,
    waiting: VecDeque<Waiting>,
    /// True if the own member has been granted access that it has not taken.
    has_granted_own: bool,
    /// Memory of a dynamic window: address and length of each part.
    attached: Vec<(u64, u64)>,
}

impl Server {
    /// Creates the server of `bytes` bytes from `base` on, or of the memory that is added to a dynamic window. Both
    /// pointers must outlive it.
    pub(super) fn new(
        control: NonNull<Control>,
        (base, bytes): (Option<NonNull<u8>>, u64),
        arithmetic: Arithmetic,
    ) -> Self {
        let (waiting, attached) = (VecDeque::new(), Vec::new());
        Server {
            control,
            base,
            bytes,
            arithmetic,
            count: 0,
            waiting,
            has_granted_own: false,
            attached,
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn attach(&mut self, address: u64, bytes: u64) {
        self.attached.push((address, bytes));
    }

    pub(super) fn detach(&mut self, address: u64) -> bool {
        let attached = &mut self.attached;
        let found = attached.iter().position(|&(start, _)| start == address);
        found.map(|index| attached.swap_remove(index)).is_some()
    }

    /// Returns whether the memory contains all of these bytes. Parts of a dynamic window may be adjacent.
    pub(super) fn holds(&self, stretch: &Stretch) -> bool {
        let Stretch { mut offset, mut bytes } = *stretch;
        if self.bytes != DYNAMIC_BYTES {
            return offset <= self.bytes && bytes <= self.bytes - offset;
        }
        while bytes > 0 {
            // The longest remainder of a part from here on; parts may overlap.
            let rests = self.attached.iter().map(|&(start, length)| {
                offset.checked_sub(start).and_then(|before| length.checked_sub(before)).unwrap_or(0)
            });
            let here = rests.max().unwrap_or(0).min(bytes);
            if here == 0 {
                return false;
            }
            (offset, bytes) = (offset + here, bytes - here);
        }
        true
    }

    /// Executes the request of member `source`, and appends the answers that can be sent now. Returns whether the
    /// request was a notice.
    pub(super) fn serve(
        &mut self,
        source: usize,
        request: &[u8],
        answers: &mut Vec<Answer>,
    ) -> bool {
        self.count += 1;
        let Some((head, stretches, operand)) = wire::read(request) else { return false };
        let Head { kind, ticket, fetches, .. } = head;
        // SAFETY: the block lasts as long as the window.
        let control = unsafe { self.control.as_ref() };
        let mut answer = |data| answers.push(Answer { member: source, ticket, data });
        match kind {
            Kind::Share | Kind::Take => {
                let exclusive = kind == Kind::Take;
                let by = Requested::Message(ticket);
                self.waiting.push_back(Waiting { source, by, exclusive });
            }
            Kind::GiveUpShared | Kind::GiveUpExclusive => {
                control.give_up(source, kind == Kind::GiveUpExclusive);
                answer(SUCCESS.to_ne_bytes().to_vec());
            }
            Kind::Notify(number) => {
                // Release, partner of the acquire in `Window::notices`.
                control.notice(number as usize % NOTICES).fetch_add(1, Ordering::Release);
                answer(SUCCESS.to_ne_bytes().to_vec());
            }
            Kind::Update(action) => answer(self.update(action, fetches, &stretches, operand)),
        }
        matches!(kind, Kind::Notify(_))
    }

    /// Executes a request on the memory, and returns the answer.
    fn update(
        &self,
        action: Action,
        fetches: bool,
        stretches: &[Untrusted<Stretch>],
        mut operand: &[u8],
    ) -> Vec<u8> {
        let held = stretches.iter().map(|one| one.accepted(|stretch| self.holds(stretch)));
        let held: Option<Vec<Stretch>> = held.collect();
        // Stretches may overlap, so that all of them together are longer than the memory.
        let wanted = held.as_ref().and_then(|held| {
            let all = held.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.bytes));
            all.filter(|&all| all <= isize::MAX as u64)
        });
        let fits = wanted.is_some_and(|all| operand.len() == action.operand_bytes(all as usize));
        let Some(held) = held.filter(|_| fits) else {
            return OUT_OF_WINDOW.to_ne_bytes().to_vec();
        };
        let mut answer = SUCCESS.to_ne_bytes().to_vec();
        for Stretch { offset, bytes } in held {
            let start = match self.base {
                Some(base) => base.as_ptr().wrapping_add(offset as usize),
                None => offset as *mut u8,
            };
            let Some(start) = NonNull::new(start) else { continue };
            // SAFETY: `holds` has checked. All updates of this memory are made by this process, one after the other.
            let target = unsafe { NonNull::slice_from_raw_parts(start, bytes as usize).as_mut() };
            if fetches {
                answer.extend_from_slice(target);
            }
            let (here, rest) = operand.split_at(action.operand_bytes(bytes as usize));
            action.make(&self.arithmetic, here, target);
            operand = rest;
        }
        answer
    }

    /// Queues a request of the own member, number `source`, behind those of the others.
    pub(super) fn queue_own(&mut self, source: usize, exclusive: bool) {
        self.waiting.push_back(Waiting { source, by: Requested::Own, exclusive });
    }

    /// Returns the members that wait for access, in the order of their requests.
    pub(super) fn waiting(&self) -> impl Iterator<Item = usize> {
        self.waiting.iter().map(|one| one.source)
    }

    /// Returns whether that request has been granted. It is then forgotten.
    pub(super) fn take_own(&mut self) -> bool {
        std::mem::take(&mut self.has_granted_own)
    }

    /// Grants access to the waiters in the order of their requests.
    pub(super) fn grant(&mut self, answers: &mut Vec<Answer>) {
        while let Some(&Waiting { source, by, exclusive }) = self.waiting.front() {
            // SAFETY: the block lasts as long as the window.
            let control = unsafe { self.control.as_ref() };
            let granted = match exclusive {
                true => control.try_take(source),
                false => control.try_share(),
            };
            if !granted {
                break;
            }
            self.waiting.pop_front();
            match by {
                Requested::Own => self.has_granted_own = true,
                Requested::Message(ticket) => {
                    let data = SUCCESS.to_ne_bytes().to_vec();
                    answers.push(Answer { member: source, ticket, data });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use random::SplitMix64;

    use super::*;

    /// Returns a request for exclusive access.
    fn take(ticket: u32) -> Vec<u8> {
        wire::write((Kind::Take, ticket, true), &[], &[])
    }

    #[test]
    fn the_own_member_gets_access_in_its_turn() {
        let control = Control::default();
        let mut server = Server::new(NonNull::from(&control), (None, 0), Arithmetic::REDUCTIONS);
        let mut answers = Vec::new();
        server.serve(1, &take(0), &mut answers);
        server.queue_own(0, true);
        // These members request access again as soon as they have released it.
        for ticket in [10, 11] {
            server.serve(2, &take(ticket), &mut answers);
        }
        let mut order = Vec::new();
        for _ in 0..4 {
            server.grant(&mut answers);
            let granted = answers.pop().map_or(0, |answer| answer.member);
            assert_eq!(server.take_own(), granted == 0);
            assert_eq!(control.holder(), Some(Untrusted::new(granted)));
            order.push(granted);
            control.give_up(granted, true);
        }
        assert_eq!(order, [1, 0, 2, 2]);
        server.grant(&mut answers);
        assert!(!server.take_own() && answers.is_empty() && control.holder().is_none());
    }

    /// Requests that are almost right, to 40 bytes in the middle of other memory.
    #[test]
    fn no_request_of_a_corrupt_member_reaches_memory_beside_the_window() {
        const WINDOW: std::ops::Range<usize> = 64..104;
        let mut random = SplitMix64::new(61);
        let actions = [
            Action::Replace,
            Action::Nothing,
            Action::Combine(0x0100),
            Action::CompareAndSwap(0x0100),
        ];
        let mut written = 0;
        for _ in 0..20_000 {
            let control = Control::default();
            let mut memory = [0xa5_u8; 168];
            let base = NonNull::from(&mut memory[WINDOW]).cast();
            let window = (Some(base), WINDOW.len() as u64);
            let mut server = Server::new(NonNull::from(&control), window, Arithmetic::REDUCTIONS);
            let action = random.pick(&actions);
            let number = |random: &mut SplitMix64, bound| match random.below(4) {
                0 => random.edge(),
                _ => random.below(bound) as u64,
            };
            let mut stretches = Vec::new();
            for _ in 0..random.below(4) {
                let (offset, bytes) = (number(&mut random, 24), number(&mut random, 17));
                stretches.push(Stretch { offset, bytes });
            }
            let wanted = stretches.iter().fold(0_u64, |sum, one| sum.wrapping_add(one.bytes));
            let operand = vec![7; action.operand_bytes(wanted.min(200) as usize)];
            let kind = Kind::Update(action);
            let mut request = wire::write((kind, 5, random.below(2) == 0), &stretches, &operand);
            if random.below(4) == 0 {
                random.mutate(&mut request);
            }
            server.serve(1, &request, &mut Vec::new());
            written += usize::from(memory[WINDOW].iter().any(|&byte| byte != 0xa5));
            let outside = [&memory[..WINDOW.start], &memory[WINDOW.end..]].concat();
            assert!(outside.iter().all(|&byte| byte == 0xa5), "{request:?}");
        }
        assert!(written > 1000, "many requests are served: {written}");
    }
}
