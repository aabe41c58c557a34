//! Started (non-blocking) collectives: they have the same results as blocking ones, and end in the order in which they
//! were started. A fabric without started collectives passes.

use super::check::{contents, ensure, expect};
use contract::{
    CollectiveCall, Combine, ContextPlace, Destination, Endpoint, Readable, ReductionId, Result,
    Selector, StartedCollective, Writable, boards_of,
};

const TAG: u32 = 9;
const GO: u32 = 10;
const KINDS: u64 = 8;
/// Lengths of all paths over a board: in a line, in a slot, in several slots, in more than all slots.
const LENGTHS: [usize; 9] = [0, 1, 8, 48, 49, 3000, 40_000, 150_000, 600_000];

/// Random numbers from a linear congruential generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A call at one member, with its memory.
struct Call {
    number: u64,
    kind: u64,
    root: usize,
    each: usize,
    send: Vec<u8>,
    receive: Vec<u8>,
    started: Option<StartedCollective>,
}

impl Call {
    /// Draws a call, the same at all members.
    fn draw(draw: &mut Draw, number: u64, rank: usize, size: usize) -> Self {
        let (kind, root) = (draw.below(KINDS), draw.below(size as u64) as usize);
        let each = LENGTHS[draw.below(LENGTHS.len() as u64) as usize] / size;
        let send = contents(Call::seed(number, rank), each * size);
        let mut receive = vec![0; each * size];
        if kind == 1 && rank == root {
            receive.clone_from(&send);
        }
        Call { number, kind, root, each, send, receive, started: None }
    }

    /// Returns the seed of a member's data.
    fn seed(number: u64, member: usize) -> u64 {
        number * 1000 + member as u64
    }

