//! A window with blocking calls, for ranks ([`Rank::open_window`](crate::Rank::open_window)) and tests.
#![allow(unsafe_code)]

mod calls;

use std::ptr::NonNull;

use crate::{
    Action, Arithmetic, Completion, Context, Destination, Endpoint, Error, LockAttempt, Readable,
    Request, Result, Selector, Stretch, Ticket, Update, Window, WindowOffer, WindowPart, Writable,
    allocate_for_windows, give_up_on,
};

/// Tags of a fence's rounds, between those of a window's requests and answers.
const FENCE: u32 = 1;
/// Number of polls of memory that others change, between two checks of the run.
const POLLS: u32 = 100;

/// Memory that a window has allocated for this rank, initially zeros.
pub struct OwnMemory {
    start: NonNull<u8>,
    bytes: usize,
    /// True if it came from the endpoint, not from the heap.
    is_allocated: bool,
}

impl OwnMemory {
    /// Allocates memory of the fabric, if it has any and `is_ordinary` does not forbid it. Words at its beginning are
    /// aligned.
    pub fn new<E: Endpoint>(endpoint: &mut E, bytes: usize, is_ordinary: bool) -> Self {
        let allocated = match is_ordinary {
            true => None,
            false => allocate_for_windows(endpoint, bytes.max(1)),
        };
        let words = || NonNull::from(vec![0_u64; bytes.div_ceil(8)].leak()).cast();
        let start = allocated.unwrap_or_else(words);
        // SAFETY: as many bytes were just allocated, for this window alone.
        unsafe { start.write_bytes(0, bytes) };
        OwnMemory { start, bytes, is_allocated: allocated.is_some() }
    }

    /// Returns this rank's part of the window.
    pub fn part<E: Endpoint>(&self, endpoint: &mut E) -> WindowPart {
        // SAFETY: it is initialised, nothing else refers to it, and it is freed after the window is closed, or never.
        unsafe { WindowPart::new(endpoint, self.start.as_ptr(), self.bytes as u64) }
    }

    fn release<E: Endpoint>(self, endpoint: &mut E) {
        let words = NonNull::slice_from_raw_parts(self.start.cast::<u64>(), self.bytes.div_ceil(8));
        // SAFETY: it was allocated this way in `new`, and the window is closed everywhere.
        unsafe {
            match endpoint.host_memory() {
                _ if !self.is_allocated => drop(Box::from_raw(words.as_ptr())),
                Some(memory) => memory.arenas.release(self.start, self.bytes.max(1)),
                None => {}
            }
        }
    }
}

/// A window of all ranks of a context, on memory that it has allocated.
///
/// A rank whose memory is [accessed by messages](RankWindow::is_served) serves the others while it is in a call of the
/// window, and not in other calls. A window that is dropped and not [closed](crate::Rank::close_window) keeps its
/// memory until the process ends.
pub struct RankWindow {
    window: Window,
    members: Vec<usize>,
    me: usize,
    context: Context,
    memory: OwnMemory,
}

/// The calls of [`Rank::call_window`](crate::Rank::call_window), which the methods of [`RankWindow`] make.
#[derive(Debug)]
pub enum WindowCall<'a> {
    /// Executes an [`Action`] at `offset` of a rank's memory. With `fetched` it waits for the answer.
    Update {
        /// The rank.
        target: usize,
        /// Offset in bytes.
        offset: u64,
        /// The action.
        action: Action,
        /// Operand of the action.
        operand: &'a [u8],
        /// Room for the old bytes.
        fetched: Option<&'a mut [u8]>,
    },
    /// Waits until all operations on a rank, or on all, are complete there.
    Flush(Option<usize>),
    /// Waits until every rank has reached the fence, and all operations of all are complete.
    Fence,
    /// Acquires access, exclusive (true) or shared.
    Lock(usize, bool),
    /// Releases access, after all operations on the rank.
    Unlock(usize, bool),
    /// Increments a notice of a rank, after all earlier operations of this rank on it.
    Notify(usize, usize),
    /// Waits until this rank has received a notice this many times.
    AwaitNotice(usize, u64),
    /// Serves the others until this many requests have been answered since the window was opened.
    Serve(u64),
    /// Makes progress without waiting.
    Advance,
}

