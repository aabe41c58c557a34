//! Common parts of programs.

use analysis::limits::BoundRule;
use contract::{Rank, Result, Source, Tag, TagSelector, Work, WorkKind};

use crate::case::each_size;
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group, Repeats};
use crate::options::TIMED;
use crate::presentation::View;
use crate::program::{Program, Timing};
use crate::ranks::{Placement, RankRule};
use crate::shape::{Role, Shape};

/// The common parts of most benchmarks: two ranks or more, a measurement for each message size.
pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "",
    group: Group::Latencies,
    summary: "",
    explains: "",
    source: None,
    ranks: RankRule::Pair,
    placement: Placement::Spread,
    cases: each_size,
    program: BETWEEN_TWO,
    measure: |bench| bench.timed(),
    bound: BoundRule::None,
    headlines: &[],
    key_figures: &[],
    view: View::Charts,
    osu: None,
    repeats: Repeats::Launches,
    repeatable: true,
    options: &[TIMED],
    algorithms: &[],
    lasts_s: None,
};

/// The common parts of programs for two ranks: each sends one block and receives the other's, the first times.
pub(crate) const BETWEEN_TWO: Program = Program {
    timing: Timing::First,
    in_a_row: true,
    blocks: |shape| match shape.role() {
        Role::Other => Blocks::NONE,
        _ => Blocks { send: 1, receive: 1, posted: 0 },
    },
    event: |_, _| Ok(()),
    received: Received::Blocks(|shape, _| (shape.peer(), 0)),
    parts: |_| 1,
    moved: |shape| shape.size as u64,
    needs_shared_line: false,
};

/// The common parts of events that keep and check their data themselves.
pub(crate) const OWN_DATA: Program =
    Program { blocks: |_| Blocks::NONE, received: Received::Nothing, ..BETWEEN_TWO };

/// The common parts of events that move no data.
pub(crate) const NO_DATA: Program = Program { moved: |_| 0, ..OWN_DATA };

/// Returns the blocks of a stream in one direction.
pub(crate) fn from_first_to_second(shape: &Shape) -> Blocks {
    match shape.role() {
        Role::First => Blocks { send: 1, ..Blocks::NONE },
        Role::Second => Blocks { receive: 1, ..Blocks::NONE },
        Role::Other => Blocks::NONE,
    }
}

/// The common parts of collectives: a synchronised start, and the slowest rank counts.
pub(crate) const COLLECTIVE: Program = Program { timing: Timing::Slowest, ..BETWEEN_TWO };

/// Tag of messages of programs.
pub(crate) const TAG: Tag = Tag::new(0);
/// Selector of that tag, for receives.
pub(crate) const ITS_TAG: TagSelector = TagSelector::Is(TAG);

/// Makes a round trip: the first rank sends and waits for the answer; the second answers.
pub(crate) fn round_trip(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    let peer = data.peer;
    match data.role {
        Role::First => {
            rank.send(peer, TAG, &data.send)?;
            rank.receive(Source::Rank(peer), ITS_TAG, &mut data.receive)?;
        }
        Role::Second => {
            rank.receive(Source::Rank(peer), ITS_TAG, &mut data.receive)?;
            rank.send(peer, TAG, &data.send)?;
        }
        Role::Other => {}
    }
    Ok(())
}

/// Computes this number of floating-point operations: one multiplication and one addition after the other.
pub(crate) fn compute(rank: &mut dyn Rank, operations: u64) {
    if operations > 0 {
        let work = Work::new(WorkKind::FloatingPoint, operations).without_result();
        rank.compute(work, &mut || {
            let start = std::hint::black_box(1.0_f64);
            let end = (0..operations / 2).fold(start, |value, _| value * 0.999 + 0.001);
            std::hint::black_box(end);
        });
    }
}
