//! The text below the table of a periodic benchmark: the result of the search, the latest instances, and the pauses.

use analysis::pauses::{cause, explained};
use record::{During, Measurement, Pauses, PeriodSearch, SeenPause};

use crate::wording::{
    forecast, judged_times, late, outcome, pause_kind, pause_summary, quantity, without_pauses,
};

/// Number of the latest instances that are shown. The results file has more.
const LATE_SHOWN: usize = 3;
/// Text for a late instance that no pause explains.
const NO_PAUSE: &str = "no rank saw a pause that explains it: the work or its messages took too long, \
    or a pause came in the middle of a message, where it is not detected";

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
        let cause = cause(one, &search.pauses);
        text += &format!("  {}\n    {}\n", late(one), cause.map_or(NO_PAUSE.into(), paused));
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

/// Returns a sentence about the pause that made an instance late.
fn paused(pause: &SeenPause) -> String {
    let during = match pause.during {
        During::Waiting => "when the rank should have begun".to_owned(),
        During::Computing => match pause.stage {
            Some(stage) => format!("while it computed for stage {stage}"),
            None => "while it computed".to_owned(),
        },
    };
    format!(
        "because the processor of rank {} did something else for {}, {:.3} s after the search began, {during}",
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

/// Returns the number of the latest instances that pauses explain, if not all of them are shown.
fn blame(search: &PeriodSearch) -> Option<String> {
    let late = search.worst.len();
    (late > LATE_SHOWN).then(|| {
        let by_pauses = explained(search);
        format!("pauses of the processors explain {by_pauses} of the {late} latest instances")
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
