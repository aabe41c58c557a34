//! Operations for a fabric that is composed of this one, for the ranks of a host, and of another between hosts.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use contract::{Awaited, Envelope, Error, Request, WaitPlace};

use super::ShmEndpoint;
use crate::segment::PollState;
use crate::team::Team;

impl ShmEndpoint {
    /// Makes this rank also wake from its sleep when `descriptor` is readable. The rank then reads it. The run must
    /// have been [launched](crate::launch) with [`waits_for_descriptors`](crate::LaunchOptions::waits_for_descriptors).
    pub fn wake_by(&mut self, descriptor: OwnedFd) {
        self.engine.sleep_mut().wakes_too = Some(descriptor);
    }

    /// Ends the wait in progress, and every later call, with an error of the fabric that this one is a part of.
    pub fn fail(&mut self, error: Error) {
        self.engine.fail(error);
    }

    /// Sets the ranks that errors name instead of this fabric's, by the latter.
    pub fn name_ranks(&mut self, names: Vec<usize>) {
        self.engine.name_ranks(names);
    }

    /// Declares that the fabric which this one is a part of contributes to each report of a long wait
    /// ([`note_outside`](ShmEndpoint::note_outside)).
    pub fn expect_outside(&mut self) {
        self.engine.expect_outside();
    }

    /// Returns whether a report of a long wait is in progress, to which that fabric must contribute.
    #[inline]
    pub fn is_reporting(&self) -> bool {
        self.engine.is_reporting()
    }

    /// Adds to the report in progress what a poll of that fabric has found, and its unexpected messages, if the poll
    /// [notes](ShmEndpoint::is_noting_waits) anything.
    pub fn note_outside(&mut self, found: PollState, unexpected: Vec<Envelope>) {
        self.engine.note_outside(found, unexpected);
    }

    /// Returns whether the poll in progress notes what this rank waits for: then a wait checks each of its requests.
    pub fn is_noting_waits(&self) -> bool {
        self.engine.is_asked()
    }

    /// Notes in such a poll something that this rank waits for outside this fabric.
    pub fn note_awaited_outside(&self, awaited: Awaited) {
        self.engine.note_named(awaited);
    }

    /// Notes in such a poll the only thing that this rank waits for, outside this fabric.
    pub fn note_sole_awaited_outside(&self, awaited: Awaited) {
        if self.engine.is_asked() {
            self.engine.forget_awaited();
            self.engine.note_named(awaited);
        }
    }

    /// Reports an idle poll of a wait outside this fabric, with what was noted in it. `unexpected` are the messages
    /// that no receive matches, if it [notes](ShmEndpoint::is_noting_waits) anything.
    pub fn report_noted_wait(
        &mut self,
        place: WaitPlace,
        found: PollState,
        unexpected: &[Envelope],
    ) {
        self.engine.report_noted(place, found, unexpected);
    }

    /// Limits the duration of this rank's sleeps from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.engine.sleep_mut().longest = limit;
    }

    /// Sets whether every rank has a processor, if the caller knows that better than the launcher: ranks of another
    /// launch may use some of this host's processors. All ranks make the same call, before any other.
    pub fn set_every_rank_has_a_processor(&mut self, has: bool) {
        self.engine.set_every_rank_has_a_processor(has);
        self.teams[0] = Some(Box::new(Team::world(&self.engine)));
    }

    /// Returns a number that the ranks of this run share and that no other run of this host has while this one lasts:
    /// the inode of the shared memory's file. `None` if the system does not provide it.
    pub fn run_number(&self) -> Option<u64> {
        let memory = self.engine.segment().memory().try_clone_to_owned().ok()?;
        Some(File::from(memory).metadata().ok()?.ino())
    }

    /// Returns whether a posted receive has matched a message, which need not have arrived completely.
    pub fn is_matched(&self, receive: Request) -> bool {
        self.engine.is_matched(receive)
    }

    /// Returns whether anything that this rank has sent waits for room.
    pub fn has_queued(&self) -> bool {
        self.engine.has_queued()
    }

    /// Returns whether anything that this rank has sent may still be received.
    pub fn is_sending(&self) -> bool {
        self.engine.is_sending()
    }
}
