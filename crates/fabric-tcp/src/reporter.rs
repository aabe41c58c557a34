//! A rank's way to the process that started it, apart from the rank itself.

use std::net::TcpStream;
use std::rc::Rc;

use contract::{Error, Result};

use crate::control::{Message, say};

/// Hands reports over while a program holds the rank. It cannot be sent to another thread: two of them would cut each
/// other's reports in pieces.
#[derive(Clone)]
pub struct Reporter(Receiver);

#[derive(Clone)]
enum Receiver {
    Local(fabric_shm::Reporter),
    Remote(Rc<TcpStream>),
}

impl Reporter {
    pub(crate) fn local(reporter: fabric_shm::Reporter) -> Self {
        Reporter(Receiver::Local(reporter))
    }

    pub(crate) fn remote(stream: Rc<TcpStream>) -> Self {
        Reporter(Receiver::Remote(stream))
    }

    /// Hands `bytes` over, whole, and in the order of this rank's calls.
    ///
    /// # Errors
    /// [`Error::System`] if nobody reads any more.
    pub fn report(&self, bytes: &[u8]) -> Result<()> {
        match &self.0 {
            Receiver::Local(reporter) => reporter.report(bytes),
            Receiver::Remote(stream) => {
                say(stream, &Message::Report(bytes.to_vec())).map_err(|error| Error::System {
                    what: "handing a report to the process that started the run".into(),
                    reason: error.to_string(),
                })
            }
        }
    }
}
