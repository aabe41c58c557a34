//! Ports, at which a process accepts processes of other runs.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use contract::{
    Completion, Destination, Endpoint, LongWaits, MEETING_CONTEXT, ProcessName, Selector,
};

use crate::communicator::{Bridge, reach_all};
use crate::engine::{Context, Engine};
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::memory::Storage;

/// A port as programs know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Process of the port.
    process: ProcessName,
    number: u32,
}

/// Prefix of a port's name.
const MARK: &str = "cornerstone-port:";

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}{}:", self.number)?;
        self.process.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Port {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let (number, digits) = text.strip_prefix(MARK)?.split_once(':')?;
            let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
            let bytes = pairs.iter().map(byte).collect::<Option<Vec<u8>>>()?;
            let process = ProcessName::from_bytes(&bytes).filter(|_| odd.is_empty())?;
            Some(Port { number: number.parse().ok()?, process })
        };
        read().ok_or_else(|| no_port(format!("{text:?} is no name of a port")))
    }
}

fn no_port(why: String) -> Error {
    Error::new(ErrorClass::Port, why)
}

/// Length of a caller's message: the tag of the following ones.
const TAG_BYTES: usize = 4;

/// The communicator of processes without a common context.
pub(crate) struct Meetings<E: Endpoint> {
    context: Rc<Context<E>>,
    /// Number of calls that this process has made, so that each gets its own tag.
    calls: Cell<u32>,
}

impl<E: Endpoint + 'static> Meetings<E> {
    pub(crate) fn new(engine: &Rc<Engine<E>>) -> Self {
        let alone = vec![engine.rank()].into();
        let context = Context::new(engine.clone(), alone).expect("this process is a member");
        let context = Rc::new(context.with_place(MEETING_CONTEXT, None));
        Meetings { context, calls: Cell::new(0) }
    }

    fn engine(&self) -> &Rc<Engine<E>> {
        self.context.engine()
    }

    /// Opens a port.
    ///
    /// # Errors
    /// [`ErrorClass::Other`] if the fabric does not support other runs.
    pub(crate) fn open_port(&self) -> Result<Port> {
        let mut endpoint = self.engine().endpoint()?;
        let runs = self.engine().other_runs(&mut endpoint)?;
        Ok(Port { process: runs.own_name()?, number: runs.open_port()? })
    }

    /// Closes a port.
    ///
    /// # Errors
    /// [`ErrorClass::Port`] if it is not open, or belongs to another process.
    pub(crate) fn close_port(&self, port: &Port) -> Result {
        let mut endpoint = self.engine().endpoint()?;
        let runs = self.engine().other_runs(&mut endpoint)?;
        let is_closed = port.process == runs.own_name()? && runs.close_port(port.number);
        ensure!(is_closed, ErrorClass::Port, "{port} is not open in this process");
        Ok(())
    }

    /// Waits for the next caller of a port of this process, and returns the connection. `goes_on` is called from time
    /// to time, and its error ends the wait.
    ///
    /// # Errors
    /// [`ErrorClass::Port`] for another process's port, an error of `goes_on`, and errors that end the run.
    pub(crate) fn answer(&self, port: &Port, goes_on: &dyn Fn() -> Result) -> Result<Bridge<E>> {
        let engine = self.engine();
        let own = engine.other_runs(&mut *engine.endpoint()?)?.own_name()?;
        ensure!(port.process == own, ErrorClass::Port, "{port} is another process's");
        let message = Storage::zeroed(TAG_BYTES);
        let context = self.context.of_programs();
        let selector = Selector { context, source: None, tag: Some(port.number) };
        let room = message.writable(0..TAG_BYTES);
        let started = self.engine().endpoint()?.post_receive(selector, room)?;
        let mut stopped = Ok(());
        self.engine().wait_until(&mut |endpoint| {
            stopped = goes_on();
            endpoint.is_done(started) || stopped.is_err()
        })?;
        let mut endpoint = self.engine().endpoint()?;
        if !endpoint.is_done(started) && endpoint.cancel_receive(started) {
            stopped?;
        }
        let leader = endpoint.end(started).source as usize;
        let tag = message.with(0..TAG_BYTES, |bytes| {
            u32::from_ne_bytes(*bytes.first_chunk().expect("a tag is whole"))
        });
        Ok(Bridge { context: self.context.clone(), leader, tag })
    }

    /// Connects to the process of a port, and returns the connection.
    ///
    /// # Errors
    /// [`ErrorClass::Port`] if it is not open or is this process's own, and errors that end the run.
    pub(crate) fn call(&self, port: &Port) -> Result<Bridge<E>> {
        let mut called = Ok(None);
        self.engine().wait_until(&mut |endpoint| {
            called = self
                .engine()
                .other_runs(endpoint)
                .and_then(|runs| runs.call(&port.process, port.number));
            !matches!(called, Ok(None))
        })?;
        let missing = |why: contract::Error| no_port(format!("{port} is not open: {why}"));
        let leader = called.map_err(missing)?.expect("the wait has ended");
        let itself = leader == self.engine().rank();
        ensure!(!itself, ErrorClass::Port, "{port} is this process's own");
        reach_all(self.engine(), &[leader])?;
        let mut endpoint = self.engine().endpoint()?;
        // Two processes may call each other at the same time.
        let tag = 2 * self.calls.get()
            + u32::from(self.engine().other_runs(&mut endpoint)?.comes_before(leader));
        self.calls.set(self.calls.get() + 1);
        let message = Storage::from(tag.to_ne_bytes().to_vec());
        let context = self.context.of_programs();
        let to = Destination { rank: leader, context, tag: port.number };
        let data = message.readable(0..TAG_BYTES);
        let started = endpoint.post_send(to, data, Completion::Local)?;
        drop(endpoint);
        let unsatisfiable =
            |waits: &mut dyn LongWaits| waits.cannot_complete(started).then_some(started);
        self.engine().wait_for(&mut |endpoint| endpoint.is_done(started), &unsatisfiable)?;
        self.engine().endpoint()?.end(started);
        Ok(Bridge { context: self.context.clone(), leader, tag })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_survives_its_name_and_other_texts_are_none() {
        let mut bytes = [0xab; ProcessName::BYTES];
        bytes[0] = 7;
        let port = Port { process: ProcessName(bytes), number: 12 };
        let name = port.to_string();
        assert!(name.starts_with("cornerstone-port:12:07abab") && name.len() < 256, "{name}");
        assert_eq!(name.parse(), Ok(port));
        for bad in ["", "nowhere", "cornerstone-port:12:", &name[1..], &name[..name.len() - 1]] {
            let refused = bad.parse::<Port>().unwrap_err();
            assert_eq!(refused.class, ErrorClass::Port, "{bad}");
        }
        assert!(format!("{name}00").parse::<Port>().is_err());
    }
}
