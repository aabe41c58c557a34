//! Every program that we time, and the one loop that times it. Names no fabric.
//!
//! * [`catalogue`] holds the benchmarks, [`select`] finds them by name or group;
//! * [`plan`] turns a selection into [`Launch`]es, each a number of ranks and a [`Job`] for them;
//! * [`execute`] is what each rank of a launch runs: step by step, the timed loop, the check of the data, the record.
//!
//! A benchmark is a file of `programs`: one event as ordinary calls of the contract, where its data come from, and what
//! it counts as time and rate. Everything else (start, warm-up, stopping, check, summary) is in one place, here.
//! A real-time benchmark is a function that keeps up a period for a while; `period` searches for the shortest.
#![forbid(unsafe_code)]

mod catalogue;
mod data;
mod execute;
mod period;
mod pipeline;
mod plan;
mod programs;
mod record;
mod settings;
mod sizes;
#[cfg(test)]
mod testing;
mod timed_loop;
mod turns;

pub use catalogue::{
    Benchmark, Placement, RankRule, UnknownBenchmark, bound_rule, catalogue, select,
};
pub use execute::{Event, execute};
pub use pipeline::{Chain, Function, Pacing, Pipeline, Stage};
pub use plan::{Job, Launch, PlanError, Step, plan};
pub use programs::Interpreter;
pub use settings::{CornerTurn, Hygiene, PatternText, RealTime, Settings};
pub use sizes::{SizeError, Sizes, parse_size};
