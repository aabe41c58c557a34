//! Collective reads and writes, in two phases.
//!
//! The used part of the file is divided among the members, a domain each. Each member sends every other the pieces of
//! the other's domain that it wants to write, or requests those that it wants to read. The owner of the domain joins
//! the pieces, and reads or writes them at once. That proceeds in rounds, so that each member has one buffer of its
//! domain in memory at a time.

use std::cell::RefMut;
use std::ops::Range;

use contract::Endpoint;

use super::File;
use super::agree::{first_failure, gather, word_of};
use super::call::{Buffer, Call};
use super::disk::Disk;
use super::domains::{Domains, Share};
use super::hints::Exchange;
use super::tile::{DataRange, Piece, Tiles};
use crate::collective::{AllToAll, AllToAllUnequal, Collective};
use crate::error::Result;
use crate::memory::{Incoming, Memory, Outgoing};

/// Returns the part of some data that lies in a window of the file.
fn part_in(tiles: &Tiles, range: DataRange, window: &Range<i64>) -> DataRange {
    let from = tiles.data_before(window.start).max(range.from);
    let end = tiles.data_before(window.end).min(range.end());
    DataRange { from, bytes: (end - from).max(0) }
}

/// Encodes pieces for another member: their number, offset in the window and length of each; then the data.
fn encode(pieces: impl Iterator<Item = Piece>, start: i64, data: &[u8]) -> Vec<u8> {
    let mut message = vec![0; 4];
    let mut count = 0_u32;
    for piece in pieces {
        message.extend(((piece.offset - start) as u32).to_ne_bytes());
        message.extend((piece.bytes as u32).to_ne_bytes());
        count += 1;
    }
    message[..4].copy_from_slice(&count.to_ne_bytes());
    message.extend(data);
    message
}

/// Decodes such a message: ranges of the window, and data.
fn decode(message: &[u8]) -> (Vec<Range<usize>>, &[u8]) {
    let Some((count, rest)) = message.split_first_chunk() else { return (Vec::new(), &[]) };
    let (words, data) = rest.split_at(8 * u32::from_ne_bytes(*count) as usize);
    let (words, _) = words.as_chunks::<4>();
    let word = |index: usize| u32::from_ne_bytes(words[index]) as usize;
    let ranges = (0..words.len() / 2).map(|index| {
        let start = word(2 * index);
        start..start + word(2 * index + 1)
    });
    (ranges.collect(), data)
}

/// Merges ranges that touch.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

/// Writes the data of all members for a window.
fn write_window(disk: &Disk, start: i64, messages: &[Vec<u8>], space: &mut [u8]) -> Result {
    let mut written = Vec::new();
    for message in messages {
        let (ranges, mut data) = decode(message);
        for range in ranges {
            let (here, after) = data.split_at(range.len());
            space[range.clone()].copy_from_slice(here);
            data = after;
            written.push(range);
        }
    }
    joined(written)
        .into_iter()
        .try_for_each(|range| disk.write(&space[range.clone()], start + range.start as i64))
}

/// Reads the data that all members request of a window, as far as the file has them. Returns the answer for each.
fn read_window(
    disk: &Disk,
    start: i64,
    messages: &[Vec<u8>],
    space: &mut [u8],
) -> (Vec<Vec<u8>>, Result) {
    let wanted: Vec<Vec<Range<usize>>> = messages.iter().map(|one| decode(one).0).collect();
    let all = || wanted.iter().flatten();
    let first = all().map(|range| range.start).min().unwrap_or(0);
    let end = all().map(|range| range.end).max().unwrap_or(0);
    let read = disk.read(&mut space[first..end], start + first as i64);
    let read_end = first + *read.as_ref().unwrap_or(&0);
    let answer = |ranges: &Vec<Range<usize>>| {
        let mut data = Vec::with_capacity(ranges.iter().map(Range::len).sum());
        for range in ranges {
            data.extend(&space[range.start.min(read_end)..range.end.min(read_end)]);
        }
        data
    };
    (wanted.iter().map(answer).collect(), read.map(drop))
}

