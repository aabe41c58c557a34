//! From samples to summaries to models: pure functions, with no clock, no files and no fabric.
//!
//! * [`statistics`]: what the samples of one measurement say, when to stop sampling, and where the warm-up ends;
//! * [`model`]: formulas that explain measurements, with fitted parameters and their uncertainty;
//! * [`compare`](mod@compare): two runs, measurement by measurement: faster, slower, same, or undecided;
//! * [`changes`](mod@changes): when a number that is measured again and again changed;
//! * [`history`]: the runs of a machine over time, number by number;
//! * [`launches`]: measurements of several launches as one each;
//! * [`pairs`]: which pairs of ranks are slower than the others;
//! * [`parallel`]: what a program gains from more ranks, and what keeps it from gaining more;
//! * [`pauses`]: what comes again and again among the pauses of a processor;
//! * [`replay`]: what a periodic job would miss at any period, from one recorded run;
//! * [`limits`]: how near a number comes to what the machine allows.
#![forbid(unsafe_code)]

pub mod changes;
pub mod compare;
pub mod history;
pub mod launches;
pub mod limits;
pub mod model;
pub mod pairs;
pub mod parallel;
pub mod pauses;
pub mod replay;
pub mod statistics;

mod student;

#[cfg(test)]
mod distributions;
#[cfg(test)]
mod records;
