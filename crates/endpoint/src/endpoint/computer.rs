//! The computer of a rank, real or simulated.

use crate::{
    ClockQuality, Isolation, OperatingSystem, Priority, PriorityGranted, Result, SharedLine, Time,
    Work,
};

use super::Endpoint;

/// The computer of a rank, as far as the fabric knows it.
#[derive(Clone, Copy)]
pub struct Computer<'a> {
    /// The processor that the rank is bound to, if it is bound to exactly one.
    pub processor: Option<usize>,
    /// True if every rank can run at the same time. If not, no rank should spin for another.
    pub every_rank_has_a_processor: bool,
    /// The accuracy of the clock that all ranks share.
    pub clock: ClockQuality,
    /// What it does for a rank, apart from messages.
    pub services: &'a dyn ComputerServices,
}

/// What the computer of a rank does for it, apart from messages. A computer need not do anything.
pub trait ComputerServices {
    /// Returns a number for the host of a rank, if ranks of one host reach each other by a faster path. Processes of
    /// other runs have none.
    fn host_of(&self, _rank: usize) -> Option<usize> {
        None
    }

    /// Returns memory that all ranks share, for measuring the hardware, if there is any.
    fn shared_line(&self) -> Option<&dyn SharedLine> {
        None
    }

    /// Requests a priority among the ranks that share this rank's processor.
    fn set_priority(&self, _priority: Priority) -> PriorityGranted {
        PriorityGranted::Refused { why: "this fabric has no priorities".into() }
    }

    /// Switches one kind of isolation from the operating system on or off. Returns the reason if that is impossible.
    fn isolate(&self, _isolation: Isolation, _on: bool) -> std::result::Result<(), String> {
        Err("this fabric leaves that to the system".into())
    }

    /// Returns access to what the operating system knows of this rank, if it runs on one.
    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        None
    }
}

/// The services of a computer that has none.
pub struct NoServices;

impl ComputerServices for NoServices {}

/// The time of a simulated machine, which passes only as the simulation says.
pub trait SimulatedTime {
    /// Waits until `now() >= time`.
    fn wait_until_time(&mut self, time: Time);

    /// Lets other ranks have the processor that this one shares, as far as they need it now.
    ///
    /// # Errors
    /// Errors that end the run.
    fn yield_processor(&mut self) -> Result<()>;

    /// Lets the time pass in which polls would find nothing, at most until `time`. Returns whether any has passed.
    ///
    /// # Errors
    /// Errors that end the run.
    fn skip_idle_polls(&mut self, time: Time) -> Result<bool>;

    /// Lets the time of a computation pass, and runs `body`, the computation itself, if its result is needed.
    fn compute(&mut self, work: Work, body: &mut dyn FnMut());

    /// Marks the beginning (`true`) or the end of a collective's algorithm over messages; the marks nest. Messages of
    /// a library may have another cost than those of a program.
    fn mark_algorithm(&mut self, begins: bool);
}

/// Waits until the endpoint's `now() >= time`.
pub fn wait_until_time<E: Endpoint>(endpoint: &mut E, time: Time) {
    match endpoint.simulated_time() {
        Some(simulated_time) => simulated_time.wait_until_time(time),
        None => {
            let shares = !endpoint.computer().every_rank_has_a_processor;
            crate::wait_until(|| endpoint.now(), time, shares);
        }
    }
}
