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
use crate::network::{ChannelUse, Networks};
use crate::path::{CriticalPath, Paths};
use crate::processes::ConcurrentComputing;
use crate::trace::Trace;
use crate::world::{Advanced, Counts, World};

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Number of ranks, at least one.
    pub ranks: usize,
    /// Level of detail; the machine's own if `None`.
    pub level: Option<Level>,
    /// Number of ranks on each processor: rank r is on processor r divided by this. The machine's own number if `None`.
    pub ranks_per_processor: Option<usize>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// True if computations are executed, so that their results can be checked.
    pub check_results: bool,
    /// True if messages carry their data. Otherwise everything takes as long, but receives get no data. Requests for
    /// windows and their answers always carry data.
    pub carry_data: bool,
    /// True to record a trace.
    pub trace: bool,
    /// True to find the critical path.
    pub critical_path: bool,
    /// Stack of each rank in bytes; if `None`, the number of ranks determines it.
    pub stack_bytes: Option<usize>,
}

/// Results of a run that ended without a failure.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    /// Return value of each rank's program.
    pub results: Vec<T>,
    /// Virtual time at which the last rank ended.
    pub end: Time,
    /// Hash of all events: the same for the same input, on every machine.
    pub event_hash: u64,
    /// Numbers of messages, bytes and events.
    pub counts: Counts,
    /// Use of each channel that was used (level L2).
    pub channels: Vec<ChannelUse>,
    /// The trace, if the options request one.
    pub trace: Option<Trace>,
    /// The critical path, if the options request it.
    pub critical_path: Option<CriticalPath>,
}

/// View of a run in progress.
pub struct Watched<'a> {
    world: &'a RefCell<World>,
}

impl Watched<'_> {
    /// Returns the virtual time.
    pub fn now(&self) -> Time {
        self.world.borrow().now()
    }

    /// Returns the use of each channel until now (level L2). Its longest queue is the longest since the previous call.
    pub fn channel_use(&self) -> Vec<ChannelUse> {
        self.world.borrow_mut().channel_use()
    }
}

/// Reason why a run failed: the rank that failed first, and its error.
pub type Failure = (usize, Error);

type Routine<T> = Coroutine<(), (), Result<T>, PooledStack>;

impl Options {
    /// Creates options for `ranks` ranks at the machine's own level, with results checked and no trace.
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
/// The first rank that failed and its error. A deadlock is the failure of the first rank that waits. If the machine
/// cannot have so many ranks, or a stack cannot be allocated, rank 0 has failed.
pub fn run<T: 'static>(
    machine: &Machine,
    options: &Options,
    program: impl Fn(&mut dyn Rank) -> Result<T> + 'static,
) -> std::result::Result<Outcome<T>, Failure> {
    run_watched(machine, options, program, &mut |_| ControlFlow::Continue(()))
}

/// As [`run`], but calls `watch` whenever a rank has run, and after many events. `watch` may end the run.
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

/// As [`run`], for programs over the endpoints themselves. If a program ends without
/// [`Endpoint::finish`](contract::Endpoint::finish), the rank ends with its return value.
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

