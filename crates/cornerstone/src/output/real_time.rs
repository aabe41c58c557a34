//! The text below the table of a periodic benchmark: the result of the search, the latest instances, and the pauses.

use analysis::pauses::{Explanation, explain, explained};
use record::{During, LateInstance, Measurement, Pauses, PeriodSearch, SeenPause};

use crate::wording::{
    forecast, judged_times, late, outcome, pause_kind, pause_summary, quantity, whole_percent,
    without_pauses,
};

/// Number of the latest instances that are shown. The results file has more.
const LATE_SHOWN: usize = 3;
/// What may have taken the time that no pause explains.
const NOT_EXPLAINED: &str = "work or messages that took longer, or pauses in the middle of a message, which are not detected";

/// Returns the result of the search for a measurement's period, or `None` if there was none.
pub(super) fn search(measurement: &Measurement) -> Option<String> {
    let search = measurement.search.as_ref()?;
    let mut text = format!("{}: {}\n", name(measurement), outcome(search).join("\n  "));
    for line in judged_times(search).iter().chain(&forecast(search)) {
        text += &format!("  {line}\n");
    }
    for line in without_pauses(search) {
        text += &format!("    {line}\n");
    }
    for one in search.worst.iter().take(LATE_SHOWN) {
        text += &format!("  {}\n    {}\n", late(one), cause(&explain(search, one)));
        text += throttling(search, one).unwrap_or_default();
    }
    text += &blame(search).map_or_else(String::new, |blame| format!("  {blame}\n"));
    text += &hygiene(search);
    Some(text + "\n")
}

fn name(measurement: &Measurement) -> String {
    let parameters = measurement.parameters.iter();
    let shown = parameters.map(|(name, value)| format!(" {}={value}", name.replace('_', " ")));
    format!("{}{}", measurement.benchmark, shown.collect::<String>())
}

/// Lengths of pauses that may be Linux's throttling of real-time groups: by default ranks of a fixed priority run for 950 ms
/// in each second (`kernel.sched_rt_runtime_us`, sched(7)), and are stopped for the rest of it.
const THROTTLED_US: std::ops::RangeInclusive<f64> = 40e3..=60e3;
const THROTTLING: &str = "    this is as long as Linux stops programs of a fixed priority in each second, unless kernel.sched_rt_runtime_us is -1 \
     (real-time throttling)\n";

/// Returns a remark on a late instance whose longest pause is as long as the throttling of its ranks' fixed priority.
fn throttling(search: &PeriodSearch, late: &LateInstance) -> Option<&'static str> {
    let has_priority = search.hygiene.get("fifo").is_some_and(|fifo| fifo.starts_with("granted"));
    let longest_us = explain(search, late).longest?.length_us;
    (has_priority && THROTTLED_US.contains(&longest_us)).then_some(THROTTLING)
}

/// Returns how far pauses explain an instance.
fn cause(found: &Explanation<'_>) -> String {
    let us = |us: f64| quantity(us, "us");
    let longer = us(found.longer_us);
    match found.longest {
        None => format!("no pause explains the {longer} beyond the usual: {NOT_EXPLAINED}"),
        Some(pause) if found.is_whole() => {
            format!("pauses explain the {longer} beyond the usual: {}", paused(pause))
        }
        Some(pause) => format!(
            "pauses explain {} of the {longer} beyond the usual: {}; {} are not explained: {NOT_EXPLAINED}",
            us(found.by_pauses_us),
            paused(pause),
            us(found.rest_us())
        ),
    }
}

/// Returns a sentence about the longest pause that affected an instance.
fn paused(pause: &SeenPause) -> String {
    let during = match pause.during {
        During::Waiting => "when the rank should have begun".to_owned(),
        During::Computing => match pause.stage {
            Some(stage) => format!("while it computed for stage {stage}"),
            None => "while it computed".to_owned(),
        },
    };
    format!(
        "the processor of rank {} did something else for {}, {:.3} s after the search began, {during}",
        pause.rank,
        quantity(pause.length_us, "us"),
        pause.at_s
    )
}

/// Returns the parts of the OS isolation that were granted, in one line, and the reasons for those that were refused.
fn hygiene(search: &PeriodSearch) -> String {
    let parts = || search.hygiene.iter().filter(|(name, _)| !name.contains(' '));
    let list = |word: &'static str| {
        let those = parts().filter(|(_, granted)| granted.starts_with(word));
        let names: Vec<&str> = those.map(|(part, _)| part.as_str()).collect();
        (!names.is_empty()).then(|| format!("{word} {}", names.join(" ")))
    };
    let lists: Vec<String> = ["granted", "off"].into_iter().filter_map(list).collect();
    let mut text = String::new();
    if !lists.is_empty() {
        text += &format!("  hygiene: {}\n", lists.join(", "));
    }
    for (part, granted) in parts() {
        if granted.starts_with("refused") || granted.starts_with("still") {
            text += &format!("  {part} {granted}\n");
        }
    }
    text
}

/// Returns how far pauses explain the latest instances, if not all of them are shown.
fn blame(search: &PeriodSearch) -> Option<String> {
    let late = search.worst.len();
    (late > LATE_SHOWN).then(|| {
        let (share, wholly) = explained(search);
        format!(
            "pauses of the processors explain {} of the time that the {late} latest instances took beyond the usual, and {wholly} \
             of them wholly",
            whole_percent(share)
        )
    })
}

/// Returns the kinds of pauses of one processor, with their summary, or `None` for a measurement without pauses.
pub(super) fn pauses(measurement: &Measurement) -> Option<String> {
    let pauses: &Pauses = measurement.pauses.as_ref()?;
    let place = match pauses.processor {
        Some(processor) => format!("processor {processor}"),
        None => name(measurement),
    };
    let threshold = quantity(pauses.threshold_us, "us");
    let no = if pauses.kinds.is_empty() { "no pause" } else { "pauses" };
    let mut text = format!("{place}: {no} over {threshold} in {} s\n", pauses.duration_s);
    for kind in &pauses.kinds {
        text += &format!("  {}\n", pause_kind(kind));
    }
    if pauses.not_kept > 0 {
        text += &format!(
            "  {} more, after the first {}, are only counted below; a longer --threshold records more\n",
            pauses.not_kept,
            quantity(pauses.at_s.last().copied().unwrap_or_default(), "s")
        );
    }
    for line in pauses.summary.iter().flat_map(pause_summary) {
        text += &format!("  {line}\n");
    }
    Some(text + "\n")
}
