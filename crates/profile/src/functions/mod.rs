//! The observed functions of MPI.

mod list {
    include!(concat!(env!("OUT_DIR"), "/observed_functions.rs"));
}

use crate::arrivals::Dependence;

/// Kind of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// MPI_Init and similar.
    Start,
    /// MPI_Finalize and MPI_Abort.
    End,
    /// Sends, or starts a send.
    Send,
    /// Receives, or starts a receive.
    Receive,
    /// Sends and receives.
    Exchange,
    /// Completes started operations.
    Wait,
    /// Checks whether something has happened.
    Poll,
    /// A collective in which each member depends on all.
    All,
    /// A collective in which each member depends on the root.
    OnRoot,
    /// A collective in which the root depends on all.
    OfRoot,
    /// A collective in which each member depends on those before it.
    Lower,
    /// Accesses or manages windows.
    Window,
    /// Creates or frees communicators.
    Communicator,
    /// Reads or writes files.
    File,
    /// Any other function.
    Other,
}

impl Class {
    /// Returns the dependence of the ranks, if it is a collective.
    pub fn dependence(self) -> Option<Dependence> {
        match self {
            Class::All => Some(Dependence::All),
            Class::OnRoot => Some(Dependence::OnRoot),
            Class::OfRoot => Some(Dependence::OfRoot),
            Class::Lower => Some(Dependence::OnLower),
            _ => None,
        }
    }
}

/// Name for functions with an unknown number.
const OTHERS: &str = "other calls";

/// Returns the name and the kind of the function with a number.
pub fn function(number: u16) -> (&'static str, Class) {
    let index = usize::from(number).checked_sub(1);
    let function = index.and_then(|index| list::FUNCTIONS.get(index));
    function.copied().unwrap_or((OTHERS, Class::Other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_numbers() {
        assert_eq!(function(1), ("MPI_Init", Class::Start));
        assert_eq!(function(0).1, Class::Other);
        assert_eq!(function(u16::MAX).1, Class::Other);
        let of = |name| list::FUNCTIONS.iter().find(|one| one.0 == name).unwrap().1.dependence();
        assert_eq!(of("MPI_Allreduce"), Some(Dependence::All));
        assert_eq!(of("MPI_Ibcast"), Some(Dependence::OnRoot));
        assert_eq!(of("MPI_Gatherv"), Some(Dependence::OfRoot));
        assert_eq!(of("MPI_Send"), None);
    }
}