pub(crate) fn execute<T: 'static>(
    machine: &Machine,
    options: &Options,
    concurrent: Option<ConcurrentComputing>,
    program: impl Fn(SimEndpoint<'_>) -> Result<T> + 'static,
    watch: &mut dyn FnMut(&Watched<'_>) -> ControlFlow<()>,
) -> std::result::Result<Outcome<T>, Failure> {
    let sharing = options.ranks_per_processor.unwrap_or(machine.ranks_per_processor);
    let level = options.level.unwrap_or(machine.level);
    let networks = networks(machine, options.ranks, sharing, level)
        .map_err(|why| (0, refusal(machine, why)))?;
    let machine = Rc::new(machine.clone());
    let mut world =
        World::new(machine, networks, level, options.ranks, sharing, options.seed, options.trace);
    world.carries_data = options.carry_data;
    world.concurrent = concurrent;
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

/// Checks that a machine can have the ranks that `options` request, at their level.
///
/// # Errors
/// [`Error::Unsupported`] if [`run`] would refuse them.
pub fn check(machine: &Machine, options: &Options) -> Result<()> {
    let sharing = options.ranks_per_processor.unwrap_or(machine.ranks_per_processor);
    let level = options.level.unwrap_or(machine.level);
    networks(machine, options.ranks, sharing, level).map(drop).map_err(|why| refusal(machine, why))
}

/// Creates the networks of a machine with as many nodes as `ranks` ranks need.
fn networks(
    machine: &Machine,
    ranks: usize,
    ranks_per_processor: usize,
    level: Level,
) -> std::result::Result<Networks, String> {
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
    if machine.has_variable_paths() && level == Level::LogGp {
        return Err("be simulated at level loggp: it has several networks, or ports that nodes share, or faults; take packets".into());
    }
    if let Some(rings) = &machine.sci {
        if level == Level::LogGp {
            return Err("be simulated at level loggp: rings of SCI are simulated packet by packet; take packets".into());
        }
        rings.check().map_err(|why| format!("be simulated: {why}"))?;
    }
    Networks::new(machine, ranks.div_ceil(ranks_per_processor))
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
        let stacks = StackPool::new(options.ranks, stack_bytes)
            .map_err(|error| (0, stack_error(0, &error)))?;
        let mut routines = Vec::with_capacity(options.ranks);
        for rank in 0..options.ranks {
            let stack = stacks.take().map_err(|error| (0, stack_error(rank, &error)))?;
            let (world, program) = (Rc::clone(world), Rc::clone(&program));
            let check_results = options.check_results;
            routines.push(Some(Coroutine::with_stack(stack, move |yielder, ()| {
                program(SimEndpoint::new(world, yielder, rank, check_results))
            })));
        }
        let results = (0..options.ranks).map(|_| None).collect();
        Ok(Ranks { routines, results })
    }

    /// Continues a rank until it waits or ends.
    fn resume(&mut self, world: &RefCell<World>, rank: usize) {
        let Some(routine) = &mut self.routines[rank] else { return };
        let outcome = match catch_unwind(AssertUnwindSafe(|| routine.resume(()))) {
            Ok(CoroutineResult::Yield(())) => return,
            Ok(CoroutineResult::Return(outcome)) => outcome,
            Err(panic) => {
                Err(Error::Program(format!("the rank panicked: {}", panic_message(&*panic))))
            }
        };
        self.routines[rank] = None;
        let status = outcome.as_ref().map(drop).map_err(Clone::clone);
        self.results[rank] = outcome.ok();
        world.borrow_mut().end(rank, status);
    }
}

/// Runs all ranks. Every rank begins at time zero, in order; then events happen in the order of their times. When a run
/// fails, or no event is left, every rank's pending call returns an error.
fn drive<T: 'static>(
    world: &RefCell<World>,
    ranks: &mut Ranks<T>,
    watch: &mut dyn FnMut(&Watched<'_>) -> ControlFlow<()>,
) {
    world.borrow_mut().wake_all();
    while !world.borrow().has_failed() {
        let next = world.borrow_mut().advance();
        match next {
            Advanced::Rank(rank) => ranks.resume(world, rank),
            Advanced::Events => {}
            Advanced::End => break,
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
        // If a rank suspends itself in spite of the failure, it is unwound when its coroutine is dropped.
        ranks.resume(world, rank);
    }
}

fn stack_error(rank: usize, error: &StackError) -> Error {
    Error::System { what: format!("making a stack for rank {rank}"), reason: error.to_string() }
}

/// Returns the stack of a rank in bytes. Pages that are never touched take no memory, but the page tables of many large
/// stacks do.
fn stack_bytes(ranks: usize) -> usize {
    match ranks {
        0..=1024 => 512 * 1024,
        1025..=16384 => 128 * 1024,
        _ => 32 * 1024,
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without words".into())
}
