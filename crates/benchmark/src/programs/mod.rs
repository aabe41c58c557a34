//! The programs: a folder for each group, a file for each program.
//!
//! A file holds a [`Benchmark`], most of which comes from [`BENCHMARK`], a [`Program`], most of which comes from
//! [`BETWEEN_TWO`] or [`COLLECTIVE`], and the function that is one event.

mod collectives;
mod cube;
mod limits;
mod paragon;
mod processor;
mod real_time;
mod sharc;
mod streams;

use analysis::limits::BoundRule;
use contract::{Error, Rank, Result, Source, Tag, TagSelector};

use crate::catalogue::{Benchmark, Placement, Program, RankRule, Timing};
use crate::data::{Blocks, Data, Received, Role, Shape};
use crate::plan::each_size;

pub(crate) use limits::hand_over::{HAND_OVER, put, wait_for};
pub use real_time::pmp::Interpreter;

/// All benchmarks, in the catalogue's order.
pub(crate) static ALL: &[Benchmark] = &[
    limits::clock_cost::CLOCK_COST,
    limits::copy::COPY,
    HAND_OVER,
    limits::process_switch::PROCESS_SWITCH,
    cube::simple_transfer::SIMPLE_TRANSFER,
    cube::send_and_reply::SEND_AND_REPLY,
    cube::exchange::EXCHANGE,
    cube::ring_broadcast::RING_BROADCAST,
    cube::node_broadcast::NODE_BROADCAST,
    sharc::ping_pong::PING_PONG,
    sharc::broadcast::BROADCAST,
    sharc::allgather::ALLGATHER,
    sharc::allgather_in_place::ALLGATHER_IN_PLACE,
    collectives::barrier::BARRIER,
    collectives::reduce::REDUCE,
    collectives::allreduce::ALLREDUCE,
    collectives::scatter::SCATTER,
    collectives::gather::GATHER,
    collectives::all_to_all::ALL_TO_ALL,
    streams::latency::LATENCY,
    streams::bandwidth::BANDWIDTH,
    streams::two_way_bandwidth::TWO_WAY_BANDWIDTH,
    paragon::adjacent_pair::ADJACENT_PAIR,
    paragon::many_pairs::MANY_PAIRS,
    real_time::clock::CLOCK,
    real_time::hartstone::HARTSTONE,
    real_time::pmp::PMP,
    real_time::corner_turn::CORNER_TURN,
    real_time::pipeline::PIPELINE,
    processor::peak::PEAK,
    processor::classic::LOOPS,
    processor::classic::SIEVE,
    processor::classic::FIBONACCI,
    processor::classic::HANOI,
    processor::classic::SORT,
    processor::classic::PUZZLE_SUBSCRIPT,
    processor::classic::PUZZLE_POINTER,
    processor::whetstone::WHETSTONE,
    processor::dhrystone::DHRYSTONE,
    processor::linpack::LINPACK,
    processor::stream::STREAM,
    processor::fft::FFT,
    processor::foldfft::FOLDFFT,
    processor::corner_turn::CORNER_TURN_MEMORY,
    processor::corner_turn::FFT_CORNER_TURN,
];

/// What most benchmarks have in common: two ranks or more, a measurement for each message size.
const BENCHMARK: Benchmark = Benchmark {
    name: "",
    group: "",
    summary: "",
    explains: "",
    ranks: RankRule::Pair,
    placement: Placement::Spread,
    size_multiple_bytes: 1,
    cases: each_size,
    program: BETWEEN_TWO,
    measure: |bench| bench.timed(),
    bound: BoundRule::None,
    in_turns: true,
    lasts_s: None,
};

/// What programs for two ranks have in common: each sends one block and receives the other's, the first times.
const BETWEEN_TWO: Program = Program {
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

/// Blocks for a stream one way.
fn from_first_to_second(shape: &Shape) -> Blocks {
    match shape.role() {
        Role::First => Blocks { send: 1, ..Blocks::NONE },
        Role::Second => Blocks { receive: 1, ..Blocks::NONE },
        Role::Other => Blocks::NONE,
    }
}

/// What collectives have in common: a synchronised start, and the slowest rank counts.
const COLLECTIVE: Program = Program { timing: Timing::Slowest, ..BETWEEN_TWO };

/// A refusal of a kernel, or its wrong result, as an error of the program.
pub(crate) fn failed(error: kernels::Error) -> Error {
    Error::Program(error.to_string())
}

/// For messages of programs.
const TAG: Tag = Tag::new(0);
/// The same, for receives.
const ITS_TAG: TagSelector = TagSelector::Is(TAG);

/// The first rank sends and waits for the answer; the second answers.
fn round_trip(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
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
