//! The hypervisor, the container, the limits of the control group, and settings of the kernel.

use std::collections::BTreeMap;

use super::system::System;
use super::{memory, processor};

/// Returns the hypervisor and the container, as far as they can be detected. Empty if neither is.
pub(super) fn virtualisation(system: &System) -> String {
    let mut found = Vec::new();
    if let Some(hypervisor) = hypervisor(system) {
        found.push(hypervisor);
    }
    if let Some(container) = container(system) {
        found.push(container);
    }
    found.join(", ")
}

fn hypervisor(system: &System) -> Option<String> {
    let product: Vec<String> = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| system.text(&format!("/sys/class/dmi/id/{name}")))
        .collect();
    let clocks = system
        .text("/sys/devices/system/clocksource/clocksource0/available_clocksource")
        .unwrap_or_default();
    let by_clock = [("kvm-clock", "KVM"), ("xen", "Xen"), ("hyperv", "Hyper-V")]
        .iter()
        .find(|(clock, _)| clocks.contains(clock))
        .map(|(_, name)| name.to_string());
    let name = system.text("/sys/hypervisor/type").or(by_clock);
    match (name, processor::hypervised(system)) {
        (Some(name), _) => Some(format!("hypervisor {name}")),
        (None, true) if product.is_empty() => Some("hypervisor (unnamed)".into()),
        (None, true) => Some(format!("hypervisor ({})", product.join(" "))),
        (None, false) => None,
    }
}

fn container(system: &System) -> Option<String> {
    let groups = system.text("/proc/1/cgroup").unwrap_or_default();
    let by_group = ["docker", "kubepods", "lxc", "containerd", "libpod"]
        .into_iter()
        .find(|name| groups.contains(name));
    if let Some(name) = system.text("/run/systemd/container") {
        Some(format!("container ({name})"))
    } else if system.has("/.dockerenv") {
        Some("container (docker)".into())
    } else if system.has("/run/.containerenv") {
        Some("container (podman)".into())
    } else {
        by_group.map(|name| format!("container ({name})"))
    }
}

/// Returns settings and limits that can explain a number, by name. It contains only those that the kernel shows.
pub(super) fn other(system: &System) -> BTreeMap<String, String> {
    let file = |path: &str| system.text(path);
    let facts = [
        ("processors_allowed", system.field("/proc/self/status", "Cpus_allowed_list")),
        ("processors_online", file("/sys/devices/system/cpu/online")),
        ("processors_isolated", file("/sys/devices/system/cpu/isolated")),
        ("simultaneous_multithreading", file("/sys/devices/system/cpu/smt/control")),
        ("numa_nodes", file("/sys/devices/system/node/online")),
        ("microcode", system.field("/proc/cpuinfo", "microcode")),
        ("frequency_boost", file("/sys/devices/system/cpu/cpufreq/boost")),
        ("cgroup_cpu_limit", cpu_limit(system)),
        ("cgroup_memory_limit_bytes", memory::cgroup_limit(system).map(|(l, _)| l.to_string())),
        ("memory_available", system.field("/proc/meminfo", "MemAvailable")),
        ("swap_total", system.field("/proc/meminfo", "SwapTotal")),
        (
            "transparent_huge_pages",
            file("/sys/kernel/mm/transparent_hugepage/enabled").map(|text| chosen(&text)),
        ),
        (
            "shared_memory_huge_pages",
            file("/sys/kernel/mm/transparent_hugepage/shmem_enabled").map(|text| chosen(&text)),
        ),
        ("ptrace_scope", file("/proc/sys/kernel/yama/ptrace_scope")),
        ("kernel_timing_options", file("/proc/cmdline").and_then(|text| timing_options(&text))),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

/// Returns the options of the kernel's command line that influence times. The others stay private, because results are
/// shared.
fn timing_options(command_line: &str) -> Option<String> {
    const NAMES: [&str; 18] = [
        "amd_pstate",
        "clocksource",
        "hugepages",
        "idle",
        "intel_idle.max_cstate",
        "intel_pstate",
        "irqaffinity",
        "isolcpus",
        "mitigations",
        "nohz",
        "nohz_full",
        "nosmt",
        "preempt",
        "processor.max_cstate",
        "rcu_nocbs",
        "transparent_hugepage",
        "tsc",
        "numa_balancing",
    ];
    let bears = |word: &&str| NAMES.contains(&word.split('=').next().unwrap_or(word));
    let found: Vec<&str> = command_line.split_whitespace().filter(bears).collect();
    (!found.is_empty()).then(|| found.join(" "))
}

/// Returns the word in brackets in a list such as `always [madvise] never`.
fn chosen(list: &str) -> String {
    let inside = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(list, |(word, _)| word).to_string()
}

/// Returns the share of processors that the control group grants, as `1.50 processors`.
fn cpu_limit(system: &System) -> Option<String> {
    let groups = system.text("/proc/self/cgroup")?;
    let unified = memory::path_of(&groups, "").and_then(|path| {
        let text = system.text(&format!("/sys/fs/cgroup{}/cpu.max", path.trim_end_matches('/')))?;
        let (quota, period) = text.split_once(' ')?;
        Some((quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?))
    });
    let (quota, period) = unified.or_else(|| {
        let path = memory::path_of(&groups, "cpu")?;
        let folder = format!("/sys/fs/cgroup/cpu{}", path.trim_end_matches('/'));
        let number = |name: &str| system.text(&format!("{folder}/{name}"))?.parse::<f64>().ok();
        Some((number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?))
    })?;
    (quota > 0.0 && period > 0.0).then(|| format!("{:.2} processors", quota / period))
}
