//! Derives summaries and models from samples. All functions are pure: no clock, no files and no fabric.
//!
//! * [`statistics`]: summaries of the samples of one measurement, the end of sampling, and the end of the warm-up;
//! * [`model`]: formulas that explain measurements, with fitted parameters and their uncertainty;
//! * [`compare`](mod@compare): two runs, measurement by measurement: faster, slower, same, or undecided;
//! * [`changes`](mod@changes): changes of a number that is measured repeatedly;
//! * [`history`]: the runs of a machine over time, number by number;
//! * [`launches`]: measurements of several launches as one each;
//! * [`line_states`]: the performance states of a machine, by the hand-over of a cache line;
//! * [`pairs`]: pairs of ranks that are slower than the others;
//! * [`parallel`]: the gain of a program by more ranks, and what limits it;
//! * [`pauses`]: recurring kinds among the pauses of a processor;
//! * [`processor_speed`]: the speed of the ranks' processors during launches;
//! * [`replay`]: the misses of a periodic job at any period, from one recorded run;
//! * [`limits`]: how near a number comes to the machine's limit.
#![forbid(unsafe_code)]

pub mod changes;
pub mod compare;
mod constants;
pub mod history;
pub mod launches;
pub mod limits;
pub mod line_states;
pub mod model;
pub mod pairs;
pub mod parallel;
pub mod pauses;
pub mod processor_speed;
pub mod replay;
pub mod statistics;

mod machine;
mod student;

#[cfg(test)]
mod distributions;
#[cfg(test)]
mod records;
