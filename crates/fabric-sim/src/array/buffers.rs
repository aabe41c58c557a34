//! The results of the receive interrupt for RECV: a queue of buffers, or the latest.

use std::collections::{BTreeMap, VecDeque};

use super::{Medium, ReceiveMode};

/// Buffers of one sender over one medium.
#[derive(Default)]
pub(super) struct Received {
    pub(super) mode: ReceiveMode,
    /// The words of the buffer that is arriving.
    temporary: Vec<u16>,
    /// Synchronous: complete buffers that were not received. `None` for one whose checksum was wrong.
    pub(super) queue: VecDeque<Option<Vec<u16>>>,
    /// Asynchronous: the last complete buffer.
    pub(super) latest: Option<Vec<u16>>,
    /// Asynchronous: true if a buffer came with a wrong checksum since the last RECV.
    pub(super) had_wrong_checksum: bool,
}

/// The buffers that a processor receives, by medium and sender.
#[derive(Default)]
pub(super) struct Inbox {
    pairs: BTreeMap<(Medium, usize), Received>,
}

/// Returns the checksum that ends a buffer: the sum of its words. (The paper does not specify the checksum.)
pub(super) fn checksum(words: &[u16]) -> u16 {
    words.iter().fold(0x5A5A, |sum, &word| sum.wrapping_add(word))
}

impl Inbox {
    pub(super) fn pair(&mut self, medium: Medium, from: usize) -> &mut Received {
        self.pairs.entry((medium, from)).or_default()
    }

    /// Adds a word that the receive interrupt has taken.
    pub(super) fn take(&mut self, medium: Medium, from: usize, bits: u16) {
        self.pair(medium, from).temporary.push(bits);
    }

    /// Completes a buffer, because the receive interrupt has taken its last word.
    pub(super) fn complete(&mut self, medium: Medium, from: usize) {
        let pair = self.pair(medium, from);
        let mut words = std::mem::take(&mut pair.temporary);
        let sum = words.pop();
        let right = sum == Some(checksum(&words));
        match (pair.mode, right) {
            (ReceiveMode::Synchronous, _) => pair.queue.push_back(right.then_some(words)),
            (ReceiveMode::Asynchronous, true) => pair.latest = Some(words),
            (ReceiveMode::Asynchronous, false) => pair.had_wrong_checksum = true,
        }
    }
}
