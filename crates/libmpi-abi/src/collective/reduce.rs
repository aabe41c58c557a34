//! Reductions: reduce, allreduce, scan, exscan and reduce-scatter.
//!
//! Elements are combined in the order of the ranks, so that operations that do not commute come out right, and every rank
//! of an allreduce gets the very same bits.

use std::ffi::{c_int, c_void};

use super::spread::broadcast_rounds;
use super::{Call, How, Kind, Schedule, check_apart, copy, is_in_place, native, run};
use mpi::Reduction;

use crate::abi::*;
use crate::arguments::IntOrCount;
use crate::communicator::{self, Communicator};
use crate::datatype::Memory;
use crate::failure::{Result, ensure};
use crate::operation;

/// Elements in temporary memory, laid out as in the user's.
#[derive(Clone)]
struct Image {
    memory: Memory,
    /// All of it in one piece, gaps included: what travels.
    start: *mut u8,
    bytes: usize,
}

impl Image {
    fn new(schedule: &mut Schedule, like: &Memory) -> Image {
        let (count, of) = (like.count, like.of.clone());
        let before = if count > 1 { (count - 1) * of.extent().min(0) } else { 0 };
        let after = if count > 1 { (count - 1) * of.extent().max(0) } else { 0 };
        let bytes = if count > 0 { (of.true_extent() + after - before) as usize } else { 0 };
        let start = schedule.temporary(bytes);
        let first = start.wrapping_offset(-(of.true_lower() + before) as isize);
        Image { memory: Memory { start: first, count, of }, start, bytes }
    }
}

/// A reduction's arguments, checked.
#[derive(Clone)]
struct Task {
    reduction: Reduction,
    /// What this rank puts in.
    input: Memory,
    /// Where the result goes; not looked at where there is none.
    output: Memory,
}

impl Task {
    fn new(
        from: *const c_void,
        to: *mut c_void,
        count: i64,
        datatype: Datatype,
        op: Op,
    ) -> Result<Task> {
        Task::for_part(from, to, count, count, datatype, op)
    }

    /// A reduction of `count` elements, of which this rank gets `wanted`.
    fn for_part(
        from: *const c_void,
        to: *mut c_void,
        count: i64,
        wanted: i64,
        datatype: Datatype,
        op: Op,
    ) -> Result<Task> {
        let reduction = operation::reduction(op, datatype)?;
        let own = if is_in_place(from) { to.cast_const() } else { from };
        let input = Memory::new(own, count, datatype)?;
        let output = Memory { start: to.cast(), count: wanted, ..input.clone() };
        if !is_in_place(from) {
            check_apart(&input, &output)?;
        }
        Ok(Task { reduction, input, output })
    }

    /// The whole reduction in shared memory, where that can be done.
    unsafe fn native(&self, communicator: &Communicator, root: Option<usize>) -> Option<Result> {
        native::reduce(communicator, root, &self.reduction, &self.input, &self.output)
    }

    /// A temporary copy of the input.
    unsafe fn image(&self, schedule: &mut Schedule) -> Image {
        let image = Image::new(schedule, &self.input);
        image.memory.copy_from(&self.input);
        image
    }

    /// `into` = `left` op `into`, before the messages of the next round.
    unsafe fn combine(&self, schedule: &mut Schedule, left: &Image, into: &Image) {
        let reduction = self.reduction.clone();
        // SAFETY: both are elements of this datatype, in memory that the schedule keeps.
        let (left, target) = (left.memory.promised(), into.memory.promised());
        schedule.round().first(move || {
            reduction.apply(&left, &target);
            Ok(())
        });
    }

    /// The rounds that bring the result to `root`, by a binomial tree; returns where it is, at the root.
    unsafe fn reduce_rounds(&self, schedule: &mut Schedule, root: usize) -> Image {
        let (rank, size) = (schedule.rank(), schedule.size());
        // An order that begins at the root is as good as any if the operation commutes.
        let top = if self.reduction.commutes() { root } else { 0 };
        let relative = (rank + size - top) % size;
        let mut mine = self.image(schedule);
        let mut other = Image::new(schedule, &self.input);
        let mut bit = 1;
        while bit < size {
            if relative & bit != 0 {
                let to = (relative - bit + top) % size;
                schedule.round().send(to, mine.start, mine.bytes);
                break;
            }
            if relative + bit < size {
                let from = (relative + bit + top) % size;
                schedule.round().receive(from, other.start, other.bytes);
                self.combine(schedule, &mine, &other);
                std::mem::swap(&mut mine, &mut other);
            }
            bit *= 2;
        }
        if top != root {
            if rank == top {
                schedule.round().send(root, mine.start, mine.bytes);
            } else if rank == root {
                schedule.round().receive(top, other.start, other.bytes);
                return other;
            }
        }
        mine
    }
}

