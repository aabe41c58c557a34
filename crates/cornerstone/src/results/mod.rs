//! Results files: their paths, writing and reading.

mod place;
mod reader;
mod writer;

pub(crate) use place::{beside, default_path};
pub(crate) use reader::read_noting_gaps;
pub(crate) use writer::ResultsFile;
