//! The conformance suites of ranks (1 to 9, with and without cross-memory attach) and of the endpoint. Collectives over
//! boards also run with more ranks than poll each other.

use fabric_shm::{ShmEndpoint, launch_options};
use launcher::{Binding, LaunchError, LaunchOptions};

use crate::cases::{Counts, OF_ENDPOINTS, endpoint_tests, tests_of};
use crate::harness::{Test, launch_and_gather};

/// Launches a case, with cross-memory attach if `attach`.
fn start(ranks: usize, case: &str, attach: bool) -> Result<(), LaunchError> {
    let options = launch_options(ranks, case.into());
    launch_and_gather(&LaunchOptions { cross_memory_attach: attach, ..options }).0
}

/// At 33, 40 and 64 ranks members arrive in groups: of eight, but for the last group of 33. Of 70 ranks two contexts of
/// 35 each do so at once.
fn tests_of_levels() -> impl Iterator<Item = Test> {
    let goes_over_boards = |name: &str| {
        ["collectives/", "reductions/", "mistakes/"].iter().any(|group| name.starts_with(group))
    };
    conformance::cases().iter().flat_map(move |case| {
        let (few, others): (&[usize], &[usize]) = match case.name {
            "contexts/collectives-of-parts-go-on-at-once" => (&[70], &[]),
            "contexts/no-colour-gives-no-context" | "contexts/made-and-closed-again" => {
                (&[40], &[])
            }
            name if goes_over_boards(name) => (&[33], &[40, 64]),
            _ => (&[], &[]),
        };
        let start = |ranks, case: &str| start(ranks, case, true);
        tests_of("conformance/levels", case, Counts { few, others }, start)
    })
}

/// Unbound ranks combine longer data in chunks.
fn tests_of_levels_unbound() -> impl Iterator<Item = Test> {
    let cases = conformance::cases().iter();
    let reductions = cases.filter(|case| case.name.starts_with("reductions/"));
    reductions.map(|case| {
        Test::new(format!("conformance/levels-unbound/{}", case.name), move || {
            let options = launch_options(33, format!("conformance {}", case.name).into());
            let options = LaunchOptions { binding: Binding::None, ..options };
            let (ended, _) = launch_and_gather(&options);
            case.judge(33, ended.map_err(|error| error.to_string()))
        })
    })
}

pub(crate) fn tests() -> Vec<Test> {
    let with_attach = |ranks, case: &str| start(ranks, case, true);
    let mut tests: Vec<Test> =
        endpoint_tests::<ShmEndpoint>("conformance", OF_ENDPOINTS, with_attach).collect();
    tests.extend(tests_of_levels().chain(tests_of_levels_unbound()));
    let all = Counts { few: &[1, 2, 3, 5, 8], others: &[4, 6, 7, 9] };
    // Without attach only long messages use other code, so fewer numbers of ranks suffice.
    let some = Counts { few: &[3], others: &[2, 8] };
    for (attach, how, counts) in [(true, "attach", all), (false, "no-attach", some)] {
        for case in conformance::cases() {
            let group = format!("conformance/{how}");
            let start = move |ranks, case: &str| start(ranks, case, attach);
            tests.extend(tests_of(&group, case, counts, start));
        }
    }
    tests
}
