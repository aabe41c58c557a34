//! Progress of a window while the process waits: it serves the other members, and receives their answers.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::rc::{Rc, Weak};

use contract::{Awaited, Endpoint, LockHolder, LongWaits, Request as Started, Ticket, Window};

use super::sync;
use crate::engine::{Activity, Context, Engine, WindowWaits};
use crate::error::{Error, Result};

/// Maximum number of operations in progress before an operation waits for answers.
const MOST_UNDER_WAY: usize = 128;

/// Called with the fetched bytes.
type Deliver = Box<dyn FnOnce(&mut [u8])>;

/// Requested bytes that the program's memory does not have yet.
pub(super) struct Delivery {
    target: usize,
    /// What the bytes come with, and the bytes once they have.
    bytes: RefCell<Fetched>,
    deliver: Cell<Option<Deliver>>,
    outcome: RefCell<Option<Result>>,
}

/// What an operation fetches.
pub(super) enum Fetched {
    Awaited(Ticket),
    Here(Vec<u8>),
}

impl Delivery {
    /// Passes bytes that are here on, once.
    fn complete(&self) {
        let Fetched::Here(bytes) = &mut *self.bytes.borrow_mut() else { return };
        if let Some(deliver) = self.deliver.take() {
            deliver(bytes);
            *bytes = Vec::new();
        }
    }
}

/// A window of the contract, and its operations in progress.
pub(super) struct Service<E: Endpoint> {
    engine: Rc<Engine<E>>,
    /// `None` after the window was closed.
    window: RefCell<Option<Window>>,
    /// True if any operation ever goes by messages.
    goes_by_messages: bool,
    /// True if members belong to other runs.
    is_between_runs: bool,
    /// True if results come into the program's memory only when a call completes the operation (`Engine::set_synchronous`).
    delivers_late: bool,
    /// Those whose bytes are awaited.
    deliveries: RefCell<Vec<Rc<Delivery>>>,
    /// Those whose bytes are here, and wait for a call that completes the operation.
    arrived: RefCell<Vec<Rc<Delivery>>>,
    context: u32,
}

impl<E: Endpoint + 'static> Service<E> {
    pub(super) fn start(
        engine: &Rc<Engine<E>>,
        window: Window,
        context: &Context<E>,
    ) -> Result<Rc<Self>> {
        let goes_by_messages = window.goes_by_messages();
        let service = Rc::new(Service {
            engine: engine.clone(),
            window: RefCell::new(Some(window)),
            goes_by_messages,
            is_between_runs: context.is_between_runs(),
            delivers_late: engine.is_synchronous(),
            deliveries: RefCell::default(),
            arrived: RefCell::default(),
            context: context.number(),
        });
        let waits: Weak<dyn WindowWaits> = Rc::downgrade(&(service.clone() as Rc<_>));
        context.identity().set_window(waits);
        if goes_by_messages {
            engine.start(&service)?;
        }
        Ok(service)
    }
}

