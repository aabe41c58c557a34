//! Results files: their paths, writing and reading.

mod folder;
mod place;
mod reader;
mod writer;

pub(crate) use folder::{add_to_folder, read_folder};
pub(crate) use place::{default_path, report_path};
pub(crate) use reader::{parse, read_noting_gaps};
pub(crate) use writer::ResultsFile;

use std::collections::BTreeMap;

use benchmark::Settings;
use contract::FabricDescription;
use record::{Environment, RunHeader, SCHEMA_VERSION};

use crate::arguments::words_of_this_process;
use crate::utc;

/// Creates the header of a run that this command begins now.
pub(crate) fn header(
    settings: &Settings,
    fabric: FabricDescription,
    environment: Environment,
) -> RunHeader {
    RunHeader {
        schema_version: SCHEMA_VERSION,
        cornerstone_version: env!("CARGO_PKG_VERSION").into(),
        revision: env!("CORNERSTONE_REVISION").into(),
        command: words_of_this_process(),
        started: utc::now(),
        seed: settings.seed,
        precision: settings.precision,
        confidence: settings.confidence,
        time_limit_s: settings.time_limit_s,
        fabric,
        launches_before: None,
        texts: BTreeMap::new(),
        environment,
    }
}
