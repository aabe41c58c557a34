//! The conformance suites of ranks (1 to 9, with and without cross-memory attach) and of the endpoint. Collectives over
//! boards also run with more ranks than poll each other.

use contract::{Error, Rank, Result, conformance};
use fabric_shm::{Binding, LaunchOptions, ShmEndpoint};

use crate::harness::{Test, launch_and_gather};

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match conformance::find(name) {
        Some(case) => case.run(rank),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

pub(crate) fn program_of_endpoint(endpoint: &mut ShmEndpoint, name: &str) -> Result<()> {
    let cases = conformance::endpoint_cases::<ShmEndpoint>();
    match cases.iter().find(|case| case.name == name) {
        Some(case) => (case.program)(endpoint),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

fn tests_of_endpoint() -> impl Iterator<Item = Test> {
    conformance::endpoint_cases::<ShmEndpoint>().into_iter().map(|case| {
        Test::new(format!("conformance/{}", case.name), move || {
            (2..=5).try_for_each(|ranks| {
                let options = LaunchOptions::new(ranks, format!("endpoint {}", case.name).into());
                let (ended, _) = launch_and_gather(&options);
                ended.map_err(|error| format!("{ranks} ranks: {error}"))
            })
        })
    })
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
        Some(test_of(case, "levels", true, counts))
    })
}

/// Unbound ranks combine longer data in chunks.
fn tests_of_levels_unbound() -> impl Iterator<Item = Test> {
    let cases = conformance::cases().iter();
    let reductions = cases.filter(|case| case.name.starts_with("reductions/"));
    reductions.map(|case| {
        Test::new(format!("conformance/levels-unbound/{}", case.name), move || {
            let options = LaunchOptions { binding: Binding::None, ..options_of(case, 33) };
            let (ended, _) = launch_and_gather(&options);
            case.judge(33, ended.map_err(|error| error.to_string()))
        })
    })
}

fn options_of(case: &conformance::Case, ranks: usize) -> LaunchOptions {
    LaunchOptions::new(ranks, format!("conformance {}", case.name).into())
}

fn test_of(
    case: &'static conformance::Case,
    how: &str,
    attach: bool,
    counts: &'static [usize],
) -> Test {
    Test::new(format!("conformance/{how}/{}", case.name), move || {
        let counts = counts.iter().copied();
        counts.filter(|&ranks| case.runs_at(ranks)).try_for_each(|ranks| {
            let options = LaunchOptions { cross_memory_attach: attach, ..options_of(case, ranks) };
            let (ended, _) = launch_and_gather(&options);
            case.judge(ranks, ended.map_err(|error| error.to_string()))
        })
    })
}

pub(crate) fn tests() -> Vec<Test> {
    let mut tests: Vec<Test> = tests_of_endpoint().collect();
    tests.extend(tests_of_levels().chain(tests_of_levels_unbound()));
    let all: &'static [usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9];
    // Without attach only long messages use other code, so fewer rank counts suffice.
    for (attach, how, counts) in [(true, "attach", all), (false, "no-attach", &[2, 3, 8])] {
        for case in conformance::cases() {
            tests.push(test_of(case, how, attach, counts));
        }
    }
    tests
}
