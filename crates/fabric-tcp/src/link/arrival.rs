//! The received part of the stream: how far it is complete, and what lies ahead of that.

use std::collections::BTreeMap;

use contract::Untrusted;

use super::chunk::CHUNK_BYTES_MAX;
use super::store::STORE_BYTES;

/// Length of all chunks that a sender keeps: the first of them may be acknowledged in part.
const HELD_BYTES_MAX: usize = STORE_BYTES + CHUNK_BYTES_MAX;

#[derive(Default)]
pub(super) struct Arrival {
    /// Offset before which everything has arrived and was passed on.
    expected: u64,
    /// Chunks that arrived early, by their offset.
    held: BTreeMap<u64, Vec<u8>>,
    /// Length of all of them.
    held_bytes: usize,
}

impl Arrival {
    /// Returns the offset of the next byte of the stream.
    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    /// Records that the next bytes of the stream were passed on.
    pub(super) fn deliver(&mut self, bytes: usize) {
        self.expected += bytes as u64;
    }

    /// Keeps a chunk that arrived early and ends at `end`. Returns false if a correct sender cannot have sent it beside
    /// those that are kept: its chunks do not overlap, unless they are the same.
    pub(super) fn hold(&mut self, end: u64, body: Vec<u8>) -> bool {
        let (offset, bytes) = (end - body.len() as u64, body.len());
        if end > self.expected {
            let before = self.held.get(&offset).map_or(0, Vec::len);
            let all = Untrusted::new(self.held_bytes - before + bytes).at_most(HELD_BYTES_MAX);
            let Some(all) = all else { return false };
            self.held_bytes = all;
            self.held.insert(offset, body);
        }
        true
    }

    /// Returns whether a correct sender may have sent data up to `end`: it keeps everything unacknowledged.
    pub(super) fn has_room_until(&self, end: u64) -> bool {
        end <= self.expected + STORE_BYTES as u64
    }

    /// Passes on kept data that are next now. Returns their length.
    pub(super) fn take_held(&mut self, room: &mut [u8]) -> usize {
        let mut done = 0;
        while done < room.len()
            && let Some(entry) = self.held.first_entry()
            && *entry.key() <= self.expected
        {
            let (offset, body) = entry.remove_entry();
            self.held_bytes -= body.len();
            let repeated = (self.expected - offset) as usize;
            let rest = body.get(repeated..).unwrap_or_default();
            let count = rest.len().min(room.len() - done);
            room[done..done + count].copy_from_slice(&rest[..count]);
            done += count;
            self.expected += count as u64;
            if count < rest.len() {
                // Under its own offset: the bytes before are skipped again.
                self.held_bytes += body.len();
                self.held.insert(offset, body);
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_arrivals_are_delivered_in_order_and_once() {
        let mut arrival = Arrival::default();
        let mut room = [0; 8];
        assert!(arrival.hold(9, vec![3; 4]) && arrival.hold(5, vec![2; 3]));
        assert_eq!(arrival.take_held(&mut room), 0, "the first two bytes are missing");
        arrival.deliver(3);
        assert_eq!(arrival.take_held(&mut room[..3]), 3);
        assert_eq!((room[..3].to_vec(), arrival.expected()), (vec![2, 2, 3], 6));
        assert!(arrival.hold(5, vec![2; 3]));
        assert_eq!(arrival.take_held(&mut room), 3);
        assert_eq!((room[..3].to_vec(), arrival.expected()), (vec![3; 3], 9));
        assert_eq!(arrival.take_held(&mut room), 0);
    }

    #[test]
    fn no_sender_makes_it_hold_more_than_a_store() {
        let arrival = Arrival::default();
        assert!(arrival.has_room_until(STORE_BYTES as u64));
        assert!(!arrival.has_room_until(STORE_BYTES as u64 + 1));
        let mut arrival = Arrival::default();
        let chunk = || vec![0; STORE_BYTES / 4];
        let end = |number: u64| (STORE_BYTES / 4) as u64 + number;
        assert!((1..4).all(|number| arrival.hold(end(number), chunk())), "they overlap");
        assert!(arrival.hold(end(3), chunk()), "the same once more");
        assert!(arrival.hold(end(4), chunk()) && !arrival.hold(end(5), chunk()));
    }
}
