//! Comparisons of runs with the first run.

use std::collections::HashMap;

use analysis::compare::{ComparedRuns, Comparison, Settings, Verdict, compare};
use maud::{Markup, html};
use record::{Key, Measurement, Run};

use crate::comparison::comparison_settings;
use crate::wording::{significant, whole_percent};

/// Comparisons of every later run with the first.
pub(super) struct Comparisons {
    runs: Vec<ComparedRuns>,
    /// Index of a measurement among the comparisons of its run.
    index: Vec<HashMap<(Key, String), usize>>,
}

impl Comparisons {
    /// Compares each later run with the first.
    pub(super) fn of(runs: &[Run]) -> Comparisons {
        let Settings { margin, without, .. } = Settings::default();
        let settings = |run: &Run| comparison_settings(&runs[0], run, margin, without);
        let compared: Vec<ComparedRuns> =
            runs.iter().skip(1).map(|run| compare(&runs[0], run, settings(run))).collect();
        let index = compared.iter().map(index).collect();
        Comparisons { runs: compared, index }
    }

    /// Returns the comparison of a measurement of a later run with that of the first run, if both have it.
    pub(super) fn find(&self, run: usize, m: &Measurement) -> Option<&Comparison> {
        let later = run.checked_sub(1)?;
        let place = self.index.get(later)?.get(&(m.key(), m.metric.clone()))?;
        let found = &self.runs[later].comparisons[*place];
        (found.name.unit == m.unit).then_some(found)
    }

    /// Returns the summary of the comparisons of a later run, in a sentence.
    pub(super) fn sentence(&self, run: usize, runs: &[Run]) -> Option<String> {
        let compared = self.runs.get(run.checked_sub(1)?)?;
        let all = &compared.comparisons;
        // A rate that was computed from a time would count the same measurement twice.
        let times = all.iter().filter(|c| c.name.metric == "time").count();
        let counted: Vec<&Comparison> =
            all.iter().filter(|c| times == 0 || c.name.metric == "time").collect();
        if counted.is_empty() {
            return Some(format!("There is no measurement both here and in {}.", runs[0].label));
        }
        let count = |verdict| counted.iter().filter(|c| c.verdict == verdict).count();
        if counted.iter().all(|c| c.exact) {
            return Some(format!(
                "Against {}, of {} exact measurements in both: {} faster, {} slower, {} equal.",
                runs[0].label,
                counted.len(),
                count(Verdict::Faster),
                count(Verdict::Slower),
                count(Verdict::Same),
            ));
        }
        Some(format!(
            "Against {}, of {} measurements in both: {} faster, {} slower, {} the same within {}, {} undecided.",
            runs[0].label,
            counted.len(),
            count(Verdict::Faster),
            count(Verdict::Slower),
            count(Verdict::Same),
            whole_percent(compared.settings.margin),
            count(Verdict::Undecided),
        ))
    }
}

/// Returns the change of a number and its verdict, in a colour for each verdict.
pub(super) fn against_first(comparison: &Comparison) -> Markup {
    let word = comparison.verdict.word(comparison.exact);
    html! {
        @if let Some(ratio) = comparison.change() { (significant(ratio)) " ×, " }
        span.verdict.(word) { (word) }
    }
}

fn index(compared: &ComparedRuns) -> HashMap<(Key, String), usize> {
    let names = compared.comparisons.iter().enumerate();
    names.map(|(place, c)| ((c.name.key.clone(), c.name.metric.clone()), place)).collect()
}
