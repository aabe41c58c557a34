//! A window as the cases use it: with calls that wait.
#![allow(unsafe_code)]

use crate::{
    Action, Arithmetic, Completion, ContextOffer, Endpoint, LockAttempt, Readable, Result,
    Selector, Stretch, Ticket, Update, Window, WindowOffer, WindowPart, Writable,
};

/// The number of the window's context, far from those of other cases.
const NUMBER: u32 = 21;
/// Tags of the members' own messages, between those of a window.
const ADDRESSES: u32 = 1;
const FENCE: u32 = 2;

/// Which ways to memory are tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Manner {
    /// Memory from the fabric, if it has any.
    Allocated,
    /// Memory that the fabric knows nothing of.
    Ordinary,
    /// The same, by messages alone.
    Asked,
}

impl Manner {
    pub(super) const ALL: [Manner; 3] = [Manner::Allocated, Manner::Ordinary, Manner::Asked];
}

pub(super) struct Lab {
    window: Window,
    me: usize,
    size: usize,
    memory: *mut u8,
    bytes: usize,
    is_allocated: bool,
    place: crate::ContextPlace,
}

impl Lab {
    /// A window of all ranks, each with as many zeros. Words at its beginning are aligned.
    pub(super) fn new<E: Endpoint>(endpoint: &mut E, bytes: usize, manner: Manner) -> Result<Lab> {
        let (me, size) = (endpoint.rank(), endpoint.size());
        let allocated = match manner {
            Manner::Allocated => endpoint.allocate(bytes),
            _ => None,
        };
        let words = || vec![0_u64; bytes.div_ceil(8)].leak().as_mut_ptr().cast();
        let memory = allocated.map_or_else(words, |memory| memory.as_ptr());
        // SAFETY: as many bytes were just made. They are given back after the window is closed, or never.
        let part = unsafe {
            memory.write_bytes(0, bytes);
            WindowPart::new(endpoint, memory, bytes as u64)
        };
        let part = if manner == Manner::Asked { part.asked() } else { part };
        let members: Vec<usize> = (0..size).collect();
        let place =
            endpoint.open_context(NUMBER, &members, me, &vec![ContextOffer::NOTHING; size])?;
        let offers = tell_all(endpoint, &part.offer())?;
        let (context, sums) = (2 * NUMBER, Arithmetic::REDUCTIONS);
        let window = Window::open(endpoint, part, (&members, me), context, &offers, sums)?;
        let is_allocated = allocated.is_some();
        let mut lab = Lab { window, me, size, memory, bytes, is_allocated, place };
        lab.fence(endpoint)?;
        Ok(lab)
    }

    pub(super) fn me(&self) -> usize {
        self.me
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// This member's memory, between fences, or where others leave it alone.
    pub(super) fn own(&self) -> &[u8] {
        // SAFETY: it has as many bytes, and the cases see to it that nobody writes there now.
        unsafe { std::slice::from_raw_parts(self.memory, self.bytes) }
    }

    /// Waits, and serves the others meanwhile.
    pub(super) fn wait<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        mut done: impl FnMut(&mut Window, &mut E) -> Result<bool>,
    ) -> Result<()> {
        let mut failed = Ok(());
        endpoint.wait_until(&mut |endpoint| {
            let window = &mut self.window;
            let looked = window.advance(endpoint).and_then(|()| done(window, endpoint));
            looked.unwrap_or_else(|error| {
                failed = Err(error);
                true
            })
        })?;
        failed
    }

