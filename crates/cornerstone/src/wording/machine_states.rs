//! What runs met on the machine: its performance states, and other guests on the cores of its ranks.

use analysis::compare::ComparedRuns;
use analysis::line_states::{LineStates, known_lines};
use analysis::processor_speed::slowdown;
use record::Run;

use super::{counted, quantity, whole_percent};

/// Slowdown of simple operations from which it is mentioned.
const SLOWED_MIN: f64 = 0.02;

/// Returns what the launches of a run met: the states of the machine and which of them the numbers describe, and other
/// guests on the ranks' cores. Returns `None` if there was one state without other guests.
pub(crate) fn states_met(run: &Run) -> Option<String> {
    let all: Vec<String> = lines_met(run).into_iter().chain(neighbours_met(run)).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn neighbours_met(run: &Run) -> Option<String> {
    let slowed = slowdown(run).filter(|&share| share > SLOWED_MIN)?;
    Some(format!(
        "Simple operations of the ranks took {} longer on average than at their fastest: other programs or guests used the ranks' cores. Another minute may have other neighbours, and other numbers.",
        whole_percent(slowed)
    ))
}

fn lines_met(run: &Run) -> Option<String> {
    let lines = known_lines(run);
    let states = LineStates::of(&lines);
    if !states.are_several() {
        return None;
    }
    let ((in_state, _), commonest) = (states.count(&lines), states.commonest(&lines));
    let share = |count: usize| whole_percent(count as f64 / lines.len() as f64);
    let lines_us = states.medians_us();
    let others = (0..lines_us.len()).filter(|&state| state != commonest);
    let of_state = |state: usize| {
        format!("{} beside {}", quantity(lines_us[state], "us"), share(in_state[state]))
    };
    let others: Vec<String> = others.map(of_state).collect();
    Some(format!(
        "The machine changed during the run: handing over a cache line between two processors took {} of the measurements, {}. The numbers are those of the launches at {}.",
        of_state(commonest),
        others.join(", "),
        quantity(lines_us[commonest], "us"),
    ))
}

/// Returns what each stage of a comparison found, a line for each that changed something.
pub(crate) fn stages_applied(compared: &ComparedRuns) -> String {
    let line = |stage: &&str| match *stage {
        "states" => states(compared),
        "speed" => speed(compared),
        _ => shared(compared),
    };
    compared.stages.iter().map(|stage| format!("{stage}: {}\n", line(stage))).collect()
}

fn states(compared: &ComparedRuns) -> String {
    let all =
        [0, 1].map(|side| compared.states.iter().map(|one| one.measurements[side]).sum::<usize>());
    let share = |count: usize, side: usize| whole_percent(count as f64 / all[side].max(1) as f64);
    let states: Vec<String> = compared
        .states
        .iter()
        .map(|one| {
            let [a, b] = one.measurements;
            format!("{} (A {}, B {})", quantity(one.line_us, "us"), share(a, 0), share(b, 1))
        })
        .collect();
    let mut text = format!(
        "handing over a cache line between two processors took {}; launches are compared with those of the same state",
        states.join(", ")
    );
    let without_launches = compared.comparisons.iter().filter(|one| one.compared == [0, 0]).count();
    if without_launches > 0 {
        let are = if without_launches == 1 { "is" } else { "are" };
        text += &format!(
            "; {} met no common state and {are} undecided: measure longer",
            counted(without_launches, "number")
        );
    }
    text
}

fn speed(compared: &ComparedRuns) -> String {
    let [a, b] = compared.slowed.unwrap_or_default().map(whole_percent);
    format!(
        "simple operations took {a} (A) and {b} (B) longer than on free cores; launches are compared as if the cores had been equally fast"
    )
}

fn shared(compared: &ComparedRuns) -> String {
    let Some(shared) = compared.shared else { return String::new() };
    let (how, ratio) = match shared.worse_by {
        better if better < 1.0 => ("better", 1.0 / better),
        worse => ("worse", worse),
    };
    format!(
        "most numbers became {how} by {} and differ by {} beyond their launches, which may be the machine's; intervals contain the change with it and without it",
        whole_percent(ratio - 1.0),
        whole_percent(shared.error)
    )
}
