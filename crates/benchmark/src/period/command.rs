//! Commands of rank 0 to the other ranks.

use contract::{Rank, Result, TimeSpan};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Segment { period: TimeSpan, instances: u64 },
    End { period: Option<TimeSpan> },
}

const BYTES: usize = 16;

impl Command {
    /// Sends the command. Called by rank 0.
    pub(super) fn send(self, rank: &mut dyn Rank) -> Result<()> {
        rank.broadcast(0, &mut self.to_wire())
    }

    /// Receives the next command. Called by every other rank.
    pub(super) fn receive(rank: &mut dyn Rank) -> Result<Command> {
        let mut wire = [0; BYTES];
        rank.broadcast(0, &mut wire)?;
        Ok(Command::from_wire(wire))
    }

    /// Encodes the command. A segment has at least one instance, and a period that was found is not zero, so zero
    /// values are unambiguous.
    fn to_wire(self) -> [u8; BYTES] {
        let (period, instances) = match self {
            Command::Segment { period, instances } => (period, instances),
            Command::End { period } => (period.unwrap_or_default(), 0),
        };
        (u128::from(period.as_ps()) << 64 | u128::from(instances)).to_le_bytes()
    }

    fn from_wire(wire: [u8; BYTES]) -> Command {
        let wire = u128::from_le_bytes(wire);
        let (period, instances) = (TimeSpan::from_ps((wire >> 64) as u64), wire as u64);
        match instances {
            0 => Command::End { period: (period > TimeSpan::ZERO).then_some(period) },
            _ => Command::Segment { period, instances },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_the_wire() {
        let period = TimeSpan::from_us(5);
        let commands = [
            Command::Segment { period, instances: u64::MAX },
            Command::End { period: Some(period) },
            Command::End { period: None },
        ];
        for command in commands {
            assert_eq!(Command::from_wire(command.to_wire()), command);
        }
    }
}
