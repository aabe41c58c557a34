use super::*;

/// An invented machine: files under a temporary root.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Machine(root)
    }

    fn system(&self) -> System {
        System::under(self.0.path())
    }
}

#[test]
fn a_machine_is_described_from_the_files_of_its_kernel() {
    let machine = Machine::new(&[
        ("proc/sys/kernel/hostname", "anvil\n"),
        ("proc/sys/kernel/ostype", "Linux\n"),
        ("proc/sys/kernel/osrelease", "6.1.0\n"),
        ("proc/cpuinfo", "model\t: 7\nmodel name\t: Fast 9000\nflags\t: fpu hypervisor tsc\n"),
        ("proc/meminfo", "MemTotal:  2048 kB\nMemAvailable:  1024 kB\n"),
        ("proc/loadavg", "0.25 0.10 0.00 1/99 1234\n"),
        ("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1,4\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
        ("sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock tsc\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("sys/devices/system/cpu/cpu10/cpufreq/scaling_governor", "powersave\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/type", "Unified\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/level", "3\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "0-7\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("proc/cmdline", "root=/dev/secret isolcpus=2-3 quiet nohz_full=2-3 nosmt"),
        (".dockerenv", ""),
    ]);
    let found = read(&machine.system(), 3);
    assert_eq!(found.host, "anvil");
    assert_eq!(found.kernel, format!("Linux 6.1.0 {}", std::env::consts::ARCH));
    assert_eq!(found.processor, "Fast 9000");
    assert_eq!(found.processors_available, 3);
    assert_eq!(found.caches, ["L1 data 48 KiB", "L3 32768 KiB, shared by 0-7"]);
    assert_eq!(found.memory_bytes, 2048 * 1024);
    assert_eq!(found.clock_source, "tsc");
    assert_eq!(found.governor, "performance, powersave");
    assert_eq!(found.virtualisation, "hypervisor KVM, container (docker)");
    assert_eq!(found.load_before, Some(0.25));
    assert_eq!(found.other["processors_allowed"], "0-1,4");
    assert_eq!(found.other["transparent_huge_pages"], "madvise");
    assert_eq!(found.other["kernel_timing_options"], "isolcpus=2-3 nohz_full=2-3 nosmt");
}

#[test]
fn a_kernel_that_tells_nothing_gives_unknowns_and_no_error() {
    let machine = Machine::new(&[]);
    let found = read(&machine.system(), 1);
    assert_eq!(found.host, "unknown");
    assert!(found.processor.starts_with("unknown"));
    assert_eq!(found.virtualisation, "");
    assert_eq!(found.load_before, None);
    assert!(found.other.is_empty());
    assert_eq!(memory::bound(&machine.system()), None);
}

#[test]
fn arm_processors_go_by_their_numbers() {
    let machine = Machine::new(&[("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")]);
    assert_eq!(processor::model(&machine.system()), "ARM implementer 0x41 part 0xd0c");
}

#[test]
fn the_tightest_control_group_on_the_way_to_the_root_bounds_memory() {
    let machine = Machine::new(&[
        ("proc/meminfo", "MemAvailable:  1000 kB\n"),
        ("proc/self/cgroup", "0::/outer/inner\n"),
        ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
        ("sys/fs/cgroup/outer/inner/memory.current", "100\n"),
        ("sys/fs/cgroup/outer/memory.max", "5000\n"),
        ("sys/fs/cgroup/outer/memory.current", "3000\n"),
        // 700 of the 3000 bytes are file pages that the kernel can reclaim, so 5000 - 2300 are left.
        ("sys/fs/cgroup/outer/memory.stat", "anon 2000\ninactive_file 700\n"),
        ("sys/fs/cgroup/outer/inner/cpu.max", "150000 100000\n"),
    ]);
    let bound = memory::bound(&machine.system()).unwrap();
    assert_eq!(bound.bytes, 2700);
    assert!(bound.set_by.contains("control group"));
    let other = surroundings::other(&machine.system());
    assert_eq!(other["cgroup_cpu_limit"], "1.50 processors");
    assert_eq!(other["cgroup_memory_limit_bytes"], "5000");
}

#[test]
fn the_first_version_of_control_groups_is_read_too() {
    let machine = Machine::new(&[
        ("proc/meminfo", "MemAvailable:  1000 kB\n"),
        ("proc/self/cgroup", "9:name=systemd:/\n4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n"),
        ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096\n"),
        ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1096\n"),
        ("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"),
    ]);
    assert_eq!(memory::bound(&machine.system()).unwrap().bytes, 3000);
    assert!(!surroundings::other(&machine.system()).contains_key("cgroup_cpu_limit"));
}

#[test]
fn memory_available_bounds_where_no_group_does() {
    let machine = Machine::new(&[("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:  3 kB\n")]);
    let bound = memory::bound(&machine.system()).unwrap();
    assert_eq!((bound.bytes, bound.set_by), (3072, "available on this machine"));
}
