//! The environment of a run: the kernel's information about the machine and its state.

mod memory;
mod processor;
mod surroundings;
mod system;
mod topology;
mod usage;

use record::Environment;

pub(crate) use memory::MemoryBound;
use system::System;
pub(crate) use topology::ProcessorPlace;
pub(crate) use usage::ProcessorUse;

/// Captures the present environment of this machine.
pub(crate) fn capture() -> Environment {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
    read(&System::this(), processors)
}

/// Returns the tightest bound on the memory that a run may use, if the kernel shows one.
pub(crate) fn memory_bound() -> Option<MemoryBound> {
    memory::bound(&System::this())
}

/// Returns the use of the processors so far, or `None` if the kernel does not show it.
pub(crate) fn processor_use() -> Option<ProcessorUse> {
    ProcessorUse::read(&System::this())
}

/// Returns the places of these processors in the machine, or `None` if the kernel does not show them.
pub(crate) fn processor_places(processors: &[usize]) -> Option<Vec<ProcessorPlace>> {
    topology::places(&System::this(), processors)
}

fn read(system: &System, processors_available: usize) -> Environment {
    let text = |path: &str| system.text(path);
    let load = text("/proc/loadavg")
        .and_then(|text| text.split_whitespace().next().and_then(|first| first.parse().ok()));
    Environment {
        host: text("/proc/sys/kernel/hostname").unwrap_or_else(|| "unknown".into()),
        processor: processor::model(system),
        processors_available,
        caches: processor::caches(system),
        memory_bytes: memory::total_bytes(system),
        kernel: kernel(system),
        clock_source: processor::clock_source(system),
        governor: processor::governor(system),
        virtualisation: surroundings::virtualisation(system),
        load_before: load,
        other: surroundings::other(system),
    }
}

fn kernel(system: &System) -> String {
    let part = |name: &str| system.text(&format!("/proc/sys/kernel/{name}"));
    let name = part("ostype").unwrap_or_else(|| std::env::consts::OS.into());
    let release = part("osrelease").unwrap_or_else(|| "unknown".into());
    format!("{name} {release} {}", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests;
