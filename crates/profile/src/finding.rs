//! Mistakes in the use of memory.

/// A mistake in the use of the memory of posted operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// Index of the place whose call revealed it.
    pub site: u16,
    /// Index of the place that had posted the memory.
    pub other: u16,
    /// First byte concerned.
    pub address: u64,
    /// Number of bytes concerned.
    pub bytes: u64,
    /// Number of times that it was seen.
    pub times: u64,
}

/// Kind of a mistake in the use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum FindingKind {
    /// A receive was posted into memory that another receive may write.
    ReceivesOverlap = 1,
    /// A receive was posted into memory that a send may still read.
    ReceiveOverSend = 2,
    /// A send was posted from memory that a receive may write.
    SendOverReceive = 3,
    /// The data of a send were changed before it had ended.
    SendChanged = 4,
    /// The data of a send were changed before the send had ended.
    ReceiveChanged = 5,
    /// A call receives into memory that it also sends.
    OwnOverlap = 6,
    /// The request of a receive was freed before the receive had ended.
    ReceiveFreed = 7,
}

impl FindingKind {
    /// Returns the kind with a number.
    pub fn of(number: u64) -> Option<Self> {
        use FindingKind::*;
        let all = [
            ReceivesOverlap,
            ReceiveOverSend,
            SendOverReceive,
            SendChanged,
            ReceiveChanged,
            OwnOverlap,
            ReceiveFreed,
        ];
        all.into_iter().find(|&kind| kind as u64 == number)
    }
}
