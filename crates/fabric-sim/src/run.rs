//! Running a program on a simulated machine.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use contract::{Error, Process, Rank, Result, Time};
use corosensei::{Coroutine, CoroutineResult};
use stacks::{PooledStack, StackError, StackPool};

use crate::endpoint::SimEndpoint;
use crate::machine::{Level, Machine};
use crate::network::{ChannelUse, Ways};
use crate::outside::{Outside, OutsideWork};
use crate::path::{CriticalPath, Paths};
use crate::trace::Trace;
use crate::world::{Counts, World};

/// How a program is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How many ranks, at least one.
    pub ranks: usize,
    /// The level of detail; the machine's own if none is given.
    pub level: Option<Level>,
    /// How many ranks share a processor: rank r is on processor r divided by this. The machine's own number if none
    /// is given.
    pub ranks_per_processor: Option<usize>,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether computations are really done, so that their results can be checked.
    pub check_results: bool,
    /// Whether messages carry their data. Without, everything takes as long, but receives get no data; requests for
    /// windows and their answers always have them.
    pub carry_data: bool,
    /// Whether to keep a trace.
    pub trace: bool,
    /// Whether to find the critical path.
    pub critical_path: bool,
    /// The stack of each rank in bytes; chosen by the number of ranks if none is given.
    pub stack_bytes: Option<usize>,
}

/// What a run that ended in order leaves.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    /// What each rank's program returned.
    pub results: Vec<T>,
    /// The virtual time at which the last rank ended.
    pub end: Time,
    /// The hash of all events: the same for the same input, on every machine.
    pub event_hash: u64,
    /// How much happened.
    pub counts: Counts,
    /// The use of each channel that was used (level L2).
    pub channels: Vec<ChannelUse>,
    /// The trace, if one was asked for.
    pub trace: Option<Trace>,
    /// The critical path, if it was asked for.
    pub critical_path: Option<CriticalPath>,
}

/// What can be seen of a run under way.
pub struct Watched<'a> {
    world: &'a RefCell<World>,
}

impl Watched<'_> {
    /// The virtual time.
    pub fn now(&self) -> Time {
        self.world.borrow().now()
    }

    /// The use of each channel up to now (level L2). Its longest queue is that since it was asked for before.
    pub fn channel_use(&self) -> Vec<ChannelUse> {
        self.world.borrow_mut().channel_use()
    }
}

/// Why a run did not end in order: the rank that failed first, and its error.
pub type Failure = (usize, Error);

type Routine<T> = Coroutine<(), (), Result<T>, PooledStack>;

impl Options {
    /// `ranks` ranks at the machine's own level, with results checked and no trace.
    pub fn new(ranks: usize) -> Self {
        Options {
            ranks,
            level: None,
            ranks_per_processor: None,
            seed: 1,
            check_results: true,
            carry_data: true,
            trace: false,
            critical_path: false,
            stack_bytes: None,
        }
    }
}

/// Runs `program` on every rank of a machine, in virtual time and in this thread.
///
/// # Errors
/// The first rank that failed and its error; a deadlock counts for the first rank that waits. A machine that cannot
/// have so many ranks, or a stack that cannot be had, counts for rank 0.
pub fn run<T: 'static>(
    machine: &Machine,
    options: &Options,
    program: impl Fn(&mut dyn Rank) -> Result<T> + 'static,
) -> std::result::Result<Outcome<T>, Failure> {
    run_watched(machine, options, program, &mut |_| ControlFlow::Continue(()))
}

/// The same as [`run`] under watch: `watch` is called whenever a rank has run, and may end the run.
///
/// # Errors
/// As [`run`]; a run that `watch` ended has the error [`Error::Aborted`].
pub fn run_watched<T: 'static>(
    machine: &Machine,
    options: &Options,
    program: impl Fn(&mut dyn Rank) -> Result<T> + 'static,
    watch: &mut dyn FnMut(&Watched<'_>) -> ControlFlow<()>,
) -> std::result::Result<Outcome<T>, Failure> {
    let over_endpoint = move |endpoint: SimEndpoint<'_>| {
        let mut process = Process::new(endpoint);
        let outcome = program(&mut process.world());
        process.finish(outcome.as_ref().map(drop).map_err(Clone::clone));
        outcome
    };
    execute(machine, options, None, over_endpoint, watch)
}

