//! The judgement of the chosen algorithms of collectives, below their table.

use contract::FabricDescription;

use super::entry::Entry;
use super::table;
use crate::choice::{Choice, Verdict, choices};
use crate::wording::{quantity, significant, size};

/// Returns a line for each length at which named algorithms were measured in addition to the fabric's choice. Empty if
/// there is none.
pub(super) fn algorithms(found: &[&Entry], fabric: &FabricDescription) -> String {
    let choices = choices(found.iter().map(|entry| entry.measurement), fabric);
    if choices.is_empty() {
        return String::new();
    }
    let header = ["size", "chosen", "time", "fastest other", "time", "was the choice right?"];
    let rows = choices.iter().map(row).collect();
    format!("The choice of algorithms\n{}\n", table(&header.map(String::from), 2, rows))
}

fn row(choice: &Choice) -> Vec<String> {
    let time = |one: &record::Measurement| quantity(one.summary.median, &one.unit);
    let verdict = match choice.verdict() {
        Verdict::Right => "yes".into(),
        Verdict::Slower(times) => format!("no: {} times as long", significant(times)),
        Verdict::Undecided => "undecided: launches differ too much".into(),
        Verdict::OneLaunch => "undecided: one launch".into(),
    };
    vec![
        size(choice.chosen.size_bytes),
        choice.name.clone().unwrap_or_else(|| "unknown".into()),
        time(choice.chosen),
        choice.fastest_name(),
        time(choice.fastest),
        verdict,
    ]
}
