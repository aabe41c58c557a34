//! Several requests at once. Each function only waits or polls; the requests are ended one by one.

use std::rc::Rc;

use contract::{Endpoint, LongWaits, Request as Started};

use super::Request;
use crate::engine::Engine;
use crate::error::Result;

/// A place in a list of requests, which may be empty.
pub trait RequestPlace<E: Endpoint> {
    /// Returns the request, if there is one.
    fn request(&self) -> Option<&Request<E>>;
}

impl<E: Endpoint> RequestPlace<E> for Request<E> {
    fn request(&self) -> Option<&Request<E>> {
        Some(self)
    }
}

impl<E: Endpoint, P: RequestPlace<E>> RequestPlace<E> for Rc<P> {
    fn request(&self) -> Option<&Request<E>> {
        (**self).request()
    }
}

impl<E: Endpoint, P: RequestPlace<E>> RequestPlace<E> for Option<P> {
    fn request(&self) -> Option<&Request<E>> {
        self.as_ref()?.request()
    }
}

fn present<'a, E: Endpoint + 'a, P: RequestPlace<E>>(
    places: &'a [P],
) -> impl Iterator<Item = &'a Request<E>> {
    places.iter().filter_map(RequestPlace::request)
}

fn all_have_ended<E: Endpoint, P: RequestPlace<E>>(places: &[P], endpoint: &E) -> bool {
    present(places).all(|request| request.has_ended(endpoint))
}

/// Returns the active requests that have ended.
fn which_ended<E: Endpoint, P: RequestPlace<E>>(places: &[P], endpoint: &E) -> Vec<usize> {
    let ended = |request: &Request<E>| request.is_active() && request.has_ended(endpoint);
    let found = places.iter().enumerate();
    found.filter(|(_, place)| place.request().is_some_and(ended)).map(|(index, _)| index).collect()
}

fn is_any_active<E: Endpoint, P: RequestPlace<E>>(places: &[P]) -> bool {
    present(places).any(Request::is_active)
}

/// Waits until all have ended.
///
/// # Errors
/// Errors that end the run.
pub fn wait_for_all<E: Endpoint, P: RequestPlace<E>>(engine: &Engine<E>, places: &[P]) -> Result {
    engine.wait_for(&mut |endpoint| all_have_ended(places, endpoint), &|waits| {
        present(places).find_map(|request| request.unsatisfiable(waits))
    })
}

/// Waits until some active requests have ended, and returns which, or an empty list if none is active.
///
/// # Errors
/// Errors that end the run.
pub fn wait_for_some<E: Endpoint, P: RequestPlace<E>>(
    engine: &Engine<E>,
    places: &[P],
) -> Result<Option<Vec<usize>>> {
    if !is_any_active(places) {
        return Ok(None);
    }
    let mut found = Vec::new();
    let unsatisfiable = |waits: &mut dyn LongWaits| -> Option<Started> {
        let active = present(places).filter(|request| request.is_active());
        // Each is called, because the endpoint may record all of them.
        let found: Vec<Option<Started>> = active.map(|one| one.unsatisfiable(waits)).collect();
        found.into_iter().collect::<Option<Vec<_>>>()?.first().copied()
    };
    let done = &mut |endpoint: &mut E| {
        found = which_ended(places, endpoint);
        !found.is_empty()
    };
    engine.wait_for(done, &unsatisfiable)?;
    Ok(Some(found))
}

/// Polls once, and returns whether all have ended.
///
/// # Errors
/// Errors that end the run.
pub fn have_all_ended<E: Endpoint, P: RequestPlace<E>>(
    engine: &Engine<E>,
    places: &[P],
) -> Result<bool> {
    engine.progress()?;
    let have_ended = all_have_ended(places, &*engine.endpoint()?);
    engine.note_poll(have_ended)?;
    Ok(have_ended)
}

/// Polls once, and returns the active requests that have ended, or `None` if none is active.
///
/// # Errors
/// Errors that end the run.
pub fn which_have_ended<E: Endpoint, P: RequestPlace<E>>(
    engine: &Engine<E>,
    places: &[P],
) -> Result<Option<Vec<usize>>> {
    if !is_any_active(places) {
        return Ok(None);
    }
    engine.progress()?;
    let found = which_ended(places, &*engine.endpoint()?);
    engine.note_poll(!found.is_empty())?;
    Ok(Some(found))
}
