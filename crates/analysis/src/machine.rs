//! The machine of a run.

use record::RunHeader;
use serde::Serialize;

/// Properties that comparable runs share: the machine and the fabric.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Machine {
    /// Model of the processor, or the name of a simulated machine.
    pub processor: String,
    /// Number of processors that a run may use.
    pub processors: usize,
    /// The fabric.
    pub fabric: String,
}

impl Machine {
    /// Returns the machine of a run.
    pub fn of(header: &RunHeader) -> Machine {
        let environment = &header.environment;
        let fabric = &header.fabric.name;
        match fabric.strip_prefix("sim:") {
            // A simulated machine does not depend on the processor that simulates it.
            Some(machine) => {
                Machine { processor: machine.into(), processors: 0, fabric: fabric.clone() }
            }
            None => Machine {
                processor: environment.processor.clone(),
                processors: environment.processors_available,
                fabric: fabric.clone(),
            },
        }
    }
}
