//! Fences, and the synchronisation of some members: post, start, complete and wait.
//!
//! A post sends an empty message to each member that gets access, a complete one to each that was accessed.

use std::cell::{Cell, RefCell};

use contract::{
    Awaited, Completion, Destination, Endpoint, Readable, Request as Started, Selector,
    WINDOW_ANSWERS, Writable,
};

use super::Window;
use super::epoch::Promise;
use crate::collective::{Barrier, Collective};
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::group::Group;

/// Tags between those of the contract's window.
const POST: u32 = 1;
const COMPLETE: u32 = 2;

/// Returns what ends a wait for a message of a window, in the terms of the program. `None` for other waits.
pub(super) fn explain(awaited: &Awaited) -> Option<String> {
    let complete = |whose: String| format!("for operations on the memory of {whose} to complete");
    Some(match awaited {
        Awaited::Message(selector) => {
            let source = selector.source_in_words();
            match selector.tag {
                Some(POST) => format!("until {source} calls MPI_Win_post"),
                Some(COMPLETE) => format!("until {source} calls MPI_Win_complete"),
                _ => complete(source),
            }
        }
        Awaited::Receive { to, envelope } => match envelope.tag {
            POST => format!("until rank {to} calls MPI_Win_start"),
            COMPLETE => format!("until rank {to} calls MPI_Win_wait"),
            WINDOW_ANSWERS.. => format!("until rank {to} receives an answer to its operation"),
            _ => complete(format!("rank {to}")),
        },
        Awaited::Data(envelope) => match envelope.tag {
            WINDOW_ANSWERS.. => complete(format!("rank {}", envelope.source)),
            _ => format!("for the data of an operation of rank {}", envelope.source),
        },
        Awaited::Members { .. } | Awaited::Lock { .. } => return None,
    })
}

/// Synchronisation messages in progress.
pub(super) struct Signals {
    me: usize,
    sent: RefCell<Vec<Started>>,
    /// Receives of a post: each of its members will send a complete.
    awaited: RefCell<Vec<Started>>,
    /// True if this process has posted to itself, and completed.
    own_post: Cell<bool>,
    own_complete: Cell<bool>,
    awaits_own: Cell<bool>,
}

impl Signals {
    pub(super) fn new(me: usize) -> Self {
        Signals {
            me,
            sent: RefCell::default(),
            awaited: RefCell::default(),
            own_post: Cell::new(false),
            own_complete: Cell::new(false),
            awaits_own: Cell::new(false),
        }
    }
}

