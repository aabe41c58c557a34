//! Streams of numbered messages, and their rates over time.

use std::collections::VecDeque;
use std::ops::Range;

use contract::{Buffer, Error, Rank, Result, Source, Tag, TagSelector, Time};
use record::Parameters;

use crate::case::{Case, Scope, sized};
use crate::contents::{check_block, fill};
use crate::programs::common::TAG;
use crate::settings::Settings;

/// Maximum number of parts of the time for which rates are reported.
pub(super) const PARTS: usize = 100;
/// Mean number of messages of a part. The rate of a part that is shorter than a message would be zero.
const MESSAGES_A_PART: usize = 4;
/// Default time of sending.
pub(super) const DURATION_S: f64 = 0.2;
/// Number of messages that a sender has posted at a time.
const POSTED: usize = 8;
/// Tag of the last message, which contains the number of those before it.
const END: Tag = Tag::new(1);
/// Minimum length of a message, which contains its number.
pub(super) const SIZE_MIN: usize = 8;

/// Returns the lengths of the messages.
pub(super) fn cases(scope: &Scope) -> Vec<Case> {
    sized(scope, &[8 << 10])
}

/// Returns the time of a case in seconds: one run that does not count, and one that counts.
pub(super) fn lasts_s(settings: &Settings, _: &Parameters) -> f64 {
    2.0 * settings.real_time.duration_s.unwrap_or(DURATION_S)
}

/// Part of one rank in the streams: pair p is rank p, which sends, and rank p + pairs, which receives.
pub(super) struct Streams {
    pub(super) pairs: usize,
    pub(super) size: usize,
    pub(super) seed: u64,
    pub(super) begin: Time,
}

impl Streams {
    /// Sends in a time, at most this number of messages, or receives. Returns all arrivals by pair, at rank 0, in
    /// picoseconds since the beginning.
    pub(super) fn run(
        &self,
        rank: &mut dyn Rank,
        sends: Range<Time>,
        most: usize,
    ) -> Result<Vec<Vec<u64>>> {
        let (me, pairs) = (rank.rank(), self.pairs);
        let mut arrivals = Vec::new();
        if me < pairs {
            rank.wait_until(sends.start);
            self.send_until(rank, me + pairs, (sends.end, most))?;
        } else if me < 2 * pairs {
            arrivals = self.receive_all(rank, me - pairs)?;
        }
        self.gather(rank, &arrivals)
    }

    fn send_until(&self, rank: &mut dyn Rank, to: usize, (end, most): (Time, usize)) -> Result<()> {
        let mut block = Buffer::try_zeroed(self.size)?;
        fill(&mut block, self.seed, rank.rank(), 0);
        let mut free = vec![block.clone(); POSTED - 1];
        free.push(block);
        let mut posted = VecDeque::new();
        let mut sent = 0u64;
        while sent < most as u64 && rank.now() < end {
            let mut message = match free.pop() {
                Some(message) => message,
                None => {
                    let oldest = posted.pop_front().expect("what is not free is posted");
                    rank.wait(oldest)?.buffer
                }
            };
            message[..8].copy_from_slice(&sent.to_le_bytes());
            posted.push_back(rank.post_send(to, TAG, message)?);
            sent += 1;
        }
        for one in posted {
            rank.wait(one)?;
        }
        rank.send(to, END, &sent.to_le_bytes())
    }

