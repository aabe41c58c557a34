//! Running a program on an array.

use std::cell::RefCell;
use std::rc::Rc;

use contract::{Error, Result, Time, WorkKind};
use corosensei::{Coroutine, CoroutineResult};
use stacks::{PooledStack, StackPool};

use super::media::BusUse;
use super::node::ArrayNode;
use super::wiring::combined_links;
use super::world::{Waiting, World};
use super::{ArrayOptions, InterruptCounts};
use crate::machine::Machine;
use crate::run::Failure;

/// Stack of each program in bytes. Pages that are never touched take no memory.
const STACK_BYTES: usize = 256 * 1024;

/// Results of a run on an array.
#[derive(Clone, Debug)]
pub struct ArrayOutcome<T> {
    /// Return value of each processor's program, the controller's last.
    pub results: Vec<T>,
    /// Time at which the last program ended.
    pub end: Time,
    /// Numbers of entries of each processor's interrupts.
    pub interrupts: Vec<InterruptCounts>,
    /// Use of the bus.
    pub bus: BusUse,
    /// Hash of all events: the same for the same input, everywhere.
    pub event_hash: u64,
}

type Routine<T> = Coroutine<(), (), Result<T>, PooledStack>;

/// Runs `program` on every processor of a machine's array.
///
/// # Errors
/// A machine without an array, links that cannot be plugged as requested, the first program that failed, and programs
/// that wait for each other.
pub fn run_array<T: 'static>(
    machine: &Machine,
    options: &ArrayOptions,
    program: impl Fn(&ArrayNode<'_>) -> Result<T> + 'static,
) -> std::result::Result<ArrayOutcome<T>, Failure> {
    let refuse =
        |what: String| (0, Error::Unsupported { fabric: format!("sim:{}", machine.name), what });
    let Some(array) = &machine.array else {
        return Err(refuse("run programs of an array: it is none".into()));
    };
    let (cooperating, most) = (options.nodes, machine.ranks_max.unwrap_or(usize::MAX));
    if !(1..=most).contains(&cooperating) {
        return Err(refuse(format!("have {cooperating} processors: it has 1 to {most}")));
    }
    let wiring = options.wiring.as_ref().unwrap_or(&array.wiring);
    let links = combined_links(wiring, cooperating, array.links_max)
        .map_err(|why| refuse(format!("be plugged so: {why}")))?;
    let nodes = cooperating + usize::from(options.controller);
    let world = Rc::new(RefCell::new(World::new(array, &links, cooperating, nodes)));
    let addition = machine.processor.time(WorkKind::FloatingPoint, 1);
    let stacks = StackPool::new(nodes, STACK_BYTES).map_err(stack_error)?;
    let program = Rc::new(program);
    let mut routines: Vec<Option<Routine<T>>> = Vec::with_capacity(nodes);
    for number in 0..nodes {
        let (world, program) = (Rc::clone(&world), Rc::clone(&program));
        let stack = stacks.take().map_err(stack_error)?;
        routines.push(Some(Coroutine::with_stack(stack, move |yielder, ()| {
            program(&ArrayNode::new(world, yielder, number, addition))
        })));
    }
    let results = drive(&world, &mut routines)?;
    let world = world.borrow();
    Ok(ArrayOutcome {
        results,
        end: world.now(),
        interrupts: world.nodes.iter().map(|node| node.processor.counts).collect(),
        bus: world.bus.used,
        event_hash: world.event_hash(),
    })
}

/// Runs all programs to their ends.
fn drive<T>(
    world: &RefCell<World>,
    routines: &mut [Option<Routine<T>>],
) -> std::result::Result<Vec<T>, Failure> {
    let mut results: Vec<Option<T>> = routines.iter().map(|_| None).collect();
    (0..routines.len()).for_each(|node| world.borrow_mut().wake(node, Time::ZERO));
    loop {
        let next = world.borrow_mut().advance();
        let Some(node) = next else { break };
        let routine = routines[node].as_mut().expect("a program that goes on has not ended");
        if let CoroutineResult::Return(outcome) = routine.resume(()) {
            routines[node] = None;
            world.borrow_mut().nodes[node].waiting = Waiting::Ended;
            results[node] = Some(outcome.map_err(|error| (node, error))?);
        }
    }
    match results.iter().position(Option::is_none) {
        None => Ok(results.into_iter().flatten().collect()),
        Some(first) => {
            let explanation = world.borrow().explain_deadlock();
            Err((first, Error::Deadlock { explanation }))
        }
    }
}

fn stack_error(error: stacks::StackError) -> Failure {
    (0, Error::System { what: "making a stack for a processor".into(), reason: error.to_string() })
}
