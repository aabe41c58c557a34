//! A case of the suite.

use std::ops::RangeInclusive;

use super::check::is_after_another;
use contract::{Error, Rank, Result};

/// One requirement on every fabric.
pub struct Case {
    /// Name, the same for all numbers of ranks: a group and a few words, such as `order/one-pair`.
    pub name: &'static str,
    ranks: RangeInclusive<usize>,
    program: fn(&mut dyn Rank) -> Result<()>,
    expect: Expect,
}

enum Expect {
    /// Every rank must succeed.
    Success,
    /// At least one rank must fail with an error that the function accepts.
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

    /// Creates a case in which the ranks make a mistake that must end the run with an error that `is_right` accepts.
    pub(super) const fn failing(
        name: &'static str,
        ranks: RangeInclusive<usize>,
        program: fn(&mut dyn Rank) -> Result<()>,
        is_right: fn(&Error) -> bool,
    ) -> Self {
        Case { name, ranks, program, expect: Expect::Failure(is_right) }
    }

    /// Returns whether the case applies to `ranks` ranks.
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
    /// The failure, with the name of the case, the rank and the number of ranks.
    pub fn run(&self, machine: &mut dyn Rank) -> Result<()> {
        let (rank, size) = (machine.rank(), machine.size());
        let Err(error) = (self.program)(machine) else {
            return Ok(());
        };
        let place = format!("{}, rank {rank} of {size}", self.name);
        match &self.expect {
            _ if is_after_another(&error) => Err(error),
            Expect::Failure(is_right) if is_right(&error) => Err(error),
            Expect::Failure(_) => Err(Error::Program(format!("{place}: {WRONG_ERROR}: {error}"))),
            Expect::Success => Err(Error::Program(format!("{place}: {error}"))),
        }
    }

    /// Decides from the outcome of a launch whether the case has passed.
    ///
    /// # Errors
    /// The reason why it has failed.
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