    fn receive_all(&self, rank: &mut dyn Rank, from: usize) -> Result<Vec<u64>> {
        let (me, size) = (rank.rank(), self.size);
        let mut arrivals = Vec::new();
        let mut block = vec![0; size];
        loop {
            let status = rank.receive(Source::Rank(from), TagSelector::Any, &mut block)?;
            let expected = arrivals.len() as u64;
            let number = u64::from_le_bytes(block[..8].try_into().expect("eight bytes"));
            let is_end = status.tag == END;
            let bytes = if is_end { 8 } else { size };
            if number != expected || status.bytes != bytes {
                let what = match is_end {
                    true => format!("rank {me} got {expected} of {number} messages of rank {from}"),
                    false => format!(
                        "rank {me} got message {number} of {} bytes from rank {from} where message {expected} of {size} \
                         was due",
                        status.bytes
                    ),
                };
                return Err(Error::Program(what));
            }
            if is_end {
                break;
            }
            arrivals.push(rank.now().since(self.begin).as_ps());
        }
        if !arrivals.is_empty() {
            let mut sent = vec![0; size];
            fill(&mut sent, self.seed, from, 0);
            block[..8].copy_from_slice(&sent[..8]);
            check_block(&block, self.seed, (from, 0), "the last message", me)?;
        }
        Ok(arrivals)
    }

    /// Gathers the times of all receivers at rank 0.
    fn gather(&self, rank: &mut dyn Rank, mine: &[u64]) -> Result<Vec<Vec<u64>>> {
        let (me, pairs) = (rank.rank(), self.pairs);
        let bytes: Vec<u8> = mine.iter().flat_map(|time| time.to_le_bytes()).collect();
        if me >= pairs && me < 2 * pairs {
            rank.send(0, TAG, &(bytes.len() as u64).to_le_bytes())?;
            rank.send(0, TAG, &bytes)?;
        }
        let mut all = Vec::new();
        for from in (pairs..2 * pairs).filter(|_| me == 0) {
            let mut length = [0; 8];
            rank.receive(Source::Rank(from), TAG.into(), &mut length)?;
            let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
            rank.receive(Source::Rank(from), TAG.into(), &mut bytes)?;
            let (words, _) = bytes.as_chunks();
            all.push(words.iter().map(|word| u64::from_le_bytes(*word)).collect());
        }
        Ok(all)
    }
}

/// Returns the last arrival of all pairs.
///
/// # Errors
/// If there was none.
pub(super) fn end_ps(arrivals: &[Vec<u64>]) -> Result<u64> {
    let none = || Error::Program("no message came in the time of the stream".into());
    arrivals.iter().flatten().copied().max().filter(|&end| end > 0).ok_or_else(none)
}

/// Returns the rate of some pairs together in each part of the time, in MB/s.
pub(super) fn rates(arrivals: &[Vec<u64>], size: usize, end_ps: u64) -> Vec<f64> {
    let messages = arrivals.iter().map(Vec::len).sum::<usize>();
    let parts = (messages / MESSAGES_A_PART).clamp(1, PARTS);
    let mut counts = vec![0u64; parts];
    for &time in arrivals.iter().flatten() {
        let part = (u128::from(time) * parts as u128 / u128::from(end_ps)) as usize;
        counts[part.min(parts - 1)] += 1;
    }
    let part_us = end_ps as f64 / 1e6 / parts as f64;
    counts.iter().map(|&count| count as f64 * size as f64 / part_us).collect()
}

/// Returns the longest time between two arrivals, or before the first.
pub(super) fn longest_gap(times: &[u64]) -> u64 {
    let before = std::iter::once(&0).chain(times);
    times.iter().zip(before).map(|(time, before)| time - before).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_equal_parts_of_the_time() {
        // 100 parts of 1 us: 400 messages of 8 bytes in the first, one in the last.
        let times = [vec![500_000; 400], vec![100_000_000]];
        let found = rates(&times, 8, 100_000_000);
        assert_eq!((found[0], found[1], found[99]), (3200.0, 0.0, 8.0));
        // Eight messages are two parts of 50 us: seven messages and one.
        let few = rates(&[vec![500_000; 7], vec![100_000_000]], 8, 100_000_000);
        assert_eq!(few, [7.0 * 8.0 / 50.0, 8.0 / 50.0]);
    }

    #[test]
    fn the_longest_gap_may_be_before_the_first_message() {
        assert_eq!(longest_gap(&[5, 6, 20, 21]), 14);
        assert_eq!(longest_gap(&[30, 31]), 30);
        assert_eq!(longest_gap(&[]), 0);
    }
}
