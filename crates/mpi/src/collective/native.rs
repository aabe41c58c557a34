//! Collectives that the fabric carries out, with each user's memory as one piece.
//!
//! Data that do not lie in one piece are packed here; the members see only bytes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use collectives::Manner;
use contract::{
    CollectiveCall, ContextPlace, Endpoint, LongWaits, Request as Started, StartedCollective,
    boards_of,
};

use super::CollectiveWork;
use crate::engine::{Activity, Context, Engine};
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::{Memory, PackedCopy};
use crate::request::Action;
use crate::schedule::{self, Schedule};
use crate::status::Status;

/// Copies of the sent and received data of a call that do not lie in one piece.
#[derive(Default)]
pub struct Packed {
    pub(super) send: PackedCopy,
    pub(super) receive: PackedCopy,
}

impl Packed {
    /// Creates the copy of memory that receives data. If `filled`, it already holds some of this member's data.
    #[inline(always)]
    pub(super) fn received(memory: &Memory, filled: bool) -> PackedCopy {
        if filled { PackedCopy::filled(memory) } else { PackedCopy::room(memory) }
    }
}

/// Carries out a fabric's own call. Not a closure, because it must be forced into its caller, where the kind of call is
/// known.
pub trait CarryOut {
    /// Result of the call.
    type Outcome;

    /// Carries out a call.
    fn carry_out(self, call: CollectiveCall<'_>) -> Self::Outcome;
}

/// Waits for the end of the call.
struct ToItsEnd<'a, E: Endpoint> {
    engine: &'a Engine<E>,
    place: ContextPlace,
}

impl<E: Endpoint> CarryOut for ToItsEnd<'_, E> {
    type Outcome = Option<Result>;

    #[inline(always)]
    fn carry_out(self, call: CollectiveCall<'_>) -> Option<Result> {
        self.engine.collective(self.place, call)
    }
}

impl CarryOut for &mut dyn FnMut(CollectiveCall<'_>) {
    type Outcome = ();

    fn carry_out(self, call: CollectiveCall<'_>) {
        self(call);
    }
}

/// Lets the fabric carry out a collective. Returns `None` if it leaves that to messages.
#[inline(always)]
pub(super) fn run<E: Endpoint>(collective: &impl CollectiveWork<E>) -> Option<Result> {
    let (packed, place) = (collective.packed()?, collective.context().place()?);
    let engine = collective.context().engine();
    let outcome = collective.with_native_call(&packed, ToItsEnd { engine, place })??;
    Some(end(collective, &packed, outcome))
}

/// Returns the outcome of a call that the fabric has carried out.
#[inline(always)]
fn end<E: Endpoint>(
    collective: &impl CollectiveWork<E>,
    packed: &Packed,
    outcome: Result,
) -> Result {
    let outcome = collective.check().and(outcome);
    if outcome.is_ok() {
        collective.deliver(packed);
    }
    outcome
}

/// The work of any collective, for code that is compiled once.
pub(super) trait AnyCollectiveWork<E: Endpoint> {
    /// As [`CollectiveWork::context`].
    fn context(&self) -> &Rc<Context<E>>;

    /// As [`CollectiveWork::packed`].
    fn packed(&self) -> Option<Packed>;

