//! Contexts of persistent collectives (decision 0036).

use std::rc::Rc;

use collectives::{CallId, LibraryCall, Manner};
use contract::{Endpoint, boards_of};

use super::agree::{Agreement, Proposal};
use super::native::{self, AnyCollectiveWork};
use crate::engine::Context;
use crate::error::Result;
use crate::request::Action;
use crate::schedule::CollectiveContext;

/// Number of persistent collectives of a communicator that get memory of the fabric at the same time. The memory of
/// each lasts until its request is freed.
const OWN_CONTEXTS_MAX: usize = 32;

/// A context in which the fabric carries out the starts of one persistent collective. Closed when its request is freed.
pub(super) struct OwnContext<E: Endpoint> {
    context: Rc<Context<E>>,
    /// The context whose members make the call.
    of: Rc<Context<E>>,
}

impl<E: Endpoint + 'static> OwnContext<E> {
    /// Opens a context for the starts of `collective`. Returns `None`, at all members alike, if the fabric leaves them to
    /// messages.
    ///
    /// # Errors
    /// Errors that end the run.
    pub(super) fn of(collective: &dyn AnyCollectiveWork<E>) -> Result<Option<Self>> {
        let of = collective.context();
        let Some(place) = of.place() else { return Ok(None) };
        let is_started = boards_of(&mut *of.engine().endpoint()?, place)
            .is_some_and(|boards| boards.can_start(place));
        if !is_started || of.two_groups().is_some() || collective.packed().is_none() {
            return Ok(None);
        }
        let call_id = CallId::of_library(LibraryCall::Duplicate).in_manner(Manner::Persistent);
        let at = CollectiveContext::next(of, call_id);
        let mut mine = Proposal::new(&at)?;
        if of.count_persistent() >= OWN_CONTEXTS_MAX {
            // Members may differ here, because each frees its requests when it likes. So they agree as ever, on a
            // context in which the fabric starts nothing.
            mine = mine.without_offer(&at)?;
        }
        let everybody: Vec<usize> = (0..of.size()).collect();
        let context = Rc::new(of.part(&everybody).expect("this process is a member"));
        context.identity().set_part_of(of.identity());
        Agreement::on(&at, mine)?.open(&mut *of.engine().endpoint()?, &at, Some(&context))?;
        of.add_persistent(1);
        Ok(Some(OwnContext { context, of: of.clone() }))
    }

    /// Starts the collective. Returns `None` if the fabric leaves it to messages.
    ///
    /// # Errors
    /// As for [`Engine::endpoint`](crate::Engine::endpoint).
    pub(super) fn start(
        &self,
        collective: &Rc<impl AnyCollectiveWork<E> + 'static>,
    ) -> Result<Option<Action<E>>> {
        native::start_again(collective.clone(), &self.context)
    }
}

impl<E: Endpoint> Drop for OwnContext<E> {
    fn drop(&mut self) {
        self.of.add_persistent(-1);
        // A start in progress continues, and the context is closed after it. An error ends the run, and the next call
        // returns it.
        let _ = self.context.close();
    }
}
