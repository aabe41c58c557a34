//! Time-independent traces, read. Lines of one rank are in its order; ranks may follow each other or be mixed.

use contract::{Selector, TimeSpan};

use super::{Mistake, number};
use crate::{CollectiveKind, RankEvent, RecordedCollective, Room, SentMessage};

/// Operations in a second of the host for which traces are written.
const FLOPS_PER_S: f64 = 1e9;

/// One rank, as far as it was read.
#[derive(Default)]
struct Rank {
    events: Vec<RankEvent>,
    /// Started operations: sender, receiver and tag, and whether they were waited for.
    started: Vec<((usize, usize, u32), bool)>,
}

pub(super) fn read(text: &str) -> Result<Vec<Vec<RankEvent>>, Mistake> {
    let mut ranks: Vec<Rank> = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        let words: Vec<&str> = words.split_whitespace().collect();
        let [rank, words @ ..] = &words[..] else { continue };
        if rank.starts_with('#') {
            continue;
        }
        let rank: usize = number(Some(rank.trim_start_matches('p')), line, "a rank")?;
        if rank >= 1 << 24 {
            return Err((line, format!("rank {rank} cannot be replayed")));
        }
        if rank >= ranks.len() {
            ranks.resize_with(rank + 1, Rank::default);
        }
        ranks[rank].read(rank, words, line)?;
    }
    if ranks.is_empty() {
        return Err((1, "there is no rank".into()));
    }
    Ok(ranks.into_iter().map(|rank| rank.events).collect())
}

impl Rank {
    fn read(&mut self, rank: usize, words: &[&str], line: usize) -> Result<(), Mistake> {
        let [verb, given @ ..] = words else { return Err((line, "an action is missing".into())) };
        let size = |index: usize, what| number::<usize>(given.get(index).copied(), line, what);
        let tag = |index: usize| number::<u32>(given.get(index).copied(), line, "a tag");
        let real = |what| number::<f64>(given.first().copied(), line, what);
        let message = || {
            let (to, bytes) = (size(0, "a rank")?, size(2, "a length")?);
            Ok::<_, Mistake>(SentMessage { to, context: 0, tag: tag(1)?, bytes })
        };
        let room = || {
            let (from, bytes) = (size(0, "a rank")?, size(2, "a length")?);
            let selector = Selector { context: 0, source: Some(from as u32), tag: Some(tag(1)?) };
            Ok::<_, Mistake>(Room { selector, bytes })
        };
        let event = match *verb {
            "init" | "finalize" | "comm_size" => return Ok(()),
            "compute" => RankEvent::Compute(TimeSpan::from_s(real("operations")? / FLOPS_PER_S)),
            "sleep" => RankEvent::Sleep(TimeSpan::from_s(real("seconds")?)),
            "send" => RankEvent::Send(message()?),
            "recv" => RankEvent::Receive(room()?),
            "isend" => {
                let message = message()?;
                self.started.push(((rank, message.to, message.tag), false));
                RankEvent::PostSend { message, synchronous: false }
            }
            "irecv" => {
                let room = room()?;
                self.started.push(((size(0, "a rank")?, rank, tag(1)?), false));
                RankEvent::PostReceive(room)
            }
            "wait" => return self.wait((size(0, "a rank")?, size(1, "a rank")?, tag(2)?), line),
            "waitall" => {
                self.wait_for_all();
                return Ok(());
            }
            other => RankEvent::Collective(collective(other, size, line)?),
        };
        self.events.push(event);
        Ok(())
    }

    fn wait(&mut self, wanted: (usize, usize, u32), line: usize) -> Result<(), Mistake> {
        let found = self.started.iter().position(|&(one, over)| one == wanted && !over);
        let index =
            found.ok_or_else(|| (line, "nothing was started that this waits for".to_string()))?;
        self.end(index);
        Ok(())
    }

    fn wait_for_all(&mut self) {
        for index in 0..self.started.len() {
            if !self.started[index].1 {
                self.end(index);
            }
        }
    }

    fn end(&mut self, index: usize) {
        self.started[index].1 = true;
        self.events.push(RankEvent::End((self.started.len() - 1 - index) as u64));
    }
}

fn collective(
    verb: &str,
    size: impl Fn(usize, &'static str) -> Result<usize, Mistake>,
    line: usize,
) -> Result<RecordedCollective, Mistake> {
    use CollectiveKind::*;
    let (kind, root_at) = match verb {
        "barrier" => return Ok(RecordedCollective { kind: Barrier, root: 0, bytes: 0 }),
        "bcast" => (Broadcast, Some(1)),
        "scatter" => (Scatter, Some(2)),
        "gather" => (Gather, Some(2)),
        "allgather" => (Allgather, None),
        "alltoall" => (AllToAll, None),
        "reduce" => (Reduce, Some(2)),
        "allreduce" => (Allreduce, None),
        other => return Err((line, format!("the action '{other}' cannot be replayed"))),
    };
    let root = root_at.map_or(Ok(0), |at| size(at, "a root"))?;
    Ok(RecordedCollective { kind, root, bytes: size(0, "a length")? })
}
