//! The start of a sample at the ranks that time.

use contract::{
    Element, Operation, Rank, Reduction, Result, Source, Tag, TagSelector, Time, TimeSpan,
};

use crate::program::Timing;

/// The start of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With the call of the rank that times: the events themselves keep the ranks in step.
    None,
    /// When the second rank has reported to the first that it is ready.
    Ready,
    /// At an instant on which the ranks that time agree, `slack` after the last of them arrived.
    Time { slack: TimeSpan },
    /// At the return of each of them from a barrier.
    Barrier,
}

/// Value for the duration of a sample that began late.
pub(super) const LATE: u64 = u64::MAX;

/// Tag of messages of the loop itself; programs use the small tags.
pub(super) const TAG: Tag = Tag::new(Tag::MAX);

const LATEST: Reduction = Reduction::new(Element::U64, Operation::Maximum);

impl Start {
    pub(super) fn to_wire(self) -> (u64, u64) {
        match self {
            Start::None => (0, 0),
            Start::Ready => (1, 0),
            Start::Time { slack } => (2, slack.as_ps()),
            Start::Barrier => (3, 0),
        }
    }

    pub(super) fn from_wire(start: u64, slack_ps: u64) -> Self {
        match start {
            0 => Start::None,
            1 => Start::Ready,
            2 => Start::Time { slack: TimeSpan::from_ps(slack_ps) },
            _ => Start::Barrier,
        }
    }

    /// Returns its name in records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Start::None | Start::Ready => "none",
            Start::Time { .. } => "time",
            Start::Barrier => "barrier",
        }
    }

    /// Waits for the start. Returns the time at which the sample begins, and whether this rank was late.
    #[inline]
    pub(super) fn align(
        self,
        rank: &mut dyn Rank,
        pair: (usize, usize),
        role: TimingRole,
    ) -> Result<(Time, bool)> {
        let peer = match role {
            TimingRole::TimesAsFirst => Some(pair.1),
            TimingRole::TimesAsSecond => Some(pair.0),
            _ => None,
        };
        match self {
            Start::None => {}
            Start::Ready if rank.rank() == pair.0 => {
                rank.receive(Source::Rank(pair.1), TagSelector::Is(TAG), &mut [])?;
            }
            Start::Ready => rank.send(pair.0, TAG, &[])?,
            Start::Time { slack } => {
                let latest = match peer {
                    Some(peer) => later_arrival(rank, peer)?,
                    None => latest_arrival(rank)?,
                };
                let instant = latest + slack;
                let late = rank.now() > instant;
                rank.wait_until(instant);
                return Ok((instant, late));
            }
            Start::Barrier => match peer {
                Some(peer) => drop(later_arrival(rank, peer)?),
                None => rank.barrier()?,
            },
        }
        Ok((rank.now(), false))
    }
}

/// Returns the time at which the last rank arrived here. The maximum of all arrivals is a barrier and an agreement in
/// one: no rank has it before all have arrived. Collective.
pub(crate) fn latest_arrival(rank: &mut dyn Rank) -> Result<Time> {
    let mine = rank.now().as_ps().to_ne_bytes();
    let mut latest = [0; 8];
    rank.allreduce(LATEST, &mine, &mut latest)?;
    Ok(Time::from_ps(u64::from_ne_bytes(latest)))
}

/// As [`latest_arrival`], for two ranks without the others: a collective of all would send messages of idle ranks
/// during the event.
fn later_arrival(rank: &mut dyn Rank, peer: usize) -> Result<Time> {
    let mine = rank.now();
    let mut its = [0; 8];
    let (from, tag) = (Source::Rank(peer), TagSelector::Is(TAG));
    rank.send_receive((peer, TAG, &mine.as_ps().to_ne_bytes()), (from, tag, &mut its))?;
    Ok(mine.max(Time::from_ps(u64::from_ne_bytes(its))))
}

/// The role of a rank in the timed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimingRole {
    /// Times each sample together with all other ranks, and stores its duration.
    TimesWithAll,
    /// Times each sample together with the second rank of the pair, and stores its duration.
    TimesAsFirst,
    /// Times each sample together with the first rank of the pair, and stores its duration.
    TimesAsSecond,
    /// Times each sample, and stores its duration.
    Times,
    /// Stores the beginning of each sample.
    Begins,
    /// Stores the end of each sample.
    Ends,
    /// Takes part in the events, and times nothing.
    Follows,
    /// Waits for the end of the chunk.
    Waits,
}

impl TimingRole {
    pub(super) fn of(timing: Timing, me: usize, pair: (usize, usize)) -> TimingRole {
        match timing {
            Timing::Slowest => TimingRole::TimesWithAll,
            Timing::First if me == pair.0 => TimingRole::Times,
            Timing::First if me == pair.1 => TimingRole::Follows,
            Timing::OneWay if me == pair.0 => TimingRole::Begins,
            Timing::OneWay if me == pair.1 => TimingRole::Ends,
            Timing::SlowerOfPair if me == pair.0 => TimingRole::TimesAsFirst,
            Timing::SlowerOfPair if me == pair.1 => TimingRole::TimesAsSecond,
            Timing::First | Timing::OneWay | Timing::SlowerOfPair => TimingRole::Waits,
        }
    }
}
