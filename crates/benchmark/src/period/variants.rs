//! The measurements of a case of a periodic benchmark with repeated searches and with ablation.

use super::os_isolation::ablated;
use crate::case::{Case, Scope};

/// Parameter of the number of the search, if there are several of each.
const SEARCH: &str = "search";

/// Returns the cases with those that ablation adds. If the user requests several searches, all cases are repeated that
/// often, one round after the other, so that searches of the same case are as far apart as the run permits.
pub(crate) fn variants(scope: &Scope<'_>, cases: Vec<Case>) -> Vec<Case> {
    let cases = ablated(scope, cases);
    match scope.settings.real_time.searches {
        0 | 1 => cases,
        many => (1..=many)
            .flat_map(|round| cases.iter().map(move |case| numbered(case, round)))
            .collect(),
    }
}

fn numbered(case: &Case, round: u32) -> Case {
    let mut case = case.clone();
    case.parameters.insert(SEARCH.into(), u64::from(round).into());
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{RealTime, Settings};

    #[test]
    fn several_searches_are_made_in_rounds_and_each_knows_its_number() {
        let settings = |searches| Settings {
            real_time: RealTime { searches, ablate: true, ..RealTime::default() },
            ..Settings::default()
        };
        let numbers = |searches| -> Vec<Option<record::ParameterValue>> {
            let settings = settings(searches);
            let scope = Scope { ranks: 2, sizes: None, settings: &settings };
            let cases = variants(&scope, vec![Case::default()]);
            cases.iter().map(|case| case.parameters.get(SEARCH).cloned()).collect()
        };
        // The case, and once more without each of two parts of the isolation.
        assert_eq!(numbers(1), [None, None, None]);
        assert_eq!(numbers(2), [1u64, 1, 1, 2, 2, 2].map(|round| Some(round.into())));
    }
}
