//! Many messages of one call.

use contract::{Posted, Result, Source, Tag, TagSelector};

use super::Engine;
use super::operation::{Lent, Memory};

impl Engine {
    /// Sends what is lent `count` times: all frames are put together before the first is written, so that short messages
    /// share system calls.
    pub(crate) fn send_window(
        &mut self,
        to: usize,
        tag: Tag,
        count: usize,
        lent: &mut Lent<'_>,
    ) -> Result<()> {
        let mut window = std::mem::take(&mut self.window);
        let bytes = lent.send.len();
        let queued = (0..count).try_for_each(|_| {
            window.push(self.queue_send(to, tag, Memory::Lent, bytes, lent)?);
            Ok(())
        });
        let written = queued.and_then(|()| self.write_to(to, lent));
        self.end_window(window, written, lent)
    }

    /// Receives `count` messages over each other in what is lent.
    pub(crate) fn receive_window(
        &mut self,
        from: Source,
        tag: TagSelector,
        count: usize,
        lent: &mut Lent<'_>,
    ) -> Result<()> {
        let mut window = std::mem::take(&mut self.window);
        let bytes = lent.receive.len();
        let started = (0..count).try_for_each(|_| {
            window.push(self.start_receive(from, tag, Memory::Lent, bytes, lent)?);
            Ok(())
        });
        self.end_window(window, started, lent)
    }

    /// Waits for all that was started, even if one of them ends with an error: nothing may use what was lent any more.
    fn end_window(
        &mut self,
        mut window: Vec<Posted>,
        mut outcome: Result<()>,
        lent: &mut Lent<'_>,
    ) -> Result<()> {
        for one in window.drain(..) {
            let ended = self.wait(&one, lent).and_then(|()| self.end(&one).map(drop));
            outcome = outcome.and(ended);
        }
        self.window = window;
        outcome
    }
}
