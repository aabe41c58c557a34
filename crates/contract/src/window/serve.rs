//! Requests of other members to this one by message.

use std::collections::VecDeque;
use std::ptr::NonNull;

use super::ask::{OUT_OF_WINDOW, REQUESTS, SUCCESS, answer_tag};
use super::offer::DYNAMIC_BYTES;
use super::update::{Action, Stretch};
use super::wire::{self, Head, Kind};
use super::{Window, control};
use crate::{Completion, Endpoint, Readable, Request, Result, Selector, Writable};

/// An incoming request and its sender.
struct Incoming {
    request: Request,
    room: Vec<u8>,
    source: usize,
}

/// A member that waits for access.
struct Waiting {
    source: usize,
    ticket: u32,
    exclusive: bool,
}

/// The requests in progress.
#[derive(Default)]
pub(super) struct Served {
    /// Number of requests answered so far.
    count: u64,
    incoming: VecDeque<Incoming>,
    answers: Vec<(Request, Vec<u8>)>,
    waiting: VecDeque<Waiting>,
    /// Memory of a dynamic window: address and length of each part.
    attached: Vec<(u64, u64)>,
}

impl Window {
    /// Makes progress without waiting: serves the others, and processes their answers.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn advance<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        if !self.asked.is_idle() {
            self.take_answers(endpoint);
        }
        if !self.is_served() {
            return Ok(());
        }
        self.forget_sent(endpoint);
        self.accept(endpoint)?;
        // One after the other, so that the requests of a member keep their order.
        while self.served.incoming.front().is_some_and(|one| endpoint.is_done(one.request)) {
            let Some(one) = self.served.incoming.pop_front() else { break };
            endpoint.end(one.request);
            self.serve(endpoint, one.source, &one.room)?;
        }
        self.grant(endpoint)
    }

    /// Returns the number of requests of others that this member has answered since the window was opened.
    pub fn requests_served(&self) -> u64 {
        self.served.count
    }

    /// Returns whether none of this member's answers is in progress.
    pub fn is_quiet<E: Endpoint>(&mut self, endpoint: &mut E) -> bool {
        self.forget_sent(endpoint);
        self.served.answers.is_empty() && self.served.incoming.is_empty()
    }

    /// Adds memory to a dynamic window.
    pub fn attach(&mut self, address: u64, bytes: u64) {
        self.served.attached.push((address, bytes));
    }

    /// Removes memory from it. Returns false if none begins there.
    pub fn detach(&mut self, address: u64) -> bool {
        let attached = &mut self.served.attached;
        let found = attached.iter().position(|&(start, _)| start == address);
        found.map(|index| attached.swap_remove(index)).is_some()
    }

    /// Returns whether this member's memory contains all of these bytes. Parts of a dynamic window may be adjacent.
    pub fn holds(&self, stretch: &Stretch) -> bool {
        let Stretch { mut offset, mut bytes } = *stretch;
        if self.bytes_of(self.me) != DYNAMIC_BYTES {
            return self.check_range(self.me, offset, bytes).is_ok();
        }
        while bytes > 0 {
            // The longest remainder of a part from here on; parts may overlap.
            let rests = self.served.attached.iter().map(|&(start, length)| {
                offset.checked_sub(start).and_then(|before| length.checked_sub(before)).unwrap_or(0)
            });
            let here = rests.max().unwrap_or(0).min(bytes);
            if here == 0 {
                return false;
            }
            (offset, bytes) = (offset + here, bytes - here);
        }
        true
    }

    /// Starts to receive the requests that have arrived.
    fn accept<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        let any = Selector { context: self.context, source: None, tag: Some(REQUESTS) };
        while let Some(found) = endpoint.probe(any)? {
            let mut room = vec![0; found.bytes];
            // SAFETY: the vector is kept unchanged until the request is done.
            let place = unsafe { Writable::new(room.as_mut_ptr(), room.len()) };
            let this = Selector { source: Some(found.source), ..any };
            let request = endpoint.post_receive(this, place)?;
            let rank = found.source as usize;
            let source = self.targets.iter().position(|target| target.rank == rank);
            let source = source.expect("only members send in a window's context");
            self.served.incoming.push_back(Incoming { request, room, source });
        }
        Ok(())
    }

    fn serve<E: Endpoint>(&mut self, endpoint: &mut E, source: usize, asked: &[u8]) -> Result<()> {
        self.served.count += 1;
        let Some((head, stretches, operand)) = wire::read(asked) else { return Ok(()) };
        let Head { kind, ticket, fetches, .. } = head;
        // SAFETY: the block lasts as long as the window.
        let control = unsafe { self.part.control().as_ref() };
        match kind {
            Kind::Share | Kind::Take => {
                let exclusive = kind == Kind::Take;
                self.served.waiting.push_back(Waiting { source, ticket, exclusive });
                return Ok(());
            }
            Kind::GiveUpShared | Kind::GiveUpExclusive => {
                control.give_up(source, kind == Kind::GiveUpExclusive);
            }
            Kind::Notify(number) => {
                let notice = control.notice(number as usize % control::NOTICES);
                notice.fetch_add(1, std::sync::atomic::Ordering::Release);
            }
            Kind::Update(action) => {
                let answer = self.update_own(action, fetches, &stretches, operand);
                return self.answer(endpoint, source, ticket, answer);
            }
        }
        self.answer(endpoint, source, ticket, SUCCESS.to_ne_bytes().to_vec())
    }

    /// Carries out a request on this member's memory, and sends the answer.
    fn update_own(
        &self,
        action: Action,
        fetches: bool,
        stretches: &[Stretch],
        mut operand: &[u8],
    ) -> Vec<u8> {
        let wanted: u64 = stretches.iter().map(|one| one.bytes).sum();
        let fits = operand.len() == action.operand_bytes(wanted as usize);
        if !fits || !stretches.iter().all(|stretch| self.holds(stretch)) {
            return OUT_OF_WINDOW.to_ne_bytes().to_vec();
        }
        let mut answer = SUCCESS.to_ne_bytes().to_vec();
        let base = self.targets[self.me].base;
        for &Stretch { offset, bytes } in stretches {
            let start = match base {
                Some(base) => base.as_ptr().wrapping_add(offset as usize),
                None => offset as *mut u8,
            };
            let Some(start) = NonNull::new(start) else { continue };
            // SAFETY: `holds` has checked. All updates of this memory are made by this process, one after the other.
            let target = unsafe { NonNull::slice_from_raw_parts(start, bytes as usize).as_mut() };
            if fetches {
                answer.extend_from_slice(target);
            }
            let (here, rest) = operand.split_at(action.operand_bytes(bytes as usize));
            action.make(&self.arithmetic, here, target);
            operand = rest;
        }
        answer
    }

    fn answer<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        source: usize,
        ticket: u32,
        answer: Vec<u8>,
    ) -> Result<()> {
        let rank = self.targets[source].rank;
        // SAFETY: the vector is kept unchanged until the request is done.
        let data = unsafe { Readable::new(answer.as_ptr(), answer.len()) };
        let request =
            endpoint.post_send(rank, self.context, answer_tag(ticket), data, Completion::Local)?;
        self.served.answers.push((request, answer));
        Ok(())
    }

    fn forget_sent<E: Endpoint>(&mut self, endpoint: &mut E) {
        self.served.answers.retain(|&(request, _)| {
            let is_done = endpoint.is_done(request);
            if is_done {
                endpoint.end(request);
            }
            !is_done
        });
    }

    /// Grants access to the waiters in the order of their requests.
    fn grant<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        while let Some(&Waiting { source, ticket, exclusive }) = self.served.waiting.front() {
            // SAFETY: the block lasts as long as the window.
            let control = unsafe { self.part.control().as_ref() };
            let granted = match exclusive {
                true => control.try_take(source).is_ok(),
                false => control.try_share().is_ok(),
            };
            if !granted {
                break;
            }
            self.served.waiting.pop_front();
            self.answer(endpoint, source, ticket, SUCCESS.to_ne_bytes().to_vec())?;
        }
        Ok(())
    }
}
