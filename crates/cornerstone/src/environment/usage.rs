//! The use of the processors by this command and by other programs.

use super::system::System;

/// Processor time since the start of the machine, in ticks of the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProcessorUse {
    /// Time of all processors that this command may use.
    all: f64,
    /// The part of it in which they did nothing.
    idle: f64,
    /// Time that this command and the processes that it has waited for used.
    own: f64,
}

impl ProcessorUse {
    /// Reads the use so far; `None` if the kernel does not show it.
    pub(super) fn read(system: &System) -> Option<ProcessorUse> {
        let allowed = system.field("/proc/self/status", "Cpus_allowed_list")?;
        let statistics = system.text("/proc/stat")?;
        let mut sums = [0.0; 2];
        for line in statistics.lines() {
            let Some((processor, times)) = processor_times(line) else { continue };
            if is_listed(&allowed, processor) {
                // user, nice, system, idle, iowait, irq, softirq, steal: see proc_stat(5).
                sums[0] += times.iter().take(8).sum::<f64>();
                sums[1] += times.iter().skip(3).take(2).sum::<f64>();
            }
        }
        let own = system.text("/proc/self/stat")?;
        let (_, fields) = own.rsplit_once(')')?;
        // utime, stime, cutime and cstime are fields 14 to 17, of which the first two stand before the last parenthesis.
        let own = fields.split_whitespace().skip(11).take(4);
        let own = own.filter_map(|field| field.parse::<f64>().ok()).sum();
        let [all, idle] = sums;
        (all > 0.0).then_some(ProcessorUse { all, idle, own })
    }

    /// Returns the share of the processors' time since `before` that other programs and guests used.
    pub(crate) fn of_others_since(self, before: ProcessorUse) -> f64 {
        let all = self.all - before.all;
        let others = all - (self.idle - before.idle) - (self.own - before.own);
        if all > 0.0 { (others / all).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Returns the number and the times of a processor from a line of /proc/stat, if it is of one processor.
fn processor_times(line: &str) -> Option<(u32, Vec<f64>)> {
    let mut words = line.split_whitespace();
    let processor = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    Some((processor, words.filter_map(|word| word.parse().ok()).collect()))
}

/// Returns whether a list such as `0-3,8` contains a number.
fn is_listed(list: &str, number: u32) -> bool {
    list.split(',').any(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
        range.is_some_and(|(first, last)| (first..=last).contains(&number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_idle_nor_own_was_used_by_others() {
        let before = ProcessorUse { all: 1000.0, idle: 500.0, own: 20.0 };
        // Of 200 ticks 100 were idle, and this command used 40: others used 60.
        let after = ProcessorUse { all: 1200.0, idle: 600.0, own: 60.0 };
        assert_eq!(after.of_others_since(before), 0.3);
        assert_eq!(before.of_others_since(before), 0.0);
    }

    #[test]
    fn only_the_processors_that_this_command_may_use_count() {
        let folder = std::env::temp_dir().join(format!("cornerstone-use-{}", std::process::id()));
        let proc = folder.join("proc/self");
        std::fs::create_dir_all(&proc).unwrap();
        std::fs::write(proc.join("status"), "Name:\tx\nCpus_allowed_list:\t1-2\n").unwrap();
        std::fs::write(
            folder.join("proc/stat"),
            "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 5 5 5 5 5 5 5 5 0 0\n\
             cpu1 10 0 5 70 5 0 0 10 0 0\ncpu2 20 0 0 80 0 0 0 0 0 0\nintr 1 2\n",
        )
        .unwrap();
        let own = "7 (a (b) c) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15";
        std::fs::write(proc.join("stat"), own).unwrap();
        let read = ProcessorUse::read(&System::under(&folder));
        std::fs::remove_dir_all(&folder).unwrap();
        // Own: fields 14 to 17 are the numbers 11 to 14.
        let expected = ProcessorUse { all: 200.0, idle: 155.0, own: 11.0 + 12.0 + 13.0 + 14.0 };
        assert_eq!(read, Some(expected));
    }
}
