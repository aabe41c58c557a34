//! Processing chains as files describe them: the data, the messages between ranks, and the placement. Runs nothing.

mod changes;
mod choice;
mod definition;
mod describe;
mod file;
mod geometry;
mod mapping;
mod placement;
mod scene;
#[cfg(test)]
mod tests;

pub(crate) use choice::ChainVariant;
pub use choice::{Pacing, Pipeline};
pub(crate) use definition::ELEMENT_BYTES;
pub use definition::{Chain, Stage};
pub(crate) use geometry::{Intake, Level, Outlet, Piece, intake, level_names, levels, outlet};
pub(crate) use scene::SceneTarget;
pub use scene::{Scene, SoughtTarget};
