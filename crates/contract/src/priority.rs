//! Which of several ranks on one processor runs.

/// The urgency of a rank among those that share its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// As the machine shares a processor out by itself: each rank gets its turn.
    #[default]
    TimeShared,
    /// As POSIX defines SCHED_FIFO: the rank of the highest number runs, as soon as it can and until it waits; those of
    /// one number follow each other, and all go before those that share their time. From 1, the least urgent, to
    /// [`Priority::MAX`].
    Fixed(u8),
}

/// Whether a rank got the priority that it asked for; what it is measured with goes into the record either way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorityGranted {
    /// From now on it has it.
    Granted,
    /// It keeps what it had.
    Refused {
        /// Why, and what would help, in words.
        why: String,
    },
}

impl Priority {
    /// The most urgent fixed priority.
    pub const MAX: u8 = 99;

    /// Returns whether it is one that a rank may ask for.
    pub const fn is_valid(self) -> bool {
        match self {
            Priority::TimeShared => true,
            Priority::Fixed(number) => number >= 1 && number <= Priority::MAX,
        }
    }
}

impl PriorityGranted {
    /// Returns whether the rank got it.
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
