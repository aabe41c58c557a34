//! The calls of a window through a [`Rank`], each by its name.

use super::waiting::{RankWindow, WindowCall};
use crate::{Action, Arithmetic, Element, Operation, Rank, Reduction, Result};

impl RankWindow {
    /// Puts `data` at `offset` of a rank's memory. It is there after a [flush](RankWindow::flush); `data` may be changed
    /// when this returns.
    ///
    /// # Errors
    /// [`InvalidRank`](crate::Error::InvalidRank), [`OutOfWindow`](crate::Error::OutOfWindow), and those that end the run.
    #[inline]
    pub fn put(
        &mut self,
        rank: &mut dyn Rank,
        target: usize,
        offset: u64,
        data: &[u8],
    ) -> Result<()> {
        let (action, operand, fetched) = (Action::Replace, data, None);
        rank.call_window(self, WindowCall::Update { target, offset, action, operand, fetched })
    }

    /// Gets as many bytes as there is room for from `offset` of a rank's memory.
    ///
    /// # Errors
    /// As of [`put`](RankWindow::put).
    #[inline]
    pub fn get(
        &mut self,
        rank: &mut dyn Rank,
        target: usize,
        offset: u64,
        room: &mut [u8],
    ) -> Result<()> {
        let (action, operand, fetched) = (Action::Nothing, &[][..], Some(room));
        rank.call_window(self, WindowCall::Update { target, offset, action, operand, fetched })
    }

    /// Combines `operand` into the elements at `offset` of a rank's memory, each atomically; what was there goes to
    /// `fetched`, if it is wanted.
    ///
    /// # Errors
    /// As of [`put`](RankWindow::put).
    #[inline]
    pub fn accumulate(
        &mut self,
        rank: &mut dyn Rank,
        (target, offset): (usize, u64),
        reduction: Reduction,
        operand: &[u8],
        fetched: Option<&mut [u8]>,
    ) -> Result<()> {
        let action = Action::Combine(Arithmetic::code(reduction));
        rank.call_window(self, WindowCall::Update { target, offset, action, operand, fetched })
    }

    /// Puts `new` in the place of the word at `offset` of a rank's memory, if that is `expected`. Returns what was there.
    ///
    /// # Errors
    /// As of [`put`](RankWindow::put).
    #[inline]
    pub fn compare_and_swap(
        &mut self,
        rank: &mut dyn Rank,
        (target, offset): (usize, u64),
        expected: u64,
        new: u64,
    ) -> Result<u64> {
        const WORDS: Reduction = Reduction::new(Element::U64, Operation::Sum);
        let both = [expected, new].map(u64::to_ne_bytes);
        let mut found = [0; 8];
        let action = Action::CompareAndSwap(Arithmetic::code(WORDS));
        let (operand, fetched) = (both.as_flattened(), Some(&mut found[..]));
        rank.call_window(self, WindowCall::Update { target, offset, action, operand, fetched })?;
        Ok(u64::from_ne_bytes(found))
    }

    /// Waits until all operations of this rank on one, or on all, are done there.
    ///
    /// # Errors
    /// Those of operations that are found now, and those that end the run.
    #[inline]
    pub fn flush(&mut self, rank: &mut dyn Rank, target: Option<usize>) -> Result<()> {
        rank.call_window(self, WindowCall::Flush(target))
    }

    /// Waits until every rank is here, and all operations of all are done.
    ///
    /// # Errors
    /// As of [`flush`](RankWindow::flush).
    pub fn fence(&mut self, rank: &mut dyn Rank) -> Result<()> {
        rank.call_window(self, WindowCall::Fence)
    }

    /// Takes access to a rank's memory, alone or shared; waits for those who have it.
    ///
    /// # Errors
    /// [`RankDied`](crate::Error::RankDied) if who has it has left the run, and those that end the run.
    pub fn lock(&mut self, rank: &mut dyn Rank, target: usize, exclusive: bool) -> Result<()> {
        rank.call_window(self, WindowCall::Lock(target, exclusive))
    }

    /// Gives it back, after all operations on the rank.
    ///
    /// # Errors
    /// As of [`flush`](RankWindow::flush).
    pub fn unlock(&mut self, rank: &mut dyn Rank, target: usize, exclusive: bool) -> Result<()> {
        rank.call_window(self, WindowCall::Unlock(target, exclusive))
    }

    /// Counts up notice `number` of a rank, which sees what this rank put there before.
    ///
    /// # Errors
    /// [`InvalidRank`](crate::Error::InvalidRank), and those that end the run.
    ///
    /// # Panics
    /// If there is no such notice: there are [`NOTICES`](crate::NOTICES).
    #[inline]
    pub fn notify(&mut self, rank: &mut dyn Rank, target: usize, number: usize) -> Result<()> {
        rank.call_window(self, WindowCall::Notify(target, number))
    }

    /// Waits until this rank was given notice `number` so often, in all.
    ///
    /// # Errors
    /// [`RankDied`](crate::Error::RankDied) if all others have left the run, and those that end the run.
    #[inline]
    pub fn await_notice(&mut self, rank: &mut dyn Rank, number: usize, count: u64) -> Result<()> {
        rank.call_window(self, WindowCall::AwaitNotice(number, count))
    }

    /// Answers the others, where this rank is [asked](RankWindow::is_served), until so many requests have been answered
    /// since the window was opened: each put, get, update and notice is one. Elsewhere it returns at once.
    ///
    /// # Errors
    /// Those that end the run.
    #[inline]
    pub fn serve(&mut self, rank: &mut dyn Rank, requests: u64) -> Result<()> {
        rank.call_window(self, WindowCall::Serve(requests))
    }

    /// Goes on with what is under way here, and takes in what has come, without waiting: for ranks that wait for something
    /// in their memory, or for several things at once.
    ///
    /// # Errors
    /// [`RankDied`](crate::Error::RankDied) if all others have left the run, and those that end the run.
    #[inline]
    pub fn advance(&mut self, rank: &mut dyn Rank) -> Result<()> {
        rank.call_window(self, WindowCall::Advance)
    }
}