impl RankWindow {
    /// Opens the window with the offers of all members.
    pub fn open<E: Endpoint>(
        endpoint: &mut E,
        memory: OwnMemory,
        part: WindowPart,
        context: Context,
        offers: &[WindowOffer],
    ) -> Result<Self> {
        let members = (0..context.size()).map(|rank| context.run_rank(rank));
        let members = members.collect::<Result<Vec<usize>>>()?;
        let (me, number) = (context.rank(), context.of_programs());
        let (ours, sums) = ((&members[..], me), Arithmetic::REDUCTIONS);
        let window = Window::open(endpoint, part, ours, number, offers, sums)?;
        Ok(RankWindow { window, members, me, context, memory })
    }

    /// Returns this rank's number in it.
    pub fn rank(&self) -> usize {
        self.me
    }

    /// Returns the number of its ranks.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// Returns whether this rank must be in calls of the window for the others to access its memory.
    pub fn is_served(&self) -> bool {
        self.window.is_served()
    }

    /// Returns whether such accesses of others to aligned elements are requests that this rank must
    /// [serve](RankWindow::serve).
    pub fn serves(&self, action: Action) -> bool {
        self.window.serves(action)
    }

    /// Returns the window itself.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Returns this rank's memory while no rank writes to it.
    ///
    /// # Safety
    /// No rank puts to it or updates it while the slice is used.
    pub unsafe fn own(&self) -> &[u8] {
        // SAFETY: it has as many bytes; the caller promises the rest.
        unsafe { NonNull::slice_from_raw_parts(self.memory.start, self.memory.bytes).as_ref() }
    }

    /// Executes a call.
    pub fn call<E: Endpoint>(&mut self, endpoint: &mut E, call: WindowCall<'_>) -> Result<()> {
        match call {
            WindowCall::Update { target, offset, action, operand, fetched } => {
                let bytes = match action {
                    Action::CompareAndSwap(_) => operand.len() / 2,
                    Action::Nothing => fetched.as_ref().map_or(0, |room| room.len()),
                    _ => operand.len(),
                };
                let stretches = &[Stretch { offset, bytes: bytes as u64 }];
                let update = Update { action, stretches, operand };
                self.update(endpoint, target, &update, fetched)
            }
            WindowCall::Flush(target) => self.flush_on(endpoint, target),
            WindowCall::Fence => self.fence_on(endpoint),
            WindowCall::Lock(target, exclusive) => self.lock_on(endpoint, target, exclusive),
            WindowCall::Unlock(target, exclusive) => {
                self.flush_on(endpoint, Some(target))?;
                self.window.unlock(endpoint, target, exclusive)
            }
            WindowCall::Notify(target, number) => {
                if self.window.has_in_network(target) {
                    self.wait(endpoint, &[], |window, _| Ok(!window.has_in_network(target)))?;
                }
                self.window.notify(endpoint, target, number)
            }
            WindowCall::AwaitNotice(number, count) => {
                let by_message = self.window.is_served() || self.window.has_agent();
                self.poll(endpoint, by_message, |window, _| Ok(window.notices(number) >= count))
            }
            WindowCall::Serve(count) if self.window.is_served() => {
                self.wait(endpoint, &[], |window, _| Ok(window.requests_served() >= count))
            }
            WindowCall::Serve(_) => Ok(()),
            WindowCall::Advance => self.advance_over(endpoint),
        }
    }

