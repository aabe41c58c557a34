//! Operations for a fabric that uses this one beside another.

use engine::MessageEngine;

use super::OfiEndpoint;
use crate::Libfabric;

impl OfiEndpoint {
    /// Returns its message engine.
    pub fn into_engine(self) -> MessageEngine<Libfabric> {
        self.engine
    }

    /// Returns whether a posted receive has matched a message, which need not have arrived completely.
    pub fn is_matched(&self, receive: contract::Request) -> bool {
        self.engine.messages().transfers[receive].is_matched()
    }
}
