//! The search for hangs of a run whose ranks several launchers have started, one for each host.
//!
//! A launcher announces when its ranks stand still, and when one of them moves afterwards. Once all launchers have
//! announced a standstill, whoever started the run asks them again, in a new round. A launcher answers when each of its
//! ranks has had its idle polls once more since the question arrived.
//!
//! If all have answered, and none has announced a move since the answers of the round before, no rank has moved at the
//! moment of the question: each stood still from its answer before that moment to its answer after it. So the amounts
//! sent and received are those of one moment. If they are equal, nothing was under way then, and the proof of
//! [`standstill`](super::standstill) holds for all ranks together. Amounts of different moments prove nothing: a message
//! that only the sender's report contains and an answer that only the receiver's report contains can cancel out.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::RankActivity;
use super::standstill::{Amounts, RankState, Standstill};

/// The run that the ranks of a launcher are a part of, and whoever started it.
pub trait WholeRun: Debug + Send + Sync {
    /// Returns the number of ranks of the run.
    fn ranks(&self) -> usize;

    /// Returns the number of the last round that was asked for, 0 before the first.
    fn round(&self) -> u32;

    /// Returns the time without a move after which the ranks of this launcher are announced as quiet, if at all.
    fn quiet_after(&self) -> Option<Duration>;

    /// Announces a standstill of the ranks of this launcher, or a move after it.
    fn announce(&self, word: Word);

    /// Returns whether the run asks for the activities of the ranks. Each question is returned once.
    fn requests_activities(&self) -> bool;

    /// Reports the activities of the ranks.
    fn report_activities(&self, ranks: &[RankActivity]);
}

/// What a launcher announces about its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// None can continue unless something arrives that is under way.
    Stand {
        /// Number of the round that this answers.
        round: u32,
        /// What the ranks have sent and received.
        amounts: Amounts,
    },
    /// None has moved for the time that the run gives, although some may be able to.
    Quiet {
        /// Whether some rank is in a long wait.
        waits: bool,
    },
    /// One of them has moved.
    Move,
}

/// The part of a launcher.
pub(super) struct HostPart {
    run: Arc<dyn WholeRun>,
    round: u32,
    /// The standstill since the question of the round has arrived.
    since_question: Standstill,
    /// The round for which a standstill was announced that has lasted since.
    announced: Option<u32>,
    /// Whether the ranks were announced as quiet and have not moved since.
    is_quiet: bool,
}

impl HostPart {
    pub(super) fn new(run: Arc<dyn WholeRun>) -> Self {
        HostPart {
            run,
            round: 0,
            since_question: Standstill::default(),
            announced: None,
            is_quiet: false,
        }
    }

    pub(super) fn run(&self) -> &dyn WholeRun {
        &*self.run
    }

    /// Records the states of the ranks, which have stood still for this long: not at all if one has moved since the
    /// last call.
    pub(super) fn note(&mut self, now: Instant, ranks: &[RankState], stands: Duration) {
        let has_moved = stands == Duration::ZERO;
        if has_moved {
            let was_announced = self.announced.take().is_some();
            if std::mem::take(&mut self.is_quiet) || was_announced {
                self.run.announce(Word::Move);
            }
        }
        if !self.is_quiet && self.run.quiet_after().is_some_and(|limit| stands >= limit) {
            self.is_quiet = true;
            let waits = ranks.iter().any(|rank| matches!(rank, RankState::Waits(_)));
            self.run.announce(Word::Quiet { waits });
        }
        let round = self.run.round();
        if has_moved || round != self.round {
            self.round = round;
            self.since_question = Standstill::default();
        }
        self.since_question.note(now, ranks);
        if self.announced != Some(round)
            && self.since_question.is_stuck(now, ranks, self.run.ranks())
        {
            self.announced = Some(round);
            self.run.announce(Word::Stand { round, amounts: Amounts::of(ranks) });
        }
    }
}

/// The part of whoever started the run.
#[derive(Debug)]
pub struct HangSearch {
    round: u32,
    /// True if no rank has moved since the answers of the round before.
    is_undisturbed: bool,
    /// The last announcement of each launcher, if its ranks have not moved since.
    standing: Vec<Option<(u32, Amounts)>>,
}

/// The next step of whoever started the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// To wait for more.
    Wait,
    /// To ask all launchers, in a round of this number.
    Request(u32),
    /// No rank can ever continue.
    Hang,
}

impl HangSearch {
    /// Creates the search among the ranks of so many launchers.
    pub fn new(launchers: usize) -> Self {
        HangSearch { round: 0, is_undisturbed: false, standing: vec![None; launchers] }
    }

    /// Records the word of a launcher.
    pub fn take(&mut self, launcher: usize, word: Word) -> NextStep {
        match word {
            Word::Move => {
                self.standing[launcher] = None;
                self.is_undisturbed = false;
            }
            Word::Stand { round, amounts } => self.standing[launcher] = Some((round, amounts)),
            Word::Quiet { .. } => return NextStep::Wait,
        }
        let answers: Option<Vec<Amounts>> = self
            .standing
            .iter()
            .map(|one| one.filter(|(round, _)| *round == self.round).map(|(_, amounts)| amounts))
            .collect();
        let Some(answers) = answers else { return NextStep::Wait };
        let Amounts { sent, received } = answers.into_iter().sum();
        if self.is_undisturbed && sent == received {
            return NextStep::Hang;
        }
        self.round += 1;
        self.is_undisturbed = true;
        NextStep::Request(self.round)
    }
}

#[cfg(test)]
mod tests;