/// The same as [`run`] for programs over the endpoints themselves. A program that ends without
/// [`Endpoint::finish`](contract::Endpoint::finish) is finished with what it returns.
///
/// # Errors
/// As [`run`].
pub fn run_endpoints<T: 'static>(
    machine: &Machine,
    options: &Options,
    program: impl Fn(SimEndpoint<'_>) -> Result<T> + 'static,
) -> std::result::Result<Outcome<T>, Failure> {
    execute(machine, options, None, program, &mut |_| ControlFlow::Continue(()))
}

/// The same as [`run_endpoints`], for ranks whose work `outside` does beside the simulation
/// ([`SimEndpoint::work_outside`]).
///
/// # Errors
/// As [`run`].
pub fn run_beside<T: 'static>(
    machine: &Machine,
    options: &Options,
    outside: Rc<dyn Outside>,
    program: impl Fn(SimEndpoint<'_>) -> Result<T> + 'static,
) -> std::result::Result<Outcome<T>, Failure> {
    execute(machine, options, Some(outside), program, &mut |_| ControlFlow::Continue(()))
}

fn execute<T: 'static>(
    machine: &Machine,
    options: &Options,
    outside: Option<Rc<dyn Outside>>,
    program: impl Fn(SimEndpoint<'_>) -> Result<T> + 'static,
    watch: &mut dyn FnMut(&Watched<'_>) -> ControlFlow<()>,
) -> std::result::Result<Outcome<T>, Failure> {
    let sharing = options.ranks_per_processor.unwrap_or(machine.ranks_per_processor);
    let level = options.level.unwrap_or(machine.level);
    let ways =
        ways(machine, options.ranks, sharing, level).map_err(|why| (0, refusal(machine, why)))?;
    let machine = Rc::new(machine.clone());
    let mut world =
        World::new(machine, ways, level, options.ranks, sharing, options.seed, options.trace);
    world.carries_data = options.carry_data;
    world.outside = outside.map(OutsideWork::new);
    world.paths = options.critical_path.then(|| Paths::new(options.ranks));
    let world = Rc::new(RefCell::new(world));
    let mut ranks = Ranks::start(&world, options, Rc::new(program))?;
    drive(&world, &mut ranks, watch);
    let mut world = world.borrow_mut();
    if let Some(failure) = world.failure.take() {
        return Err(failure);
    }
    let channels = world.channel_use();
    let trace = world.recorder.take().map(|recorder| {
        let channels = world.take_busy_spans();
        Trace { channels, ..recorder.trace }
    });
    Ok(Outcome {
        results: ranks.results.into_iter().flatten().collect(),
        end: world.ended_at,
        event_hash: world.event_hash(),
        counts: world.counts(),
        channels,
        trace,
        critical_path: world.paths.as_ref().map(|paths| paths.last),
    })
}

/// Checks that a machine can have the ranks that `options` ask for, at their level.
///
/// # Errors
/// [`Error::Unsupported`] if [`run`] would refuse them.
pub fn check(machine: &Machine, options: &Options) -> Result<()> {
    let sharing = options.ranks_per_processor.unwrap_or(machine.ranks_per_processor);
    let level = options.level.unwrap_or(machine.level);
    ways(machine, options.ranks, sharing, level).map(drop).map_err(|why| refusal(machine, why))
}

/// The networks of a machine with as many nodes as `ranks` ranks need.
fn ways(
    machine: &Machine,
    ranks: usize,
    ranks_per_processor: usize,
    level: Level,
) -> std::result::Result<Ways, String> {
    if ranks == 0 {
        return Err("run without ranks: ask for at least one".into());
    }
    if ranks_per_processor == 0 {
        return Err("place no ranks on a processor: ask for at least one".into());
    }
    let most = machine.most_ranks(ranks_per_processor);
    if ranks > most {
        return Err(format!("have {ranks} ranks: it has at most {most}"));
    }
    if machine.has_ways() && level == Level::LogGp {
        return Err("be simulated at level loggp: it has several networks, or ports that nodes share, or faults; take packets".into());
    }
    if let Some(rings) = &machine.sci {
        if level == Level::LogGp {
            return Err("be simulated at level loggp: rings of SCI are simulated packet by packet; take packets".into());
        }
        rings.check().map_err(|why| format!("be simulated: {why}"))?;
    }
    Ways::new(machine, ranks.div_ceil(ranks_per_processor))
        .map_err(|why| format!("have {ranks} ranks: {why}"))
}

fn refusal(machine: &Machine, what: String) -> Error {
    Error::Unsupported { fabric: format!("sim:{}", machine.name), what }
}

struct Ranks<T> {
    routines: Vec<Option<Routine<T>>>,
    results: Vec<Option<T>>,
}

impl<T: 'static> Ranks<T> {
    fn start<F: Fn(SimEndpoint<'_>) -> Result<T> + 'static>(
        world: &Rc<RefCell<World>>,
        options: &Options,
        program: Rc<F>,
    ) -> std::result::Result<Self, Failure> {
        let stack_bytes = options.stack_bytes.unwrap_or_else(|| stack_bytes(options.ranks));
        let stacks =
            StackPool::new(options.ranks, stack_bytes).map_err(|error| (0, no_stack(0, &error)))?;
        let mut routines = Vec::with_capacity(options.ranks);
        for rank in 0..options.ranks {
            let stack = stacks.take().map_err(|error| (0, no_stack(rank, &error)))?;
            let (world, program) = (Rc::clone(world), Rc::clone(&program));
            let check_results = options.check_results;
            routines.push(Some(Coroutine::with_stack(stack, move |yielder, ()| {
                program(SimEndpoint::new(world, yielder, rank, check_results))
            })));
        }
        let results = (0..options.ranks).map(|_| None).collect();
        Ok(Ranks { routines, results })
    }

    /// Lets a rank continue until it waits or ends.
    fn resume(&mut self, world: &RefCell<World>, rank: usize) {
        let Some(routine) = &mut self.routines[rank] else { return };
        let outcome = match catch_unwind(AssertUnwindSafe(|| routine.resume(()))) {
            Ok(CoroutineResult::Yield(())) => return,
            Ok(CoroutineResult::Return(outcome)) => outcome,
            Err(panic) => Err(Error::Program(format!("the rank panicked: {}", words(&*panic)))),
        };
        self.routines[rank] = None;
        let told = outcome.as_ref().map(drop).map_err(Clone::clone);
        self.results[rank] = outcome.ok();
        world.borrow_mut().end(rank, told);
    }
}

/// Every rank begins at time zero, in order; then events happen in the order of their times. When a run fails, or
/// nothing can happen any more, every rank's pending call returns an error.
fn drive<T: 'static>(
    world: &RefCell<World>,
    ranks: &mut Ranks<T>,
    watch: &mut dyn FnMut(&Watched<'_>) -> ControlFlow<()>,
) {
    world.borrow_mut().wake_all();
    while !world.borrow().has_failed() {
        let next = world.borrow_mut().advance();
        match next {
            Some(rank) => ranks.resume(world, rank),
            None => break,
        }
        if watch(&Watched { world }).is_break() {
            world.borrow_mut().abort("whoever watched it asked for its end");
        }
    }
    if world.borrow().first_unended().is_none() {
        return;
    }
    world.borrow_mut().declare_deadlock();
    for rank in 0..ranks.routines.len() {
        // A rank that suspends itself in spite of the failure is unwound when its coroutine is dropped.
        ranks.resume(world, rank);
    }
}

fn no_stack(rank: usize, error: &StackError) -> Error {
    Error::System { what: format!("making a stack for rank {rank}"), reason: error.to_string() }
}

/// Pages that are never touched take no memory, but the page tables of many large stacks do.
fn stack_bytes(ranks: usize) -> usize {
    match ranks {
        0..=1024 => 512 * 1024,
        1025..=16384 => 128 * 1024,
        _ => 32 * 1024,
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without words".into())
}
