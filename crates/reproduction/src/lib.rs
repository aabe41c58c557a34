//! The tables of the papers, recomputed: by running the benchmarks on the simulated machines, or by formula where the
//! paper gives one, each cell beside the published one. The programs by which the papers compared processors run on
//! this machine. A separate table lists them beside the old ones: it is no reproduction, and has no error.
//!
//! The cells are in `papers/*.toml`, with the method by which each is computed. A cell without a published value was
//! withheld, so that predictions can be checked against it.
#![forbid(unsafe_code)]

mod array;
mod bench_node;
mod bottleneck;
mod cell;
mod error;
mod formula;
mod measured;
mod simulated;
mod table;
mod tradeoff;
mod validation;

pub use bottleneck::{
    Bottleneck, ChainChanges, ChainPart, ChangedChain, bottleneck, model_of_chain,
};
pub use cell::{Cell, How, cells};
pub use error::ReproductionError;
pub use measured::{PublishedAndHere, is_of_processors, measure_processors};
pub use simulated::{Simulator, predict, predict_with};
pub use table::{Row, reproduce, tables};
pub use tradeoff::{
    CallTradeoff, Crossing, SYSTEMS, SystemCurve, SystemTimes, TradeoffQuestion, tradeoff,
};