    /// As [`CollectiveWork::with_native_call`].
    fn hand_over(&self, packed: &Packed, carry_out: &mut dyn FnMut(CollectiveCall<'_>));

    /// Returns the outcome of a call that the fabric has carried out.
    fn end(&self, packed: &Packed, outcome: Result) -> Result;

    /// Returns the schedule of this member's next collective by messages.
    fn schedule(&self, manner: Manner) -> Schedule<E>;
}

impl<E: Endpoint, C: CollectiveWork<E>> AnyCollectiveWork<E> for C {
    fn context(&self) -> &Rc<Context<E>> {
        CollectiveWork::context(self)
    }

    fn packed(&self) -> Option<Packed> {
        CollectiveWork::packed(self)
    }

    fn hand_over(&self, packed: &Packed, carry_out: &mut dyn FnMut(CollectiveCall<'_>)) {
        let _ = self.with_native_call(packed, carry_out);
    }

    fn end(&self, packed: &Packed, outcome: Result) -> Result {
        end(self, packed, outcome)
    }

    fn schedule(&self, manner: Manner) -> Schedule<E> {
        super::schedule_of(self, manner)
    }
}

/// A collective in progress in the fabric.
struct UnderWay<E: Endpoint> {
    /// Context in which the fabric carries it out.
    at: Rc<Context<E>>,
    packed: Packed,
    started: StartedCollective,
    outcome: RefCell<Result>,
    has_ended: Cell<bool>,
}

/// Such a collective, and its work.
struct StartedCall<E: Endpoint> {
    collective: Rc<dyn AnyCollectiveWork<E>>,
    call: UnderWay<E>,
}

impl<E: Endpoint> UnderWay<E> {
    /// Lets the fabric start a collective in the context `at`. Returns `None` if it leaves that to messages.
    fn start(
        collective: &dyn AnyCollectiveWork<E>,
        at: &Rc<Context<E>>,
        endpoint: &mut E,
    ) -> Option<Self> {
        // A fabric writes results to the program's memory before a call completes the operation.
        if at.engine().is_synchronous() {
            return None;
        }
        let (place, packed) = (at.place()?, collective.packed()?);
        let (boards, mut started) = (boards_of(endpoint, place)?, None);
        collective.hand_over(&packed, &mut |call| started = boards.start(place, &call));
        let (at, started) = (at.clone(), started?);
        at.count_started();
        let outcome = RefCell::new(Ok(()));
        let call = UnderWay { at, packed, started, outcome, has_ended: Cell::new(false) };
        call.advance(collective, endpoint);
        Some(call)
    }

    fn advance(&self, collective: &dyn AnyCollectiveWork<E>, endpoint: &mut E) {
        if self.has_ended.get() {
            return;
        }
        let mut outcome = None;
        if let Some(boards) = boards_of(endpoint, self.started.place) {
            collective.hand_over(&self.packed, &mut |call| {
                outcome = boards.advance(self.started, call);
            });
        }
        let Some(outcome) = outcome else { return };
        let outcome = collective.end(&self.packed, outcome.map_err(Into::into));
        let closed = self.at.count_ended(endpoint);
        *self.outcome.borrow_mut() = outcome.and(closed);
        self.has_ended.set(true);
    }

    fn take_outcome(&self) -> Result {
        self.outcome.replace(Ok(()))
    }
}

/// The result of starting a collective.
enum Beginning<E: Endpoint> {
    Ended(Result),
    UnderWay(UnderWay<E>),
    /// It runs by messages.
    ByMessages,
}

fn begin<E: Endpoint>(
    collective: &dyn AnyCollectiveWork<E>,
    at: &Rc<Context<E>>,
) -> Result<Beginning<E>> {
    let call = UnderWay::start(collective, at, &mut *collective.context().engine().endpoint()?);
    Ok(match call {
        None => Beginning::ByMessages,
        Some(call) if call.has_ended.get() => {
            let number = collective.context().number();
            Beginning::Ended(call.take_outcome().map_err(|error| error.in_context(number)))
        }
        Some(call) => Beginning::UnderWay(call),
    })
}

/// Starts a collective.
///
/// # Errors
/// As for [`Engine::endpoint`](crate::Engine::endpoint).
pub(super) fn start<E: Endpoint + 'static, C: CollectiveWork<E>>(
    collective: C,
) -> Result<Action<E>> {
    match begin(&collective, CollectiveWork::context(&collective))? {
        Beginning::Ended(outcome) => Ok(Action::Done(Status::empty(), outcome)),
        Beginning::UnderWay(call) => Ok(under_way(Rc::new(collective), call)),
        Beginning::ByMessages => start_by_messages(&collective),
    }
}

#[cold]
fn start_by_messages<E: Endpoint + 'static>(
    collective: &dyn AnyCollectiveWork<E>,
) -> Result<Action<E>> {
    Ok(Action::Collective(schedule::start(collective.schedule(Manner::Nonblocking))?))
}

/// Starts a collective whose work is used again, in the context `at`. Returns `None` if the fabric leaves it to
/// messages.
///
/// # Errors
/// As for [`Engine::endpoint`](crate::Engine::endpoint).
pub(super) fn start_again<E: Endpoint + 'static>(
    collective: Rc<dyn AnyCollectiveWork<E>>,
    at: &Rc<Context<E>>,
) -> Result<Option<Action<E>>> {
    Ok(match begin(&*collective, at)? {
        Beginning::Ended(outcome) => Some(Action::Done(Status::empty(), outcome)),
        Beginning::UnderWay(call) => Some(under_way(collective, call)),
        Beginning::ByMessages => None,
    })
}

fn under_way<E: Endpoint + 'static>(
    collective: Rc<dyn AnyCollectiveWork<E>>,
    call: UnderWay<E>,
) -> Action<E> {
    let engine = collective.context().engine().clone();
    let running = Rc::new(StartedCall { collective, call });
    engine.add(running.clone());
    Action::Collective(running)
}

impl<E: Endpoint> Activity<E> for StartedCall<E> {
    fn advance(&self, endpoint: &mut E) {
        self.call.advance(&*self.collective, endpoint);
    }

    fn has_ended(&self) -> bool {
        self.call.has_ended.get()
    }

    fn unsatisfiable(&self, _waits: &mut dyn LongWaits) -> Option<Started> {
        // The fabric itself detects it, and the call fails.
        None
    }

    fn take_outcome(&self) -> Result {
        self.call.take_outcome()
    }

    fn context(&self) -> u32 {
        self.collective.context().number()
    }
}

/// Fails if a rank's own block has another length than the blocks of all. The rank goes through the call nevertheless,
/// as if its block were in place: the others depend on it, and so does their next call.
#[inline(always)]
pub(super) fn check_block(own: Option<&Memory>, blocks: usize, each: usize) -> Result {
    let found = own.map_or(each, |memory| memory.bytes() / blocks);
    ensure!(
        found == each,
        ErrorClass::Truncated,
        "this rank sends itself a block of {found} bytes (sendcount and sendtype), and receives blocks of {each} bytes \
         (recvcount and recvtype)"
    );
    Ok(())
}
