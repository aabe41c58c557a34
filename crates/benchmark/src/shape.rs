//! The shape of a measurement at one rank.

use record::{ParameterValue, Parameters};

/// The role of a rank in a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The first rank of the pair; rank 0 unless the measurement names another.
    First,
    /// The second rank of the pair; rank 1 unless the measurement names another.
    Second,
    /// Every other rank.
    Other,
}

/// The shape of a measurement at one rank.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// The number of ranks.
    pub(crate) ranks: usize,
    /// Number of this rank.
    pub(crate) me: usize,
    /// Ranks that communicate, if only two do.
    pub(crate) pair: (usize, usize),
    /// The message size in bytes.
    pub(crate) size: usize,
    /// Largest packet into which a message is cut; the message size if it is not cut.
    pub(crate) packet_bytes: usize,
    /// True if each message is answered by an empty one.
    pub(crate) acknowledgement: bool,
}

impl Shape {
    pub(crate) fn new(ranks: usize, me: usize, size: usize, parameters: &Parameters) -> Self {
        let number = |name: &str| match parameters.get(name) {
            Some(ParameterValue::Number(number)) => Some(*number as usize),
            _ => None,
        };
        Shape {
            ranks,
            me,
            pair: (number("from").unwrap_or(0), number("to").unwrap_or(1)),
            size,
            packet_bytes: number("packet_bytes").unwrap_or(size),
            acknowledgement: parameters.get("acknowledgement") == Some(&ParameterValue::Flag(true)),
        }
    }

    pub(crate) fn role(&self) -> Role {
        match self.me {
            me if me == self.pair.0 => Role::First,
            me if me == self.pair.1 => Role::Second,
            _ => Role::Other,
        }
    }

    /// Returns the number of bytes that reach other ranks if one rank has a block for each of them, or from each.
    pub(crate) fn bytes_to_others(&self) -> u64 {
        (self.size as u64).saturating_mul(self.ranks as u64 - 1)
    }

    /// Returns the number of bytes that reach other ranks if every rank has a block for each of them, or from each.
    pub(crate) fn bytes_all_to_all(&self) -> u64 {
        self.bytes_to_others().saturating_mul(self.ranks as u64)
    }

    /// Returns the other rank of the pair.
    pub(crate) fn peer(&self) -> usize {
        if self.role() == Role::First { self.pair.1 } else { self.pair.0 }
    }
}
