//! Linux's counts of the events that take a processor from a rank. They are readable without privileges.

use std::fs::read_to_string;

/// Returns the counts of this processor and of this thread, the most informative first.
pub(crate) fn read(processor: usize) -> Vec<(String, u64)> {
    let text = |path: &str| read_to_string(path).unwrap_or_default();
    let mut counts = Vec::new();
    counts.extend(switches(&text("/proc/thread-self/status")));
    counts.extend(faults(&text("/proc/thread-self/stat")));
    counts.extend(steal(&text("/proc/stat"), processor));
    counts.extend(softirqs(&text("/proc/softirqs"), processor));
    counts.extend(interrupts(&text("/proc/interrupts"), processor));
    counts
}

/// Returns the number of involuntary context switches of this thread.
fn switches(status: &str) -> Option<(String, u64)> {
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    Some(("another program".into(), line.trim().parse().ok()?))
}

/// Returns the number of page faults of this thread: its minor and major ones, fields 10 and 12 of its line
/// (proc_pid_stat(5)). Field 2 is its name in parentheses, which may contain spaces and parentheses.
fn faults(stat: &str) -> Option<(String, u64)> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let number = |place: usize| after_name.split_whitespace().nth(place - 3)?.parse::<u64>().ok();
    Some(("page fault".into(), number(10)? + number(12)?))
}

/// Returns the rows of a table with a column for each processor: the label, the count of this one, and the rest.
fn rows(table: &str, processor: usize) -> impl Iterator<Item = (&str, u64, Vec<&str>)> {
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let name = format!("CPU{processor}");
    let column = columns.iter().position(|column| *column == name);
    lines.filter_map(move |line| {
        let (label, rest) = line.split_once(':')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let count = words.get(column?)?.parse().ok()?;
        Some((label.trim(), count, words.get(columns.len()..)?.to_vec()))
    })
}

fn interrupts(table: &str, processor: usize) -> Vec<(String, u64)> {
    let name = |label: &str, words: &[&str]| match label {
        "LOC" => "timer interrupt".into(),
        "RES" => "wake-up from another processor".into(),
        "CAL" => "call from another processor".into(),
        "TLB" => "page tables changed by another processor".into(),
        _ if label.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("interrupt of {}", words.last().unwrap_or(&label))
        }
        _ => words.join(" ").to_lowercase(),
    };
    rows(table, processor).map(|(label, count, words)| (name(label, &words), count)).collect()
}

/// Returns the softirqs without those that every tick of the timer raises.
fn softirqs(table: &str, processor: usize) -> Vec<(String, u64)> {
    const OF_TICKS: [&str; 4] = ["TIMER", "SCHED", "RCU", "HRTIMER"];
    rows(table, processor)
        .filter(|(label, ..)| !OF_TICKS.contains(label))
        .map(|(label, count, _)| (format!("softirq {label}"), count))
        .collect()
}

/// Returns the stolen time: the eighth number of the processor's line, in ticks of 10 ms.
fn steal(stat: &str, processor: usize) -> Option<(String, u64)> {
    let name = format!("cpu{processor}");
    let line = stat.lines().find(|line| line.split_whitespace().next() == Some(&name))?;
    Some(("the hypervisor (steal)".into(), line.split_whitespace().nth(8)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &str = "\
           CPU0       CPU2
 26:          0         15  IO-APIC   4-edge      ttyS0
LOC:       1000       2000   Local timer interrupts
NMI:          3          4   Non-maskable interrupts
ERR:          7
";

    #[test]
    fn the_column_is_that_of_the_processor_not_of_its_number() {
        let named = |processor| interrupts(INTERRUPTS, processor);
        let expected = [("interrupt of ttyS0", 15), ("timer interrupt", 2000)];
        let expected = expected.map(|(name, count)| (name.to_string(), count));
        assert_eq!(named(2)[..2], expected);
        assert_eq!(named(0)[2], ("non-maskable interrupts".to_string(), 3));
        // Totals over all processors have no column for each, and an unknown processor has none at all.
        assert_eq!((named(2).len(), named(0).len(), named(1).len()), (3, 3, 0));
    }

    #[test]
    fn softirqs_of_ticks_are_left_out_and_steal_is_the_eighth_number() {
        let table = "       CPU0\n  TIMER:  5\n NET_RX:  6\n";
        assert_eq!(softirqs(table, 0), [("softirq NET_RX".to_string(), 6)]);
        let stat = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu1 11 12 13 14 15 16 17 18 19 20\n";
        assert_eq!(steal(stat, 1), Some(("the hypervisor (steal)".into(), 18)));
        assert_eq!(steal(stat, 0), None);
        assert!(interrupts("", 0).is_empty() && steal("", 0).is_none());
    }

    #[test]
    fn switches_and_faults_are_those_of_the_thread() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t12\n";
        assert_eq!(switches(status), Some(("another program".into(), 12)));
        // Numbers 3 to 12: state, five of its parents and terminal, flags, then short faults (10), its children's, long
        // ones.
        let stat = "42 (a) b) R 1 2 3 4 5 6 700 8 30 9 10\n";
        assert_eq!(faults(stat), Some(("page fault".into(), 730)));
        assert_eq!((switches(""), faults("")), (None, None));
    }

    #[test]
    fn this_thread_is_counted() {
        assert!(read(0).iter().any(|(name, _)| name == "another program"));
    }
}
