//! The conformance suites of ranks (1 to 9, with and without cross-memory attach) and of the endpoint. Collectives over
//! boards also run with more ranks than poll each other.

use fabric_shm::{Binding, LaunchError, LaunchOptions, ShmEndpoint};

use crate::cases::{endpoint_tests, test_of};
use crate::harness::{Test, launch_and_gather};

/// Launches a case, with cross-memory attach if `attach`.
fn start(ranks: usize, case: &str, attach: bool) -> Result<(), LaunchError> {
    let options = LaunchOptions::new(ranks, case.into());
    launch_and_gather(&LaunchOptions { cross_memory_attach: attach, ..options }).0
}

/// At 33, 40 and 64 ranks members arrive in groups: of eight, but for the last group of 33. Of 70 ranks two contexts of
/// 35 each do so at once.
fn tests_of_levels() -> impl Iterator<Item = Test> {
    let goes_over_boards = |name: &str| {
        ["collectives/", "reductions/", "mistakes/"].iter().any(|group| name.starts_with(group))
    };
    conformance::cases().iter().filter_map(move |case| {
        let counts: &[usize] = match case.name {
            "contexts/collectives-of-parts-go-on-at-once" => &[70],
            "contexts/no-colour-gives-no-context" | "contexts/made-and-closed-again" => &[40],
            name if goes_over_boards(name) => &[33, 40, 64],
            _ => return None,
        };
        Some(test_of("conformance/levels", case, counts, |ranks, case| start(ranks, case, true)))
    })
}

/// Unbound ranks combine longer data in chunks.
fn tests_of_levels_unbound() -> impl Iterator<Item = Test> {
    let cases = conformance::cases().iter();
    let reductions = cases.filter(|case| case.name.starts_with("reductions/"));
    reductions.map(|case| {
        Test::new(format!("conformance/levels-unbound/{}", case.name), move || {
            let options = LaunchOptions::new(33, format!("conformance {}", case.name).into());
            let options = LaunchOptions { binding: Binding::None, ..options };
            let (ended, _) = launch_and_gather(&options);
            case.judge(33, ended.map_err(|error| error.to_string()))
        })
    })
}

pub(crate) fn tests() -> Vec<Test> {
    let with_attach = |ranks, case: &str| start(ranks, case, true);
    let mut tests: Vec<Test> = endpoint_tests::<ShmEndpoint>("conformance", with_attach).collect();
    tests.extend(tests_of_levels().chain(tests_of_levels_unbound()));
    let all: &'static [usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9];
    // Without attach only long messages use other code, so fewer rank counts suffice.
    for (attach, how, counts) in [(true, "attach", all), (false, "no-attach", &[2, 3, 8])] {
        for case in conformance::cases() {
            let group = format!("conformance/{how}");
            let start = move |ranks, case: &str| start(ranks, case, attach);
            tests.push(test_of(&group, case, counts, start));
        }
    }
    tests
}
