//! All numbers from the samples of a number to its verdict, so that a spreadsheet gives the same.

use record::Run;

use super::digits::{list, number};
use super::evidence::{Case, Evidence};
use super::{
    Comparison, Name, Numbers, Settings, Verdict, compared, equivalence_confidence, stages,
};

/// Returns the numbers from the samples to the verdict of the measurement with this name, in at most 25 lines. Returns
/// `None` if a run lacks it.
pub fn explain(first: &Run, second: &Run, settings: Settings, name: &Name) -> Option<Vec<String>> {
    let numbers = Numbers::of(first, second);
    let index = numbers.both.iter().position(|(one, _)| one == name)?;
    let evidence = numbers.evidence([first, second], settings);
    let mut lines = launches(&evidence.cases[index]);
    let (evidence, _) = stages::apply(evidence, |stage, before, after| {
        lines.extend(stage.explained([before, after], index));
    });
    let case = &evidence.cases[index];
    if case.exact != [true; 2] {
        lines.extend(interval(case, &evidence));
    }
    let found = compared(case, settings);
    let reason = match found.exact {
        true => "both numbers are exact".into(),
        false => reason(&found, settings),
    };
    lines.push(format!("verdict: {}, because {reason}", found.verdict.word(found.exact)));
    Some(lines)
}

fn launches(case: &Case) -> Vec<String> {
    let mut lines = Vec::new();
    for ((side, launches), median) in ["A", "B"].into_iter().zip(&case.sides).zip(case.medians) {
        let samples = launches
            .iter()
            .map(|launch| launch.samples.map_or("-".into(), |count| count.to_string()));
        lines.push(format!("{side}: samples in each launch: {}", list(samples)));
        let medians = launches.iter().map(|launch| number(launch.median));
        lines.push(format!("{side}: median of each launch: {}", list(medians)));
        lines.push(format!("{side}: printed: {} {}", number(median), case.name.unit));
    }
    let [a, b] = case.medians;
    lines.push(format!("change of the printed numbers: {}", number(b / a)));
    lines
}

/// Returns the numbers from the launches that are compared to both intervals.
fn interval(case: &Case, evidence: &Evidence) -> Vec<String> {
    let Settings { confidence, paired, .. } = evidence.settings;
    let compared = match (case.exact, case.is_paired(paired)) {
        ([false, false], true) => "means of two ln(B/A) of pairs, each with itself and every other",
        ([false, false], false) => "ln(B/A) of each launch of A with each of B in its group",
        _ => "ln(B/A) of each launch and the exact number",
    };
    let mut lines = vec![format!("launches: {compared}; the ratio is that of the middle one")];
    for confidence in [confidence, equivalence_confidence(confidence)] {
        let (Some(shift), Some(effect)) =
            (case.shift(confidence, paired), case.effect(confidence, paired))
        else {
            continue;
        };
        let [count, all] = shift.left_out;
        lines.push(format!(
            "interval of {}: {count} of {all} left out at each end: ln {} from {} to {}",
            number(confidence),
            number(shift.middle),
            number(shift.low),
            number(shift.high)
        ));
        lines.push(format!(
            "  with {} x {} added to both distances as squares, and {} left out of one end: {} from {} to {}, at {}",
            number(case.quantile(confidence, paired)),
            number(case.error),
            number(case.shared),
            number(effect.ratio),
            number(effect.low),
            number(effect.high),
            number(effect.confidence)
        ));
    }
    lines
}

fn reason(found: &Comparison, settings: Settings) -> String {
    let Settings { confidence, margin, .. } = settings;
    let ends = format!("{} .. {}", number(1.0 / (1.0 + margin)), number(1.0 + margin));
    let [wide, narrow] = [confidence, equivalence_confidence(confidence)].map(number);
    match (found.verdict, found.effect) {
        (Verdict::Same, _) => format!("the interval of {narrow} lies within {ends}"),
        (Verdict::Slower | Verdict::Faster, _) => {
            format!("the interval of {wide} lies beyond {ends}")
        }
        (Verdict::Undecided, None) => "a number is not above 0, and has no ratio".into(),
        (Verdict::Undecided, Some(effect)) if !effect.reaches(confidence) => match found.compared {
            [0, 0] => "the launches met no common state of the machine".into(),
            _ => format!("so few launches do not reach {wide}"),
        },
        (Verdict::Undecided, Some(_)) => {
            format!("{narrow} is not within {ends}, and {wide} not beyond it")
        }
    }
}