impl<E: Endpoint + 'static> File<E> {
    /// Moves data together with the other members. Returns the length.
    pub(super) fn move_together(&self, buffer: Buffer<'_>, call: &Call) -> Result<usize> {
        let share = Share::of(call);
        let mine = share.as_ref().copied().unwrap_or(Share::NOTHING);
        let all = gather(&self.communicator, mine.words())?;
        let shares: Vec<Share> = all.into_iter().map(Share::from_words).collect();
        let exchange = Exchange::new(&self.info, self.communicator.size());
        let domains = Domains::new(&shares, exchange).filter(|_| !self.is_atomic.get());
        let Some(domains) = domains else {
            share?;
            return self.move_alone(buffer, call);
        };
        let range = if mine.bytes > 0 { call.range } else { DataRange { from: 0, bytes: 0 } };
        let (moved, outcome) = match buffer {
            Buffer::Out(data) => {
                let outcome = self.write_rounds(&domains, call.view.tiles(), range, data)?;
                (data.len(), outcome)
            }
            Buffer::In(room) => self.read_rounds(&domains, call.view.tiles(), range, room)?,
        };
        // A failure of the owner of a domain is a failure of those whose data it handles.
        let outcome = share.map(drop).and(outcome);
        let words = gather(&self.communicator, [word_of(&outcome)])?;
        first_failure(outcome, words.into_iter().map(|[word]| word))?;
        Ok(moved)
    }

    /// Writes all rounds. The outer error ends the run, the inner one is the system's.
    fn write_rounds(
        &self,
        domains: &Domains,
        tiles: &Tiles,
        range: DataRange,
        data: &[u8],
    ) -> Result<Result> {
        let mut outcome = Ok(());
        let mut space = self.space(domains);
        for round in 0..domains.rounds() {
            let messages = self.for_each_node(domains, |node| {
                let window = domains.window(node, round);
                let part = part_in(tiles, range, &window);
                let start = (part.from - range.from) as usize;
                match part.bytes {
                    0 => Ok(Vec::new()),
                    bytes => Ok(encode(
                        tiles.pieces(part)?,
                        window.start,
                        &data[start..start + bytes as usize],
                    )),
                }
            })?;
            let messages = self.exchange(&messages)?;
            let start = domains.window(self.communicator.rank(), round).start;
            outcome = outcome.and(write_window(&self.disk, start, &messages, &mut space));
        }
        Ok(outcome)
    }

    /// Reads all rounds, and returns the length read, with the same errors.
    fn read_rounds(
        &self,
        domains: &Domains,
        tiles: &Tiles,
        range: DataRange,
        room: &mut [u8],
    ) -> Result<(usize, Result)> {
        let (mut outcome, mut moved) = (Ok(()), 0);
        let mut space = self.space(domains);
        for round in 0..domains.rounds() {
            let messages = self.for_each_node(domains, |node| {
                let window = domains.window(node, round);
                let part = part_in(tiles, range, &window);
                match part.bytes {
                    0 => Ok(Vec::new()),
                    _ => Ok(encode(tiles.pieces(part)?, window.start, &[])),
                }
            })?;
            let messages = self.exchange(&messages)?;
            let start = domains.window(self.communicator.rank(), round).start;
            let (answers, read) = read_window(&self.disk, start, &messages, &mut space);
            outcome = outcome.and(read);
            for (node, answer) in self.exchange(&answers)?.iter().enumerate() {
                if !answer.is_empty() {
                    let part = part_in(tiles, range, &domains.window(node, round));
                    let start = (part.from - range.from) as usize;
                    room[start..start + answer.len()].copy_from_slice(answer);
                    moved += answer.len();
                }
            }
        }
        Ok((moved, outcome))
    }

    /// Returns memory for a window, which is reused.
    fn space(&self, domains: &Domains) -> RefMut<'_, Vec<u8>> {
        let mut space = self.space.borrow_mut();
        if space.len() < domains.window_bytes() {
            *space = vec![0; domains.window_bytes()];
        }
        space
    }

    /// Makes a message for each member; members without a domain get an empty one.
    fn for_each_node(
        &self,
        domains: &Domains,
        make: impl Fn(usize) -> Result<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>> {
        let of = |rank| if rank < domains.nodes { make(rank) } else { Ok(Vec::new()) };
        (0..self.communicator.size()).map(of).collect()
    }

    /// Sends each member its message. Returns those of the others.
    fn exchange(&self, messages: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let context = self.communicator.context();
        let lengths: Vec<i64> = messages.iter().map(|one| one.len() as i64).collect();
        let mut theirs = vec![0_i64; messages.len()];
        {
            let (from, to) = (Outgoing::from(&lengths[..]), Incoming::from(&mut theirs[..]));
            let (from, to) = (from.memory().clone(), to.memory().clone());
            AllToAll::new(context.clone(), Some(from), to)?.run()?;
        }
        let mut received: Vec<Vec<u8>> = theirs.iter().map(|&one| vec![0; one as usize]).collect();
        let from: Vec<Outgoing<'_>> = messages.iter().map(|one| Outgoing::from(&one[..])).collect();
        let to: Vec<Incoming<'_>> =
            received.iter_mut().map(|one| Incoming::from(&mut one[..])).collect();
        let from: Vec<Memory> = from.iter().map(|one| one.memory().clone()).collect();
        let blocks: Vec<Memory> = to.iter().map(|one| one.memory().clone()).collect();
        AllToAllUnequal::new(context.clone(), Some(from), blocks, false)?.run()?;
        drop(to);
        Ok(received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_requests_are_decoded_unchanged() {
        let pieces = [Piece { offset: 105, bytes: 2 }, Piece { offset: 110, bytes: 3 }];
        let message = encode(pieces.into_iter(), 100, b"abcde");
        assert_eq!(decode(&message), (vec![5..7, 10..13], &b"abcde"[..]));
        assert_eq!(decode(&[]), (vec![], &[][..]));
        assert_eq!(joined(vec![10..13, 5..7, 7..8, 6..7]), [5..8, 10..13]);
    }
}
