//! Results files: their paths, writing and reading.

mod folder;
mod place;
mod reader;
mod writer;

pub(crate) use folder::{add_to_folder, read_folder};
pub(crate) use place::{beside, default_path};
pub(crate) use reader::{parse, read_noting_gaps};
pub(crate) use writer::ResultsFile;
