//! What a case is, and the list of all.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use crate::{Error, Rank, Result};

/// One thing that every fabric must do right.
pub struct Case {
    /// Its name, the same for all rank counts: a group and a sentence's worth of words, such as `order/one-pair`.
    pub name: &'static str,
    ranks: RangeInclusive<usize>,
    program: fn(&mut dyn Rank) -> Result<()>,
    expect: Expect,
}

enum Expect {
    /// Every rank ends well.
    Success,
    /// At least one rank ends with such an error.
    Failure(fn(&Error) -> bool),
}

const WRONG_ERROR: &str = "another kind of error than this mistake must give";

/// Any number of ranks.
pub(super) const ANY: RangeInclusive<usize> = 1..=usize::MAX;
/// At least two.
pub(super) const TWO_OR_MORE: RangeInclusive<usize> = 2..=usize::MAX;

impl Case {
    pub(super) const fn new(
        name: &'static str,
        ranks: RangeInclusive<usize>,
        program: fn(&mut dyn Rank) -> Result<()>,
    ) -> Self {
        Case { name, ranks, program, expect: Expect::Success }
    }

    /// Returns a case in which the ranks make a mistake that must end the run with an error that `is_right` knows.
    pub(super) const fn failing(
        name: &'static str,
        ranks: RangeInclusive<usize>,
        program: fn(&mut dyn Rank) -> Result<()>,
        is_right: fn(&Error) -> bool,
    ) -> Self {
        Case { name, ranks, program, expect: Expect::Failure(is_right) }
    }

    /// Returns whether the case means something on `ranks` ranks.
    pub fn runs_at(&self, ranks: usize) -> bool {
        self.ranks.contains(&ranks)
    }

    /// Returns whether the run must end with an error on at least one rank.
    pub fn must_fail(&self) -> bool {
        matches!(self.expect, Expect::Failure(_))
    }

    /// Returns the program of one rank.
    ///
    /// # Errors
    /// What went wrong, with the name of the case, the rank and the rank count.
    pub fn run(&self, machine: &mut dyn Rank) -> Result<()> {
        let (rank, size) = (machine.rank(), machine.size());
        let Err(error) = (self.program)(machine) else {
            return Ok(());
        };
        let place = format!("{}, rank {rank} of {size}", self.name);
        match &self.expect {
            _ if tells_of_another(&error) => Err(error),
            Expect::Failure(is_right) if is_right(&error) => Err(error),
            Expect::Failure(_) => Err(Error::Program(format!("{place}: {WRONG_ERROR}: {error}"))),
            Expect::Success => Err(Error::Program(format!("{place}: {error}"))),
        }
    }

    /// Turns what a launch of the case reported into whether the case is passed.
    ///
    /// # Errors
    /// Why it is not.
    pub fn judge(
        &self,
        ranks: usize,
        outcome: std::result::Result<(), String>,
    ) -> std::result::Result<(), String> {
        match (self.must_fail(), outcome) {
            (false, Ok(())) => Ok(()),
            (true, Err(words)) if !words.contains(WRONG_ERROR) => Ok(()),
            (true, Ok(())) => Err(format!(
                "{} on {ranks} ranks: every rank ended well, where at least one must find the mistake",
                self.name
            )),
            (_, Err(words)) => Err(format!("{} on {ranks} ranks: {words}", self.name)),
        }
    }
}

/// Returns whether an error only says that the run was ended from elsewhere.
fn tells_of_another(error: &Error) -> bool {
    matches!(error, Error::RankDied { .. } | Error::Aborted { .. })
}

/// All cases: simple things first, so that the first failure is the one to look at.
pub fn cases() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        let groups = [
            super::clock::cases(),
            super::order::cases(),
            super::sizes::cases(),
            super::refused::cases(),
            super::wildcards::cases(),
            super::probe::cases(),
            super::posted::cases(),
            super::in_place::cases(),
            super::streams::cases(),
            super::unexpected::cases(),
            super::shared_line::cases(),
            super::collectives::cases(),
            super::reductions::cases(),
            super::mistakes::cases(),
            super::random::cases(),
            super::contexts::cases(),
        ];
        groups.into_iter().flatten().collect()
    });
    &CASES
}

/// Returns the case with this name.
pub fn find(name: &str) -> Option<&'static Case> {
    cases().iter().find(|case| case.name == name)
}

/// Launches every case at every rank count it means something at, all of them even after a failure. `launch` runs one
/// case on that many ranks and reports the error of a rank that failed, in words, if any did.
///
/// Returns how many runs that made.
///
/// # Errors
/// All failures, one a line.
pub fn run_all(
    rank_counts: impl IntoIterator<Item = usize>,
    mut launch: impl FnMut(&'static Case, usize) -> std::result::Result<(), String>,
) -> std::result::Result<usize, String> {
    let mut runs = 0;
    let mut failures = Vec::new();
    for ranks in rank_counts {
        for case in cases().iter().filter(|case| case.runs_at(ranks)) {
            runs += 1;
            failures.extend(case.judge(ranks, launch(case, ranks)).err());
        }
    }
    if failures.is_empty() { Ok(runs) } else { Err(failures.join("\n")) }
}
