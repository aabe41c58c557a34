//! The results of a run as tables: the limits of the machine first, then every number, then the most important ones.

use std::collections::BTreeSet;

use analysis::limits::{Bound, GROUP as LIMITS, Limits, Shares};
use benchmark::bound_rule;
use contract::WorkKind;
use record::{Measurement, Run};

use super::agreement::agreement;
use super::algorithms::algorithms;
use super::chain::chains;
use super::entry::{Entry, UNCONVERGED};
use super::group_table::group_table;
use super::headlines::headlines;
use super::mapping::mapping;
use super::pair_map::pair_maps;
use super::paragraph::wrapped;
use super::real_time::{pauses, search};
use crate::comparison::is_of_one_launch;
use crate::fabric_name::simulated_machine;
use crate::wording::{about_size, gains, quantity, ranks, states_met};

/// Returns the tables of a run.
pub(crate) fn tables(run: &Run) -> String {
    let shares = Shares::of(run, bound_rule);
    let limits = shares.limits();
    let found = entries(run, &shares);
    let mut text = format!("{}\n\n", machine(run));
    for (benchmark, count) in subjects(&found) {
        let of_table: Vec<&Entry> = found
            .iter()
            .filter(|f| f.measurement.benchmark == benchmark && f.measurement.ranks == count)
            .collect();
        let title = format!("{benchmark}, {}", ranks(count));
        text += &chains(&title, &of_table, run.header())
            .unwrap_or_else(|| format!("{}\n", group_table(&title, &of_table)));
        text += &of_table.iter().filter_map(|f| pauses(f.measurement)).collect::<String>();
        text += &of_table.iter().filter_map(|f| search(f.measurement)).collect::<String>();
        text += &agreement(of_table.iter().map(|f| f.measurement));
        text += &gained(&of_table);
        text += &algorithms(&of_table, &run.header().fabric);
    }
    text += &mapping(&found).unwrap_or_default();
    text += &pair_maps(&found);
    if found.iter().any(|f| !f.measurement.stop_reason.converged()) {
        text += &format!(
            "{UNCONVERGED} did not converge: when the time or the samples ran out, the interval was still wider than requested, or there were too few samples\n\n"
        );
    }
    text += &of_one_launch(&found);
    text += &changed_machine(run, limits);
    let is_real = simulated_machine(&run.header().fabric.name).is_none();
    let lacks = |found: &Entry| lacks_limit(found, limits);
    if is_real && limits.hand_overs.is_empty() && found.iter().any(lacks) {
        text += &format!(
            "The machine's own limits are not in this run; `cornerstone run {LIMITS} ...` measures them too, and shows\n\
             each number's share of them.\n\n"
        );
    }
    text + &headlines(&found, limits)
}

/// Returns a remark on the states of the machine. Empty if it did not change during the run.
fn changed_machine(run: &Run, limits: &Limits) -> String {
    if let Some(states) = states_met(run) {
        return format!("{}\n\n", wrapped(&states, ""));
    }
    let Some((low_us, high_us)) = limits.moved_us() else { return String::new() };
    format!(
        "The machine changed during the run: handing over a cache line took {} at one time and {} at another, as when a\n\
         hypervisor moves processors. Shares of the limit use the hand-over measured next to each group.\n\n",
        quantity(low_us, "us"),
        quantity(high_us, "us")
    )
}

/// Returns a remark on the benchmarks that were measured in one launch. Empty if there are none.
fn of_one_launch(found: &[Entry]) -> String {
    let alone = found.iter().filter(|entry| is_of_one_launch(entry.measurement));
    let names: BTreeSet<&str> = alone.map(|entry| entry.measurement.benchmark.as_str()).collect();
    if names.is_empty() {
        return String::new();
    }
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let text = format!(
        "Measured in one launch: {names}. An interval of one launch covers the samples of that launch; another launch \
         may differ by more."
    );
    wrapped(&text, "") + "\n\n"
}

/// Returns the gain of parallel programs, for the text below their table. Empty for others.
fn gained(found: &[&Entry]) -> String {
    let gains = gains(found.iter().map(|entry| entry.measurement));
    let mut text: String = gains.iter().map(|forms| format!("{}\n", forms.join("\n  "))).collect();
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Returns the measurements of a run with their shares of the limits.
pub(super) fn entries<'a>(run: &'a Run, shares: &Shares) -> Vec<Entry<'a>> {
    let entry = |measurement| Entry { measurement, share: shares.share(measurement) };
    latest(run).into_iter().map(entry).collect()
}

/// Returns whether a measurement is bounded by limits that the run did not measure.
fn lacks_limit(found: &Entry, limits: &Limits) -> bool {
    let Entry { measurement: m, share } = found;
    let bound = || bound_rule(&m.benchmark).bound(m.ranks, &m.parameters, limits.cores);
    share.is_none() && matches!(bound(), Some(Bound::Path(_)))
}

/// Returns the machine in a line.
pub(super) fn machine(run: &Run) -> String {
    let header = run.header();
    if let Some(name) = simulated_machine(&header.fabric.name) {
        return format!(
            "the simulated machine {name}; times are virtual and exact{}",
            free(&header.fabric.without_rate)
        );
    }
    let environment = &header.environment;
    format!(
        "{}: {}, {} processors, {}, {}; messages over {}",
        environment.host,
        environment.processor,
        environment.processors_available,
        about_size(environment.memory_bytes),
        environment.kernel,
        header.fabric.name
    )
}

/// Returns the kinds of work that take no time on a simulated machine. Empty if all take some.
fn free(kinds: &[WorkKind]) -> String {
    let keys: Vec<&str> = kinds.iter().map(|kind| kind.rate_key()).collect();
    match keys.is_empty() {
        true => String::new(),
        false => format!("; work without a rate takes no time: {}", keys.join(", ")),
    }
}

/// Returns the benchmarks with their numbers of ranks. The limits come first, because the other numbers are compared
/// with them.
pub(super) fn subjects<'a>(found: &[Entry<'a>]) -> Vec<(&'a str, usize)> {
    let mut subjects: Vec<(bool, &str, usize)> = Vec::new();
    for Entry { measurement, .. } in found {
        let subject =
            (measurement.group != LIMITS, measurement.benchmark.as_str(), measurement.ranks);
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    // The sort is stable, so within both halves the order of measuring stays.
    subjects.sort_by_key(|(ordinary, ..)| *ordinary);
    subjects.into_iter().map(|(_, benchmark, ranks)| (benchmark, ranks)).collect()
}

/// Returns the measurements without those that were repeated later.
fn latest(run: &Run) -> Vec<&Measurement> {
    let mut seen = BTreeSet::new();
    let mut latest: Vec<&Measurement> =
        run.measurements.iter().rev().filter(|m| seen.insert((m.key(), &m.metric))).collect();
    latest.reverse();
    latest
}
