//! A run in two screens: the machine, the most important numbers, the findings, and the other measurements.

use std::path::Path;

use analysis::limits::Shares;
use benchmark::{bound_rule, planned_case};
use record::Run;

use super::entry::Entry;
use super::headlines::headlines;
use super::mapping::mapping;
use super::pair_map::pair_maps;
use super::tables::{entries, machine, subjects};
use super::{labelled, tables, wrapped};
use crate::comparison::is_of_one_launch;
use crate::wording::{counted, states_met};

/// Longest tables that are printed whole, in lines: two screens.
const SCREENS_LINES: usize = 100;

/// Width of the names of groups, with the space after them.
const GROUP_WIDTH: usize = 14;

/// Maximum number of groups for which the benchmarks are named, because a summary must fit two screens.
const GROUPS_NAMED: usize = 3;

/// Maximum number of lines of the findings, with their title one more.
const FINDINGS_LINES: usize = 14;

/// A fact that a reader needs before quoting a number of the run: a sentence, and the worst case if there is one.
pub(crate) type StandsOut = (String, Option<String>);

/// Returns the tables of a run if they fit on two screens, or else its summary, which refers to the rest. `path` is the
/// run's results file, and `stands_out` returns the findings of the run.
pub(crate) fn tables_or_summary(
    run: &Run,
    stands_out: fn(&Run) -> Vec<StandsOut>,
    path: &Path,
) -> String {
    let whole = tables(run);
    match whole.lines().count() <= SCREENS_LINES {
        true => whole,
        false => summary(run, &stands_out(run), path),
    }
}

fn summary(run: &Run, stands_out: &[StandsOut], path: &Path) -> String {
    let shares = Shares::of(run, bound_rule);
    let found = entries(run, &shares);
    let mut text = format!("{}\n\n", wrapped(&machine(run), ""));
    text += &headlines(&found, shares.limits());
    text += &mapping(&found).unwrap_or_default();
    text += &pair_maps(&found);
    text += &said("What stands out", first_findings(stands_out).into_iter());
    text += &said(&measured(&found), groups(&found).into_iter());
    if let Some(states) = states_met(run) {
        text += &format!("{}\n\n", wrapped(&states, ""));
    }
    let print_all = format!("cornerstone report --tables {}", path.display());
    text + &format!("Every table: {print_all}\n\n")
}

/// Returns lines below a title, or nothing if there are no lines.
fn said(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { String::new() } else { format!("{title}\n{}\n\n", lines.join("\n")) }
}

/// Returns the findings that fit [`FINDINGS_LINES`], and the number of the others.
fn first_findings(stands_out: &[StandsOut]) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    let mut lines = 0;
    for one in stands_out.iter().map(finding) {
        lines += one.lines().count();
        // One line is for the number of the others.
        if lines >= FINDINGS_LINES {
            let others = counted(stands_out.len() - shown.len(), "more finding");
            shown.push(format!(" * {others} in the report"));
            break;
        }
        shown.push(one);
    }
    shown
}

fn finding((title, worst): &StandsOut) -> String {
    let title = labelled(" *", 3, title);
    let worst = worst.as_ref().map(|case| format!("\n{}", wrapped(case, "     ")));
    title + &worst.unwrap_or_default()
}

fn measured(found: &[Entry]) -> String {
    let mut keys: Vec<_> = found.iter().map(|entry| planned_case(entry.measurement)).collect();
    keys.sort();
    keys.dedup();
    let launches = || found.iter().map(|f| f.measurement.launch_medians.len()).filter(|n| *n > 1);
    let over = match (launches().min(), launches().max()) {
        (Some(least), Some(most)) if least < most => {
            format!(", intervals over {least} to {most} launches")
        }
        (Some(all), _) => format!(", intervals over {all} launches"),
        _ if found.iter().all(|entry| is_of_one_launch(entry.measurement)) => {
            ", in one launch: another may differ by more than the intervals".into()
        }
        _ => String::new(),
    };
    format!("Measured: {} cases in {} tables{over}", keys.len(), subjects(found).len())
}

/// Returns the benchmarks by group, in the order of measuring. If there are many groups, only the number of benchmarks
/// of each.
fn groups(found: &[Entry]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for Entry { measurement, .. } in found {
        let (group, name) = (measurement.group.as_str(), measurement.benchmark.as_str());
        let place =
            groups.iter().position(|(its_group, _)| *its_group == group).unwrap_or_else(|| {
                groups.push((group, Vec::new()));
                groups.len() - 1
            });
        if !groups[place].1.contains(&name) {
            groups[place].1.push(name);
        }
    }
    if groups.len() > GROUPS_NAMED {
        let of_group = |(group, names): &(&str, Vec<&str>)| format!("{group} {}", names.len());
        let counts: Vec<String> = groups.iter().map(of_group).collect();
        return vec![wrapped(&format!("benchmarks: {}", counts.join(", ")), " ")];
    }
    let line = |(group, names): (&str, Vec<&str>)| {
        labelled(&format!(" {group}"), GROUP_WIDTH, &names.join(", "))
    };
    groups.into_iter().map(line).collect()
}
