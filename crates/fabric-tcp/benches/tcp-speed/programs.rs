//! Programs of the two ranks. The three transports take turns round by round, so other load on the machine affects all
//! alike.

use contract::{Buffer, Error, Rank, Result, Source, Tag, TagSelector};
use fabric_tcp::Reporter;

use crate::bare::{Bare, failed};

const TAG: Tag = Tag::new(1);
const IS: TagSelector = TagSelector::Is(TAG);
const ROUNDS: usize = 30;
/// Approximate number of bytes per round.
const ROUND_BYTES: usize = 8 << 20;

/// The three transports, and the time of a round of each in seconds.
struct Ways {
    blocking: Bare,
    asking: Bare,
    data: Buffer,
    room: Buffer,
}

pub(crate) fn run(rank: &mut dyn Rank, reporter: &Reporter, job: &str) -> Result<()> {
    let (program, size) = job.split_once(' ').ok_or_else(|| Error::Program(job.into()))?;
    let bytes: usize = size.parse().map_err(|_| Error::Program(job.into()))?;
    let mut ways = Ways {
        blocking: Bare::connect(rank, true)?,
        asking: Bare::connect(rank, false)?,
        data: Buffer::from_bytes(&vec![7; bytes]),
        room: Buffer::zeroed(bytes),
    };
    let count = (ROUND_BYTES / bytes).clamp(4, 500);
    let mut log = Vec::new();
    for _ in 0..ROUNDS {
        for name in ["ours", "blocking", "asking"] {
            rank.barrier()?;
            let begin = rank.now();
            match program {
                "ping-pong" => ways.ping_pong(rank, name, count)?,
                _ => ways.stream(rank, name, count)?,
            }
            let us = rank.now().since(begin).as_us() / count as f64;
            let value = if program == "ping-pong" { us / 2.0 } else { bytes as f64 / us };
            log.push(format!("{name} {value}"));
        }
    }
    // Reported at the end: a report wakes the launcher, which would run during the next round.
    if rank.rank() == 0 {
        log.iter().try_for_each(|line| reporter.report(line.as_bytes()))?;
    }
    Ok(())
}

impl Ways {
    fn bare(&mut self, name: &str) -> Option<&mut Bare> {
        match name {
            "blocking" => Some(&mut self.blocking),
            "asking" => Some(&mut self.asking),
            _ => None,
        }
    }

    fn send(&mut self, rank: &mut dyn Rank, name: &str) -> Result<()> {
        let data = std::mem::replace(&mut self.data, Buffer::zeroed(0));
        let peer = 1 - rank.rank();
        let sent = match self.bare(name) {
            Some(bare) => bare.send(&data).map_err(failed),
            None => rank.send(peer, TAG, &data),
        };
        self.data = data;
        sent
    }

    fn receive(&mut self, rank: &mut dyn Rank, name: &str) -> Result<()> {
        let mut room = std::mem::replace(&mut self.room, Buffer::zeroed(0));
        let peer = Source::Rank(1 - rank.rank());
        let received = match self.bare(name) {
            Some(bare) => bare.receive(&mut room).map_err(failed),
            None => rank.receive(peer, IS, &mut room).map(drop),
        };
        self.room = room;
        received
    }

    fn ping_pong(&mut self, rank: &mut dyn Rank, name: &str, count: usize) -> Result<()> {
        for _ in 0..count {
            if rank.rank() == 0 {
                self.send(rank, name)?;
                self.receive(rank, name)?;
            } else {
                self.receive(rank, name)?;
                self.send(rank, name)?;
            }
        }
        Ok(())
    }

    /// Sends all messages in one direction, with an empty answer to the last. The fabric sends them as a window, as a
    /// program would.
    fn stream(&mut self, rank: &mut dyn Rank, name: &str, count: usize) -> Result<()> {
        let sends = rank.rank() == 0;
        match (name, sends) {
            ("ours", true) => rank.send_window(1, TAG, &self.data, count)?,
            ("ours", false) => rank.receive_window(Source::Rank(0), IS, &mut self.room, count)?,
            (_, true) => (0..count).try_for_each(|_| self.send(rank, name))?,
            (_, false) => (0..count).try_for_each(|_| self.receive(rank, name))?,
        }
        if sends {
            rank.receive(Source::Rank(1), IS, &mut []).map(drop)
        } else {
            rank.send(0, TAG, &[])
        }
    }
}
