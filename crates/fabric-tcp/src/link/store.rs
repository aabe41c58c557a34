//! Unacknowledged data, which may have to be resent over another connection.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::rc::Rc;

use super::chunk::CHUNK_BYTES_MAX;

/// Maximum length of unacknowledged data.
pub(super) const STORE_BYTES: usize = 4 << 20;

/// A chunk of the stream.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Offset in the stream.
    pub(super) offset: u64,
    pub(super) body: Rc<Vec<u8>>,
    /// Connection over which it was last sent.
    lane: Option<u32>,
}

#[derive(Default)]
pub(super) struct Store {
    /// In the order of the stream, without gaps.
    chunks: VecDeque<Kept>,
    /// Offsets of the chunks to send, in order.
    waiting: VecDeque<u64>,
    /// Offset before which everything is acknowledged.
    acknowledged: u64,
    /// End of the accepted data.
    end: u64,
}

impl Store {
    /// Accepts bytes, as many as there is room for, and returns their number.
    pub(super) fn take(&mut self, pieces: &[IoSlice<'_>]) -> usize {
        let before = self.end;
        let mut all: usize = pieces.iter().map(|piece| piece.len()).sum();
        for piece in pieces {
            let mut rest = &piece[..];
            while !rest.is_empty() {
                let room = STORE_BYTES - (self.end - self.acknowledged) as usize;
                let body = self.open_chunk();
                let count = rest.len().min(room).min(CHUNK_BYTES_MAX - body.len());
                if count == 0 {
                    self.drop_empty();
                    return (self.end - before) as usize;
                }
                // A header and its body share a chunk, which otherwise would grow while it is filled.
                body.reserve(all.min(room).min(CHUNK_BYTES_MAX - body.len()));
                body.extend_from_slice(&rest[..count]);
                all -= count;
                self.end += count as u64;
                rest = &rest[count..];
            }
        }
        (self.end - before) as usize
    }

    /// Returns the body of the last chunk if that was not sent and is not full, otherwise of a new one.
    fn open_chunk(&mut self) -> &mut Vec<u8> {
        let is_open = self.chunks.back().is_some_and(|last| {
            last.lane.is_none()
                && last.body.len() < CHUNK_BYTES_MAX
                && Rc::strong_count(&last.body) == 1
        });
        if !is_open {
            self.waiting.push_back(self.end);
            self.chunks.push_back(Kept { offset: self.end, body: Rc::default(), lane: None });
        }
        let last = self.chunks.back_mut().expect("there is one by now");
        Rc::get_mut(&mut last.body).expect("nobody else has it yet")
    }

    /// Removes an opened chunk that has stayed empty.
    fn drop_empty(&mut self) {
        if self.chunks.back().is_some_and(|last| last.body.is_empty()) {
            self.chunks.pop_back();
            self.waiting.pop_back();
        }
    }

    /// Returns the next chunk to send.
    pub(super) fn next_waiting(&self) -> Option<&Kept> {
        let offset = *self.waiting.front()?;
        self.chunks.get(self.place(offset)?)
    }

    /// Records that the next chunk is sent over `lane`.
    pub(super) fn assign(&mut self, lane: u32) {
        let Some(offset) = self.waiting.pop_front() else { return };
        if let Some(place) = self.place(offset) {
            self.chunks[place].lane = Some(lane);
        }
    }

    /// Marks what was sent over `lane` for resending.
    pub(super) fn send_again(&mut self, lane: u32) {
        for chunk in self.chunks.iter_mut().filter(|chunk| chunk.lane == Some(lane)) {
            chunk.lane = None;
            self.waiting.push_back(chunk.offset);
        }
        self.waiting.make_contiguous().sort_unstable();
    }

    /// Records that everything before `offset` has arrived. Returns false if that was never sent.
    pub(super) fn acknowledge(&mut self, offset: u64) -> bool {
        if offset > self.end {
            return false;
        }
        self.acknowledged = self.acknowledged.max(offset);
        while self.chunks.front().is_some_and(|first| first.end() <= offset) {
            self.chunks.pop_front();
        }
        let first = self.chunks.front().map_or(self.end, |first| first.offset);
        while self.waiting.front().is_some_and(|&waiting| waiting < first) {
            self.waiting.pop_front();
        }
        true
    }

    /// Returns whether everything is acknowledged.
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    fn place(&self, offset: u64) -> Option<usize> {
        self.chunks.binary_search_by_key(&offset, |chunk| chunk.offset).ok()
    }
}

impl Kept {
    fn end(&self) -> u64 {
        self.offset + self.body.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(store: &mut Store, bytes: usize) -> usize {
        let data = vec![7; bytes];
        store.take(&[IoSlice::new(&data[..bytes / 2]), IoSlice::new(&data[bytes / 2..])])
    }

    fn waiting(store: &mut Store, lane: u32) -> Vec<(u64, usize)> {
        let mut all = Vec::new();
        while let Some(chunk) = store.next_waiting() {
            all.push((chunk.offset, chunk.body.len()));
            store.assign(lane);
        }
        all
    }

    #[test]
    fn short_pieces_share_a_chunk_until_it_is_under_way() {
        let mut store = Store::default();
        assert_eq!((take(&mut store, 30), take(&mut store, 40)), (30, 40));
        assert_eq!(waiting(&mut store, 1), [(0, 70)]);
        assert_eq!(take(&mut store, CHUNK_BYTES_MAX + 5), CHUNK_BYTES_MAX + 5);
        let full = CHUNK_BYTES_MAX as u64;
        assert_eq!(waiting(&mut store, 2), [(70, CHUNK_BYTES_MAX), (70 + full, 5)]);
    }

    #[test]
    fn the_store_is_bounded_and_an_acknowledgement_makes_room() {
        let mut store = Store::default();
        assert_eq!(take(&mut store, STORE_BYTES + 100), STORE_BYTES);
        assert_eq!(take(&mut store, 100), 0);
        // The first chunk and half of the second: the second stays whole, but its first half is free again.
        let offset = (CHUNK_BYTES_MAX + CHUNK_BYTES_MAX / 2) as u64;
        assert!(store.acknowledge(offset));
        assert_eq!(store.next_waiting().unwrap().offset, CHUNK_BYTES_MAX as u64);
        assert_eq!(take(&mut store, STORE_BYTES), offset as usize);
        assert!(!store.acknowledge(store.end + 1), "nobody has sent that");
        assert!(store.acknowledge(store.end) && store.is_empty());
        assert!(store.next_waiting().is_none());
    }

    #[test]
    fn data_of_a_lost_connection_are_sent_again_in_order_and_nothing_else() {
        let mut store = Store::default();
        take(&mut store, 3 * CHUNK_BYTES_MAX);
        let full = CHUNK_BYTES_MAX as u64;
        [1, 2, 1].into_iter().for_each(|lane| store.assign(lane));
        take(&mut store, 9);
        store.send_again(1);
        let again = [(0, CHUNK_BYTES_MAX), (2 * full, CHUNK_BYTES_MAX), (3 * full, 9)];
        assert_eq!(waiting(&mut store, 2), again);
        store.acknowledge(full);
        store.send_again(2);
        assert_eq!(store.next_waiting().unwrap().offset, full);
    }
}
