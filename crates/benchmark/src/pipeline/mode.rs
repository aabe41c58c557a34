//! The mode of a chain.

/// The mode of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every stage works as soon as its input has arrived.
    SelfTimed,
    /// Every stage processes a matrix one period after the stage before, by the clock that all ranks share.
    Synchronised,
    /// Every stage computes, without messages.
    FunctionsOnly,
    /// All messages are sent, without computing.
    MessagesOnly,
}

impl Mode {
    /// Returns its name in measurements.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::SelfTimed => "self-timed",
            Mode::Synchronised => "synchronised",
            Mode::FunctionsOnly => "functions only",
            Mode::MessagesOnly => "messages only",
        }
    }
}
