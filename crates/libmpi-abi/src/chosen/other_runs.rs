//! Processes of other runs, in addition to the fabric of this one.
//!
//! As in `fabric-cluster`, the wait of the fabric is the wait of both: it polls the other connections in between. These
//! do not wake a rank, so a sleeping rank polls again after a time that grows with the duration of its wait.

use std::rc::Rc;
use std::time::Duration;

use contract::{
    Completion, ContextOffer, Destination, Endpoint, Envelope, Error, LongWaits, OpenedBetweenRuns,
    OtherEnds, OtherRuns, ProcessName, Readable, Request, Result, Selector, Writable, wait_reports,
};
use fabric_tcp::OtherProcesses;
use launched::rare;

use super::pointer::{Chosen, Fabric};

/// Number of polls of a spinning wait between two polls of the connections, each of which takes some system calls.
const EVERY: u32 = 8;
/// The first sleep, the number of its doublings, and the longest sleep of a process without connections.
const SHORTEST_SLEEP: Duration = Duration::from_micros(50);
const DOUBLINGS: u32 = 5;
const IDLE_SLEEP: Duration = Duration::from_millis(20);

/// The other ends of waits: messages of other runs may end any wait.
struct EndsByOthers;

impl OtherEnds for EndsByOthers {
    fn ruled_out(&self) -> Option<u64> {
        None
    }

    fn describe(&self) -> Option<String> {
        Some("processes of other runs may still connect or send".into())
    }
}

impl Chosen {
    /// Polls the others at some of the polls of a fabric's wait.
    #[inline(always)]
    pub(super) fn poll_now_and_then(&mut self) {
        if self.others().are_any() {
            rare();
            self.poll_in_turn();
        }
    }

    #[cold]
    fn poll_in_turn(&mut self) {
        let spins = self.computer().every_rank_has_a_processor;
        let others = self.others_mut();
        others.polls = others.polls.wrapping_add(1);
        if !spins || others.polls.is_multiple_of(EVERY) {
            self.poll_others();
        }
    }

    /// Receives what has arrived from others, and returns whether anything has. Failures are left to the waits
    /// concerned.
    pub(super) fn poll_others(&mut self) -> bool {
        let others = self.others_mut();
        let Some(processes) = &mut others.processes else { return false };
        let has_moved = processes.progress().unwrap_or(false);
        others.idle = if has_moved { 0 } else { others.idle.saturating_add(1) };
        let longest = match processes.is_used() {
            true => SHORTEST_SLEEP * (1 << others.idle.min(DOUBLINGS)),
            false => IDLE_SLEEP,
        };
        match self.fabric {
            // SAFETY: the pointers live as long as their owner, which is borrowed.
            Fabric::SharedMemory(mut own) => unsafe { own.as_mut() }.sleep_at_most(longest),
            // SAFETY: as above.
            Fabric::Tcp(mut own) => unsafe { own.as_mut() }.sleep_at_most(longest),
            Fabric::Cluster(_) | Fabric::Ofi(_) | Fabric::Simulated(_) => {}
        }
        has_moved
    }

    /// Waits until one of `requests` is done, on either side, and returns the lowest index of those.
    pub(super) fn wait_for_any(&mut self, requests: &[Request]) -> Result<usize> {
        let first_done = |this: &mut Self| requests.iter().position(|&one| this.is_done(one));
        let none_can_complete =
            |this: &mut Self| requests.iter().all(|&one| this.cannot_complete(one));
        let (mut found, mut is_lost) = (None, false);
        self.wait_until(&mut |this| {
            found = first_done(this);
            if found.is_none() && this.any_has_left() && none_can_complete(this) {
                // The last poll may have missed messages that arrived before the others left.
                is_lost = this.progress(None).is_ok()
                    && first_done(this).is_none()
                    && none_can_complete(this);
            }
            found.is_some() || is_lost
        })?;
        match found {
            Some(index) => Ok(index),
            None => Err(self.give_up_on(requests[0])),
        }
    }

