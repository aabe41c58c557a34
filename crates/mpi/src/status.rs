//! The status of a message.

use crate::datatype::Datatype;
use crate::error::ErrorClass;

/// The other end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A rank of the communicator.
    Rank(u32),
    /// Any rank, as a receive may request.
    Any,
    /// The null process: a message to or from it is neither sent nor waited for.
    Nobody,
}

/// The status of a message, or of an operation without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Sender of the message.
    pub source: Peer,
    /// Tag of the message; `None` for an operation without a message.
    pub tag: Option<u32>,
    /// Number of received bytes.
    pub bytes: u64,
    /// True if the operation was cancelled.
    pub is_cancelled: bool,
    /// Error of the operation, if several operations are reported at once.
    pub error: Option<ErrorClass>,
}

impl Status {
    /// Creates the status of a message.
    #[inline(always)]
    pub fn new(source: u32, tag: u32, bytes: u64) -> Self {
        let source = Peer::Rank(source);
        Status { source, tag: Some(tag), bytes, is_cancelled: false, error: None }
    }

    /// Creates the empty status.
    #[inline]
    pub fn empty() -> Self {
        Status { source: Peer::Any, tag: None, bytes: 0, is_cancelled: false, error: None }
    }

    /// Creates the status of an operation with [`Peer::Nobody`].
    pub fn of_nobody() -> Self {
        Status { source: Peer::Nobody, ..Status::empty() }
    }

    /// Returns the status of the cancelled operation.
    #[must_use]
    pub fn cancelled(self) -> Self {
        Status { is_cancelled: true, ..self }
    }

    /// Returns the status of the failed operation.
    #[must_use]
    pub fn with_error(self, class: ErrorClass) -> Self {
        Status { error: Some(class), ..self }
    }

    /// Returns the number of elements of the message, or `None` if it ends inside of one.
    pub fn count(&self, of: &Datatype) -> Option<u64> {
        match (self.bytes, of.size() as u64) {
            (0, _) => Some(0),
            (_, 0) => None,
            (bytes, size) => bytes.is_multiple_of(size).then(|| bytes / size),
        }
    }

    /// Returns the number of basic elements of the message, or `None` if it ends inside of one.
    pub fn elements(&self, of: &Datatype) -> Option<u64> {
        of.elements_in(self.bytes as i64).map(|elements| elements as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Kind;

    #[test]
    fn elements_are_counted_whole_and_in_parts() {
        let parts = vec![Datatype::basic(Kind::Signed(4)), Datatype::basic(Kind::Float(8))];
        let of = Datatype::structure(vec![1, 1], vec![0, 8], parts).unwrap();
        // 12 bytes of data each: an integer and a number.
        let of_bytes = |bytes| Status::new(0, 0, bytes);
        assert_eq!((of_bytes(24).count(&of), of_bytes(24).elements(&of)), (Some(2), Some(4)));
        assert_eq!((of_bytes(16).count(&of), of_bytes(16).elements(&of)), (None, Some(3)));
        assert_eq!((of_bytes(14).count(&of), of_bytes(14).elements(&of)), (None, None));
        let nothing = Datatype::contiguous(0, &of).unwrap();
        assert_eq!((of_bytes(0).count(&nothing), of_bytes(4).count(&nothing)), (Some(0), None));
        assert_eq!(Status::empty().count(&of), Some(0));
    }
}
