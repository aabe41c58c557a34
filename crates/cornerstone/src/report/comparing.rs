//! Runs against the first one.

use std::collections::HashMap;

use analysis::compare::{ComparedRuns, Comparison, Settings, Verdict, compare};
use contract::record::{Key, Measurement, Run};

use crate::wording::whole_percent;

/// What every run but the first says, seen from the first.
pub(super) struct Comparisons {
    runs: Vec<ComparedRuns>,
    /// Where a measurement stands in its run's comparisons.
    index: Vec<HashMap<(Key, String), usize>>,
}

impl Comparisons {
    /// Compares each later run with the first.
    pub(super) fn of(runs: &[Run]) -> Comparisons {
        let compared: Vec<ComparedRuns> =
            runs.iter().skip(1).map(|run| compare(&runs[0], run, Settings::default())).collect();
        let index = compared.iter().map(index).collect();
        Comparisons { runs: compared, index }
    }

    /// A measurement of a later run against the same of the first run, if both have it.
    pub(super) fn find(&self, run: usize, m: &Measurement) -> Option<&Comparison> {
        let later = run.checked_sub(1)?;
        let place = self.index.get(later)?.get(&(m.key(), m.metric.clone()))?;
        let found = &self.runs[later].comparisons[*place];
        (found.name.unit == m.unit).then_some(found)
    }

    /// What a later run comes to, in a sentence.
    pub(super) fn sentence(&self, run: usize, runs: &[Run]) -> Option<String> {
        let compared = self.runs.get(run.checked_sub(1)?)?;
        let all = &compared.comparisons;
        // A rate that was computed from a time says the same once more.
        let times = all.iter().filter(|c| c.name.metric == "time").count();
        let counted: Vec<&Comparison> =
            all.iter().filter(|c| times == 0 || c.name.metric == "time").collect();
        if counted.is_empty() {
            return Some(format!("Nothing was measured both here and in {}.", runs[0].label));
        }
        let count = |verdict| counted.iter().filter(|c| c.verdict == verdict).count();
        Some(format!(
            "Against {}, of {} measurements in both: {} faster, {} slower, {} the same within {}, {} cannot be told.",
            runs[0].label,
            counted.len(),
            count(Verdict::Faster),
            count(Verdict::Slower),
            count(Verdict::Same),
            whole_percent(compared.settings.margin),
            count(Verdict::CannotTell),
        ))
    }
}

/// A verdict as a reader would say it.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::CannotTell => "cannot tell",
    }
}

fn index(compared: &ComparedRuns) -> HashMap<(Key, String), usize> {
    let names = compared.comparisons.iter().enumerate();
    names.map(|(place, c)| ((c.name.key.clone(), c.name.metric.clone()), place)).collect()
}
