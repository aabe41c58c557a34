//! The trait of applications, and a rank that records its computing time.

use contract::{Error, Rank, Result, TimeSpan, Work, WorkKind};

/// A parallel program, the best serial program for the same problem, and a check of the result.
pub trait Application {
    /// Returns the kinds of work of both programs. A machine must have their rates.
    fn kinds(&self) -> &[WorkKind];

    /// Runs the parallel program once. All ranks must call it.
    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()>;

    /// Runs the best serial program once, on this rank alone.
    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()>;

    /// Checks the result of the last [`run`](Application::run). All ranks must call it.
    ///
    /// # Errors
    /// [`Error::Program`] with the mistake.
    fn check(&mut self, rank: &mut dyn Rank) -> Result<()>;

    /// Returns other results of the runs, which rank 0 reports.
    fn quantities(&self) -> Vec<Quantity> {
        Vec::new()
    }

    /// Ends the application. All ranks must call it.
    fn finish(self: Box<Self>, _rank: &mut dyn Rank) -> Result<()> {
        Ok(())
    }
}

/// A number that an application reports in addition to its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name, such as `iterations`.
    pub name: &'static str,
    /// Its unit; empty for a count.
    pub unit: &'static str,
    /// Its value.
    pub value: f64,
}

/// The time of a rank in the program, and its computing time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Time from the beginning to the end of its program, over all runs.
    pub total: TimeSpan,
    /// Time of computing.
    pub computing: TimeSpan,
    /// Time of deciding whether an iteration has converged, for programs that do so. It is not part of `computing`.
    pub checking: TimeSpan,
}

/// A rank that records its computing time.
pub struct Timed<'a> {
    /// The rank itself, for its messages.
    pub rank: &'a mut dyn Rank,
    spent: &'a mut Spent,
    computes: bool,
}

impl<'a> Timed<'a> {
    /// Creates a rank that adds its times to `spent`.
    pub fn new(rank: &'a mut dyn Rank, spent: &'a mut Spent) -> Self {
        let mut computes = false;
        rank.compute(Work::new(WorkKind::FloatingPoint, 0), &mut || computes = true);
        Timed { rank, spent, computes }
    }

    /// Returns this rank's number.
    pub fn me(&self) -> usize {
        self.rank.rank()
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.rank.size()
    }

    /// Returns whether programs really compute. On a simulated machine that checks no results only the time passes.
    pub fn computes(&self) -> bool {
        self.computes
    }

    /// Computes, and records the time. On a real machine it is the time of `body`, on a simulated one the time of
    /// `work`. `body` may read messages in their senders' memory ([`Rank::view`]).
    pub fn compute(&mut self, work: Work, body: impl FnOnce(&dyn Rank)) {
        let computes = self.computes;
        self.compute_always(work, |rank| {
            if computes {
                body(rank)
            }
        });
    }

    /// As [`compute`](Timed::compute), for a body on whose result the program's messages depend. It runs even on a
    /// machine that checks no results.
    pub fn compute_always<T>(&mut self, work: Work, body: impl FnOnce(&dyn Rank) -> T) -> T {
        let begin = self.rank.now();
        let result = body(self.rank);
        self.rank.compute(work, &mut || {});
        self.spent.computing = self.spent.computing + self.rank.now().since(begin);
        result
    }

    /// As [`compute`](Timed::compute), for a kernel that can fail, with an error of the program.
    pub(crate) fn try_compute(
        &mut self,
        work: Work,
        body: impl FnOnce(&dyn Rank) -> kernels::Result<()>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        self.compute(work, |rank| outcome = body(rank));
        outcome.map_err(|error| Error::Program(error.to_string()))
    }

    /// Runs `body`, which decides whether an iteration has converged. Records its time separately.
    pub(crate) fn checking<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let begin = self.rank.now();
        let outcome = body(self);
        self.spent.checking = self.spent.checking + self.rank.now().since(begin);
        outcome
    }

    /// Runs a program, and records its time.
    pub fn run(&mut self, program: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let begin = self.rank.now();
        program(self)?;
        self.spent.total = self.spent.total + self.rank.now().since(begin);
        Ok(())
    }
}
