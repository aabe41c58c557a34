//! Access to a member's memory, shared or exclusive, and notices.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use super::control::Control;
use super::requests::Ticket;
use super::wire::Kind;
use super::{Route, Window};
use endpoint::{Awaited, Endpoint, Error, LockHolder, Result, Selector, Untrusted};

/// Number of times that a request for shared access yields to waiters for exclusive access.
const TURNS_LEFT: u32 = 64;

/// An attempt to get access, which [`Window::try_lock`] continues until it succeeds.
#[derive(Debug)]
pub struct LockAttempt {
    target: usize,
    exclusive: bool,
    state: Attempt,
}

#[derive(Debug)]
enum Attempt {
    New,
    /// Counted among the waiters for exclusive access.
    Counted,
    /// Number of times that it has yielded.
    Passed(u32),
    Requested(Ticket),
    /// In the queue of this member's own server.
    Queued,
}

impl LockAttempt {
    /// Creates an attempt to get exclusive or shared access to a member's memory.
    pub fn new(target: usize, exclusive: bool) -> Self {
        LockAttempt { target, exclusive, state: Attempt::New }
    }
}

impl Window {
    /// Returns a member's control block, if this process can access it.
    fn control_of(&self, target: usize) -> Option<&Control> {
        // SAFETY: the block lasts as long as the window.
        self.targets[target].control.map(|control: NonNull<Control>| unsafe { control.as_ref() })
    }

    /// Returns whether members learn by message that they have access, so that a wait for it may sleep. Otherwise they
    /// acquire and release it in memory that they share, and inform nobody, even if other operations use messages.
    pub fn grants_by_message(&self) -> bool {
        self.grants_by_message
    }

