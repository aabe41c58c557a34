//! Processing chains as files describe them: what flows, who sends what to whom, and on which ranks. Runs nothing.

mod choice;
mod definition;
mod describe;
mod file;
mod geometry;
mod placement;
#[cfg(test)]
mod tests;

pub use choice::{Pacing, Pipeline};
pub(crate) use definition::ELEMENT_BYTES;
pub use definition::{Chain, Function, Stage};
pub(crate) use geometry::{Intake, Level, Outlet, Piece, intake, levels, outlet};
