//! OS isolation: isolates ranks from the operating system during trials, and records which parts were granted.

use std::collections::BTreeMap;

use contract::{Isolation, Priority, PriorityGranted, Rank, Result};
use record::{ParameterValue, Parameters};

use crate::case::{Case, Scope};
use crate::settings::OsIsolation;

/// Parameter that names the part of the isolation that was left out.
pub const WITHOUT: &str = "without";
/// Parameter of the priorities of tasks, and its value for a priority of each task's own. Those priorities are not
/// changed here.
pub(crate) const PRIORITY: &str = "priority";
pub(crate) const RATE_MONOTONIC: &str = "rate-monotonic";
/// Priority above every time-shared program, but above no thread that the system itself needs.
pub(crate) const FIFO: Priority = Priority::Fixed(1);

/// A part of OS isolation, which each rank switches on or off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IsolationPart {
    Lock,
    Pin,
    Fifo,
}

const PARTS: [(IsolationPart, &str); 3] =
    [(IsolationPart::Lock, "lock"), (IsolationPart::Pin, "pin"), (IsolationPart::Fifo, "fifo")];

/// Returns `cases`. If the user requests ablation, each case is followed by one for each part of the isolation that is
/// on, without that part.
pub(super) fn ablated(scope: &Scope<'_>, cases: Vec<Case>) -> Vec<Case> {
    if !scope.settings.real_time.ablate {
        return cases;
    }
    let without = |case: &Case, name: &str| {
        let mut parameters = case.parameters.clone();
        parameters.insert(WITHOUT.into(), name.into());
        Case { parameters, ..case.clone() }
    };
    let on =
        PARTS.into_iter().filter(|(part, _)| part.is_on(scope.settings.real_time.os_isolation));
    let names: Vec<&str> = on.map(|(_, name)| name).collect();
    cases
        .iter()
        .flat_map(|case| {
            let left_out = names.iter().map(|name| without(case, name));
            std::iter::once(case.clone()).chain(left_out).collect::<Vec<_>>()
        })
        .collect()
}

impl IsolationPart {
    fn is_on(self, isolation: OsIsolation) -> bool {
        match self {
            IsolationPart::Lock => isolation.lock,
            IsolationPart::Pin => isolation.pin,
            IsolationPart::Fifo => isolation.fifo,
        }
    }

    /// Switches it at this rank.
    fn switch(self, rank: &mut dyn Rank, on: bool) -> std::result::Result<(), String> {
        match self {
            IsolationPart::Lock => rank.isolate(Isolation::LockedMemory, on),
            IsolationPart::Pin => rank.isolate(Isolation::Pinned, on),
            IsolationPart::Fifo => prioritise(rank, if on { FIFO } else { Priority::TimeShared }),
        }
    }

    /// Returns whether the part is on when a launch begins.
    fn is_on_at_first(self) -> bool {
        self == IsolationPart::Pin
    }
}

/// Sets this rank's priority.
pub(crate) fn prioritise(
    rank: &mut dyn Rank,
    priority: Priority,
) -> std::result::Result<(), String> {
    match rank.set_priority(priority) {
        PriorityGranted::Granted => Ok(()),
        PriorityGranted::Refused { why } => Err(why),
    }
}

/// Switches every part as requested, and returns for the record which parts were granted. Collective; the result is the
/// same at every rank.
pub(super) fn apply(
    rank: &mut dyn Rank,
    isolation: OsIsolation,
    parameters: &Parameters,
) -> Result<BTreeMap<String, String>> {
    let mut outcomes = BTreeMap::from([
        ("touched memory".into(), "yes: every buffer is written before the first instance".into()),
        ("allocation in a trial".into(), "none".into()),
    ]);
    for (part, name) in PARTS {
        if part == IsolationPart::Fifo && parameters.get(PRIORITY) == Some(&RATE_MONOTONIC.into()) {
            outcomes.insert(name.into(), "granted: each task its own priority".into());
            continue;
        }
        let left_out = parameters.get(WITHOUT) == Some(&ParameterValue::from(name));
        let on = part.is_on(isolation) && !left_out;
        let mine = if on == part.is_on_at_first() && !on { Ok(()) } else { part.switch(rank, on) };
        let refused = refusal(rank, mine)?;
        let word = match (on, refused) {
            (true, None) => "granted on every rank".into(),
            (true, Some(why)) => format!("refused: {why}"),
            (false, None) => "off".into(),
            (false, Some(why)) => format!("still on: {why}"),
        };
        outcomes.insert(name.into(), word);
    }
    Ok(outcomes)
}

/// Switches every part back to its state at the beginning of a launch.
pub(super) fn restore(rank: &mut dyn Rank) {
    for (part, _) in PARTS {
        // A refused part needs no undoing. A refusal here has no effect except on the next measurement, whose record
        // contains it.
        let _ = part.switch(rank, part.is_on_at_first());
    }
}

/// Maximum length of a refusal's text in bytes.
const WORDS: usize = 240;

/// Returns the text of a refusal, if any rank was refused; the same on every rank. Collective.
pub(crate) fn refusal(
    rank: &mut dyn Rank,
    mine: std::result::Result<(), String>,
) -> Result<Option<String>> {
    let mut send = [0; WORDS];
    if let Err(why) = mine {
        // If the truncation cuts a character, the character is replaced when the text is read.
        let length = why.len().min(WORDS);
        send[..length].copy_from_slice(&why.as_bytes()[..length]);
    }
    let mut all = vec![0; rank.size() * WORDS];
    rank.allgather(&send, &mut all)?;
    let words = |block: &[u8]| -> String {
        let end = block.iter().position(|&byte| byte == 0).unwrap_or(WORDS);
        String::from_utf8_lossy(&block[..end]).into_owned()
    };
    let refused = all.chunks_exact(WORDS).map(words).enumerate().find(|(_, why)| !why.is_empty());
    Ok(refused.map(|(from, why)| format!("rank {from}: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{RealTime, Settings};
    use conformance::reference;

    #[test]
    fn ablation_leaves_out_each_part_that_is_on_once() {
        let cases = |ablate| {
            let real_time = RealTime { ablate, ..RealTime::default() };
            let settings = Settings { real_time, ..Settings::default() };
            let scope = Scope { ranks: 2, sizes: None, settings: &settings };
            let cases = ablated(&scope, vec![Case::default()]);
            cases.iter().map(|case| case.parameters.get(WITHOUT).cloned()).collect::<Vec<_>>()
        };
        assert_eq!(cases(false), [None]);
        // A fixed priority is off by default.
        assert_eq!(cases(true), [None, Some("lock".into()), Some("pin".into())]);
    }

    #[test]
    fn a_refusal_of_any_rank_is_known_to_every_rank_by_name() {
        reference::run(3, |rank| {
            let mine = if rank.rank() == 2 { Err("no such call".into()) } else { Ok(()) };
            assert_eq!(refusal(rank, mine)?, Some("rank 2: no such call".into()));
            assert_eq!(refusal(rank, Ok(()))?, None);
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn what_a_fabric_refuses_is_told_in_its_words_and_what_is_left_out_is_off() {
        reference::run(2, |rank| {
            let without = Parameters::from([(WITHOUT.into(), "lock".into())]);
            let outcomes =
                apply(rank, OsIsolation { fifo: true, ..OsIsolation::default() }, &without)?;
            assert_eq!(outcomes["lock"], "off");
            assert!(outcomes["fifo"].starts_with("refused: rank 0: "), "{outcomes:?}");
            assert!(outcomes["pin"].starts_with("refused: rank 0: "), "{outcomes:?}");
            Ok(())
        })
        .unwrap();
    }
}