/// Copies a result into the user's memory at the end.
fn deliver(schedule: &mut Schedule, from: &Image, to: &Memory) {
    let (from, to) = (from.memory.clone(), to.clone());
    schedule.finally(move || {
        // SAFETY: the schedule still has the image, and the user's memory is promised until it has ended.
        unsafe { copy(&from, &to) };
        Ok(())
    });
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn reduce(
    from: *const c_void,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let root = communicator.root(root)?;
    let is_root = communicator.rank == root;
    ensure!(is_root || !is_in_place(from), ERR_BUFFER, "MPI_IN_PLACE away from the root");
    // Away from the root there is no result, and its argument may be anything.
    let to = if is_root { to } else { std::ptr::null_mut() };
    let task = Task::new(from, to, count, datatype, op)?;
    if let How::Blocking = how
        && let Some(outcome) = task.native(&communicator, Some(root))
    {
        return outcome;
    }
    run(&communicator, how, Call::rooted(Kind::Reduce, root), move |party| {
        let mut schedule = Schedule::new(party);
        let result = task.reduce_rounds(&mut schedule, root);
        if is_root {
            deliver(&mut schedule, &result, &task.output);
        }
        Ok(schedule)
    })
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn allreduce(
    from: *const c_void,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let task = Task::new(from, to, count, datatype, op)?;
    if let How::Blocking = how
        && let Some(outcome) = task.native(&communicator, None)
    {
        return outcome;
    }
    run(&communicator, how, Call::of(Kind::Allreduce), move |party| {
        let mut schedule = Schedule::new(party);
        let result = task.reduce_rounds(&mut schedule, 0);
        broadcast_rounds(&mut schedule, 0, result.start, result.bytes);
        deliver(&mut schedule, &result, &task.output);
        Ok(schedule)
    })
}

/// Whether a rank's own elements are part of its result.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scan {
    Inclusive,
    Exclusive,
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn scan(
    from: *const c_void,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    kind: Scan,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let task = Task::new(from, to, count, datatype, op)?;
    let call = match kind {
        Scan::Inclusive => Call::of(Kind::InclusiveScan),
        Scan::Exclusive => Call::of(Kind::ExclusiveScan),
    };
    run(&communicator, how, call, move |party| {
        let mut schedule = Schedule::new(party);
        let (rank, size) = (schedule.rank(), schedule.size());
        let mine = task.image(&mut schedule);
        let before = Image::new(&mut schedule, &task.input);
        if rank > 0 {
            schedule.round().receive(rank - 1, before.start, before.bytes);
            task.combine(&mut schedule, &before, &mine);
        }
        if rank + 1 < size {
            schedule.round().send(rank + 1, mine.start, mine.bytes);
        }
        match kind {
            Scan::Inclusive => deliver(&mut schedule, &mine, &task.output),
            Scan::Exclusive if rank > 0 => deliver(&mut schedule, &before, &task.output),
            // The first rank has nobody before it, and its buffer stays as it is.
            Scan::Exclusive => {}
        }
        Ok(schedule)
    })
}

/// Rank 0 reduces everything and gives each rank its elements.
unsafe fn reduce_then_scatter(
    communicator: &Communicator,
    task: Task,
    counts: Vec<i64>,
    how: How,
    kind: Kind,
) -> Result {
    run(communicator, how, Call::of(kind), move |party| {
        let mut schedule = Schedule::new(party);
        let rank = schedule.rank();
        let result = task.reduce_rounds(&mut schedule, 0);
        let mine = task.output.clone();
        let place = Image::new(&mut schedule, &mine);
        if rank > 0 {
            schedule.round().receive(0, place.start, place.bytes);
            deliver(&mut schedule, &place, &mine);
            return Ok(schedule);
        }
        let extent = task.input.of.extent();
        let mut first = counts[0];
        let round = schedule.round();
        for (other, &count) in counts.iter().enumerate().skip(1) {
            let span =
                if count > 0 { task.input.of.true_extent() + (count - 1) * extent } else { 0 };
            let from = result.start.wrapping_offset((first * extent) as isize);
            round.send(other, from, span as usize);
            first += count;
        }
        let own = Image { memory: result.memory.part(0, counts[0]), ..result };
        deliver(&mut schedule, &own, &mine);
        Ok(schedule)
    })
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn reduce_scatter(
    from: *const c_void,
    to: *mut c_void,
    counts: IntOrCount,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let counts = counts.read(communicator.size());
    for &count in &counts {
        ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    }
    let (all, own) = (counts.iter().sum(), counts[communicator.rank]);
    let task = Task::for_part(from, to, all, own, datatype, op)?;
    reduce_then_scatter(&communicator, task, counts, how, Kind::ReduceScatter)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn reduce_scatter_block(
    from: *const c_void,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    let counts = vec![count; communicator.size()];
    let all = count.saturating_mul(counts.len() as i64);
    let task = Task::for_part(from, to, all, count, datatype, op)?;
    reduce_then_scatter(&communicator, task, counts, how, Kind::ReduceScatterBlock)
}