    fn finish_request(&mut self, request: Request) -> Result<Envelope> {
        self.wait_for_any(&[request])?;
        Ok(self.end(request))
    }

    pub(super) fn send_among_others(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        // SAFETY: `data` is borrowed until this returns: then the request is done, or the call has failed for good.
        let data = unsafe { Readable::new(data.as_ptr(), data.len()) };
        let request = self.post_send(to, data, Completion::Local)?;
        self.finish_request(request).map(drop)
    }

    pub(super) fn receive_among_others(
        &mut self,
        selector: Selector,
        buffer: &mut [u8],
    ) -> Result<Envelope> {
        // SAFETY: as in `send_among_others`.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        let request = self.post_receive(selector, room)?;
        self.finish_request(request)
    }

    /// Completes what is in progress with others, and waits until all processes with a common context have ended.
    pub(super) fn end_with_others(&mut self) -> Result<()> {
        if !self.others().are_any() {
            return Ok(());
        }
        self.others_mut().leave()?;
        self.wait_until(&mut |this| !this.others().has(OtherProcesses::is_sending))?;
        self.others_mut().processes()?.say_goodbye()?;
        self.wait_until(&mut |this| this.others().has(OtherProcesses::is_through))
    }

    /// Returns a number that the ranks of this run share; `None` if the run is on several hosts.
    fn run_number(&self) -> Option<u64> {
        match self.fabric {
            // SAFETY: the pointers live as long as their owner, which is borrowed.
            Fabric::SharedMemory(endpoint) => unsafe { endpoint.as_ref() }.seat().run_number(),
            Fabric::Tcp(endpoint) => {
                // SAFETY: as above.
                unsafe { endpoint.as_ref() }.seat().and_then(|seat| seat.run_number())
            }
            Fabric::Cluster(_) | Fabric::Ofi(_) | Fabric::Simulated(_) => None,
        }
    }

    /// Returns the other processes, which are created at the first use.
    fn begin_with_others(&mut self) -> Result<&mut OtherProcesses> {
        if !self.others().are_any() {
            let run = self.run_number().ok_or_else(|| Error::Unsupported {
                fabric: format!("the fabric {}", self.name()),
                what: "reach processes of other runs, which is for local and tcp alone".into(),
            })?;
            let processes = OtherProcesses::begin(run, self.rank(), self.size())?;
            self.others_mut().processes = Some(Box::new(processes));
            // Messages of others may end any wait.
            if let Some(reports) = wait_reports(self) {
                reports.expect_other_ends(Rc::new(EndsByOthers));
            }
        }
        self.others_mut().processes()
    }
}

impl OtherRuns for Chosen {
    fn own_name(&mut self) -> Result<ProcessName> {
        Ok(self.begin_with_others()?.name())
    }

    fn meet(&mut self, name: &ProcessName) -> Result<usize> {
        Ok(self.begin_with_others()?.meet(name))
    }

    fn comes_before(&mut self, other: usize) -> bool {
        self.others().has(|processes| processes.comes_before(other))
    }

    fn reach(&mut self, members: &[usize]) -> Result<bool> {
        self.begin_with_others()?.reach(members)
    }

    fn open_port(&mut self) -> Result<u32> {
        Ok(self.begin_with_others()?.open_port())
    }

    fn close_port(&mut self, port: u32) -> bool {
        self.others_mut().processes().is_ok_and(|processes| processes.close_port(port))
    }

    fn call(&mut self, name: &ProcessName, port: u32) -> Result<Option<usize>> {
        self.begin_with_others()?.call(name, port)
    }

    fn offer_between_runs(&mut self) -> Result<ContextOffer> {
        Ok(self.begin_with_others()?.offer_context())
    }

    fn open_between_runs(
        &mut self,
        members: &[usize],
        me: usize,
        offers: &[ContextOffer],
    ) -> Result<OpenedBetweenRuns> {
        self.begin_with_others()?.open_context(members, me, offers)
    }
}
