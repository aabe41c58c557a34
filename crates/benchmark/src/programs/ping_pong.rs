//! There and back, and half of it.

use contract::{Rank, Result, Source, TagSelector};

use super::{BETWEEN_TWO, TAG};
use crate::catalogue::{Benchmark, Kind, Placement, Program, RankRule};
use crate::data::{Data, Role};
use crate::plan::each_size;

pub(super) const PING_PONG: Benchmark = Benchmark {
    name: "ping-pong",
    group: "sharc",
    summary: "half of a message's round trip between two ranks",
    explains: "Rank 0 sends a message to rank 1, which answers with one of the same size. Rank 0 times the round trip; \
        the time is half of it, the rate is size / time. With more than 2 ranks the others wait, as on a machine where \
        the way back depends on its size. Source: the unicast test of the SHARC message-passing service (2002), \
        section 4.2.",
    ranks: RankRule::Pair,
    placement: Placement::Spread,
    cases: each_size,
    kind: Kind::Timed(Program { event: round_trip, parts: |_| 2, ..BETWEEN_TWO }),
};

/// The first rank sends and waits for the answer; the second answers.
pub(super) fn round_trip(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    let from_peer = Source::Rank(data.peer);
    let tag = TagSelector::Is(TAG);
    match data.role {
        Role::First => {
            rank.send(data.peer, TAG, &data.send)?;
            rank.receive(from_peer, tag, &mut data.receive)?;
        }
        Role::Second => {
            rank.receive(from_peer, tag, &mut data.receive)?;
            rank.send(data.peer, TAG, &data.send)?;
        }
        Role::Other => {}
    }
    Ok(())
}
