//! Tuples that are put and taken.

use ::services::{Error, Field, FieldKind, Template, Tuple, TupleOperations, TupleSpace};
use contract::{Rank, Result};
use record::Parameters;

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::contents::{check_block, fill};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::paper;
use crate::presentation::Headline;
use crate::programs::common::{BENCHMARK, NO_DATA};
use crate::shape::Role;

pub(in crate::programs) const TUPLE_SPACE: Benchmark = Benchmark {
    name: "tuple-space",
    group: Group::Services,
    summary: "an operation on a tuple space whose home is another rank",
    explains: "Rank 0 puts a tuple with this number of bytes into a space whose home is rank 1, takes it \
        again, and puts an empty one, for which rank 1 waits: two times out, once in. Rank 0 times from its first \
        call to its last return; the time is a third of it, the rate is its inverse: operations of one rank per \
        second. Each operation is one active message and its reply, so it takes at least twice the time of \
        active-messages.",
    source: paper::LINDA.part(""),
    headlines: &[Headline { words: "tuple space, one rank", metric: "rate", size_bytes: Some(8) }],
    cases: sizes,
    repeatable: false,
    measure: operations,
    program: NO_DATA,
    ..BENCHMARK
};

/// Number of operations in an event.
const OPERATIONS: u64 = 3;
/// Longest tuple in bytes that fits into a message with the other fields.
const BYTES_MAX: usize = 512;

fn sizes(scope: &Scope) -> Vec<Case> {
    sized(scope, &[8, 64, BYTES_MAX as u64])
}

fn operations(bench: &mut Bench<'_>) -> Result<()> {
    let size = bench.shape.size;
    if size > BYTES_MAX {
        return bench.skip(format!("tuples of more than {BYTES_MAX} bytes are not measured"));
    }
    let program = bench.definition.program;
    let (first, home) = bench.shape.pair;
    let mut bytes = vec![0; size];
    fill(&mut bytes, bench.settings.seed, first, 0);
    let tuple = Tuple(vec![Field::Bytes(bytes)]);
    let mut space = TupleSpace::open(bench.rank, home, 1000).map_err(Error::into_contract)?;
    begin(space.enter(bench.rank), bench.shape.role()).map_err(Error::into_contract)?;
    let mut taken = Tuple::default();
    let outcome = bench.sampled_as(program, |rank, data| {
        event(&mut space, rank, data.role, &tuple, &mut taken).map_err(Error::into_contract)
    })?;
    space.close(bench.rank).map_err(Error::into_contract)?;
    if bench.shape.role() == Role::First {
        let found = taken.bytes(0).map_err(Error::into_contract)?;
        check_block(found, bench.settings.seed, (first, 0), "the tuple", first)?;
    }
    let Some(outcome) = outcome else { return Ok(()) };
    let subject = bench.subject(Parameters::new());
    let time = subject.time(OPERATIONS, &outcome)?;
    let rate = subject.derived(&time, "rate", "operations/s", |us| 1e6 / us)?;
    bench.emit(Event::Measured(vec![time, rate]))
}

/// Joins the space. The home waits for the other rank, because it must serve that one's joining first.
fn begin(mut operations: TupleOperations<'_>, role: Role) -> ::services::Result<()> {
    match role {
        Role::First => operations.join().and_then(|()| operations.out(Tuple::default())),
        Role::Second => {
            operations.join().and_then(|()| operations.in_(&Template::default()).map(drop))
        }
        Role::Other => Ok(()),
    }
}

fn event(
    space: &mut TupleSpace,
    rank: &mut dyn Rank,
    role: Role,
    tuple: &Tuple,
    taken: &mut Tuple,
) -> ::services::Result<()> {
    let mut operations: TupleOperations<'_> = space.enter(rank);
    match role {
        Role::First => {
            operations.out(tuple.clone())?;
            *taken = operations.in_(&Template(vec![FieldKind::Bytes.into()]))?;
            operations.out(Tuple::default())
        }
        Role::Second => operations.in_(&Template::default()).map(drop),
        Role::Other => Ok(()),
    }
}
