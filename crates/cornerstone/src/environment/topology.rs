//! The places of processors in the machine: package, memory node, shared caches, core.

use super::system::System;

/// Place of a processor in the machine, as the kernel shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessorPlace {
    pub(crate) number: usize,
    /// Parts of the machine that contain it, from the largest to the smallest. A part is empty if the kernel's files do
    /// not name it.
    pub(crate) parts: [String; 5],
    /// Kind of core. Machines may have fast and slow ones.
    pub(crate) kind: String,
}

/// Returns the places of these processors, or `None` if the package or the core of one is not shown.
pub(super) fn places(system: &System, processors: &[usize]) -> Option<Vec<ProcessorPlace>> {
    processors.iter().map(|&number| place(system, number)).collect()
}

fn place(system: &System, number: usize) -> Option<ProcessorPlace> {
    let folder = format!("/sys/devices/system/cpu/cpu{number}");
    let text = |path: &str| system.text(&format!("{folder}/{path}"));
    let or_empty = |path: &str| text(path).unwrap_or_default();
    let node = system.numbered(&folder, "node").into_iter().next().unwrap_or_default();
    Some(ProcessorPlace {
        number,
        parts: [
            text("topology/physical_package_id")?,
            node,
            or_empty("cache/index3/shared_cpu_list"),
            or_empty("cache/index2/shared_cpu_list"),
            text("topology/core_id")?,
        ],
        kind: format!("{} {}", or_empty("cpu_capacity"), or_empty("cpufreq/cpuinfo_max_freq")),
    })
}
