//! Tests the use of an endpoint by libraries.

use contract::{
    CollectiveCall, Combine, ContextOffer, ContextPlace, Destination, Endpoint, Envelope, Error,
    NewContext, Readable, Reduction, ReductionId, Result, Selector, Writable,
};
use fabric_mpi::{MpiEndpoint, World};

use crate::programs::say;

/// Runs the conformance suite of the endpoint, each case with communicators of its own.
pub(crate) fn all(world: &World) -> Result<()> {
    for case in conformance::endpoint_cases::<MpiEndpoint>() {
        if case.name == "endpoint/a-rank-that-has-left-is-known" {
            say(world, &format!("skipped {}: no MPI tells that a rank has left", case.name));
            continue;
        }
        say(world, &format!("began {}", case.name));
        let mut process = world.first(world.size())?;
        (case.program)(process.endpoint_mut())
            .map_err(|error| Error::Program(format!("{}: {error}", case.name)))?;
        process.end()?;
        say(world, &format!("passed {}", case.name));
    }
    Ok(())
}

/// Tests an endpoint in contexts as a library uses it: ranks and messages, collectives with blocks in place, and
/// operations that the MPI does not have.
pub(crate) fn contexts(world: &World) -> Result<()> {
    let mut process = world.first(world.size())?;
    let endpoint = process.endpoint_mut();
    let (me, size) = (endpoint.rank(), endpoint.size());
    // All ranks, the last one first; twice, so that places and numbers differ.
    let members: Vec<usize> = (0..size).rev().collect();
    let offers = vec![ContextOffer::NOTHING; size];
    let context =
        |number| NewContext { number, members: &members, me: size - 1 - me, offers: &offers };
    let first = endpoint.open_context(context(40))?;
    let second = endpoint.open_context(context(41))?;
    endpoint.close_context(first)?;
    let again = endpoint.open_context(context(42))?;
    for (place, number) in [(second, 41), (again, 42)] {
        let next = (me + 1) % size;
        let mut got = [0; 1];
        let selector = Selector { context: 2 * number, source: None, tag: None };
        let sent = [me as u8];
        let envelope = endpoint.exchange(
            (Destination { rank: next, context: 2 * number, tag: 5 }, &sent),
            (selector, &mut got),
        )?;
        let before = (me + size - 1) % size;
        let expected =
            Envelope { context: 2 * number, source: before as u32, tag: 5, bytes: 1, room: 1 };
        check("a message of a context", (expected, [before as u8]), (envelope, got))?;

        // Block r belongs to member r, which is rank size - 1 - r of the run.
        let mut blocks: Vec<u8> = vec![0; size];
        blocks[size - 1 - me] = me as u8 + 1;
        let receive = lend_mut(&mut blocks);
        let call = CollectiveCall::allgather(1, None, receive);
        native(endpoint, place, call)?;
        let expected: Vec<u8> = (1..=size as u8).rev().collect();
        check("an allgather in place in a context", expected, blocks)?;

        let mut sum = [me as f64];
        let memory = sum.as_mut_ptr().cast::<u8>();
        // SAFETY: `sum` outlives the collective; the sent data may be at the place of the result.
        let (send, receive) = unsafe { (Readable::new(memory, 8), Writable::new(memory, 8)) };
        let mut unused = |_: *const u8, _: *const u8, _: *mut u8, _: usize| {};
        let id = Reduction::SUM_F64.id();
        let combine = Combine { element_bytes: 8, id, apply: &mut unused };
        native(endpoint, place, CollectiveCall::reduce(0, send, receive, combine))?;
        let total = if me == size - 1 { size * (size - 1) / 2 } else { me };
        check("a sum in place at the first member", [total as f64], sum)?;
    }
    let mut unknown = |_: *const u8, _: *const u8, _: *mut u8, _: usize| {};
    let combine = Combine { element_bytes: 3, id: ReductionId::new(1, 0), apply: &mut unknown };
    let (send, receive) = (Readable::empty(), Writable::empty());
    let call = CollectiveCall::allreduce(send, receive, combine);
    let outcome = endpoint.collective(again, call, &mut |_| {});
    check("whether MPI knows every operation", true, outcome.is_none())?;
    process.end()
}

fn native(endpoint: &mut MpiEndpoint, place: ContextPlace, call: CollectiveCall<'_>) -> Result<()> {
    endpoint.collective(place, call, &mut |_| {}).expect("the MPI has it")
}

fn lend_mut(room: &mut [u8]) -> Writable {
    // SAFETY: used for collectives only, which end before the memory.
    unsafe { Writable::new(room.as_mut_ptr(), room.len()) }
}

fn check<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, found: T) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Program(format!("{what}: {found:?} where {expected:?} is expected")))
}
