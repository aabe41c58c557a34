//! The order in which ranks on one processor run.

/// The priority of a rank among those that share its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// The machine's default: each rank gets its share of time.
    #[default]
    TimeShared,
    /// SCHED_FIFO of POSIX: the rank with the highest number runs as soon as it can and until it waits. Ranks with the
    /// same number follow each other, and all precede time-shared ranks. From 1, the least urgent, to
    /// [`Priority::MAX`].
    Fixed(u8),
}

/// Outcome of a request for a priority. The record contains the priority that was used in the measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorityGranted {
    /// The rank has the priority from now on.
    Granted,
    /// The rank keeps its previous priority.
    Refused {
        /// The reason, and the remedy, in words.
        why: String,
    },
}

impl Priority {
    /// The most urgent fixed priority.
    pub const MAX: u8 = 99;

    /// Returns whether a rank may request this priority.
    pub const fn is_valid(self) -> bool {
        match self {
            Priority::TimeShared => true,
            Priority::Fixed(number) => number >= 1 && number <= Priority::MAX,
        }
    }
}

impl PriorityGranted {
    /// Returns whether the rank has the requested priority.
    pub const fn is_granted(&self) -> bool {
        matches!(self, PriorityGranted::Granted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_priorities_are_those_of_posix() {
        let valid = |number| Priority::Fixed(number).is_valid();
        assert_eq!([valid(0), valid(1), valid(99), valid(100)], [false, true, true, false]);
        assert!(Priority::default().is_valid());
    }
}
