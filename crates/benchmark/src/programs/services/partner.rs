//! A rank that measures active messages.

use ::services::{ActiveMessages, Body, Call, Handlers, MEDIUM_BYTES_MAX, Result, Session};
use contract::{Buffer, Rank};

use crate::bench::Bench;
use crate::contents::{check_block, fill};

/// Handler of a request that is answered with as many bytes.
pub(super) const ECHO: u8 = 0;
/// Handler of a request that is answered if it is the last of a window.
pub(super) const STORE: u8 = 1;
const REPLY: u8 = 2;

/// The state of the handlers.
pub(super) struct State {
    /// Data that this rank sends.
    data: Vec<u8>,
    /// Data received without a segment.
    received: Vec<u8>,
    /// Buffers with the content `data` that are not in progress.
    buffers: Vec<Buffer>,
    /// Length of a window.
    window: u64,
    /// Number of requests that this rank has handled, and of replies.
    pub(super) requests: u64,
    pub(super) replies: u64,
}

/// Active messages of one size, open on all ranks.
pub(super) struct Partner {
    active: ActiveMessages<State>,
    state: State,
    peer: usize,
    /// Number of requests of all events so far.
    pub(super) expected: u64,
}

impl Partner {
    pub(super) fn open(bench: &mut Bench<'_>, window: u64) -> Result<Self> {
        let (size, me, peer) = (bench.shape.size, bench.shape.me, bench.shape.peer());
        let mut data = vec![0; size];
        fill(&mut data, bench.settings.seed, me, 0);
        let handlers = Handlers::new().with(ECHO, echo).with(STORE, store).with(REPLY, reply);
        let active = ActiveMessages::open(bench.rank, handlers, Buffer::try_zeroed(size)?)?;
        let (received, buffers) = (vec![0; size.min(MEDIUM_BYTES_MAX)], Vec::new());
        let state = State { data, received, buffers, window, requests: 0, replies: 0 };
        Ok(Partner { active, state, peer, expected: 0 })
    }

    /// Returns an object for calls of the service.
    pub(super) fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank) -> Entered<'a> {
        let long = self.state.is_long();
        Entered { session: self.active.enter(rank, &mut self.state), peer: self.peer, long }
    }

    /// Closes the service, and checks the data from `from`, if any arrived from there.
    pub(super) fn close(mut self, bench: &mut Bench<'_>, from: Option<usize>) -> Result<()> {
        let segment = self.active.close(bench.rank, &mut self.state)?;
        let Some(from) = from else { return Ok(()) };
        let found = if self.state.is_long() { &segment[..] } else { &self.state.received };
        Ok(check_block(found, bench.settings.seed, (from, 0), "the message", bench.shape.me)?)
    }
}

/// Calls of the service within one event.
pub(super) struct Entered<'a> {
    session: Session<'a, State>,
    peer: usize,
    long: bool,
}

impl Entered<'_> {
    /// Sends `count` requests with this rank's data, long ones from `buffers` buffers in turn.
    pub(super) fn send(&mut self, handler: u8, count: u64, buffers: u64) -> Result<()> {
        if self.long {
            self.send_long(handler, count, buffers)
        } else {
            self.send_medium(handler, count)
        }
    }

    fn send_medium(&mut self, handler: u8, count: u64) -> Result<()> {
        // The session owns the state while it sends.
        let data = std::mem::take(&mut self.session.state().data);
        let mut sent = Ok(());
        for _ in 0..count {
            sent = sent.and_then(|()| self.session.request_medium(self.peer, handler, &[], &data));
        }
        self.session.state().data = data;
        sent
    }

    fn send_long(&mut self, handler: u8, count: u64, buffers: u64) -> Result<()> {
        for at in 0..count {
            if at >= buffers
                && let Some(buffer) = self.session.take_back()?
            {
                self.session.state().buffers.push(buffer);
            }
            let buffer = self.session.state().buffer();
            self.session.request_long(self.peer, handler, &[], 0, buffer)?;
        }
        Ok(())
    }

    /// Handles messages until `done`, and then takes back the sent buffers.
    pub(super) fn wait_until(&mut self, done: impl Fn(&State) -> bool) -> Result<()> {
        self.session.wait_until(done)?;
        while self.long
            && let Some(buffer) = self.session.take_back()?
        {
            self.session.state().buffers.push(buffer);
        }
        Ok(())
    }
}

impl State {
    fn is_long(&self) -> bool {
        self.data.len() > MEDIUM_BYTES_MAX
    }

    fn buffer(&mut self) -> Buffer {
        self.buffers.pop().unwrap_or_else(|| Buffer::from_bytes(&self.data))
    }

    /// Stores the data of a message.
    fn take(&mut self, call: &Call<'_>) {
        if let Body::Medium(data) = call.body() {
            self.received.copy_from_slice(data);
        }
    }
}

fn echo(state: &mut State, call: &mut Call<'_>) -> Result<()> {
    state.requests += 1;
    state.take(call);
    if state.is_long() {
        let buffer = state.buffer();
        return call.reply_long(REPLY, &[], 0, buffer);
    }
    call.reply_medium(REPLY, &[], &state.data)
}

fn store(state: &mut State, call: &mut Call<'_>) -> Result<()> {
    state.requests += 1;
    state.take(call);
    if state.requests.is_multiple_of(state.window) { call.reply(REPLY, &[]) } else { Ok(()) }
}

fn reply(state: &mut State, call: &mut Call<'_>) -> Result<()> {
    state.replies += 1;
    state.take(call);
    Ok(())
}
