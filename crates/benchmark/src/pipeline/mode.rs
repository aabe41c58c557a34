//! The mode of a chain.

/// The mode of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every stage works as soon as it has something to work on.
    SelfTimed,
    /// Every stage works on a matrix one period after the stage before, by the clock that all ranks share.
    Synchronised,
    /// Every stage computes, and nothing flows.
    FunctionsOnly,
    /// Everything flows, and nothing is computed.
    MessagesOnly,
}

impl Mode {
    /// Its name in measurements.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::SelfTimed => "self-timed",
            Mode::Synchronised => "synchronised",
            Mode::FunctionsOnly => "functions only",
            Mode::MessagesOnly => "messages only",
        }
    }
}
