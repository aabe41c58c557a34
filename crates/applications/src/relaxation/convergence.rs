//! Three methods to determine whether an iteration has converged.

use std::collections::BTreeMap;

use contract::{Element, Operation, Rank, Reduction, Result, Source, Tag, TagSelector};

use super::problem::TOLERANCE;

/// The method by which ranks determine that they may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// After a number of iterations all ranks report to one, and wait for its answer.
    Synchronous,
    /// After a number of iterations all ranks report to one, and continue. Its answer arrives with the edges, some
    /// iterations later.
    Asynchronous,
    /// As `Synchronous`, but the rate at which the changes decrease determines the next check.
    Statistical,
}

impl Check {
    /// All methods.
    pub const ALL: [Check; 3] = [Check::Synchronous, Check::Asynchronous, Check::Statistical];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Check::Synchronous => "synchronous",
            Check::Asynchronous => "asynchronous",
            Check::Statistical => "statistical",
        }
    }
}

/// The default number of iterations between two checks.
pub(super) const EVERY: u64 = 10;

/// The rank that gathers and decides.
const CHECKER: usize = 0;
const REPORT: Tag = Tag::new(6);
const LARGEST: Reduction = Reduction::new(Element::F64, Operation::Maximum);

/// An iteration and the greatest change in it.
type Report = [u64; 2];

/// The state of the checks in one run.
pub(super) struct Convergence {
    check: Check,
    /// The next iteration to measure and check.
    next: u64,
    /// The last check at the checker: an iteration and the greatest change in it.
    last: Option<(u64, f64)>,
    /// Incomplete reports by iteration: their number, and the greatest change.
    reports: BTreeMap<u64, (usize, f64)>,
    /// Number of reports that the checker has received.
    received: u64,
}

impl Convergence {
    pub(super) fn new(check: Check) -> Self {
        Convergence { check, next: EVERY, last: None, reports: BTreeMap::new(), received: 0 }
    }

    /// Returns whether the changes of an iteration must be measured.
    pub(super) fn measures(&self, iteration: u64) -> bool {
        iteration == self.next
    }

    /// Takes the greatest change of an iteration that was measured. All ranks must call it. Returns whether all stop
    /// now.
    pub(super) fn take(
        &mut self,
        rank: &mut dyn Rank,
        iteration: u64,
        change: f64,
    ) -> Result<bool> {
        if self.check == Check::Asynchronous {
            self.next += EVERY;
            return self.report(rank, iteration, change).map(|()| false);
        }
        let mut greatest = [change];
        let (own, all) = ([change], &mut greatest);
        let (send, receive) = (bytemuck::cast_slice(&own), bytemuck::cast_slice_mut(all));
        rank.reduce(CHECKER, LARGEST, send, receive)?;
        let mut decision = [0u64];
        if rank.rank() == CHECKER && greatest[0] >= TOLERANCE {
            decision = [self.next_check(iteration, greatest[0])];
        }
        rank.broadcast(CHECKER, bytemuck::cast_slice_mut(&mut decision))?;
        self.next = decision[0];
        Ok(self.next == 0)
    }

    /// Returns the iteration of the next check.
    fn next_check(&mut self, iteration: u64, change: f64) -> u64 {
        let usual = iteration + EVERY;
        let last = self.last.replace((iteration, change));
        match (self.check, last) {
            (Check::Statistical, Some((before, greater))) => {
                predicted((before, greater), (iteration, change)).unwrap_or(usual)
            }
            _ => usual,
        }
    }

    /// Reports an iteration to the checker.
    fn report(&mut self, rank: &mut dyn Rank, iteration: u64, change: f64) -> Result<()> {
        if rank.rank() == CHECKER {
            self.note(iteration, change);
            return Ok(());
        }
        let report: Report = [iteration, change.to_bits()];
        rank.send(CHECKER, REPORT, bytemuck::cast_slice(&report))
    }

    fn note(&mut self, iteration: u64, change: f64) {
        let (count, greatest) = self.reports.entry(iteration).or_default();
        *count += 1;
        *greatest = greatest.max(change);
    }

    /// Takes the reports that have come to the checker, without waiting. Returns whether an iteration has converged.
    pub(super) fn poll(&mut self, rank: &mut dyn Rank) -> Result<bool> {
        if self.check != Check::Asynchronous || rank.rank() != CHECKER {
            return Ok(false);
        }
        while rank.size() > 1 && rank.probe(Source::Any, TagSelector::Is(REPORT))?.is_some() {
            self.take_report(rank)?;
        }
        let ranks = rank.size();
        let is_complete = |(count, _): &(usize, f64)| *count == ranks;
        let converged = self.reports.values().any(|one| is_complete(one) && one.1 < TOLERANCE);
        self.reports.retain(|_, one| !is_complete(one));
        Ok(converged)
    }

    fn take_report(&mut self, rank: &mut dyn Rank) -> Result<()> {
        let mut report: Report = [0; 2];
        let room = bytemuck::cast_slice_mut(&mut report);
        rank.receive(Source::Any, TagSelector::Is(REPORT), room)?;
        self.received += 1;
        self.note(report[0], f64::from_bits(report[1]));
        Ok(())
    }

    /// Takes the reports that are still under way when all ranks have stopped after this iteration.
    pub(super) fn finish(&mut self, rank: &mut dyn Rank, iteration: u64) -> Result<()> {
        if self.check != Check::Asynchronous || rank.rank() != CHECKER {
            return Ok(());
        }
        let all = (rank.size() as u64 - 1) * (iteration / EVERY);
        while self.received < all {
            self.take_report(rank)?;
        }
        Ok(())
    }
}

/// Returns the iteration at which the changes reach the tolerance if they continue to shrink as between two checks, or
/// `None` if they did not shrink. At most it doubles the number of iterations, because changes shrink faster in the
/// end.
fn predicted((before, greater): (u64, f64), (iteration, change): (u64, f64)) -> Option<u64> {
    let rate = (change / greater).ln() / (iteration - before) as f64;
    if !rate.is_finite() || rate >= 0.0 {
        return None;
    }
    let more = ((TOLERANCE / change).ln() / rate).ceil();
    Some(iteration + (more as u64).clamp(1, iteration))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a change that halves in each iteration and is 2^-20 now reaches 10^-9, between 2^-29 and 2^-30, in 10
    /// more.
    #[test]
    fn the_rate_of_change_predicts_the_next_check() {
        let at = |iteration: u64| (iteration, 0.5f64.powi(iteration as i32));
        assert_eq!(predicted(at(15), at(20)), Some(30));
        // The changes are nearly small enough, and do not shrink at all.
        assert_eq!(predicted(at(28), at(29)), Some(30));
        assert_eq!(predicted((10, 0.5), (20, 0.5)), None);
        // The number of iterations is at most doubled.
        assert_eq!(predicted((10, 0.5), (20, 0.499)), Some(40));
    }
}
