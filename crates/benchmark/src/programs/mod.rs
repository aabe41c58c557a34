//! The programs: a folder for each group, a file for each program.
//!
//! A file contains a [`Benchmark`], mostly from [`BENCHMARK`](common::BENCHMARK), a
//! [`Program`](crate::program::Program), mostly from [`BETWEEN_TWO`](common::BETWEEN_TWO) or
//! [`COLLECTIVE`](common::COLLECTIVE), and the function of one event.

mod applications;
mod bandwidths;
mod beside_computing;
mod collectives;
mod common;
mod congestion;
mod latencies;
mod limits;
mod processor;
mod real_time;
mod services;
mod synthetic;
mod windows;

use crate::declaration::Benchmark;

pub(crate) use limits::core_to_core::HAND_OVER;
pub use real_time::pmp::Interpreter;
pub use synthetic::traffic::{check_hits as check_traffic_hits, check_rule as check_traffic_rule};

/// All benchmarks, in the catalogue's order: the groups together.
pub(crate) static ALL: &[Benchmark] = &[
    limits::clock_cost::CLOCK_COST,
    limits::copy::COPY,
    HAND_OVER,
    limits::process_switch::PROCESS_SWITCH,
    latencies::simple_transfer::SIMPLE_TRANSFER,
    latencies::ping_pong::PING_PONG,
    latencies::latency::LATENCY,
    latencies::send_and_reply::SEND_AND_REPLY,
    latencies::exchange::EXCHANGE,
    bandwidths::bandwidth::BANDWIDTH,
    bandwidths::two_way_bandwidth::TWO_WAY_BANDWIDTH,
    bandwidths::adjacent_pair::ADJACENT_PAIR,
    bandwidths::many_pairs::MANY_PAIRS,
    collectives::barrier::BARRIER,
    collectives::broadcast::BROADCAST,
    collectives::node_broadcast::NODE_BROADCAST,
    collectives::ring_broadcast::RING_BROADCAST,
    collectives::unicast_broadcast::UNICAST_BROADCAST,
    collectives::allgather::ALLGATHER,
    collectives::allgather_in_place::ALLGATHER_IN_PLACE,
    collectives::gather_broadcast::GATHER_BROADCAST,
    collectives::reduce::REDUCE,
    collectives::allreduce::ALLREDUCE,
    collectives::reduce_scatter::REDUCE_SCATTER,
    collectives::scan::SCAN,
    collectives::scan::EXCLUSIVE_SCAN,
    collectives::scatter::SCATTER,
    collectives::gather::GATHER,
    collectives::all_to_all::ALL_TO_ALL,
    windows::latencies::PUT,
    windows::latencies::GET,
    windows::latencies::ACCUMULATE,
    windows::compare_and_swap::COMPARE_AND_SWAP,
    windows::notified_put::NOTIFIED_PUT,
    windows::streams::PUT_STREAM,
    windows::streams::ACCUMULATE_STREAM,
    windows::random_access::RANDOM_ACCESS,
    windows::halo::HALO_PUT,
    windows::halo::HALO_MESSAGES,
    congestion::rings::RINGS,
    congestion::incast::INCAST,
    congestion::bisection::BISECTION,
    congestion::pair_map::PAIR_MAP,
    congestion::steady_stream::STEADY_STREAM,
    congestion::shared_stream::SHARED_STREAM,
    congestion::impact::IMPACT,
    beside_computing::exchange::OVERLAP,
    beside_computing::exchange::PROGRESS,
    beside_computing::noise::NOISE,
    synthetic::traffic::TRAFFIC,
    services::active_messages::ACTIVE_MESSAGES,
    services::active_stream::ACTIVE_STREAM,
    services::tuple_space::TUPLE_SPACE,
    services::send_and_receive::SEND_AND_RECEIVE,
    services::ring_protocol::RING_PROTOCOL,
    services::hcs::HCS,
    applications::multiply::MULTIPLY,
    applications::parallel_sort::PARALLEL_SORT,
    applications::parallel_fft::PARALLEL_FFT,
    applications::sor::SOR,
    applications::tracking::TRACKING,
    real_time::clock::CLOCK,
    real_time::wake_up::WAKE_UP,
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
    processor::hpec::TDFIR,
    processor::hpec::FDFIR,
    processor::hpec::QR,
    processor::hpec::CFAR,
];
