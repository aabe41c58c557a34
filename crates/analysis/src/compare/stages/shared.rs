//! The stage `shared`: what most numbers of two runs share may be the machine's, and intervals contain both: the change
//! with it and the change without it. They are also wider by what numbers differ more than their launches explain.
//!
//! * It assumes that most numbers are unchanged, as between builds of one program. Consecutive launches meet one state of
//!   the machine, and those of the other run, a minute later, may meet another. No single number shows that, because
//!   its launches agree on both sides, but all together do.
//! * Source: a variance between studies is added to that within them (DerSimonian and Laird, Controlled Clinical Trials
//!   7, 1986), here by medians; docs/decisions/0142-a-verdict-has-three-stages.md.
//! * It costs builds that are slower everywhere by less than a factor of two: their numbers are undecided. Fewer than six
//!   numbers, and numbers that were measured in alternation, are not changed.

use super::Stage;
use crate::compare::digits::number;
use crate::compare::evidence::{Case, Evidence, Shared};
use crate::constants::CONSTANTS;

pub(super) const STAGE: Stage = Stage {
    name: "shared",
    summary: "lets intervals contain what most numbers share, which may be the machine's",
    apply,
    explain,
};

fn apply(mut evidence: Evidence) -> Evidence {
    let differences: Vec<[f64; 2]> = match evidence.settings.mostly_alike {
        true => evidence.cases.iter().filter_map(|case| difference(&evidence, case)).collect(),
        false => Vec::new(),
    };
    if differences.len() < CONSTANTS.shared_numbers_min {
        return evidence;
    }
    let most = CONSTANTS.minutes_differ_by.ln();
    let worse = middle(differences.iter().map(|[worse, _]| *worse));
    // An interval of 95 % reaches about two standard errors.
    let error = middle(differences.iter().map(|one| beyond_launches(*one, worse))).min(most / 2.0);
    for case in evidence.cases.iter_mut().filter(|case| case.exact != [true; 2]) {
        case.shared = case.sign() * worse.clamp(-most, most);
        case.error = case.error.hypot(error);
    }
    evidence.shared = Some(Shared { worse_by: worse.exp(), error });
    evidence
}

/// Returns the logarithm by which a number is worse, and the standard error of its launches; `None` if they do not
/// decide anything.
fn difference(evidence: &Evidence, case: &Case) -> Option<[f64; 2]> {
    let settings = evidence.settings;
    let effect = case.effect(settings.confidence, settings.paired)?;
    if case.exact == [true; 2] || !effect.reaches(settings.confidence) {
        return None;
    }
    let quantile = case.quantile(effect.confidence.min(0.9999), settings.paired);
    Some([case.sign() * effect.ratio.ln(), (effect.high / effect.low).ln() / 2.0 / quantile])
}

/// Returns the standard error that would explain the difference of a number from what all share, besides the one of its
/// launches.
fn beyond_launches([worse, own]: [f64; 2], shared: f64) -> f64 {
    (((worse - shared) / CONSTANTS.half_within_errors).powi(2) - own * own).max(0.0).sqrt()
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (values[(n - 1) / 2] + values[n / 2]) / 2.0
}

fn explain([before, after]: [&Evidence; 2], [case, _]: [&Case; 2]) -> Vec<String> {
    let Some(Shared { worse_by, error }) = after.shared else { return Vec::new() };
    let mut lines = vec![format!(
        "shared: of all numbers the middle ln(worse) is {}, and the middle error beyond launches {}",
        number(worse_by.ln()),
        number(error)
    )];
    if let Some([worse, own]) = difference(before, case) {
        lines.push(format!(
            "shared: here ln(worse) is {}, the error of launches {}, and that beyond them {}",
            number(worse),
            number(own),
            number(beyond_launches([worse, own], worse_by.ln()))
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use record::{Measurement, Run};

    use super::*;
    use crate::compare::{ComparedRuns, Settings, Verdict, compare};
    use crate::records::{measurement, run};

    /// Returns a run of numbers with five equal launches each.
    fn of_medians(medians: &[f64]) -> Run {
        let one = |(size, &median): (u64, &f64)| {
            let m = measurement("x", size, &[median]);
            Measurement { launch_medians: vec![median; 5], ..m }
        };
        run((0..).zip(medians).map(one).collect())
    }

    fn compared(first: &[f64], second: &[f64]) -> ComparedRuns {
        let settings = Settings { mostly_alike: true, ..Settings::default() };
        compare(&of_medians(first), &of_medians(second), settings)
    }

    #[test]
    fn what_is_slower_everywhere_may_be_the_machines_unless_it_is_by_more_than_minutes_differ() {
        let third = compared(&[1.0; 6], &[1.3; 6]);
        assert_eq!(third.count(Verdict::Undecided), 6);
        assert_eq!(compared(&[1.0; 6], &[6.0; 6]).count(Verdict::Slower), 6);
        // Fewer numbers say nothing of the runs.
        let few = compared(
            &[1.0; CONSTANTS.shared_numbers_min - 1],
            &[1.3; CONSTANTS.shared_numbers_min - 1],
        );
        assert_eq!(
            (few.shared, few.count(Verdict::Slower)),
            (None, CONSTANTS.shared_numbers_min - 1)
        );
    }

    #[test]
    fn intervals_contain_the_change_with_and_without_what_is_shared_by_hand() {
        // Numbers without noise: five are 10 % slower, and one is 40 % slower.
        let found = compared(&[1.0; 6], &[1.4, 1.1, 1.1, 1.1, 1.1, 1.1]);
        let shared = found.shared.unwrap();
        // The errors of launches are 0, and the number in the middle does not differ from what is shared.
        assert!((shared.worse_by - 1.1).abs() < 1e-12 && shared.error < 1e-12, "{shared:?}");
        let ends = |index: usize| {
            let effect = found.comparisons[index].effect.unwrap();
            [effect.low, effect.high]
        };
        let is = |found: [f64; 2], by_hand: [f64; 2]| {
            found.iter().zip(by_hand).all(|(found, by_hand)| (found - by_hand).abs() < 1e-9)
        };
        assert!(is(ends(0), [1.4 / 1.1, 1.4]) && is(ends(1), [1.0, 1.1]), "{found:?}");
        let verdicts = [0, 1].map(|index: usize| found.comparisons[index].verdict);
        assert_eq!(verdicts, [Verdict::Slower, Verdict::Undecided]);
        // A standard error of 0.01 explains 0.013490 beside a launch's error of sqrt(0.02^2 - 0.01^2).
        let own = (4e-4f64 - 1e-4).sqrt();
        assert!(
            (beyond_launches([0.02 * CONSTANTS.half_within_errors + 0.5, own], 0.5) - 0.01).abs()
                < 1e-12
        );
    }
}
