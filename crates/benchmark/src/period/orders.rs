//! What rank 0 orders the others to do next.

use contract::{Rank, Result, TimeSpan};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Leg { period: TimeSpan, instances: u64 },
    End { period: Option<TimeSpan> },
}

const BYTES: usize = 16;

impl Order {
    /// Called by rank 0.
    pub(super) fn send(self, rank: &mut dyn Rank) -> Result<()> {
        rank.broadcast(0, &mut self.to_wire())
    }

    /// Called by every other rank.
    pub(super) fn receive(rank: &mut dyn Rank) -> Result<Order> {
        let mut wire = [0; BYTES];
        rank.broadcast(0, &mut wire)?;
        Ok(Order::from_wire(wire))
    }

    /// A leg has an instance at least, and a period that was found is not zero.
    fn to_wire(self) -> [u8; BYTES] {
        let (period, instances) = match self {
            Order::Leg { period, instances } => (period, instances),
            Order::End { period } => (period.unwrap_or_default(), 0),
        };
        (u128::from(period.as_ps()) << 64 | u128::from(instances)).to_le_bytes()
    }

    fn from_wire(wire: [u8; BYTES]) -> Order {
        let wire = u128::from_le_bytes(wire);
        let (period, instances) = (TimeSpan::from_ps((wire >> 64) as u64), wire as u64);
        match instances {
            0 => Order::End { period: (period > TimeSpan::ZERO).then_some(period) },
            _ => Order::Leg { period, instances },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_the_wire() {
        let period = TimeSpan::from_us(5);
        let orders = [
            Order::Leg { period, instances: u64::MAX },
            Order::End { period: Some(period) },
            Order::End { period: None },
        ];
        for order in orders {
            assert_eq!(Order::from_wire(order.to_wire()), order);
        }
    }
}