impl<E: Endpoint> Service<E> {
    /// Returns the window.
    ///
    /// # Panics
    /// If it was closed.
    #[inline(always)]
    pub(super) fn window(&self) -> Ref<'_, Window> {
        Ref::map(self.window.borrow(), |window| window.as_ref().expect("it is open"))
    }

    /// Returns the window if it is open: for the fastest paths, which are one function.
    #[inline(always)]
    pub(super) fn if_open(&self) -> Ref<'_, Option<Window>> {
        self.window.borrow()
    }

    #[inline(always)]
    pub(super) fn window_mut(&self) -> RefMut<'_, Window> {
        RefMut::map(self.window.borrow_mut(), |window| window.as_mut().expect("it is open"))
    }

    /// Returns whether results come only when a call completes the operation.
    #[inline(always)]
    pub(super) fn delivers_late(&self) -> bool {
        self.delivers_late
    }

    /// Passes fetched bytes on, once they are here and the program's memory may change. Returns `None` if that is now.
    pub(super) fn deliver(
        &self,
        target: usize,
        fetched: Fetched,
        deliver: impl FnOnce(&mut [u8]) + 'static,
    ) -> Option<Rc<Delivery>> {
        let outcome = RefCell::new(None);
        let list = match fetched {
            Fetched::Awaited(_) => &self.deliveries,
            Fetched::Here(mut bytes) if !self.delivers_late => {
                deliver(&mut bytes);
                return None;
            }
            Fetched::Here(_) => {
                *outcome.borrow_mut() = Some(Ok(()));
                &self.arrived
            }
        };
        let (bytes, deliver) = (RefCell::new(fetched), Cell::new(Some(Box::new(deliver) as _)));
        let delivery = Rc::new(Delivery { target, bytes, deliver, outcome });
        list.borrow_mut().push(delivery.clone());
        Some(delivery)
    }

    /// Waits if as many operations are in progress as the others can handle.
    pub(super) fn limit(&self) -> Result {
        if !self.goes_by_messages || self.window().under_way(None) < MOST_UNDER_WAY {
            return Ok(());
        }
        self.wait(|service| service.window().under_way(None) < MOST_UNDER_WAY / 2)
    }

    /// Waits until no operation on a member, or on any, is in progress.
    ///
    /// # Errors
    /// The first error of an operation that nothing else reports, and errors that end the run.
    #[inline]
    pub(super) fn flush(&self, target: Option<usize>) -> Result {
        if self.goes_by_messages {
            self.flush_messages(target)?;
        }
        if !self.arrived.borrow().is_empty() {
            self.complete(target);
        }
        Ok(())
    }

    /// Passes what has been fetched on.
    #[cold]
    fn complete(&self, target: Option<usize>) {
        let is_meant = |one: &mut Rc<Delivery>| target.is_none_or(|target| target == one.target);
        self.arrived.borrow_mut().extract_if(.., is_meant).for_each(|one| one.complete());
    }

    fn flush_messages(&self, target: Option<usize>) -> Result {
        self.wait(|service| {
            let mut deliveries = service.deliveries.borrow().clone().into_iter();
            service.window().under_way(target) == 0
                && !deliveries.any(|one| target.is_none_or(|target| target == one.target))
        })?;
        Ok(self.window_mut().check()?)
    }

    /// Waits until `done` returns true. Fails once an answer can never arrive.
    fn wait(&self, done: impl Fn(&Self) -> bool) -> Result {
        self.engine.wait_for(&mut |_| done(self), &|waits| self.unsatisfiable_now(waits))
    }

    /// Returns a message that can never arrive because the member that owes it has left the run. A member of this run
    /// owes none then: it serves the window until all members of the run have left. Its messages are checked all the
    /// same, because the endpoint learns from that what this process waits for.
    pub(super) fn unsatisfiable_now(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        let window = self.window.try_borrow().ok()?;
        window.as_ref()?.unsatisfiable(waits).filter(|_| self.is_between_runs)
    }

    /// Closes the window, which no other member uses any more.
    pub(super) fn close(&self) -> Result {
        self.engine.wait_until(&mut |endpoint| self.window_mut().is_quiet(endpoint))?;
        let window = self.window.borrow_mut().take();
        if let Some(window) = window {
            window.close(&mut *self.engine.endpoint()?);
        }
        Ok(())
    }

    fn take_deliveries(&self, window: &mut Window) {
        self.deliveries.borrow_mut().retain(|one| {
            let mut fetched = one.bytes.borrow_mut();
            let Fetched::Awaited(ticket) = *fetched else { return false };
            if !window.has_come(ticket) {
                return true;
            }
            let outcome = window.take(ticket).map_err(Error::from);
            *one.outcome.borrow_mut() = Some(outcome.map(|bytes| *fetched = Fetched::Here(bytes)));
            drop(fetched);
            match self.delivers_late {
                true => self.arrived.borrow_mut().push(one.clone()),
                false => one.complete(),
            }
            false
        });
    }
}

impl<E: Endpoint> WindowWaits for Service<E> {
    fn explain(&self, awaited: &Awaited) -> Option<String> {
        sync::explain(awaited)
    }

    fn waiting_for_own_lock(&self) -> Option<(LockHolder, Vec<usize>)> {
        self.window.try_borrow().ok()?.as_ref()?.waiting_for_own_lock()
    }
}

impl<E: Endpoint> Activity<E> for Service<E> {
    fn advance(&self, endpoint: &mut E) {
        let Ok(mut window) = self.window.try_borrow_mut() else { return };
        let Some(window) = window.as_mut() else { return };
        // An error ends the run, and is reported by the next call.
        let _ = window.advance(endpoint);
        if !self.deliveries.borrow().is_empty() {
            self.take_deliveries(window);
        }
    }

    fn has_ended(&self) -> bool {
        self.window.try_borrow().is_ok_and(|window| window.is_none())
    }

    fn unsatisfiable(&self, _waits: &mut dyn LongWaits) -> Option<Started> {
        None
    }

    fn take_outcome(&self) -> Result {
        Ok(())
    }

    fn context(&self) -> u32 {
        self.context
    }
}

/// A request for bytes that have not arrived.
pub(super) struct Fetch<E: Endpoint> {
    pub(super) service: Rc<Service<E>>,
    pub(super) delivery: Rc<Delivery>,
}

impl<E: Endpoint> Activity<E> for Fetch<E> {
    fn advance(&self, endpoint: &mut E) {
        self.service.advance(endpoint);
    }

    fn has_ended(&self) -> bool {
        self.delivery.outcome.borrow().is_some()
    }

    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        self.service.unsatisfiable_now(waits)
    }

    fn take_outcome(&self) -> Result {
        self.delivery.complete();
        self.delivery.outcome.borrow().clone().unwrap_or(Ok(()))
    }

    fn context(&self) -> u32 {
        self.service.context
    }
}
