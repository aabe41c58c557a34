//! One run of many pairs: the partners, and the observations of each rank.

use contract::{Rank, Result, Source, Tag, TagSelector};
use record::{ParameterValue, Parameters};

use crate::data::{Data, Received};

/// Default maximum of messages of each pair in a run: few enough for a quick run, but a pair with a fiftieth of the
/// fastest one's rate sends one or two.
pub(super) const MESSAGES: u64 = 64;
/// Parameter that overrides it.
const MESSAGES_PARAMETER: &str = "messages";

const DATA: Tag = Tag::new(0);
const ACKNOWLEDGEMENT: Tag = Tag::new(1);
/// Tag of the message from a sender to its receiver after the last one.
const END: Tag = Tag::new(2);
/// Tag of the message from the first sender that is done to all others.
const STOP: Tag = Tag::new(3);

/// The observations of a pair's receiver in a run; as bytes, the messages about them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PairOutcome {
    pub(super) messages: u64,
    pub(super) begin_ps: u64,
    pub(super) end_ps: u64,
    /// 1 for a sender that was done and stopped the others, else 0.
    pub(super) stopped_others: u64,
}

impl PairOutcome {
    const BYTES: usize = 32;

    fn to_bytes(self) -> [u8; PairOutcome::BYTES] {
        let words = [self.messages, self.begin_ps, self.end_ps, self.stopped_others];
        let mut bytes = [0; PairOutcome::BYTES];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        PairOutcome {
            messages: word(0),
            begin_ps: word(1),
            end_ps: word(2),
            stopped_others: word(3),
        }
    }

    pub(super) fn rate_mb_per_s(&self, size: usize) -> f64 {
        let us = (self.end_ps - self.begin_ps) as f64 / 1e6;
        if us > 0.0 { self.messages as f64 * size as f64 / us } else { 0.0 }
    }
}

/// The pairs of senders and receivers.
pub(super) struct Pairs {
    pub(super) count: usize,
    symmetric: bool,
    /// Maximum number of messages of each in a run.
    pub(super) messages: u64,
}

impl Pairs {
    pub(super) fn of(parameters: &Parameters, ranks: usize) -> Pairs {
        let messages = match parameters.get(MESSAGES_PARAMETER) {
            Some(ParameterValue::Number(messages)) => *messages,
            _ => MESSAGES,
        };
        let symmetric = parameters.get("layout") != Some(&"asymmetric".into());
        Pairs { count: ranks / 2, symmetric, messages }
    }

    pub(super) fn receiver(&self, sender: usize, ranks: usize) -> usize {
        // With an odd number of ranks, the last one is idle.
        let last = ranks - ranks % 2 - 1;
        if self.symmetric { last - sender } else { sender + self.count }
    }

    /// Returns the contents of a receiver's block at the end: those of its sender.
    pub(super) fn received(&self) -> Received {
        if self.symmetric {
            Received::Blocks(|shape, _| (shape.ranks - shape.ranks % 2 - 1 - shape.me, 0))
        } else {
            Received::Blocks(|shape, _| (shape.me - shape.ranks / 2, 0))
        }
    }

    fn sender(&self, receiver: usize, ranks: usize) -> Option<usize> {
        (0..self.count).find(|&sender| self.receiver(sender, ranks) == receiver)
    }
}

/// Returns the time from the first receiver's beginning to the last one's end.
pub(super) fn span_ps(pairs: &[PairOutcome]) -> f64 {
    let begin = pairs.iter().map(|pair| pair.begin_ps).min().unwrap_or(0);
    let end = pairs.iter().map(|pair| pair.end_ps).max().unwrap_or(0);
    (end - begin) as f64
}

/// Makes one run. Returns the observations of all ranks at every rank.
pub(super) fn run_once(
    rank: &mut dyn Rank,
    pairs: &Pairs,
    data: &mut Data,
) -> Result<Vec<PairOutcome>> {
    let (me, ranks) = (rank.rank(), rank.size());
    rank.barrier()?;
    let mut stops_taken = 0;
    let mine = if me < pairs.count {
        let stopped_others = send_all(rank, pairs, data, &mut stops_taken)?;
        PairOutcome { stopped_others: u64::from(stopped_others), ..PairOutcome::default() }
    } else if let Some(sender) = pairs.sender(me, ranks) {
        receive_all(rank, sender, data)?
    } else {
        PairOutcome::default()
    };
    let mut all = vec![0; ranks * PairOutcome::BYTES];
    rank.allgather(&mine.to_bytes(), &mut all)?;
    let seen: Vec<PairOutcome> =
        all.chunks_exact(PairOutcome::BYTES).map(PairOutcome::from_bytes).collect();
    if me < pairs.count {
        let stoppers: u64 = seen.iter().map(|seen| seen.stopped_others).sum();
        for _ in stops_taken..stoppers - mine.stopped_others {
            rank.receive(Source::Any, STOP.into(), &mut [])?;
        }
    }
    Ok(seen)
}

/// Sends until all messages are sent or another sender has ended. Returns whether this one ended first, and stopped the
/// others.
fn send_all(
    rank: &mut dyn Rank,
    pairs: &Pairs,
    data: &Data,
    stops_taken: &mut u64,
) -> Result<bool> {
    let me = rank.rank();
    let to = pairs.receiver(me, rank.size());
    let mut done = true;
    for _ in 0..pairs.messages {
        if rank.probe(Source::Any, STOP.into())?.is_some() {
            rank.receive(Source::Any, STOP.into(), &mut [])?;
            *stops_taken += 1;
            done = false;
            break;
        }
        rank.send(to, DATA, &data.send)?;
        rank.receive(Source::Rank(to), ACKNOWLEDGEMENT.into(), &mut [])?;
    }
    if done {
        for other in (0..pairs.count).filter(|&other| other != me) {
            rank.send(other, STOP, &[])?;
        }
    }
    rank.send(to, END, &[])?;
    Ok(done)
}

fn receive_all(rank: &mut dyn Rank, from: usize, data: &mut Data) -> Result<PairOutcome> {
    let begin_ps = rank.now().as_ps();
    let mut seen = PairOutcome { begin_ps, end_ps: begin_ps, ..PairOutcome::default() };
    loop {
        let status = rank.receive(Source::Rank(from), TagSelector::Any, &mut data.receive)?;
        if status.tag == END {
            return Ok(seen);
        }
        seen.end_ps = rank.now().as_ps();
        seen.messages += 1;
        rank.send(from, ACKNOWLEDGEMENT, &[])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_those_of_the_two_layouts() {
        let mates = |symmetric, ranks: usize| {
            let pairs = Pairs { count: ranks / 2, symmetric, messages: 1 };
            (0..pairs.count).map(|sender| pairs.receiver(sender, ranks)).collect::<Vec<_>>()
        };
        assert_eq!(mates(true, 6), [5, 4, 3]);
        assert_eq!(mates(false, 6), [3, 4, 5]);
        assert_eq!(mates(true, 7), [5, 4, 3]);
        let pairs = Pairs { count: 3, symmetric: true, messages: 1 };
        assert_eq!((pairs.sender(4, 7), pairs.sender(6, 7)), (Some(1), None));
    }

    #[test]
    fn what_a_rank_saw_survives_the_wire() {
        let seen = PairOutcome { messages: 3, begin_ps: 5, end_ps: 2_000_005, stopped_others: 1 };
        assert_eq!(PairOutcome::from_bytes(&seen.to_bytes()), seen);
        // 3 messages of 100 bytes in 2 µs.
        assert_eq!(seen.rate_mb_per_s(100), 150.0);
    }
}
