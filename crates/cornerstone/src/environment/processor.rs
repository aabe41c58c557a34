//! The processor: model, caches, frequency governor, clock source.

use super::system::{System, field};

/// Returns the model name of the processor, or a substitute if the kernel reports none.
pub(super) fn model(system: &System) -> String {
    let text = system.text("/proc/cpuinfo").unwrap_or_default();
    field(&text, "model name")
        .or_else(|| arm(&text))
        .or_else(|| system.text("/proc/device-tree/model"))
        .or_else(|| field(&text, "cpu model"))
        .unwrap_or_else(|| format!("unknown ({})", std::env::consts::ARCH))
}

/// Returns the maker and the part of an ARM processor. The kernel reports only their numbers.
fn arm(cpuinfo: &str) -> Option<String> {
    let maker = field(cpuinfo, "CPU implementer")?;
    let part = field(cpuinfo, "CPU part")?;
    Some(format!("ARM implementer {maker} part {part}"))
}

/// Returns the caches of the first processor, an entry for each: `L1 data 48 KiB`, with the processors that share it.
pub(super) fn caches(system: &System) -> Vec<String> {
    const FOLDER: &str = "/sys/devices/system/cpu/cpu0/cache";
    system
        .numbered(FOLDER, "index")
        .iter()
        .filter_map(|index| {
            let read = |name: &str| system.text(&format!("{FOLDER}/{index}/{name}"));
            let kind = match read("type")?.as_str() {
                "Unified" => String::new(),
                other => format!(" {}", other.to_lowercase()),
            };
            let size = read("size")?.replace('K', " KiB").replace('M', " MiB");
            let shared = match read("shared_cpu_list") {
                Some(list) if list.contains([',', '-']) => format!(", shared by {list}"),
                _ => String::new(),
            };
            Some(format!("L{}{kind} {size}{shared}", read("level")?))
        })
        .collect()
}

/// Returns the frequency governors of the processors, or the reason why they are not known.
pub(super) fn governor(system: &System) -> String {
    let all = system.numbered("/sys/devices/system/cpu", "cpu");
    let mut governors: Vec<String> = all
        .iter()
        .filter_map(|cpu| {
            system.text(&format!("/sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor"))
        })
        .collect();
    governors.sort();
    governors.dedup();
    match governors.as_slice() {
        [] if hypervised(system) => "not shown (the hypervisor sets the frequency)".into(),
        [] => "not shown (the kernel has no cpufreq here)".into(),
        several => several.join(", "),
    }
}

/// Returns whether the processor is virtual, by its flags.
pub(super) fn hypervised(system: &System) -> bool {
    system
        .field("/proc/cpuinfo", "flags")
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Returns the kernel's clock source.
pub(super) fn clock_source(system: &System) -> String {
    system
        .text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .unwrap_or_else(|| "unknown".into())
}
