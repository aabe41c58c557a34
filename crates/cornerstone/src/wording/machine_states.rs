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
        "Simple operations of the ranks took {} longer on average than at their fastest: other programs or guests used the ranks' cores. Intervals also contain what the numbers would be with the cores as free, and as busy, as at some moments of the run.",
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

/// Returns what the launches of two runs met, and how they are compared. Empty if there was one state without other
/// guests.
pub(crate) fn states_compared(compared: &ComparedRuns) -> String {
    let mut text = lines_compared(compared);
    if let Some([a, b]) =
        compared.slowed.filter(|slowed| slowed.iter().any(|&share| share > SLOWED_MIN))
    {
        text += &format!(
            "simple operations took {} (A) and {} (B) longer than on free cores:\nlaunches are compared as if the cores had been equally free\n",
            whole_percent(a),
            whole_percent(b)
        );
    }
    text
}

fn lines_compared(compared: &ComparedRuns) -> String {
    if compared.states.is_empty() {
        return String::new();
    }
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
        "the machine changed: handing over a cache line between two processors took {}:\nlaunches are compared with launches in the same state\n",
        states.join(", ")
    );
    let apart = compared.comparisons.iter().filter(|one| one.compared == [0, 0]).count();
    if apart > 0 {
        text += &format!(
            "{} met no common state, and is undecided: measure longer\n",
            counted(apart, "number")
        );
    }
    text
}
