//! The lines of a trace, as the kernel writes them (Linux, Documentation/trace/osnoise-tracer.rst).

/// The event of a line: an interrupt, softirq or thread that took the processor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Noise {
    pub(crate) name: String,
    /// The time stamp of the line, which is the end of the event, on the clock of the trace.
    pub(crate) at_ns: u64,
    pub(crate) length_ns: u64,
    /// The thread that ran, if the event is a thread's.
    pub(crate) thread: Option<u32>,
}

/// Parses a line such as
/// `rank-961 [008] d.h.. 5789.857532: irq_noise: local_timer:236 start 5789.857529929 duration 1845 ns`;
/// `None` for all other lines.
pub(crate) fn parse(line: &str) -> Option<Noise> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let event = words.iter().position(|word| word.ends_with("_noise:"))?;
    let at_ns = nanoseconds(words.get(event.checked_sub(1)?)?.strip_suffix(':')?)?;
    // The name of a thread may contain spaces, and the word itself.
    let start = words.iter().rposition(|word| *word == "start").filter(|start| *start > event)?;
    let (duration, length) = (words.get(start + 2)?, words.get(start + 3)?);
    if *duration != "duration" {
        return None;
    }
    let subject = words[event + 1..start].join(" ");
    let (subject, number) = match subject.rsplit_once(':') {
        Some((subject, number)) => (subject.to_string(), number.parse().ok()),
        None => (subject, None),
    };
    let (name, thread) = match words[event] {
        "irq_noise:" => (format!("interrupt {subject}"), None),
        "softirq_noise:" => (format!("softirq {subject}"), None),
        "thread_noise:" => (format!("thread {subject}"), number),
        "nmi_noise:" => ("non-maskable interrupt".into(), None),
        _ => return None,
    };
    Some(Noise { name, at_ns, length_ns: length.parse().ok()?, thread })
}

/// Converts decimal seconds.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.split_once('.')?;
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| *digits <= 9)?;
    let whole_ns = whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?;
    whole_ns.checked_add(fraction.parse::<u64>().ok()? * 10_u64.pow(9 - digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_noise_has_its_name() {
        let name =
            |line: &str| parse(line).map(|noise| (noise.name, noise.length_ns, noise.thread));
        let with = |event: &str| format!("  rank-961  [008] d.h..  5789.857532: {event}");
        let irq = with("irq_noise: local_timer:236 start 5789.857529929 duration 1845 ns");
        assert_eq!(name(&irq), Some(("interrupt local_timer".into(), 1845, None)));
        let softirq = with("softirq_noise:   RCU:9 start 5789.1 duration 300 ns");
        assert_eq!(name(&softirq), Some(("softirq RCU".into(), 300, None)));
        let thread = with("thread_noise: kworker/8:1 start:54 start 5789.1 duration 3068 ns");
        assert_eq!(name(&thread), Some(("thread kworker/8:1 start".into(), 3068, Some(54))));
        let nmi = with("nmi_noise: start 5789.1 duration 90 ns");
        assert_eq!(name(&nmi), Some(("non-maskable interrupt".into(), 90, None)));
    }

    #[test]
    fn time_stamps_may_have_up_to_nine_digits_after_the_point() {
        let at = |text: &str| {
            let event = "irq_noise: timer:1 start 1.0 duration 5 ns";
            parse(&format!("rank-1 [000] d... {text}: {event}")).map(|noise| noise.at_ns)
        };
        assert_eq!(at("5789.857532"), Some(5_789_857_532_000));
        assert_eq!(at("0.000000001"), Some(1));
        assert_eq!((at("x.1"), at("12"), at("1.0000000001")), (None, None, None));
    }

    #[test]
    fn other_lines_are_no_events() {
        for line in [
            "",
            "# tracer: osnoise",
            "rank-1 [000] d... 1.5: sample_threshold: start 1.4 duration 8812 ns interferences 2",
            "irq_noise: timer:1 start 1.0 duration 5 ns",
            "rank-1 [000] d... 1.5: irq_noise: timer:1 start 1.0",
            "rank-1 [000] d... 1.5: irq_noise: timer:1 start 1.0 lasting 5 ns",
            "CPU:0 [LOST 12 EVENTS]",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
