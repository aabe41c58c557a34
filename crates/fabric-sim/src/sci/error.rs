//! Errors in the settings of rings and traffic.

/// The error in [`RingSettings`](super::RingSettings) or [`Traffic`](super::Traffic).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SettingsError {
    pub(super) what: String,
}

impl SettingsError {
    pub(super) fn new(what: impl Into<String>) -> Self {
        SettingsError { what: what.into() }
    }
}