    /// Executes an update of any stretches. The old bytes go to `fetched`.
    pub fn update<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        update: &Update<'_>,
        mut fetched: Option<&mut [u8]>,
    ) -> Result<()> {
        let room = fetched.as_deref_mut();
        let Some(ticket) = self.window.update(endpoint, target, update, room)? else {
            return Ok(());
        };
        let found = self.finish(endpoint, ticket)?;
        if let Some(fetched) = fetched {
            fetched.copy_from_slice(&found);
        }
        Ok(())
    }

    /// Polls once. A polling rank yields to others if not every rank has a processor.
    fn advance_over<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        endpoint.progress(None)?;
        self.window.advance(endpoint)?;
        if let Some(waits) = endpoint.long_waits()
            && let Some(request) = self.window.unsatisfiable(waits)
        {
            return Err(waits.give_up_on(request));
        }
        self.check_others(endpoint)?;
        if !endpoint.computer().every_rank_has_a_processor {
            std::thread::yield_now();
        }
        Ok(())
    }

    fn finish<E: Endpoint>(&mut self, endpoint: &mut E, ticket: Ticket) -> Result<Vec<u8>> {
        self.wait(endpoint, &[], |window, _| Ok(window.has_come(ticket)))?;
        self.window.take(ticket)
    }

    fn flush_on<E: Endpoint>(&mut self, endpoint: &mut E, target: Option<usize>) -> Result<()> {
        if let Some(rank) = target {
            self.context.run_rank(rank)?;
        }
        if !self.window.goes_by_messages() {
            // Release, partner of any acquire that the program uses in the other ranks.
            std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
            return Ok(());
        }
        self.wait(endpoint, &[], |window, _| Ok(window.under_way(target) == 0))?;
        self.window.check()
    }

    /// Executes the fence: in round k every member notifies the member 2^k after it, and waits for that 2^k before it.
    fn fence_on<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        self.flush_on(endpoint, None)?;
        let (me, size, context) = (self.me, self.members.len(), self.context.of_collectives());
        for (round, far) in (0..).map(|round| (round, 1_usize << round)) {
            if far >= size {
                break;
            }
            let (to, from) = (self.members[(me + far) % size], (me + size - far) % size);
            let (source, tag) = (Some(self.members[from] as u32), FENCE + round);
            let selector = Selector { context, source, tag: Some(tag) };
            let receive = endpoint.post_receive(selector, Writable::empty())?;
            let to = Destination { rank: to, context, tag };
            let send = endpoint.post_send(to, Readable::empty(), Completion::Local)?;
            let both = [receive, send];
            self.wait(endpoint, &both, |_, endpoint| {
                Ok(both.iter().all(|&one| endpoint.is_done(one)))
            })?;
            for request in both {
                endpoint.end(request);
            }
        }
        Ok(())
    }

    fn lock_on<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        exclusive: bool,
    ) -> Result<()> {
        self.context.run_rank(target)?;
        let mut attempt = LockAttempt::new(target, exclusive);
        let by_message = self.window.grants_by_message();
        self.poll(endpoint, by_message, |window, endpoint| window.try_lock(endpoint, &mut attempt))
    }

    /// Waits until `done`, for events that arrive with messages, and serves the others meanwhile. Fails once they,
    /// including `requests`, can never arrive.
    pub(crate) fn wait<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        requests: &[Request],
        mut done: impl FnMut(&mut Window, &mut E) -> Result<bool>,
    ) -> Result<()> {
        let (mut failed, mut unsatisfiable) = (Ok(()), None);
        endpoint.wait_until(&mut |endpoint| {
            let window = &mut self.window;
            let looked = window.advance(endpoint).and_then(|()| done(window, endpoint));
            let is_done = looked.unwrap_or_else(|error| {
                failed = Err(error);
                true
            });
            if let Some(waits) = endpoint.long_waits().filter(|_| !is_done)
                && waits.any_has_left()
            {
                let of_ours = requests.iter().copied().find(|&one| waits.cannot_complete(one));
                unsatisfiable = of_ours.or_else(|| self.window.unsatisfiable(waits));
            }
            is_done || unsatisfiable.is_some()
        })?;
        unsatisfiable.map_or(failed, |request| Err(give_up_on(endpoint, request)))
    }

    /// As `wait`, for events that other members cause without a message, unless they do so `by_message`.
    fn poll<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        by_message: bool,
        mut done: impl FnMut(&mut Window, &mut E) -> Result<bool>,
    ) -> Result<()> {
        if by_message {
            return self.wait(endpoint, &[], done);
        }
        loop {
            for _ in 0..POLLS {
                if done(&mut self.window, endpoint)? {
                    return Ok(());
                }
                std::hint::spin_loop();
                if !endpoint.computer().every_rank_has_a_processor {
                    break;
                }
            }
            endpoint.progress(None)?;
            self.window.advance(endpoint)?;
            self.check_others(endpoint)?;
            std::thread::yield_now();
        }
    }

    /// Fails if all others have left the run, because no member can cause the awaited event.
    fn check_others<E: Endpoint>(&self, endpoint: &mut E) -> Result<()> {
        let others = Selector { context: self.context.of_programs(), source: None, tag: None };
        let waits = endpoint.long_waits().filter(|_| self.members.len() > 1);
        if waits.is_some_and(|waits| waits.any_has_left() && waits.none_will_send(others)) {
            let rank = self.members[usize::from(self.me == 0)];
            let before = "what another rank waits for at a window".into();
            return Err(Error::RankEnded { rank, before });
        }
        Ok(())
    }

    /// Closes the window once no member uses it any more. Returns the context of its messages.
    pub fn close<E: Endpoint>(mut self, endpoint: &mut E) -> Result<Context> {
        self.fence_on(endpoint)?;
        self.wait(endpoint, &[], |window, endpoint| Ok(window.is_quiet(endpoint)))?;
        self.fence_on(endpoint)?;
        self.window.close(endpoint);
        self.memory.release(endpoint);
        Ok(self.context)
    }
}
