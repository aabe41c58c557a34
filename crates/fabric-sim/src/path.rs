//! The critical path of a run: the chain of activities, from rank to rank, that determines the run's length.
//!
//! The paths are extended as the run advances, without a record of the past. Each rank has the path that led to it;
//! each message has the path of its sender when it was sent. A rank that waited continues the path of what ended its
//! wait.

use contract::{Time, TimeSpan};

/// Time of a run along its critical path, by activity. The sum of the four spans is the length of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// The rank at which it ends.
    pub rank: usize,
    /// Computing of the program.
    pub computing: TimeSpan,
    /// Work of processors for messages and collectives.
    pub library: TimeSpan,
    /// Messages under way, and parts on boards until other ranks see them.
    pub moving: TimeSpan,
    /// Sleeps of the program.
    pub sleeping: TimeSpan,
    /// Number of changes from one rank to another.
    pub changes: u64,
}

impl CriticalPath {
    /// Returns its length.
    pub fn length(&self) -> TimeSpan {
        self.computing + self.library + self.moving + self.sleeping
    }
}

/// Activity of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathActivity {
    Computing,
    Library,
    Sleeping,
}

/// A path up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathUntil {
    path: CriticalPath,
    until: Time,
}

/// The paths to all ranks and messages.
pub(crate) struct Paths {
    ranks: Vec<PathUntil>,
    messages: Vec<PathUntil>,
    /// The path to the rank that ended last.
    pub(crate) last: CriticalPath,
}

impl Paths {
    pub(crate) fn new(ranks: usize) -> Self {
        let path = |rank| CriticalPath { rank, ..CriticalPath::default() };
        let ranks = (0..ranks).map(|rank| PathUntil { path: path(rank), until: Time::ZERO });
        Paths { ranks: ranks.collect(), messages: Vec::new(), last: path(0) }
    }

    /// Extends a rank's path until now with one activity.
    pub(crate) fn extend(&mut self, rank: usize, now: Time, activity: PathActivity) {
        let PathUntil { path, until } = &mut self.ranks[rank];
        let span = match activity {
            PathActivity::Computing => &mut path.computing,
            PathActivity::Library => &mut path.library,
            PathActivity::Sleeping => &mut path.sleeping,
        };
        *span = *span + now.since(*until);
        *until = now;
    }

    /// Returns the path to a rank's current activity.
    pub(crate) fn of_rank(&mut self, rank: usize, now: Time) -> PathUntil {
        self.extend(rank, now, PathActivity::Library);
        self.ranks[rank]
    }

    /// Sets the path of a message that depends on a rank's current activity: the rank sends it, or posts its receive.
    pub(crate) fn depend(&mut self, message: u32, rank: usize, now: Time) {
        let index = message as usize;
        if self.messages.len() <= index {
            self.messages.resize(index + 1, PathUntil::default());
        }
        self.messages[index] = self.of_rank(rank, now);
    }

    /// Continues a rank that waited with the path of a message.
    pub(crate) fn wake_by_message(&mut self, rank: usize, message: u32, now: Time) {
        self.wake(rank, self.messages[message as usize], now);
    }

    /// As [`wake_by_message`](Paths::wake_by_message), with the path `cause` of another rank.
    pub(crate) fn wake(&mut self, rank: usize, cause: PathUntil, now: Time) {
        let PathUntil { mut path, until } = cause;
        path.moving = path.moving + now.since(until);
        path.changes += u64::from(path.rank != rank);
        path.rank = rank;
        self.ranks[rank] = PathUntil { path, until: now };
    }

    /// Ends a rank's path.
    pub(crate) fn end(&mut self, rank: usize, now: Time) {
        self.last = self.of_rank(rank, now).path;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + TimeSpan::from_us(us)
    }

    /// Rank 0 computes for 5 us, takes 1 us to send, and its message arrives at 10 us. Rank 1 has computed for 3 us and
    /// waits; it sleeps from 11 us to 14 us. So its path is 5 us of computing, 1 us and 1 us of the library, 4 us of
    /// the message under way, and 3 us of sleep.
    #[test]
    fn a_rank_that_waited_goes_on_with_the_path_of_its_message() {
        let mut paths = Paths::new(2);
        paths.extend(0, at(5), PathActivity::Computing);
        paths.depend(2, 0, at(6));
        paths.extend(1, at(3), PathActivity::Computing);
        paths.end(0, at(6));
        paths.wake_by_message(1, 2, at(10));
        paths.extend(1, at(11), PathActivity::Library);
        paths.extend(1, at(14), PathActivity::Sleeping);
        paths.end(1, at(14));
        let us = TimeSpan::from_us;
        let expected = CriticalPath {
            rank: 1,
            computing: us(5),
            library: us(2),
            moving: us(4),
            sleeping: us(3),
            changes: 1,
        };
        assert_eq!(paths.last, expected);
        assert_eq!(expected.length(), us(14));
    }
}
