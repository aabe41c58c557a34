//! The tables of the papers, recomputed: by running the benchmarks on the simulated machines, or by formula where the
//! paper gives one, each cell beside the published one. The programs that the papers compared processors by run on this
//! machine, and are listed beside the old ones in a separate table: that is no reproduction, and has no error.
//!
//! The cells are in `papers/*.toml`, with the method by which each is computed. A cell without a published value is one
//! that was kept back to check predictions against.
#![forbid(unsafe_code)]

mod array;
mod bench_node;
mod cell;
mod error;
mod formula;
mod measured;
mod simulated;
mod table;
mod tradeoff;
mod validation;

pub use cell::{Cell, How, cells};
pub use error::ReproductionError;
pub use measured::{Beside, is_of_processors, measure_processors};
pub use simulated::{Simulator, predict, predict_with};
pub use table::{Row, reproduce, tables};
pub use tradeoff::{
    CallTradeoff, Crossing, SYSTEMS, SystemCurve, SystemTimes, TradeoffQuestion, tradeoff,
};