impl<E: Endpoint + 'static> Window<E> {
    /// Completes all operations of all members, and begins an epoch in which all are permitted, unless the program
    /// asserts that none follow.
    ///
    /// # Errors
    /// [`ErrorClass::RmaSync`] in another epoch; errors of operations that are detected now; and errors that end the
    /// run.
    pub fn fence(&self, promise: Promise) -> Result {
        self.epochs.check_fence()?;
        let flushed = self.service.flush(None);
        Barrier::new(self.communicator.context().clone()).run()?;
        self.epochs.fenced(!promise.no_succeed);
        flushed
    }

    /// Returns the members of a group as ranks of the window.
    fn ranks_of(&self, group: &Group) -> Result<Vec<usize>> {
        let rank = |&member: &usize| {
            let outside = || Error::new(ErrorClass::Group, "a group with others than members");
            self.group().rank_of(member).ok_or_else(outside)
        };
        group.members().iter().map(rank).collect()
    }

    fn selector(&self, rank: usize, tag: u32) -> Selector {
        let source = self.group().members()[rank] as u32;
        let context = self.communicator.context().of_programs();
        Selector { context, source: Some(source), tag: Some(tag) }
    }

    /// Starts to receive an empty message from each.
    fn await_each(&self, ranks: &[usize], tag: u32) -> Result<Vec<Started>> {
        let mut endpoint = self.engine().endpoint()?;
        let others = ranks.iter().filter(|&&rank| rank != self.signals.me);
        others
            .map(|&rank| Ok(endpoint.post_receive(self.selector(rank, tag), Writable::empty())?))
            .collect()
    }

    /// Sends an empty message to each.
    fn notify_each(&self, ranks: &[usize], tag: u32) -> Result {
        let mut endpoint = self.engine().endpoint()?;
        let mut sent = self.signals.sent.borrow_mut();
        sent.retain(|&one| {
            let is_done = endpoint.is_done(one);
            if is_done {
                endpoint.end(one);
            }
            !is_done
        });
        let context = self.communicator.context().of_programs();
        for &rank in ranks.iter().filter(|&&rank| rank != self.signals.me) {
            let to = Destination { rank: self.group().members()[rank], context, tag };
            sent.push(endpoint.post_send(to, Readable::empty(), Completion::Local)?);
        }
        Ok(())
    }

    fn wait_each(&self, requests: &[Started]) -> Result {
        let all_done = |endpoint: &E| requests.iter().all(|&one| endpoint.is_done(one));
        self.engine().wait_for(&mut |endpoint| all_done(endpoint), &|waits| {
            requests.iter().copied().find(|&one| waits.cannot_complete(one))
        })?;
        let mut endpoint = self.engine().endpoint()?;
        for &one in requests {
            endpoint.end(one);
        }
        Ok(())
    }

    /// Lets the members of a group access this member's memory until they complete.
    ///
    /// # Errors
    /// [`ErrorClass::RmaSync`] after another post, [`ErrorClass::Group`], and errors that end the run.
    pub fn post(&self, group: &Group, promise: Promise) -> Result {
        let ranks = self.ranks_of(group)?;
        self.epochs.expose()?;
        let is_own = ranks.contains(&self.signals.me);
        self.signals.own_post.set(is_own);
        self.signals.awaits_own.set(is_own);
        let awaited = self.await_each(&ranks, COMPLETE)?;
        *self.signals.awaited.borrow_mut() = awaited;
        if promise.no_check { Ok(()) } else { self.notify_each(&ranks, POST) }
    }

    /// Begins to access the memory of a group's members, after they have posted.
    ///
    /// # Errors
    /// [`ErrorClass::RmaSync`] in another epoch, or if this process waits for itself; [`ErrorClass::Group`]; and errors
    /// that end the run.
    pub fn start(&self, group: &Group, promise: Promise) -> Result {
        let ranks = self.ranks_of(group)?;
        self.epochs.check_start()?;
        let is_own = ranks.contains(&self.signals.me);
        let posted = self.signals.own_post.get() || promise.no_check || !is_own;
        ensure!(posted, ErrorClass::RmaSync, "a start that waits for a post of its own process");
        if is_own {
            self.signals.own_post.set(false);
        }
        if !promise.no_check {
            let awaited = self.await_each(&ranks, POST)?;
            self.wait_each(&awaited)?;
        }
        self.epochs.start(ranks);
        Ok(())
    }

    /// Ends the access that a start began, and completes all its operations.
    ///
    /// # Errors
    /// [`ErrorClass::RmaSync`] without a start; errors of operations that are detected now; and errors that end the
    /// run.
    pub fn complete(&self) -> Result {
        let ranks = self.epochs.complete()?;
        let flushed = self.service.flush(None);
        self.signals.own_complete.set(ranks.contains(&self.signals.me));
        self.notify_each(&ranks, COMPLETE)?;
        flushed
    }

    /// Waits until all members of a post have completed their access.
    ///
    /// # Errors
    /// [`ErrorClass::RmaSync`] without a post, or if this process waits for itself; and errors that end the run.
    pub fn wait(&self) -> Result {
        self.epochs.check_exposed()?;
        ensure!(
            !self.signals.awaits_own.get() || self.signals.own_complete.get(),
            ErrorClass::RmaSync,
            "a wait for a complete of its own process"
        );
        let awaited = self.signals.awaited.take();
        self.wait_each(&awaited)?;
        self.conceal();
        Ok(())
    }

    /// Returns whether all members of a post have completed; then the access has ended.
    ///
    /// # Errors
    /// [`ErrorClass::RmaSync`] without a post, and errors that end the run.
    pub fn test(&self) -> Result<bool> {
        self.epochs.check_exposed()?;
        self.engine().progress()?;
        if self.signals.awaits_own.get() && !self.signals.own_complete.get() {
            return Ok(false);
        }
        let endpoint = self.engine().endpoint()?;
        let all_done = self.signals.awaited.borrow().iter().all(|&one| endpoint.is_done(one));
        drop(endpoint);
        if all_done {
            let awaited = self.signals.awaited.take();
            self.wait_each(&awaited)?;
            self.conceal();
        }
        Ok(all_done)
    }

    fn conceal(&self) {
        self.epochs.conceal();
        self.signals.own_complete.set(false);
        self.signals.awaits_own.set(false);
    }

    /// Waits until all messages were sent.
    pub(super) fn finish_signals(&self) -> Result {
        let sent = self.signals.sent.take();
        self.wait_each(&sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Envelope, LockHolder};

    #[test]
    fn waits_for_messages_of_a_window_are_explained_by_the_calls_that_end_them() {
        let message =
            |tag| explain(&Awaited::Message(Selector { context: 6, source: Some(1), tag }));
        let envelope = |tag| Envelope { context: 6, source: 2, tag, bytes: 0, room: 0 };
        let receive = |tag| explain(&Awaited::Receive { to: 3, envelope: envelope(tag) });
        let data = |tag| explain(&Awaited::Data(envelope(tag)));
        for (found, expected) in [
            (message(Some(POST)), "until rank 1 calls MPI_Win_post"),
            (message(Some(COMPLETE)), "until rank 1 calls MPI_Win_complete"),
            (
                message(Some(WINDOW_ANSWERS + 4)),
                "for operations on the memory of rank 1 to complete",
            ),
            (receive(POST), "until rank 3 calls MPI_Win_start"),
            (receive(COMPLETE), "until rank 3 calls MPI_Win_wait"),
            (receive(0), "for operations on the memory of rank 3 to complete"),
            (receive(WINDOW_ANSWERS), "until rank 3 receives an answer to its operation"),
            (data(0), "for the data of an operation of rank 2"),
            (data(WINDOW_ANSWERS), "for operations on the memory of rank 2 to complete"),
        ] {
            assert_eq!(found.unwrap(), expected);
        }
        let lock = Awaited::Lock { context: 6, of: 1, holder: LockHolder::Unknown };
        assert_eq!(explain(&lock), None);
    }
}
