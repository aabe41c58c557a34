//! The collectives that this process has made in each context, in order, to be compared with those of the other members
//! (decision 0150).

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use call_stack::CallSite;
use collectives::CallId;

/// Number of a context's latest calls that are kept.
pub(crate) const KEPT: usize = 64;
/// Number of contexts whose calls are kept after they were closed, with those that are open.
const CONTEXTS_MAX: usize = 1024;

/// What the members of a call must agree on beside its id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Agreed {
    /// Nothing more, or bytes, which match everything.
    #[default]
    Nothing,
    /// The same word at all members: a signature.
    Same(u64),
    /// The words of all members have the sum zero: what each sends is what the others receive.
    Balanced(u64),
}

/// A call of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedCall {
    pub(crate) id: CallId,
    pub(crate) agreed: Agreed,
    pub(crate) site: CallSite,
}

/// The calls in one context.
pub(crate) struct CallLog {
    /// Number of the context and the first of its members as a rank of the run: another context of other members may have
    /// the same number.
    pub(crate) key: (u32, u32),
    pub(crate) members: u32,
    /// This process's rank in it.
    me: u32,
    count: Cell<u32>,
    hash: Cell<u64>,
    recent: RefCell<Vec<LoggedCall>>,
}

/// Mixes a word into a hash.
fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl CallLog {
    fn new(key: (u32, u32), members: usize, me: usize) -> Self {
        CallLog {
            key,
            members: members as u32,
            me: me as u32,
            count: Cell::new(0),
            hash: Cell::new(0),
            recent: RefCell::default(),
        }
    }

    /// Adds a call.
    #[inline]
    pub(crate) fn add(&self, call: LoggedCall) {
        let place = self.count.get() as usize % KEPT;
        self.count.set(self.count.get().wrapping_add(1));
        let hash = mixed(self.hash.get(), u64::from(call.id.bits()));
        self.hash.set(match call.agreed {
            Agreed::Nothing => hash,
            Agreed::Same(word) => mixed(hash, word),
            // Another one at each member.
            Agreed::Balanced(_) => mixed(hash, 1),
        });
        let mut recent = self.recent.borrow_mut();
        match recent.get_mut(place) {
            Some(oldest) => *oldest = call,
            None => recent.push(call),
        }
    }

    /// Returns the number of calls.
    pub(crate) fn count(&self) -> u32 {
        self.count.get()
    }

    /// Returns call `number`, counted from 0, if it was made and is kept.
    pub(crate) fn call(&self, number: u32) -> Option<LoggedCall> {
        let age = self.count.get().checked_sub(number)?;
        let kept = age > 0 && age as usize <= KEPT;
        kept.then(|| self.recent.borrow()[number as usize % KEPT])
    }

    /// Returns words of which the sum over all members is zero if all have made the same calls; otherwise it is not, but
    /// for one case in 2^64.
    pub(crate) fn residue(&self) -> u64 {
        let all = mixed(mixed(self.hash.get(), self.count.get().into()), self.key.0.into());
        let own = match self.me {
            0 => all.wrapping_mul(u64::from(self.members - 1)),
            _ => all.wrapping_neg(),
        };
        let balanced = self.recent.borrow().iter().fold(0_u64, |sum, call| match call.agreed {
            Agreed::Balanced(word) => sum.wrapping_add(word),
            _ => sum,
        });
        own.wrapping_add(balanced)
    }
}

/// The logs of all contexts, the oldest first.
#[derive(Default)]
pub(crate) struct CallLogs(RefCell<Vec<Rc<CallLog>>>);

impl CallLogs {
    /// Begins the log of a context.
    pub(crate) fn open(&self, key: (u32, u32), members: usize, me: usize) -> Rc<CallLog> {
        let mut all = self.0.borrow_mut();
        if all.len() >= CONTEXTS_MAX {
            // Members may forget another one than this process; then it is not compared.
            let gone = all.iter().position(|log| Rc::strong_count(log) == 1);
            gone.into_iter().for_each(|place| drop(all.remove(place)));
        }
        let log = Rc::new(CallLog::new(key, members, me));
        all.push(log.clone());
        log
    }

    /// Returns all of them.
    pub(crate) fn all(&self) -> Vec<Rc<CallLog>> {
        self.0.borrow().clone()
    }

    /// Returns a word of which the sum over all processes is zero if the members of each context have made the same calls.
    pub(crate) fn residue(&self) -> u64 {
        self.0.borrow().iter().fold(0, |sum, log| sum.wrapping_add(log.residue()))
    }
}

#[cfg(test)]
mod tests {
    use collectives::Collective;

    use super::*;

    fn call(collective: Collective, agreed: Agreed) -> LoggedCall {
        LoggedCall { id: CallId::of(collective), agreed, site: CallSite::default() }
    }

    fn sum(of_members: &[&[LoggedCall]]) -> u64 {
        let logs = of_members.iter().enumerate().map(|(me, calls)| {
            let logs = CallLogs::default();
            let log = logs.open((7, 0), of_members.len(), me);
            calls.iter().for_each(|call| log.add(*call));
            logs.residue()
        });
        logs.fold(0, u64::wrapping_add)
    }

    #[test]
    fn the_sum_over_members_is_zero_only_if_all_have_made_the_same_calls() {
        let barrier = call(Collective::Barrier, Agreed::Nothing);
        let scan = call(Collective::InclusiveScan, Agreed::Same(5));
        assert_eq!(sum(&[&[barrier, scan], &[barrier, scan], &[barrier, scan]]), 0);
        assert_ne!(sum(&[&[barrier, scan], &[scan, barrier], &[barrier, scan]]), 0);
        assert_ne!(sum(&[&[barrier, scan], &[barrier], &[barrier, scan]]), 0);
        let other = call(Collective::InclusiveScan, Agreed::Same(6));
        assert_ne!(sum(&[&[scan], &[other]]), 0);
        let balanced = |word: i64| call(Collective::AllToAll, Agreed::Balanced(word as u64));
        assert_eq!(sum(&[&[balanced(7)], &[balanced(-3)], &[balanced(-4)]]), 0);
        assert_ne!(sum(&[&[balanced(7)], &[balanced(-3)], &[balanced(-3)]]), 0);
    }

    #[test]
    fn the_last_calls_are_kept() {
        let log = CallLog::new((7, 0), 2, 0);
        for number in 0..KEPT as u64 + 2 {
            log.add(call(Collective::Barrier, Agreed::Same(number)));
        }
        assert!(log.call(1).is_none() && log.call(KEPT as u32 + 2).is_none());
        for number in [2, 63, 64, 65] {
            assert_eq!(log.call(number).unwrap().agreed, Agreed::Same(number.into()));
        }
    }
}
