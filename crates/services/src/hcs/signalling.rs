//! Sends and handles signals. Semaphores and barriers consist of signals.

use contract::TimeSpan;

use super::cluster::{MASTER, Node};
use super::error::{ClusterError, ClusterResult};
use super::layout::words;
use super::semaphores::{SEMAPHORES, Waiter};
use super::signals::{
    BARRIER, OWN_MAX, Signal, SignalHandler, SignalKind, of_word, p_signal, v_signal,
    withdraw_signal, word_of,
};

/// The answer to a P that has its unit.
const GRANTED: u32 = 1;

impl Node<'_> {
    /// Replaces the handling of a signal.
    ///
    /// # Errors
    /// [`Reserved`](ClusterError::Reserved) for numbers above [`OWN_MAX`].
    pub fn set_signal_handler(&mut self, number: u32, handler: SignalHandler) -> ClusterResult<()> {
        if number > OWN_MAX {
            return Err(ClusterError::Reserved { what: "signal", number });
        }
        self.state.handlers.set(number, handler);
        Ok(())
    }

    /// Takes the oldest signal that the default handler has kept.
    pub fn take_signal(&mut self) -> Option<Signal> {
        self.state.handlers.take()
    }

    /// Handles all signals that have come. If there is none, waits for one until `timeout` is over. Returns the number
    /// of handled signals. With a time-out of zero it does not wait.
    pub fn service_signals(&mut self, timeout: TimeSpan) -> ClusterResult<usize> {
        let wait = self.sci.wait(timeout);
        loop {
            self.sci.serve()?;
            let count = self.serve_signals()?;
            if count > 0 {
                return Ok(count);
            }
            match wait.advance(&mut self.sci, String::new) {
                Err(ClusterError::TimedOut { .. }) => return Ok(0),
                outcome => outcome?,
            }
        }
    }

    /// Sends a signal. A signal waits at the other node until that node handles it. A second one waits here until then.
    ///
    /// # Errors
    /// [`SignalToOneself`](ClusterError::SignalToOneself), [`NoSuchNode`](ClusterError::NoSuchNode),
    /// [`Reserved`](ClusterError::Reserved), [`TimedOut`](ClusterError::TimedOut).
    pub fn send_signal(&mut self, node: usize, number: u32) -> ClusterResult<()> {
        if number > OWN_MAX {
            return Err(ClusterError::Reserved { what: "signal", number });
        }
        self.deliver(node, number, false).map(drop)
    }

    /// Sends a signal and waits for the answer. [`p_signal`] and [`v_signal`] take and release a semaphore of that
    /// node.
    ///
    /// # Errors
    /// As of [`send_signal`](Node::send_signal). A P that was not granted in time is withdrawn.
    pub fn send_signal_and_wait(&mut self, node: usize, number: u32) -> ClusterResult<u32> {
        let kind = SignalKind::of(number);
        if !matches!(kind, SignalKind::Own | SignalKind::P(_) | SignalKind::V(_)) {
            return Err(ClusterError::Reserved { what: "signal", number });
        }
        let answer = self.send_and_wait(node, number);
        if let (Err(ClusterError::TimedOut { .. }), SignalKind::P(semaphore)) = (&answer, kind)
            && self.send_and_wait(node, withdraw_signal(semaphore))? == GRANTED
        {
            return Ok(GRANTED);
        }
        answer
    }

    /// Takes a unit of one of the master's semaphores, each of which begins with one. Waits for it.
    ///
    /// # Errors
    /// [`NoSuchSemaphore`](ClusterError::NoSuchSemaphore); [`TimedOut`](ClusterError::TimedOut), without a unit.
    pub fn p(&mut self, semaphore: u32) -> ClusterResult<()> {
        check_semaphore(semaphore)?;
        if self.node() != MASTER {
            return self.send_signal_and_wait(MASTER, p_signal(semaphore)).map(drop);
        }
        let sequence = self.next_sequence();
        if self.state.semaphores.p(semaphore, (MASTER, sequence)) {
            return Ok(());
        }
        let wait = self.sci.wait(self.timeout());
        while self.state.granted != Some(sequence) {
            let waited = self.advance_wait(wait, || format!("semaphore {semaphore} was not free"));
            if let Err(error) = waited {
                let has_it = !self.state.semaphores.withdraw(semaphore, MASTER);
                return if has_it { Ok(()) } else { Err(error) };
            }
        }
        Ok(())
    }

    /// Releases a unit. The node that has waited longest gets it.
    ///
    /// # Errors
    /// [`NoSuchSemaphore`](ClusterError::NoSuchSemaphore), [`TimedOut`](ClusterError::TimedOut).
    pub fn v(&mut self, semaphore: u32) -> ClusterResult<()> {
        check_semaphore(semaphore)?;
        if self.node() != MASTER {
            return self.send_signal_and_wait(MASTER, v_signal(semaphore)).map(drop);
        }
        let next = self.state.semaphores.v(semaphore);
        next.map_or(Ok(()), |next| self.grant(next))
    }

    /// Waits until every node has called it: signals go up the tree of broadcasts, and words down again.
    ///
    /// # Errors
    /// [`TimedOut`](ClusterError::TimedOut) names a node that has not come. The barrier then continues with the next
    /// call.
    pub fn barrier_sync(&mut self) -> ClusterResult<()> {
        let (wait, me) = (self.sci.wait(self.timeout()), self.node());
        let below: Vec<usize> = self.members().children_from(MASTER).collect();
        let late = |arrived: &[bool]| below.iter().copied().find(|&child| !arrived[child]);
        while let Some(child) = late(&self.state.arrived) {
            self.advance_wait(wait, || format!("node {child} did not come to the barrier"))?;
        }
        let next = self.state.barriers + 1;
        if let Some(above) = self.members().parent_from(MASTER) {
            if !self.state.has_reported {
                self.deliver(above, BARRIER, false)?;
                self.state.has_reported = true;
            }
            let release = self.sci.lib.layout.release();
            while self.sci.load(me, release)? < next {
                self.advance_wait(wait, || format!("node {above} did not leave the barrier"))?;
            }
        }
        self.state.has_reported = false;
        self.state.barriers = next;
        for child in below {
            self.state.arrived[child] = false;
            let release = self.sci.lib.layout.release();
            self.sci.store(child, release, next - 1, next)?;
        }
        Ok(())
    }

    /// Handles the signals that have come. Returns the number of the program's signals among them.
    pub(super) fn serve_signals(&mut self) -> ClusterResult<usize> {
        let mut slots = std::mem::take(&mut self.state.slots);
        slots.resize(self.sci.lib.layout.answer(0) as usize, 0);
        let fetched = self.sci.fetch(self.node(), self.sci.lib.layout.slot(0), &mut slots);
        let mut outcome = fetched.map(|()| 0);
        for (from, word) in words(&slots).enumerate().filter(|(_, word)| *word != 0) {
            let served = self.serve_signal(from, word);
            outcome = outcome.and_then(|count| Ok(count + usize::from(served?)));
        }
        self.state.slots = slots;
        outcome
    }

    /// Handles a signal, frees its slot and answers. Returns whether it was one of the program's.
    fn serve_signal(&mut self, from: usize, word: u64) -> ClusterResult<bool> {
        let Some((signal, sequence)) = of_word(from, word) else { return Ok(false) };
        let kind = SignalKind::of(signal.number);
        let mut next = None;
        let answer = match kind {
            SignalKind::Own => match self.state.handlers.handle(signal) {
                None => return Ok(false),
                answer => answer,
            },
            SignalKind::P(one) if signal.waits => {
                self.state.semaphores.p(one, (from, sequence)).then_some(GRANTED)
            }
            SignalKind::V(one) => {
                next = self.state.semaphores.v(one);
                Some(0)
            }
            SignalKind::Withdraw(one) => {
                Some(if self.state.semaphores.withdraw(one, from) { 0 } else { GRANTED })
            }
            SignalKind::Barrier => {
                self.state.arrived[from] = true;
                None
            }
            SignalKind::P(_) | SignalKind::Unknown => None,
        };
        let slot = self.sci.lib.layout.slot(from);
        self.sci.store(self.node(), slot, word, 0)?;
        if let Some(answer) = answer.filter(|_| signal.waits) {
            self.answer((from, sequence), answer)?;
        }
        next.map_or(Ok(()), |next| self.grant(next))?;
        Ok(kind == SignalKind::Own)
    }

    /// Notifies a node that it has got its semaphore.
    fn grant(&mut self, (node, sequence): Waiter) -> ClusterResult<()> {
        if node == self.node() {
            self.state.granted = Some(sequence);
            return Ok(());
        }
        self.answer((node, sequence), GRANTED)
    }

    fn answer(&mut self, (node, sequence): Waiter, answer: u32) -> ClusterResult<()> {
        let place = self.sci.lib.layout.answer(self.node());
        self.sci.store(node, place, 0, word_of(answer, sequence, false))
    }

    fn next_sequence(&mut self) -> u32 {
        self.state.sequence = self.state.sequence.wrapping_add(1);
        self.state.sequence
    }

    /// Puts a signal into its slot at another node, when that is free. Returns its number among this node's signals.
    fn deliver(&mut self, node: usize, number: u32, waits: bool) -> ClusterResult<u32> {
        self.sci.check_node(node)?;
        let me = self.node();
        if node == me {
            return Err(ClusterError::SignalToOneself { node });
        }
        let (wait, sequence) = (self.sci.wait(self.timeout()), self.next_sequence());
        let (slot, word) = (self.sci.lib.layout.slot(me), word_of(number, sequence, waits));
        while self.sci.swap(node, slot, 0, word)? != 0 {
            self.advance_wait(wait, || format!("node {node} did not take the signal before"))?;
        }
        Ok(sequence)
    }

    /// Sends a signal and waits for its answer. Late answers to earlier ones are dropped.
    fn send_and_wait(&mut self, node: usize, number: u32) -> ClusterResult<u32> {
        let sequence = self.deliver(node, number, true)?;
        let wait = self.sci.wait(self.timeout());
        let (me, place) = (self.node(), self.sci.lib.layout.answer(node));
        loop {
            let word = self.sci.load(me, place)?;
            if let Some((answer, to)) = of_word(node, word) {
                self.sci.store(me, place, word, 0)?;
                if word_of(0, sequence, false) == word_of(0, to, false) {
                    return Ok(answer.number);
                }
            }
            self.advance_wait(wait, || format!("node {node} did not answer a signal"))?;
        }
    }
}

fn check_semaphore(semaphore: u32) -> ClusterResult<()> {
    if semaphore < SEMAPHORES { Ok(()) } else { Err(ClusterError::NoSuchSemaphore { semaphore }) }
}
