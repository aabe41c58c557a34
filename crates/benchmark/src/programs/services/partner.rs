//! A rank that measures active messages.

use ::services::{ActiveMessages, Body, Call, Handlers, MEDIUM_BYTES_MAX, Result};
use contract::{Buffer, Rank};

use crate::bench::Bench;
use crate::contents::{check_block, fill};

/// A request that is answered with as many bytes.
pub(super) const ECHO: u8 = 0;
/// A request that is answered when it is the last of a window; its word is the length of the window.
pub(super) const STORE: u8 = 1;
const REPLY: u8 = 2;

/// What the handlers work on.
pub(super) struct State {
    /// What this rank sends.
    data: Vec<u8>,
    /// What came without a segment.
    received: Vec<u8>,
    /// Buffers that hold `data` and are not under way.
    buffers: Vec<Buffer>,
    /// Requests that this rank has handled, and replies.
    pub(super) requests: u64,
    pub(super) replies: u64,
}

/// Active messages of one size, open on all ranks.
pub(super) struct Partner {
    active: ActiveMessages<State>,
    state: State,
    peer: usize,
    /// Requests that all events so far make.
    pub(super) expected: u64,
}

impl Partner {
    pub(super) fn open(bench: &mut Bench<'_>) -> Result<Self> {
        let (size, me, peer) = (bench.shape.size, bench.shape.me, bench.shape.peer());
        let mut data = vec![0; size];
        fill(&mut data, bench.settings.seed, me, 0);
        let handlers = Handlers::new().with(ECHO, echo).with(STORE, store).with(REPLY, reply);
        let active = ActiveMessages::open(bench.rank, handlers, Buffer::try_zeroed(size)?)?;
        let (received, buffers) = (vec![0; size.min(MEDIUM_BYTES_MAX)], Vec::new());
        let state = State { data, received, buffers, requests: 0, replies: 0 };
        Ok(Partner { active, state, peer, expected: 0 })
    }

    /// Sends a request with this rank's data; waits for a buffer if `buffers` of them are under way.
    pub(super) fn send(
        &mut self,
        rank: &mut dyn Rank,
        handler: u8,
        count: u64,
        buffers: u64,
    ) -> Result<()> {
        let long = self.state.is_long();
        let mut session = self.active.enter(rank, &mut self.state);
        for at in 0..count {
            if !long {
                let data = std::mem::take(&mut session.state().data);
                let sent = session.request_medium(self.peer, handler, &[count], &data);
                session.state().data = data;
                sent?;
                continue;
            }
            if at >= buffers
                && let Some(buffer) = session.take_back()?
            {
                session.state().buffers.push(buffer);
            }
            let buffer = session.state().buffer();
            session.request_long(self.peer, handler, &[count], 0, buffer)?;
        }
        Ok(())
    }

    /// Handles messages until `done`, and then takes the buffers back that were sent.
    pub(super) fn wait_until(
        &mut self,
        rank: &mut dyn Rank,
        done: impl Fn(&State) -> bool,
    ) -> Result<()> {
        let long = self.state.is_long();
        let mut session = self.active.enter(rank, &mut self.state);
        session.wait_until(done)?;
        while long && let Some(buffer) = session.take_back()? {
            session.state().buffers.push(buffer);
        }
        Ok(())
    }

    /// Closes the service, and checks what `from` has sent, if anything came from there.
    pub(super) fn close(mut self, bench: &mut Bench<'_>, from: Option<usize>) -> Result<()> {
        let segment = self.active.close(bench.rank, &mut self.state)?;
        let Some(from) = from else { return Ok(()) };
        let found = if self.state.is_long() { &segment[..] } else { &self.state.received };
        Ok(check_block(found, bench.settings.seed, (from, 0), "the message", bench.shape.me)?)
    }
}

impl State {
    fn is_long(&self) -> bool {
        self.data.len() > MEDIUM_BYTES_MAX
    }

    fn buffer(&mut self) -> Buffer {
        self.buffers.pop().unwrap_or_else(|| Buffer::from_bytes(&self.data))
    }

    /// Takes what a message brought.
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
    if state.requests.is_multiple_of(call.words()[0]) { call.reply(REPLY, &[]) } else { Ok(()) }
}

fn reply(state: &mut State, call: &mut Call<'_>) -> Result<()> {
    state.replies += 1;
    state.take(call);
    Ok(())
}
