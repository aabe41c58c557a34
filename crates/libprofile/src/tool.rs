//! Tools of the user's that come between this library and MPI's: their calls are not those of the program.

use std::cell::Cell;

thread_local! {
    /// Number of calls of the program that a tool has under way in this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A call of the program that a tool has under way, until this is dropped.
pub(crate) struct Inside(());

/// Enters a tool.
pub(crate) fn enter() -> Inside {
    DEPTH.set(DEPTH.get() + 1);
    Inside(())
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Returns whether a call comes from a tool whose call was observed.
pub(crate) fn is_inside() -> bool {
    DEPTH.get() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_inside_until_the_outermost_has_returned() {
        let outer = enter();
        drop(enter());
        assert!(is_inside());
        drop(outer);
        assert!(!is_inside());
    }
}
