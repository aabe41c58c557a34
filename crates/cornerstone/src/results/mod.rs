//! Results files: where they lie, how they grow, how they are read back.

mod place;
mod reader;
mod writer;

pub(crate) use place::{beside, default_path};
pub(crate) use reader::read_noting_gaps;
pub(crate) use writer::ResultsFile;
