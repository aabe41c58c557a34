//! Cases of every fabric whose ranks are processes: the contract's conformance suites, and deaths of ranks. The tests
//! of the other such fabrics use this file too.

use conformance::{Case, deaths};
use contract::{Endpoint, Error, Rank, Result, Source, TagSelector};
use launcher::LaunchError;

use crate::harness::Test;

type Ended = std::result::Result<(), LaunchError>;

/// The program that runs all cases of ranks that must end well, one after the other, for fabrics whose processes start
/// slowly.
pub(crate) const ALL_THAT_END_WELL: &str = "all-that-end-well";

/// Returns the cases of that program.
pub(crate) fn cases_that_end_well(ranks: usize) -> impl Iterator<Item = &'static Case> {
    conformance::cases().iter().filter(move |case| case.runs_at(ranks) && !case.must_fail())
}

/// Executes a rank's part of such a case. Returns `None` for other cases.
pub(crate) fn program(
    rank: &mut dyn Rank,
    report: impl Fn(&[u8]) -> Result<()>,
    case: &str,
) -> Option<Result<()>> {
    match case.split_once(' ')? {
        ("conformance", ALL_THAT_END_WELL) => Some(all_that_end_well(rank, report)),
        ("conformance", name) => Some(match conformance::find(name) {
            Some(case) => case.run(rank),
            None => no_case(case),
        }),
        ("deaths", name) => Some(deaths::one_dies(rank, report, name)),
        _ => None,
    }
}

/// Runs the cases in their order. Rank 0 reports the name of each before it begins.
fn all_that_end_well(rank: &mut dyn Rank, report: impl Fn(&[u8]) -> Result<()>) -> Result<()> {
    for case in cases_that_end_well(rank.size()) {
        if rank.rank() == 0 {
            report(case.name.as_bytes())?;
        }
        case.run(rank)?;
        // The next case must not receive messages of this one. No rank begins it before all have checked.
        rank.barrier()?;
        if let Some(left) = rank.probe(Source::Any, TagSelector::Any)? {
            return Err(Error::Program(format!("{} leaves a message: {left:?}", case.name)));
        }
        rank.barrier()?;
    }
    Ok(())
}

/// As [`program`], for the cases of the endpoint.
pub(crate) fn program_of_endpoint<E: Endpoint>(endpoint: &mut E, case: &str) -> Option<Result<()>> {
    let name = case.strip_prefix("endpoint ")?;
    let cases = conformance::endpoint_cases::<E>();
    Some(match cases.iter().find(|case| case.name == name) {
        Some(case) => (case.program)(endpoint),
        None => no_case(case),
    })
}

pub(crate) fn no_case(case: &str) -> Result<()> {
    Err(Error::Program(format!("no case {case}")))
}

/// Numbers of ranks of a suite: those of its tests, and those of its long tests.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) few: &'static [usize],
    pub(crate) others: &'static [usize],
}

impl Counts {
    /// Returns a test of each part that has numbers of ranks for which `runs_at` holds. `passes` runs the test on one.
    pub(crate) fn tests(
        self,
        name: &str,
        runs_at: impl Fn(usize) -> bool,
        passes: impl Fn(usize) -> std::result::Result<(), String> + Clone + 'static,
    ) -> Vec<Test> {
        let test = |name: String, counts: &[usize]| {
            let counts: Vec<usize> =
                counts.iter().copied().filter(|&ranks| runs_at(ranks)).collect();
            let passes = passes.clone();
            (!counts.is_empty())
                .then(|| Test::new(name, move || counts.into_iter().try_for_each(passes)))
        };
        let few = test(name.into(), self.few);
        let others = test(format!("{name}/other-ranks"), self.others).map(Test::long);
        few.into_iter().chain(others).collect()
    }
}

/// Numbers of ranks of the cases of the endpoint.
pub(crate) const OF_ENDPOINTS: Counts = Counts { few: &[2, 3], others: &[4, 5] };

/// Returns the tests of the endpoint. `start` runs a case on a number of ranks.
pub(crate) fn endpoint_tests<E: Endpoint + 'static>(
    group: &str,
    counts: Counts,
    start: impl Fn(usize, &str) -> Ended + Copy + 'static,
) -> impl Iterator<Item = Test> {
    conformance::endpoint_cases::<E>().into_iter().flat_map(move |case| {
        let passes = move |ranks| {
            let ended = start(ranks, &format!("endpoint {}", case.name));
            ended.map_err(|error| format!("{ranks} ranks: {error}"))
        };
        counts.tests(&format!("{group}/{}", case.name), |_| true, passes)
    })
}

/// Returns the tests of a case of ranks.
pub(crate) fn tests_of(
    group: &str,
    case: &'static Case,
    counts: Counts,
    start: impl Fn(usize, &str) -> Ended + Clone + 'static,
) -> Vec<Test> {
    let passes = move |ranks| {
        let ended = start(ranks, &format!("conformance {}", case.name));
        case.judge(ranks, ended.map_err(|error| error.to_string()))
    };
    counts.tests(&format!("{group}/{}", case.name), |ranks| case.runs_at(ranks), passes)
}

/// Returns the tests of both suites.
pub(crate) fn conformance_tests<E: Endpoint + 'static>(
    group: &str,
    counts: Counts,
    start: impl Fn(usize, &str) -> Ended + Copy + 'static,
) -> Vec<Test> {
    let of_ranks =
        conformance::cases().iter().flat_map(|case| tests_of(group, case, counts, start));
    endpoint_tests::<E>(group, OF_ENDPOINTS, start).chain(of_ranks).collect()
}
