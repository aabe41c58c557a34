//! Signals: their words and their handling.

use std::collections::{BTreeMap, VecDeque};

use super::layout::PRESENT;
use super::semaphores::SEMAPHORES;

/// The largest number of a program's own signals, ports and segments.
pub const OWN_MAX: u32 = (1 << 31) - 1;

/// The signals that are reserved for the library.
pub(super) const BARRIER: u32 = 1 << 31;
const P: u32 = BARRIER + 0x100;
const V: u32 = BARRIER + 0x200;
const WITHDRAW: u32 = BARRIER + 0x300;

/// Returns the signal that requests a semaphore, with [`send_signal_and_wait`](super::Node::send_signal_and_wait).
pub const fn p_signal(semaphore: u32) -> u32 {
    P + semaphore
}

/// Returns the signal that releases a semaphore.
pub const fn v_signal(semaphore: u32) -> u32 {
    V + semaphore
}

pub(super) const fn withdraw_signal(semaphore: u32) -> u32 {
    WITHDRAW + semaphore
}

/// The kind of a signal, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalKind {
    Own,
    Barrier,
    P(u32),
    V(u32),
    Withdraw(u32),
    Unknown,
}

impl SignalKind {
    pub(super) fn of(number: u32) -> Self {
        let among = |first: u32| number.checked_sub(first).filter(|one| *one < SEMAPHORES);
        match (number, among(P), among(V), among(WITHDRAW)) {
            (0..=OWN_MAX, ..) => SignalKind::Own,
            (BARRIER, ..) => SignalKind::Barrier,
            (_, Some(one), ..) => SignalKind::P(one),
            (_, _, Some(one), _) => SignalKind::V(one),
            (.., Some(one)) => SignalKind::Withdraw(one),
            _ => SignalKind::Unknown,
        }
    }
}

/// A signal that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its sender.
    pub from: usize,
    /// Its number.
    pub number: u32,
    /// True if its sender waits for an answer.
    pub waits: bool,
}

/// The handling of a signal.
pub struct SignalHandler(pub(super) Handling);

pub(super) enum Handling {
    Default,
    Ignore,
    Own(Box<dyn FnMut(Signal) -> u32>),
}

impl SignalHandler {
    /// Creates a handler from a function of the program's own, whose result is the answer. It cannot access the
    /// cluster.
    pub fn own(function: impl FnMut(Signal) -> u32 + 'static) -> Self {
        SignalHandler(Handling::Own(Box::new(function)))
    }
}

/// Returns a handler that keeps the signal until the program [takes](super::Node::take_signal) it. The answer is 0.
pub fn default_signal_handler() -> SignalHandler {
    SignalHandler(Handling::Default)
}

/// Returns a handler that drops the signal. The answer is 0.
pub fn ignore_signal_handler() -> SignalHandler {
    SignalHandler(Handling::Ignore)
}

/// Maximum number of signals that are kept for the program. Further ones stay in their slots, where their senders see
/// them.
const KEPT_MAX: usize = 1024;

/// A node's handling of signals.
#[derive(Default)]
pub(super) struct Handlers {
    by_number: BTreeMap<u32, SignalHandler>,
    kept: VecDeque<Signal>,
}

impl Handlers {
    pub(super) fn set(&mut self, number: u32, handler: SignalHandler) {
        self.by_number.insert(number, handler);
    }

    /// Handles a signal. Returns the answer, or `None` if the signal cannot be handled now.
    pub(super) fn handle(&mut self, signal: Signal) -> Option<u32> {
        match self.by_number.get_mut(&signal.number).map(|handler| &mut handler.0) {
            Some(Handling::Ignore) => Some(0),
            Some(Handling::Own(function)) => Some(function(signal)),
            Some(Handling::Default) | None => self.keep(signal).then_some(0),
        }
    }

    fn keep(&mut self, signal: Signal) -> bool {
        let fits = self.kept.len() < KEPT_MAX;
        if fits {
            self.kept.push_back(signal);
        }
        fits
    }

    /// Takes the oldest signal that was kept.
    pub(super) fn take(&mut self) -> Option<Signal> {
        self.kept.pop_front()
    }
}

/// Returns a signal's word: whether it waits, its number among its sender's signals, and its number.
pub(super) fn word_of(number: u32, sequence: u32, waits: bool) -> u64 {
    PRESENT | u64::from(waits) << 62 | u64::from(sequence & SEQUENCE_MASK) << 32 | u64::from(number)
}

const SEQUENCE_MASK: u32 = (1 << 30) - 1;

/// Returns the signal of a word and its number among its sender's, or `None` if the word has none.
pub(super) fn of_word(from: usize, word: u64) -> Option<(Signal, u32)> {
    let signal = Signal { from, number: word as u32, waits: word >> 62 & 1 == 1 };
    (word & PRESENT != 0).then_some((signal, (word >> 32) as u32 & SEQUENCE_MASK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_survives_as_a_word() {
        for (number, sequence, waits) in [(0, 0, false), (u32::MAX, SEQUENCE_MASK, true)] {
            let word = word_of(number, sequence, waits);
            assert_eq!(of_word(4, word), Some((Signal { from: 4, number, waits }, sequence)));
        }
        assert_eq!(of_word(4, 0), None);
        // The count of signals has more bits than the part in the word.
        assert_eq!(of_word(0, word_of(1, SEQUENCE_MASK + 1, false)).unwrap().1, 0);
    }

    #[test]
    fn numbers_are_told_apart() {
        let numbers = [0, OWN_MAX, BARRIER, p_signal(63), v_signal(0), withdraw_signal(1), P + 64];
        let found = numbers.map(SignalKind::of);
        let (own, nothing) = (SignalKind::Own, SignalKind::Unknown);
        let [p, v, withdraw] = [SignalKind::P(63), SignalKind::V(0), SignalKind::Withdraw(1)];
        assert_eq!(found, [own, own, SignalKind::Barrier, p, v, withdraw, nothing]);
    }

    #[test]
    fn what_is_kept_has_a_bound_and_keeps_its_order() {
        let mut handlers = Handlers::default();
        let signal = |number| Signal { from: 1, number, waits: false };
        let taken = (0..KEPT_MAX as u32).filter(|&one| handlers.handle(signal(one)).is_some());
        assert_eq!((taken.count(), handlers.handle(signal(7))), (KEPT_MAX, None));
        handlers.set(7, ignore_signal_handler());
        handlers.set(8, SignalHandler::own(|signal| signal.number * 2));
        assert_eq!([7, 8].map(|one| handlers.handle(signal(one))), [Some(0), Some(16)]);
        assert_eq!((handlers.take(), handlers.take()), (Some(signal(0)), Some(signal(1))));
        handlers.set(7, default_signal_handler());
        assert_eq!(handlers.handle(signal(7)), Some(0));
    }
}
