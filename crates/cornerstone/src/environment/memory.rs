//! Memory: its size, and the part of it that this process may use.

use super::system::{System, field};

/// Returns the memory of the machine in bytes, or 0 if the kernel does not report it.
pub(super) fn total_bytes(system: &System) -> u64 {
    meminfo(system, "MemTotal").unwrap_or(0)
}

/// Bound on the memory that a run may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryBound {
    /// Number of bytes left.
    pub(crate) bytes: u64,
    /// Origin of the bound, for a message.
    pub(crate) set_by: &'static str,
}

/// Returns the tightest bound that the kernel shows: the available memory, or the limit of a control group less its
/// use.
pub(super) fn bound(system: &System) -> Option<MemoryBound> {
    let available = meminfo(system, "MemAvailable")
        .map(|bytes| MemoryBound { bytes, set_by: "available on this machine" });
    let group = cgroup_limit(system).map(|(limit, used)| MemoryBound {
        bytes: limit.saturating_sub(used),
        set_by: "left under the limit of this control group",
    });
    available.into_iter().chain(group).min_by_key(|bound| bound.bytes)
}

fn meminfo(system: &System, name: &str) -> Option<u64> {
    let value = system.field("/proc/meminfo", name)?;
    value.strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Returns the memory limit of the control group and its use, in bytes: the tightest of the groups up to the root.
pub(super) fn cgroup_limit(system: &System) -> Option<(u64, u64)> {
    let groups = system.text("/proc/self/cgroup")?;
    let unified = path_of(&groups, "").and_then(|path| {
        tightest(system, "/sys/fs/cgroup", &path, "memory.max", "memory.current", "memory.stat")
    });
    unified.or_else(|| {
        let path = path_of(&groups, "memory")?;
        tightest(
            system,
            "/sys/fs/cgroup/memory",
            &path,
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "memory.stat",
        )
    })
}

/// Returns the path of the group in a hierarchy, from lines such as `4:memory:/group`. The unified hierarchy has no
/// name.
pub(super) fn path_of(groups: &str, controller: &str) -> Option<String> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        let path = parts.next()?;
        controllers.split(',').any(|name| name == controller).then(|| path.to_string())
    })
}

fn tightest(
    system: &System,
    mount: &str,
    path: &str,
    limit_name: &str,
    used_name: &str,
    stat_name: &str,
) -> Option<(u64, u64)> {
    let mut folder = path.trim_end_matches('/');
    let mut tightest: Option<(u64, u64)> = None;
    loop {
        let number = |name: &str| system.text(&format!("{mount}{folder}/{name}"))?.parse().ok();
        if let (Some(limit), Some(used)) = (number(limit_name), number(used_name))
            && limit < UNLIMITED
        {
            // File pages count as used, but the kernel reclaims them before it refuses memory.
            let stat = system.text(&format!("{mount}{folder}/{stat_name}")).unwrap_or_default();
            let cache: u64 =
                field(&stat, "inactive_file").and_then(|text| text.parse().ok()).unwrap_or(0);
            let used = u64::saturating_sub(used, cache);
            if tightest.is_none_or(|(l, u)| limit.saturating_sub(used) < l.saturating_sub(u)) {
                tightest = Some((limit, used));
            }
        }
        match folder.rfind('/') {
            Some(end) => folder = &folder[..end],
            None => return tightest,
        }
    }
}

/// Least limit that means "no limit". The first version of control groups writes it as nearly 2^63.
const UNLIMITED: u64 = 1 << 62;
