//! The received part of the stream: how far it is complete, and what lies ahead of that.

use std::collections::BTreeMap;

use super::store::STORE_BYTES;

#[derive(Default)]
pub(super) struct Arrival {
    /// Offset before which everything has arrived and was passed on.
    expected: u64,
    /// Chunks that arrived early, by their offset.
    held: BTreeMap<u64, Vec<u8>>,
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

    /// Keeps a chunk that arrived early and ends at `end`.
    pub(super) fn hold(&mut self, end: u64, body: Vec<u8>) {
        if end > self.expected {
            self.held.insert(end - body.len() as u64, body);
        }
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
            let known = (self.expected - offset) as usize;
            let rest = body.get(known..).unwrap_or_default();
            let count = rest.len().min(room.len() - done);
            room[done..done + count].copy_from_slice(&rest[..count]);
            done += count;
            self.expected += count as u64;
            if count < rest.len() {
                // Under its own offset: the bytes before are skipped again.
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
        arrival.hold(9, vec![3; 4]);
        arrival.hold(5, vec![2; 3]);
        assert_eq!(arrival.take_held(&mut room), 0, "the first two bytes are missing");
        arrival.deliver(3);
        assert_eq!(arrival.take_held(&mut room[..3]), 3);
        assert_eq!((room[..3].to_vec(), arrival.expected()), (vec![2, 2, 3], 6));
        arrival.hold(5, vec![2; 3]);
        assert_eq!(arrival.take_held(&mut room), 3);
        assert_eq!((room[..3].to_vec(), arrival.expected()), (vec![3; 3], 9));
        assert_eq!(arrival.take_held(&mut room), 0);
    }

    #[test]
    fn no_sender_makes_it_hold_more_than_a_store() {
        let arrival = Arrival::default();
        assert!(arrival.has_room_until(STORE_BYTES as u64));
        assert!(!arrival.has_room_until(STORE_BYTES as u64 + 1));
    }
}
