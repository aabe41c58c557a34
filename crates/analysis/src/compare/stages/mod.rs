//! The stages between launches and intervals.
//!
//! A stage is a function from evidence to evidence, in a file of its own that states what it assumes, its source and
//! its cost. It can be switched off. `make ablation` shows what each is worth on models of machines; a stage that is
//! worth nothing there goes (docs/decisions/0142-a-verdict-has-three-stages.md).

mod shared;
mod speed;
mod states;

use super::evidence::{Case, Evidence};

pub use states::MetState;
pub(super) use states::met;

/// A stage.
pub struct Stage {
    /// Its name, by which it is switched off.
    pub name: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    apply: fn(Evidence) -> Evidence,
    /// The numbers of its way for one case, in lines: from the evidence before it and after it.
    explain: fn([&Evidence; 2], [&Case; 2]) -> Vec<String>,
}

/// All stages, in their order.
pub const STAGES: [Stage; 3] = [states::STAGE, speed::STAGE, shared::STAGE];

/// The stages that are switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without([bool; STAGES.len()]);

impl Without {
    /// Switches the stage with this name off. Returns `None` if there is none.
    #[must_use]
    pub fn and(mut self, name: &str) -> Option<Without> {
        let index = STAGES.iter().position(|stage| stage.name == name)?;
        self.0[index] = true;
        Some(self)
    }

    /// Returns whether the stage with this name is switched off.
    pub fn contains(self, name: &str) -> bool {
        STAGES.iter().zip(self.0).any(|(stage, is_off)| is_off && stage.name == name)
    }
}

/// Applies the stages that are not switched off. `each` gets the evidence before and after each stage that changes it.
/// Returns the evidence at the end, and the stages that are switched off and would change nothing.
pub(super) fn apply(
    mut evidence: Evidence,
    mut each: impl FnMut(&Stage, &Evidence, &Evidence),
) -> (Evidence, Vec<&'static str>) {
    let Without(off) = evidence.settings.without;
    let mut idle = Vec::new();
    for (stage, is_off) in STAGES.iter().zip(off) {
        let after = (stage.apply)(evidence.clone());
        match (is_off, after == evidence) {
            (true, true) => idle.push(stage.name),
            (true, false) | (false, true) => {}
            (false, false) => {
                each(stage, &evidence, &after);
                evidence = after;
            }
        }
    }
    (evidence, idle)
}

impl Stage {
    /// Returns the numbers of its way for the case with this index.
    pub(super) fn explained(&self, evidence: [&Evidence; 2], index: usize) -> Vec<String> {
        (self.explain)(evidence, evidence.map(|one| &one.cases[index]))
    }
}
