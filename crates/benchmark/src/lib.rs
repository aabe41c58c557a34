//! All timed programs, and the one loop that times them. Depends on no fabric.
//!
//! * [`catalogue()`] returns the benchmarks, [`select`] finds them by name, group or paper;
//! * [`plan()`] converts a selection to [`Launch`]es, each a number of ranks and a [`Job`] for them;
//! * [`execute()`] runs on each rank of a launch: step by step, the timed loop, the check of the data, the record.
//!
//! A benchmark is a file of `programs`: one event as ordinary calls of the contract, the source of its data, its time
//! and rate, its bound, and its presentation. All other code (start, warm-up, stopping, check, summary) is shared and
//! in this crate. A real-time benchmark is a function that executes a trial of a period; `period` searches for the
//! shortest.
#![forbid(unsafe_code)]

mod bench;
mod case;
mod catalogue;
mod chain;
mod contents;
mod core_to_core;
mod data;
mod declaration;
mod error;
mod event;
mod execute;
mod host_pairs;
mod job;
mod options;
mod overview;
mod paper;
mod period;
mod pipeline;
mod plan;
mod presentation;
mod program;
mod programs;
mod ranks;
mod record;
mod repetition;
mod settings;
mod shape;
mod similar;
mod sizes;
mod stage_functions;
#[cfg(test)]
mod testing;
mod timed_loop;

pub use case::{ALGORITHM, is_as_the_fabric_chooses, planned_case};
pub use catalogue::{EVERYTHING, UnknownBenchmark, bound_rule, catalogue, find, select, users};
pub use chain::{Chain, Pacing, Pipeline, Scene, SoughtTarget, Stage};
pub use declaration::{Benchmark, Group, Repeats};
pub use event::Event;
pub use execute::execute;
pub use host_pairs::{PAIR, is_between_hosts};
pub use job::{Job, Launch, Step};
pub use options::RunOption;
pub use overview::{OVERVIEW, OverviewNumber};
pub use paper::{Paper, PaperPart};
pub use period::WITHOUT;
pub use pipeline::matrix_us;
pub use plan::{PlanError, check_request, plan, without_wanted_algorithm};
pub use presentation::{HasFigure, Headline, KeyFigure, OsuColumns, OsuTest, View};
pub use programs::{Interpreter, check_traffic_hits, check_traffic_rule};
pub use ranks::{Placement, RankRule};
pub use settings::{
    CornerTurn, EVERY_ALGORITHM, OsIsolation, PatternText, RealTime, Settings, TrafficSettings,
};
pub use similar::most_similar;
pub use sizes::{SizeError, Sizes, parse_size};
pub use stage_functions::{Function, list as list_stage_functions};
