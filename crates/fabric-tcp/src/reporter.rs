//! Reports of a rank to the process that started it.

use std::net::TcpStream;
use std::rc::Rc;

use contract::{Error, Result};

use crate::control::{Message, send};

/// Passes reports on while a program holds the rank. It is not `Send`: reports of two threads would interleave.
#[derive(Clone)]
pub struct Reporter(Destination);

#[derive(Clone)]
enum Destination {
    Local(launcher::Reporter),
    Remote(Rc<TcpStream>),
}

impl Reporter {
    pub(crate) fn local(reporter: launcher::Reporter) -> Self {
        Reporter(Destination::Local(reporter))
    }

    pub(crate) fn remote(stream: Rc<TcpStream>) -> Self {
        Reporter(Destination::Remote(stream))
    }

    /// Passes `bytes` on as one report. Reports arrive in the order of this rank's calls.
    ///
    /// # Errors
    /// [`Error::System`] if nobody reads any more.
    pub fn report(&self, bytes: &[u8]) -> Result<()> {
        match &self.0 {
            Destination::Local(reporter) => reporter.report(bytes),
            Destination::Remote(stream) => {
                send(stream, &Message::Report(bytes.to_vec())).map_err(|error| Error::System {
                    what: "handing a report to the process that started the run".into(),
                    reason: error.to_string(),
                })
            }
        }
    }
}