    /// Calls a function with the call in the form that fabrics use.
    fn with<R>(
        &mut self,
        rank: usize,
        size: usize,
        use_it: impl FnOnce(CollectiveCall<'_>) -> R,
    ) -> R {
        let (root, each) = (self.root, self.each);
        let readable = |bytes: usize| {
            // SAFETY: the call keeps its memory until it has ended.
            #[allow(unsafe_code)]
            unsafe {
                Readable::new(self.send.as_ptr(), bytes)
            }
        };
        let start = self.receive.as_mut_ptr();
        let writable = |bytes: usize| {
            // SAFETY: as above.
            #[allow(unsafe_code)]
            unsafe {
                Writable::new(start, bytes)
            }
        };
        let is_root = rank == root;
        let all = each * size;
        let mut add = |left: *const u8, right: *const u8, result: *mut u8, bytes: usize| {
            for at in 0..bytes {
                // SAFETY: the fabric passes as many bytes in each place.
                #[allow(unsafe_code)]
                unsafe {
                    *result.add(at) = (*left.add(at)).wrapping_add(*right.add(at));
                }
            }
        };
        let combine = Combine { element_bytes: 1, id: ReductionId::new(1, 1), apply: &mut add };
        use_it(match self.kind {
            0 => CollectiveCall::barrier(),
            1 => CollectiveCall::broadcast(root, writable(all)),
            2 => {
                let send = if is_root { readable(all) } else { Readable::empty() };
                CollectiveCall::scatter(root, each, send, Some(writable(each)))
            }
            3 => {
                let receive = if is_root { writable(all) } else { Writable::empty() };
                CollectiveCall::gather(root, each, Some(readable(each)), receive)
            }
            4 => {
                let (send, receive) = (Some(readable(each)), writable(all));
                CollectiveCall::allgather(each, send, receive)
            }
            5 => {
                let (send, receive) = (Some(readable(all)), writable(all));
                CollectiveCall::all_to_all(each, send, receive)
            }
            6 => {
                let receive = if is_root { writable(all) } else { Writable::empty() };
                CollectiveCall::reduce(root, readable(all), receive, combine)
            }
            _ => CollectiveCall::allreduce(readable(all), writable(all), combine),
        })
    }

    /// Compares the received data with the expected.
    fn check(&self, rank: usize, size: usize) -> Result<()> {
        let (each, number) = (self.each, self.number);
        let of = |member: usize| contents(Call::seed(number, member), each * size);
        let block = |member: usize, index: usize| of(member)[index * each..][..each].to_vec();
        let is_root = rank == self.root;
        let blocks = |index: usize| (0..size).flat_map(|member| block(member, index)).collect();
        let wanted: Vec<u8> = match self.kind {
            1 => of(self.root),
            2 => block(self.root, rank),
            3 if is_root => blocks(0),
            4 => blocks(0),
            5 => blocks(rank),
            6 | 7 if is_root || self.kind == 7 => {
                let all: Vec<Vec<u8>> = (0..size).map(of).collect();
                let sum = |at: usize| all.iter().fold(0_u8, |sum, one| sum.wrapping_add(one[at]));
                (0..each * size).map(sum).collect()
            }
            _ => Vec::new(),
        };
        ensure(self.receive[..wanted.len()] == wanted, || {
            let Call { kind, root, .. } = self;
            format!(
                "call {number}, of kind {kind} with root {root} and blocks of {each} bytes, gave other data"
            )
        })
    }
}

/// Returns `None` if the fabric leaves it to messages.
fn start<E: Endpoint>(endpoint: &mut E, call: &CollectiveCall<'_>) -> Option<StartedCollective> {
    boards_of(endpoint, ContextPlace::WORLD)?.start(ContextPlace::WORLD, call)
}

fn advance_one<E: Endpoint>(
    endpoint: &mut E,
    started: StartedCollective,
    call: CollectiveCall<'_>,
) -> Option<Result<()>> {
    boards_of(endpoint, started.place)?.advance(started, call)
}

/// Advances all calls. They must end in order.
fn advance<E: Endpoint>(endpoint: &mut E, calls: &mut [Call]) -> Result<()> {
    let (rank, size) = (endpoint.rank(), endpoint.size());
    let mut is_behind = false;
    for call in calls {
        let Some(started) = call.started else { continue };
        let ended = call.with(rank, size, |one| advance_one(endpoint, started, one));
        match ended {
            None => is_behind = true,
            Some(outcome) => {
                outcome?;
                ensure(!is_behind, || "a collective has ended before an earlier one".into())?;
                call.started = None;
            }
        }
    }
    Ok(())
}

/// Waits until all calls have ended.
fn finish<E: Endpoint>(endpoint: &mut E, calls: &mut [Call]) -> Result<()> {
    let mut outcome = Ok(());
    endpoint.wait_until(&mut |endpoint| {
        outcome = advance(endpoint, calls);
        outcome.is_err() || calls.iter().all(|call| call.started.is_none())
    })?;
    outcome
}

/// Runs random calls, several in progress at once, with blocking calls in between.
pub(super) fn many<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let (rank, size) = (endpoint.rank(), endpoint.size());
    let (mut draw, mut own) = (Draw(2026), Draw(rank as u64));
    let mut number = 0;
    for _ in 0..60 {
        let mut calls = Vec::new();
        for _ in 0..1 + draw.below(6) {
            number += 1;
            let mut call = Call::draw(&mut draw, number, rank, size);
            let waits = draw.below(5) == 0;
            if waits {
                let mut outcome = Ok(());
                let idle = &mut |endpoint: &mut E| {
                    let advanced = advance(endpoint, &mut calls);
                    outcome = std::mem::replace(&mut outcome, Ok(())).and(advanced);
                };
                let world = ContextPlace::WORLD;
                let ended = call.with(rank, size, |one| endpoint.collective(world, one, idle));
                outcome?;
                let Some(ended) = ended else { continue };
                ended?;
                let under_way = calls.iter().filter(|call| call.started.is_some()).count();
                expect("how many earlier collectives go on after one that waited", 0, under_way)?;
            } else {
                call.started = call.with(rank, size, |one| start(endpoint, &one));
                if call.started.is_none() {
                    continue;
                }
            }
            calls.push(call);
            for _ in 0..own.below(4) {
                endpoint.progress(None)?;
                advance(endpoint, &mut calls)?;
            }
        }
        finish(endpoint, &mut calls)?;
        calls.iter().try_for_each(|call| call.check(rank, size))?;
    }
    Ok(())
}

/// Rank 0 enters a barrier after the others have tested theirs many times.
pub(super) fn barrier<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let (rank, size) = (endpoint.rank(), endpoint.size());
    let from =
        |source: usize, tag| Selector { context: 0, source: Some(source as u32), tag: Some(tag) };
    for round in 0..20 {
        if rank == 0 {
            for other in 1..size {
                endpoint.receive(from(other, TAG), &mut [])?;
            }
        }
        let started = start(endpoint, &CollectiveCall::barrier());
        if rank > 0 {
            for started in std::iter::repeat_n(started, 100).flatten() {
                endpoint.progress(None)?;
                let ended = advance_one(endpoint, started, CollectiveCall::barrier());
                ensure(ended.is_none(), || format!("barrier {round} ended before rank 0 came"))?;
            }
            endpoint.send(Destination { rank: 0, context: 0, tag: TAG }, &[])?;
        }
        let Some(started) = started else { return Ok(()) };
        let mut outcome = None;
        endpoint.wait_until(&mut |endpoint| {
            outcome = advance_one(endpoint, started, CollectiveCall::barrier());
            outcome.is_some()
        })?;
        outcome.unwrap_or(Ok(()))?;
        // Messages are delivered regardless of the collectives in progress.
        let partner = rank ^ 1;
        if partner < size {
            endpoint.send(Destination { rank: partner, context: 0, tag: GO }, &[])?;
            endpoint.receive(from(partner, GO), &mut [])?;
        }
    }
    Ok(())
}