    /// Continues the attempt and returns whether it has succeeded. Never waits.
    ///
    /// # Errors
    /// [`Error::RankEnded`] if the member with exclusive access has left the run, and errors that end the run.
    pub fn try_lock<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        attempt: &mut LockAttempt,
    ) -> Result<bool> {
        let (me, target, exclusive) = (self.me, attempt.target, attempt.exclusive);
        if let Attempt::Requested(ticket) = attempt.state {
            let has_come = self.has_come(ticket);
            return if has_come { self.take(ticket).map(|_| true) } else { Ok(false) };
        }
        // An agent keeps the order of the waiters, so its own member must send requests to it, too.
        let Some(control) = self.control_of(target).filter(|_| !self.has_agents) else {
            let kind = if exclusive { Kind::Take } else { Kind::Share };
            attempt.state = Attempt::Requested(self.request(
                endpoint,
                target,
                kind,
                (&[], &[]),
                (None, false),
            )?);
            return Ok(false);
        };
        // The others are served in the order of their requests whenever this member makes progress. An attempt outside
        // that order would find the lock taken each time.
        if target == me && self.is_served() {
            return self.try_own_lock(endpoint, attempt);
        }
        // Relaxed throughout: only fairness depends on the waiters.
        let waiting = control.waiting();
        let tried = match (exclusive, &mut attempt.state) {
            (true, _) => control.try_take(me),
            (false, Attempt::Passed(turns)) if *turns < TURNS_LEFT => {
                *turns += 1;
                if waiting.load(Ordering::Relaxed) > 0 {
                    return Ok(false);
                }
                control.try_share()
            }
            (false, state) => {
                if matches!(state, Attempt::New) && waiting.load(Ordering::Relaxed) > 0 {
                    *state = Attempt::Passed(0);
                    return Ok(false);
                }
                control.try_share()
            }
        };
        let counted = matches!(attempt.state, Attempt::Counted);
        if tried {
            if counted {
                waiting.fetch_sub(1, Ordering::Relaxed);
            }
            return Ok(true);
        }
        if exclusive && !counted {
            waiting.fetch_add(1, Ordering::Relaxed);
            attempt.state = Attempt::Counted;
        }
        self.check_holder(endpoint, || control.holder())?;
        Ok(false)
    }

    /// Returns the event that an attempt without success waits for, or `None` while it lets other members go first.
    pub fn awaited_lock(&self, attempt: &LockAttempt) -> Option<Awaited> {
        if matches!(attempt.state, Attempt::Passed(turns) if turns < TURNS_LEFT) {
            return None;
        }
        let rank_of = |member: usize| self.targets[member].rank;
        let holder = match self.control_of(attempt.target).map(Control::holder) {
            Some(Some(holder)) => self.lock_holder(holder),
            Some(None) => LockHolder::Several,
            None => LockHolder::Unknown,
        };
        Some(Awaited::Lock { context: self.context, of: rank_of(attempt.target), holder })
    }

    /// Returns who has access to this member's memory, and the ranks that have asked this member for access and wait,
    /// if there are any.
    pub fn waiting_for_own_lock(&self) -> Option<(LockHolder, Vec<usize>)> {
        let rank_of = |member: usize| self.targets[member].rank;
        let waiting: Vec<usize> = self.server.try_borrow().ok()?.waiting().map(rank_of).collect();
        let holder = self.control_of(self.me)?.holder();
        let holder = holder.map_or(LockHolder::Several, |holder| self.lock_holder(holder));
        (!waiting.is_empty()).then_some((holder, waiting))
    }

    /// Returns the member that a word of a control block names, if there is one. Every member can write the words.
    fn member(&self, named: Untrusted<usize>) -> Option<usize> {
        named.below(self.targets.len())
    }

    fn lock_holder(&self, named: Untrusted<usize>) -> LockHolder {
        let rank_of = |member: usize| LockHolder::Rank(self.targets[member].rank);
        self.member(named).map_or(LockHolder::Unknown, rank_of)
    }

    /// As [`try_lock`](Window::try_lock), for this member's own memory, which it serves to the others.
    fn try_own_lock<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        attempt: &mut LockAttempt,
    ) -> Result<bool> {
        if matches!(attempt.state, Attempt::New) {
            self.server.borrow_mut().queue_own(self.me, attempt.exclusive);
            attempt.state = Attempt::Queued;
        }
        self.grant(endpoint)?;
        if self.server.borrow_mut().take_own() {
            return Ok(true);
        }
        self.check_holder(endpoint, || self.control_of(self.me).and_then(Control::holder))?;
        Ok(false)
    }

    /// Fails if the member that excludes others has left the run. `holder` reads which member that is.
    pub(super) fn check_holder<E: Endpoint>(
        &self,
        endpoint: &mut E,
        holder: impl Fn() -> Option<Untrusted<usize>>,
    ) -> Result<()> {
        let Some(waits) = endpoint.long_waits() else { return Ok(()) };
        if !waits.any_has_left() {
            return Ok(());
        }
        let has_left = |member: usize| {
            let source = Some(self.targets[member].rank as u32);
            waits.none_will_send(Selector { context: self.context, source, tag: None })
        };
        let member = || holder().and_then(|member| self.member(member));
        match left_with_lock(member, has_left) {
            Some(member) => {
                let before = "it released a lock of a window".into();
                Err(Error::RankEnded { rank: self.targets[member].rank, before })
            }
            None => Ok(()),
        }
    }

    /// Releases access, after all operations on the member are complete.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn unlock<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        exclusive: bool,
    ) -> Result<()> {
        if let Some(control) = self.control_of(target).filter(|_| !self.has_agents) {
            control.give_up(self.me, exclusive);
            return if target == self.me && self.is_served() {
                self.grant(endpoint)
            } else {
                Ok(())
            };
        }
        let kind = if exclusive { Kind::GiveUpExclusive } else { Kind::GiveUpShared };
        self.request(endpoint, target, kind, (&[], &[]), (None, true)).map(drop)
    }

    /// Increments notice `number` of a member, after all earlier operations of this process on it, except those that
    /// the [network has under way](Window::has_in_network).
    ///
    /// # Errors
    /// [`Error::InvalidRank`], and errors that end the run.
    ///
    /// # Panics
    /// If there is no such notice.
    pub fn notify<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        number: usize,
    ) -> Result<()> {
        assert!(number < super::NOTICES, "there are {} notices", super::NOTICES);
        self.target(target)?;
        let here = self.targets[target].route != Route::Messages || target == self.me;
        if let Some(control) = self.control_of(target).filter(|_| here) {
            // Release, partner of the acquire in `notices`: a reader of the notice sees the puts before it.
            control.notice(number).fetch_add(1, Ordering::Release);
            return Ok(());
        }
        let kind = Kind::Notify(number as u32);
        self.request(endpoint, target, kind, (&[], &[]), (None, true)).map(drop)
    }

    /// Returns the number of times that this member has received a notice.
    pub fn notices(&self, number: usize) -> u64 {
        self.control_of(self.me).map_or(0, |control| control.notice(number).load(Ordering::Acquire))
    }
}

/// Returns the member that has left with a lock. The holder is read again after its state: it may have released the
/// lock, and then left, between the first reading and that of its state.
fn left_with_lock(
    holder: impl Fn() -> Option<usize>,
    has_left: impl FnOnce(usize) -> bool,
) -> Option<usize> {
    let member = holder()?;
    (has_left(member) && holder() == Some(member)).then_some(member)
}

#[cfg(test)]
mod tests {
    use super::left_with_lock;
    use std::cell::Cell;

    #[test]
    fn a_member_that_releases_its_lock_and_then_leaves_has_not_left_with_it() {
        let holder = Cell::new(Some(1));
        let releases_and_leaves = |_| {
            holder.set(None);
            true
        };
        assert_eq!(left_with_lock(|| holder.get(), releases_and_leaves), None);
        assert_eq!(left_with_lock(|| Some(1), |_| true), Some(1));
        assert_eq!(left_with_lock(|| Some(1), |_| false), None);
        assert_eq!(left_with_lock(|| None, |_| true), None);
    }
}
