//! What a fabric needs that is composed of this one, for the ranks of a host, and another between hosts.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use contract::Request;

use super::ShmEndpoint;
use crate::team::Team;

impl ShmEndpoint {
    /// Has this rank wake from its sleep also once `descriptor` is readable, which the rank then reads. The run was
    /// [launched](crate::launch) with [`waits_for_descriptors`](crate::LaunchOptions::waits_for_descriptors).
    pub fn wake_by(&mut self, descriptor: OwnedFd) {
        self.engine.sleep_mut().wakes_too = Some(descriptor);
    }

    /// How long the sleeps of this rank may last from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.engine.sleep_mut().longest = limit;
    }

    /// Tells whether every rank has a processor, where that is known better than by the launcher: some of this host's
    /// processors may be used by ranks of another launch. All ranks call it alike, before anything else.
    pub fn set_every_rank_has_a_processor(&mut self, has: bool) {
        self.engine.set_every_rank_has_a_processor(has);
        self.teams[0] = Some(Box::new(Team::world(&self.engine)));
    }

    /// A number that the ranks of this run share, and no other run of this host has while this one lasts: that of the shared
    /// memory's file. None where the system does not tell.
    pub fn run_number(&self) -> Option<u64> {
        let memory = self.engine.segment().memory().try_clone_to_owned().ok()?;
        Some(File::from(memory).metadata().ok()?.ino())
    }

    /// Whether a receive that was posted has found its message, all of which need not be here.
    pub fn is_matched(&self, receive: Request) -> bool {
        self.engine.is_matched(receive)
    }

    /// Whether anything that this rank has sent waits for room.
    pub fn has_queued(&self) -> bool {
        self.engine.has_queued()
    }

    /// Whether anything that this rank has sent may still be taken.
    pub fn is_sending(&self) -> bool {
        self.engine.is_sending()
    }
}