    /// The same for what other members may do without a message.
    fn poll<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        mut done: impl FnMut(&mut Window, &mut E) -> Result<bool>,
    ) -> Result<()> {
        if self.window.is_served() {
            return self.wait(endpoint, done);
        }
        while !done(&mut self.window, endpoint)? {
            endpoint.progress()?;
            self.window.advance(endpoint)?;
            std::thread::yield_now();
        }
        Ok(())
    }

    fn flush<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        self.wait(endpoint, |window, _| Ok(window.under_way(None) == 0))?;
        self.window.check()
    }

    /// Waits until all members are here, and all their operations are done.
    pub(super) fn fence<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        self.flush(endpoint)?;
        let mut requests = Vec::new();
        for other in (0..self.size).filter(|&other| other != self.me) {
            let (context, source) = (2 * NUMBER + 1, Some(other as u32));
            let selector = Selector { context, source, tag: Some(FENCE) };
            requests.push(endpoint.post_receive(selector, Writable::empty())?);
            let completion = Completion::Local;
            requests.push(endpoint.post_send(
                other,
                context,
                FENCE,
                Readable::empty(),
                completion,
            )?);
        }
        self.wait(endpoint, |_, endpoint| Ok(requests.iter().all(|&one| endpoint.is_done(one))))?;
        for request in requests {
            endpoint.end(request);
        }
        Ok(())
    }

    fn finish<E: Endpoint>(&mut self, endpoint: &mut E, ticket: Ticket) -> Result<Vec<u8>> {
        self.wait(endpoint, |window, _| Ok(window.has_come(ticket)))?;
        self.window.take(ticket)
    }

    /// Updates several stretches, and gives what they held.
    pub(super) fn fetch_all<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        update: &Update<'_>,
    ) -> Result<Vec<u8>> {
        let bytes: u64 = update.stretches.iter().map(|one| one.bytes).sum();
        let mut room = vec![0; bytes as usize];
        match self.window.update(endpoint, target, update, Some(&mut room))? {
            Some(ticket) => self.finish(endpoint, ticket),
            None => Ok(room),
        }
    }

    pub(super) fn fetch<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        action: Action,
        offset: u64,
        operand: &[u8],
    ) -> Result<Vec<u8>> {
        let bytes = match action {
            Action::CompareAndSwap(_) => operand.len() / 2,
            _ => operand.len(),
        };
        let stretches = &[Stretch { offset, bytes: bytes as u64 }];
        self.fetch_all(endpoint, target, &Update { action, stretches, operand })
    }

    pub(super) fn get<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        offset: u64,
        bytes: u64,
    ) -> Result<Vec<u8>> {
        let stretches = &[Stretch { offset, bytes }];
        let update = Update { action: Action::Nothing, stretches, operand: &[] };
        self.fetch_all(endpoint, target, &update)
    }

    /// Updates without waiting for the end.
    pub(super) fn update<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        action: Action,
        offset: u64,
        operand: &[u8],
    ) -> Result<()> {
        let stretches = &[Stretch { offset, bytes: operand.len() as u64 }];
        let update = Update { action, stretches, operand };
        self.update_all(endpoint, target, &update)
    }

    /// The same of several stretches.
    pub(super) fn update_all<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        update: &Update<'_>,
    ) -> Result<()> {
        self.window.update(endpoint, target, update, None).map(drop)
    }

    pub(super) fn put<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        offset: u64,
        data: &[u8],
    ) -> Result<()> {
        self.update(endpoint, target, Action::Replace, offset, data)
    }

    pub(super) fn lock<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        exclusive: bool,
    ) -> Result<()> {
        let mut attempt = LockAttempt::new(target, exclusive);
        self.poll(endpoint, |window, endpoint| window.try_lock(endpoint, &mut attempt))
    }

    pub(super) fn unlock<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        exclusive: bool,
    ) -> Result<()> {
        self.flush(endpoint)?;
        self.window.unlock(endpoint, target, exclusive)
    }

    pub(super) fn notify<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        number: usize,
    ) -> Result<()> {
        self.window.notify(endpoint, target, number)
    }

    /// Waits until this member was given a notice so often.
    pub(super) fn wait_for_notice<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        number: usize,
        count: u64,
    ) -> Result<()> {
        self.poll(endpoint, |window, _| Ok(window.notices(number) >= count))
    }

    pub(super) fn close<E: Endpoint>(mut self, endpoint: &mut E) -> Result<()> {
        self.fence(endpoint)?;
        self.wait(endpoint, |window, endpoint| Ok(window.is_quiet(endpoint)))?;
        self.fence(endpoint)?;
        self.window.close(endpoint);
        if let Some(memory) = std::ptr::NonNull::new(self.memory).filter(|_| self.is_allocated) {
            // SAFETY: it came from there, and the window is closed everywhere.
            unsafe { endpoint.release(memory, self.bytes) };
        }
        endpoint.close_context(self.place)
    }
}

/// Gives every member's offer to every member.
fn tell_all<E: Endpoint>(endpoint: &mut E, own: &WindowOffer) -> Result<Vec<WindowOffer>> {
    let (me, size, context) = (endpoint.rank(), endpoint.size(), 2 * NUMBER + 1);
    for other in (0..size).filter(|&other| other != me) {
        endpoint.send(other, context, ADDRESSES, &own.to_bytes())?;
    }
    (0..size)
        .map(|other| {
            let mut bytes = own.to_bytes();
            if other != me {
                let source = Some(other as u32);
                endpoint.receive(Selector { context, source, tag: Some(ADDRESSES) }, &mut bytes)?;
            }
            Ok(WindowOffer::from_bytes(&bytes))
        })
        .collect()
}
