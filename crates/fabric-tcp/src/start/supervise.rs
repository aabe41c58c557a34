//! Supervision of a run until the last rank has ended.

use std::ops::ControlFlow;
use std::time::Instant;

use launcher::LaunchError;
use rustix::event::{PollFd, PollFlags, poll};

use super::rank_connection::{RankConnection, RankState};
use super::started_process::StartedProcess;
use super::{
    CONNECT_LIMIT, GRACE, POLL_INTERVAL, Run, Starting, UserSignal, WORD_LIMIT, failed, system,
};
use crate::control::{Message, Received};
use crate::handshake::Purpose;

impl Run<'_> {
    pub(super) fn supervise(
        &mut self,
        user_signal: &mut dyn FnMut() -> Option<UserSignal>,
        on_report: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) {
        let mut stopped = false;
        while !self.has_ended() {
            self.wait_for_events();
            match user_signal() {
                Some(UserSignal::End(signal))
                    if !matches!(self.failure, Some(LaunchError::Interrupted { .. })) =>
                {
                    self.fail(None, LaunchError::Interrupted { signal }, false);
                }
                Some(UserSignal::ReportRanks) => {
                    let hangs = self.hangs.iter_mut();
                    hangs.for_each(|hangs| hangs.request_report(&self.processes));
                }
                Some(UserSignal::End(_)) | None => {}
            }
            self.accept_callers();
            let on_report = &mut |report: &[u8]| stopped = stopped || on_report(report).is_break();
            self.read_ranks(on_report);
            self.read_hosts(on_report);
            if stopped && self.kill_at.is_none() {
                self.fail(None, LaunchError::Stopped, false);
            }
            self.check_lost();
            self.check_unconnected();
            self.begin_if_complete();
            let hosts = &self.processes;
            if let Some(hang) = self.hangs.as_mut().and_then(|hangs| hangs.find(hosts))
                && self.failure.is_none()
            {
                self.fail(None, hang, false);
            }
            if self.kill_at.is_some_and(|at| Instant::now() >= at) {
                self.processes.iter_mut().for_each(StartedProcess::kill);
                self.ranks.iter_mut().for_each(RankConnection::drop_connection);
            }
        }
        // All may have ended before the first check.
        self.check_unconnected();
    }

    fn has_ended(&mut self) -> bool {
        let all = self.processes.iter_mut().all(StartedProcess::has_ended);
        all && self.ranks.iter().all(|rank| rank.descriptor().is_none() && rank.lost.is_none())
    }

    fn is_any_program(&self) -> bool {
        matches!(self.starting, Starting::EachHost { any_program: true, .. })
    }

    fn wait_for_events(&self) {
        let streams = self.ranks.iter().filter_map(RankConnection::descriptor);
        let hosts = self.processes.iter().filter_map(StartedProcess::descriptor);
        let all = self.acceptor.descriptors().chain(streams).chain(hosts);
        let mut entries: Vec<PollFd<'_>> =
            all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        // An error only shortens the wait.
        let _ = poll(&mut entries, Some(&POLL_INTERVAL));
    }

    fn accept_callers(&mut self) {
        let verified = match self.acceptor.step() {
            Ok(verified) => verified,
            Err(error) => return self.fail(None, system("listening for ranks", error), false),
        };
        for (caller, stream) in verified {
            match caller.purpose {
                Purpose::Control => {
                    if let Some(rank) = self.ranks.get_mut(caller.rank) {
                        rank.connected(stream);
                        rank.send(&self.listening[caller.rank]);
                    }
                }
                Purpose::Host => {
                    let mut processes = self.processes.iter_mut();
                    if let Some(process) = processes.find(|one| one.ranks.contains(&caller.rank)) {
                        process.connected(stream);
                    }
                }
                Purpose::Messages | Purpose::Process | Purpose::Port => {}
            }
        }
        // A host that connects late gets the message that the others got.
        if let Some((died, why)) = self.abort_reason.clone() {
            let message = Message::GiveUp { died, why };
            self.processes.iter_mut().for_each(|process| process.send_once(&message));
        }
    }

    fn read_ranks(&mut self, on_report: &mut dyn FnMut(&[u8])) {
        for rank in 0..self.ranks.len() {
            loop {
                match self.ranks[rank].receive() {
                    Received::Nothing => break,
                    Received::Message(Message::Report(bytes)) => on_report(&bytes),
                    Received::Message(Message::Failed { by_another, why }) => {
                        // Until all have met, the cause may be the host of the rank.
                        let place = match self.begun {
                            true => String::new(),
                            false => format!("on {} ", self.ranks[rank].host),
                        };
                        let reason = format!("{place}failed: {why}");
                        self.fail(Some(rank), failed(rank, reason), by_another);
                    }
                    Received::Message(_) => {}
                    Received::Closed => {
                        self.lose(rank);
                        break;
                    }
                }
            }
        }
    }

    /// Records that a rank's connection is gone before the end of its part.
    fn lose(&mut self, rank: usize) {
        if matches!(self.starting, Starting::EachHost { .. }) {
            self.ranks[rank].lost = Some(Instant::now());
            return;
        }
        let how = self.processes[self.ranks[rank].process].describe_end();
        self.fail(Some(rank), failed(rank, how), false);
    }

    /// Processes the messages of hosts about their ranks.
    fn read_hosts(&mut self, on_report: &mut dyn FnMut(&[u8])) {
        for index in 0..self.processes.len() {
            loop {
                match self.processes[index].receive() {
                    Received::Message(Message::RankFailed { rank, status, how }) => {
                        let rank = rank as usize;
                        // A rank also sends its own reports to this process, and says there whether it caused the
                        // failure.
                        let is_secondhand = how.starts_with("failed: ");
                        let failure = LaunchError::RankFailed { rank, reason: how, status };
                        self.fail(Some(rank), failure, is_secondhand);
                        self.ranks.iter_mut().skip(rank).take(1).for_each(|one| one.lost = None);
                    }
                    Received::Message(Message::Failed { why, .. }) => {
                        let what = format!("starting ranks on {}", self.processes[index].host);
                        self.fail(None, LaunchError::System { what, reason: why }, false);
                    }
                    Received::Message(Message::Report(bytes)) => on_report(&bytes),
                    Received::Message(Message::LauncherWord(word)) => {
                        let hangs = self.hangs.iter_mut();
                        hangs.for_each(|hangs| hangs.take_word(index, word, &self.processes));
                    }
                    Received::Message(Message::Activities(text)) => {
                        let hangs = self.hangs.iter_mut();
                        hangs.for_each(|hangs| {
                            hangs.take_activities(index, &text, &self.processes);
                        });
                    }
                    Received::Message(Message::Ended) => {
                        self.hangs.iter_mut().for_each(|hangs| hangs.note_end(index));
                    }
                    Received::Message(_) => {}
                    Received::Nothing | Received::Closed => break,
                }
            }
        }
    }

    /// Fails for ranks whose connections are gone, and of which no host has reported more.
    fn check_lost(&mut self) {
        for rank in 0..self.ranks.len() {
            let one = &mut self.ranks[rank];
            let Some(process) = self.processes.get_mut(one.process) else { continue };
            let is_over = process.is_silent();
            if one.lost.is_some_and(|at| is_over || at.elapsed() > WORD_LIMIT) {
                one.lost = None;
                let how = format!("on {} lost its connection", one.host);
                self.fail(Some(rank), failed(rank, how), false);
            }
        }
    }

    /// Records the ranks that have ended without ever connecting, and those that take too long.
    fn check_unconnected(&mut self) {
        let may_be_late = self.begun || self.kill_at.is_some() || self.is_any_program();
        let late = !may_be_late && Instant::now() > self.connect_until;
        let others_wait =
            !self.begun && self.ranks.iter().any(|one| one.state == RankState::Joined);
        let may_stay_away = self.is_any_program() && !others_wait;
        for rank in 0..self.ranks.len() {
            let one = &mut self.ranks[rank];
            let Some(process) = self.processes.get_mut(one.process) else { continue };
            if one.state != RankState::Started {
                continue;
            }
            let how = if process.has_ended() {
                if may_stay_away && process.ended_well() {
                    continue;
                }
                let how = process.describe_end();
                format!("on {} did not start: {how}", process.host)
            } else if late {
                format!("on {} did not call within {CONNECT_LIMIT:?}", process.host)
            } else {
                continue;
            };
            one.state = RankState::Done;
            self.fail(Some(rank), failed(rank, how), false);
        }
    }

    fn begin_if_complete(&mut self) {
        if self.begun || self.kill_at.is_some() {
            return;
        }
        let addresses: Option<Vec<&str>> =
            self.ranks.iter().map(|rank| rank.address.as_deref()).collect();
        let Some(addresses) = addresses else { return };
        let addresses = Message::Addresses(addresses.join("\n"));
        let job = Message::Job(self.job.to_vec());
        for rank in &self.ranks {
            rank.send(&addresses);
            rank.send(&job);
        }
        self.begun = true;
    }

    /// Aborts the run. A rank's report about itself has priority over that about another.
    pub(super) fn fail(&mut self, rank: Option<usize>, failure: LaunchError, is_secondhand: bool) {
        if self.failure.is_none() || self.is_secondhand && !is_secondhand {
            let (died, why) = match &failure {
                LaunchError::RankFailed { reason, .. } => (rank.map(|r| r as u32), reason.clone()),
                other => (None, other.to_string()),
            };
            self.failure = Some(failure);
            self.is_secondhand = is_secondhand;
            self.abort_reason = Some((died, why.clone()));
            let message = Message::GiveUp { died, why };
            self.ranks.iter().for_each(|rank| rank.send(&message));
            self.processes.iter_mut().for_each(|process| process.send_once(&message));
        } else if let (
            Some(LaunchError::RankFailed { rank: failed, status: kept, .. }),
            LaunchError::RankFailed { rank, status, .. },
        ) = (&mut self.failure, failure)
            && *failed == rank
            && *kept == 1
        {
            // The host knows the status with which its process ended.
            *kept = status;
        }
        self.kill_at.get_or_insert_with(|| Instant::now() + GRACE);
    }
}
