//! The trait of applications, and a rank that records its computing time.

use contract::{Error, Rank, Result, TimeSpan, Work, WorkKind};

/// A parallel program, the best serial program for the same problem, and a check of the result.
pub trait Application {
    /// The kinds of work of both programs. A machine must know how long they take.
    fn kinds(&self) -> &[WorkKind];

    /// Runs the parallel program once. All ranks call it.
    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()>;

    /// Runs the best serial program once, on this rank alone.
    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()>;

    /// Checks what the last [`run`](Application::run) has left. All ranks call it.
    ///
    /// # Errors
    /// [`Error::Program`] names what is wrong.
    fn check(&mut self, rank: &mut dyn Rank) -> Result<()>;

    /// Other results of the runs, reported by rank 0.
    fn quantities(&self) -> Vec<Quantity> {
        Vec::new()
    }

    /// Ends the application. All ranks call it.
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
    /// From the beginning to the end of its program, over all runs.
    pub total: TimeSpan,
    /// In computing.
    pub computing: TimeSpan,
    /// In deciding whether an iteration has converged, where a program does that; not in computing.
    pub checking: TimeSpan,
}

/// A rank that counts how long it computes.
pub struct Timed<'a> {
    /// The rank itself, for its messages.
    pub rank: &'a mut dyn Rank,
    spent: &'a mut Spent,
    computes: bool,
}

impl<'a> Timed<'a> {
    /// The rank, which adds what it spends to `spent`.
    pub fn new(rank: &'a mut dyn Rank, spent: &'a mut Spent) -> Self {
        let mut computes = false;
        rank.compute(Work::new(WorkKind::FloatingPoint, 0), &mut || computes = true);
        Timed { rank, spent, computes }
    }

    /// This rank's number.
    pub fn me(&self) -> usize {
        self.rank.rank()
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.rank.size()
    }

    /// Whether programs really compute. A simulated machine that checks no results lets only the time pass.
    pub fn computes(&self) -> bool {
        self.computes
    }

    /// Computes, and counts it. `body` takes its time on a real machine; a simulated one lets the time of `work` pass.
    /// It may read messages where their senders have them ([`Rank::view`]).
    pub fn compute(&mut self, work: Work, body: impl FnOnce(&dyn Rank)) {
        let computes = self.computes;
        self.compute_always(work, |rank| {
            if computes {
                body(rank)
            }
        });
    }

    /// The same where the messages of the program depend on what is computed: the body runs even on a machine that
    /// checks no results.
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

    /// Does what decides whether an iteration has converged; counted apart.
    pub(crate) fn checking<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let begin = self.rank.now();
        let outcome = body(self);
        self.spent.checking = self.spent.checking + self.rank.now().since(begin);
        outcome
    }

    /// Runs a program, and counts its time.
    pub fn run(&mut self, program: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let begin = self.rank.now();
        program(self)?;
        self.spent.total = self.spent.total + self.rank.now().since(begin);
        Ok(())
    }
}
