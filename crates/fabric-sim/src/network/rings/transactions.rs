//! The transactions of a message or an access.

use contract::AccessKind;

use crate::network::Parcel;
use crate::sci::{FULL_PACKET_BYTES, LOCK_BYTES, TransactionKind};

/// Data bytes of a short packet, which carries a rest of at most this length.
const SHORT_BYTES: u32 = 16;

/// The transactions that move a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transactions {
    operation: Operation,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Move,
    Write,
    Read,
    Lock,
}

impl Transactions {
    /// Returns the transactions of a parcel.
    pub(super) fn of(parcel: Parcel) -> Self {
        let (operation, bytes) = match parcel.access {
            None => (Operation::Move, parcel.bytes),
            Some(access) => match access.kind {
                AccessKind::Put => (Operation::Write, access.there_bytes),
                AccessKind::Get => (Operation::Read, access.back_bytes),
                AccessKind::Update => (Operation::Lock, access.there_bytes.max(access.back_bytes)),
            },
        };
        Transactions { operation, bytes }
    }

    /// Returns the number of bytes that they move.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of transactions: at least one, because a parcel without data must arrive, too.
    pub(super) fn count(&self) -> u64 {
        let each = if self.operation == Operation::Lock { LOCK_BYTES } else { FULL_PACKET_BYTES };
        self.bytes.div_ceil(u64::from(each)).max(1)
    }

    /// Returns one of them, counted from 0.
    pub(super) fn number(&self, number: u64) -> TransactionKind {
        let rest = self.bytes.saturating_sub(number * u64::from(FULL_PACKET_BYTES));
        let bytes = if rest <= u64::from(SHORT_BYTES) { SHORT_BYTES } else { FULL_PACKET_BYTES };
        match self.operation {
            Operation::Move => TransactionKind::Move(bytes),
            Operation::Write => TransactionKind::Write(bytes),
            Operation::Read => TransactionKind::Read(bytes),
            Operation::Lock => TransactionKind::Lock,
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::RemoteAccess;

    use super::*;
    use crate::message_kind::MessageKind;

    fn all(bytes: u64, access: Option<RemoteAccess>) -> Vec<TransactionKind> {
        let kind = MessageKind::Data;
        let parcel = Parcel { message: 0, from: 0, to: 1, bytes, kind, access };
        let transactions = Transactions::of(parcel);
        (0..transactions.count()).map(|number| transactions.number(number)).collect()
    }

    #[test]
    fn what_is_left_goes_in_the_shortest_packet_that_holds_it() {
        use TransactionKind::Move;
        assert_eq!(all(0, None), [Move(16)]);
        assert_eq!(all(16, None), [Move(16)]);
        assert_eq!(all(17, None), [Move(64)]);
        assert_eq!(all(64, None), [Move(64)]);
        assert_eq!(all(65, None), [Move(64), Move(16)]);
        assert_eq!(all(200, None), [Move(64), Move(64), Move(64), Move(16)]);
        assert_eq!(all(250, None), [Move(64); 4]);
    }

    #[test]
    fn accesses_are_transactions_with_a_response() {
        let access = |kind, there_bytes, back_bytes| {
            all(0, Some(RemoteAccess { kind, there_bytes, back_bytes }))
        };
        use TransactionKind::{Lock, Read, Write};
        assert_eq!(access(AccessKind::Put, 80, 0), [Write(64), Write(16)]);
        assert_eq!(access(AccessKind::Get, 0, 128), [Read(64), Read(64)]);
        // Compare and swap of a word, a lock, and the addition to five words.
        assert_eq!(access(AccessKind::Update, 16, 8), [Lock]);
        assert_eq!(access(AccessKind::Update, 0, 0), [Lock]);
        assert_eq!(access(AccessKind::Update, 40, 40), [Lock, Lock, Lock]);
    }
}
