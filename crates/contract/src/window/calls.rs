//! The calls of a window through a [`Rank`], one method each.

use super::{RankWindow, WindowCall};
use crate::{Action, Arithmetic, Element, Operation, Rank, Reduction, Result};

impl RankWindow {
    /// Puts `data` at `offset` of a rank's memory. The put is complete after a [flush](RankWindow::flush); `data` may
    /// be changed when this returns.
    ///
    /// # Errors
    /// [`InvalidRank`](crate::Error::InvalidRank), [`OutOfWindow`](crate::Error::OutOfWindow), and errors that end the
    /// run.
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

    /// Gets bytes from `offset` of a rank's memory, as many as the buffer has room for.
    ///
    /// # Errors
    /// As for [`put`](RankWindow::put).
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

    /// Combines `operand` with the elements at `offset` of a rank's memory, each atomically. The old values go to
    /// `fetched`, if it is given.
    ///
    /// # Errors
    /// As for [`put`](RankWindow::put).
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

    /// Replaces the word at `offset` of a rank's memory by `new` if it is `expected`. Returns the old word.
    ///
    /// # Errors
    /// As for [`put`](RankWindow::put).
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

    /// Waits until all operations of this rank on one rank, or on all, are complete there.
    ///
    /// # Errors
    /// Errors of operations that are detected now, and errors that end the run.
    #[inline]
    pub fn flush(&mut self, rank: &mut dyn Rank, target: Option<usize>) -> Result<()> {
        rank.call_window(self, WindowCall::Flush(target))
    }

    /// Waits until every rank has reached the fence, and all operations of all are complete.
    ///
    /// # Errors
    /// As for [`flush`](RankWindow::flush).
    pub fn fence(&mut self, rank: &mut dyn Rank) -> Result<()> {
        rank.call_window(self, WindowCall::Fence)
    }

    /// Acquires exclusive or shared access to a rank's memory. Waits for conflicting holders.
    ///
    /// # Errors
    /// [`RankEnded`](crate::Error::RankEnded) if the holder has left the run, and errors that end the run.
    pub fn lock(&mut self, rank: &mut dyn Rank, target: usize, exclusive: bool) -> Result<()> {
        rank.call_window(self, WindowCall::Lock(target, exclusive))
    }

    /// Releases the access, after all operations on the rank.
    ///
    /// # Errors
    /// As for [`flush`](RankWindow::flush).
    pub fn unlock(&mut self, rank: &mut dyn Rank, target: usize, exclusive: bool) -> Result<()> {
        rank.call_window(self, WindowCall::Unlock(target, exclusive))
    }

    /// Increments notice `number` of a rank, which then sees the earlier puts of this rank there.
    ///
    /// # Errors
    /// [`InvalidRank`](crate::Error::InvalidRank), and errors that end the run.
    ///
    /// # Panics
    /// If there is no such notice; there are [`NOTICES`](crate::NOTICES) of them.
    #[inline]
    pub fn notify(&mut self, rank: &mut dyn Rank, target: usize, number: usize) -> Result<()> {
        rank.call_window(self, WindowCall::Notify(target, number))
    }

    /// Waits until this rank has received notice `number` `count` times in total.
    ///
    /// # Errors
    /// [`RankEnded`](crate::Error::RankEnded) if all others have left the run, and errors that end the run.
    #[inline]
    pub fn await_notice(&mut self, rank: &mut dyn Rank, number: usize, count: u64) -> Result<()> {
        rank.call_window(self, WindowCall::AwaitNotice(number, count))
    }

    /// Serves the others, if this rank is [served](RankWindow::is_served) by messages, until `requests` requests have
    /// been answered since the window was opened: each put, get, update and notice is one. Otherwise it returns at
    /// once.
    ///
    /// # Errors
    /// Errors that end the run.
    #[inline]
    pub fn serve(&mut self, rank: &mut dyn Rank, requests: u64) -> Result<()> {
        rank.call_window(self, WindowCall::Serve(requests))
    }

    /// Makes progress without waiting: for ranks that wait for a change of their memory, or for several events at once.
    ///
    /// # Errors
    /// [`RankEnded`](crate::Error::RankEnded) if all others have left the run, and errors that end the run.
    #[inline]
    pub fn advance(&mut self, rank: &mut dyn Rank) -> Result<()> {
        rank.call_window(self, WindowCall::Advance)
    }
}
