//! Formulas that explain the measurements, with fitted parameters and their uncertainty.

pub mod hockney;
pub mod loggp;
pub mod loggp_fit;

mod line;
mod segments;
mod series;

pub use line::{Estimate, Point, StraightLine};
pub use series::{Series, time_series};
