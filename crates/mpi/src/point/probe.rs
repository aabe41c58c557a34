//! Probes for messages, and receives of matched messages.

use std::rc::Rc;

use contract::{BETWEEN_RUNS, Claim, Endpoint, Envelope, Selector};

use super::receive::ReceiveCall;
use crate::engine::{Context, Engine};
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;
use crate::status::{Peer, Status};

/// Returns the context of claimed messages, which no communicator has: the last of its kind, within a run or between
/// runs.
fn claimed(context: u32) -> u32 {
    context | (2 * BETWEEN_RUNS - 1)
}

/// Blocking behaviour of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeManner {
    /// Waits for a message.
    Wait,
    /// Polls once.
    Once,
}

/// A matched message, which only this value can receive.
pub struct Claimed<E: Endpoint> {
    context: Rc<Context<E>>,
    /// `None` for the null process, whose message is always there.
    message: Option<(Selector, Envelope)>,
}

impl<E: Endpoint> Claimed<E> {
    /// Returns the message of the null process.
    pub fn of_nobody(context: &Rc<Context<E>>) -> Self {
        Claimed { context: context.clone(), message: None }
    }

    /// Returns the receive of the message into `memory`. Callable once.
    pub fn receive(&self, memory: Memory) -> ReceiveCall<E> {
        ReceiveCall::of_claimed(self.context.clone(), memory, self.message)
    }
}

fn status_of<E: Endpoint>(context: &Context<E>, envelope: &Envelope) -> Status {
    let source = context.rank_of(envelope.source as usize);
    Status::new(source as u32, envelope.tag, envelope.bytes as u64)
}

/// Polls once, or until there is a message.
fn find<E: Endpoint>(
    engine: &Engine<E>,
    manner: ProbeManner,
    selector: Selector,
    try_find: &mut dyn FnMut(&mut E) -> contract::Result<Option<Envelope>>,
) -> Result<Option<Envelope>> {
    if manner == ProbeManner::Once {
        engine.progress()?;
        let found = try_find(&mut *engine.endpoint()?)?;
        engine.note_poll(found.is_some())?;
        return Ok(found);
    }
    let mut found = Ok(None);
    let mut lost = false;
    engine.wait_until(&mut |endpoint| {
        // Checked before the poll, which then finds what a rank sent before it left.
        lost = endpoint.long_waits().is_some_and(|waits| waits.none_will_send(selector));
        found = try_find(endpoint);
        lost || !matches!(found, Ok(None))
    })?;
    let found = found?;
    ensure!(
        found.is_some() || !lost,
        ErrorClass::Other,
        "every rank that could send the message has called MPI_Finalize"
    );
    Ok(found)
}

/// Probes for a message. Returns `None` if there is none yet.
///
/// # Errors
/// [`ErrorClass::Rank`], [`ErrorClass::Other`] if all possible senders have left, and errors that end the run.
pub fn probe<E: Endpoint>(
    context: &Rc<Context<E>>,
    source: Peer,
    tag: Option<u32>,
    manner: ProbeManner,
) -> Result<Option<Status>> {
    let Some(selector) = context.selector(source, tag)? else {
        return Ok(Some(Status::of_nobody()));
    };
    let try_find = &mut |endpoint: &mut E| endpoint.probe(selector, None);
    let found = find(context.engine(), manner, selector, try_find)?;
    Ok(found.map(|envelope| status_of(context, &envelope)))
}

/// Probes for a message and hides it from all other receives and probes. Returns `None` if there is none yet.
///
/// # Errors
/// As for [`probe`].
pub fn claim<E: Endpoint>(
    context: &Rc<Context<E>>,
    source: Peer,
    tag: Option<u32>,
    manner: ProbeManner,
) -> Result<Option<(Claimed<E>, Status)>> {
    let Some(selector) = context.selector(source, tag)? else {
        return Ok(Some((Claimed::of_nobody(context), Status::of_nobody())));
    };
    let engine = context.engine();
    let hidden_in = claimed(selector.context);
    let mut number = 0;
    // Each poll asks for the number: another thread may have claimed a message since the last one.
    let try_find = &mut |endpoint: &mut E| {
        number = engine.next_claim();
        let claim = Claim { context: hidden_in, tag: number };
        let found = endpoint.probe(selector, Some(claim))?;
        if found.is_some() {
            engine.count_claim();
        }
        Ok(found)
    };
    let Some(envelope) = find(engine, manner, selector, try_find)? else { return Ok(None) };
    let hidden = Selector { context: hidden_in, source: Some(envelope.source), tag: Some(number) };
    let message = Some((hidden, envelope));
    let status = status_of(context, &envelope);
    Ok(Some((Claimed { context: context.clone(), message }, status)))
}
