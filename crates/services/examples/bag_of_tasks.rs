//! A product of matrices from a bag of tasks, by workers that come and go. Build it and start it as several ranks:
//!
//! ```text
//! cargo build --release -p cornerstone && cargo build --release -p services --example bag_of_tasks
//! target/release/cornerstone launch -n 4 target/release/examples/bag_of_tasks
//! target/release/cornerstone launch -n 4 --fabric tcp target/release/examples/bag_of_tasks
//! ```
//!
//! Rank 0 is the home of the space and the master, the others are workers. Worker 1 withdraws after each task and comes
//! back. The last worker takes one task, never completes it, and takes no other. Its lease expires, and another worker
//! does the task.

use std::process::ExitCode;

use contract::{Buffer, Rank, TimeSpan};
use services::{Error, FieldKind, Result, Template, Tuple, TupleOperations, TupleSpace};

/// Number of rows and columns of the matrices.
const SIDE: usize = 48;
/// Time that a worker may take for a row.
const LEASE: TimeSpan = TimeSpan::from_us(200_000);

/// Returns elements that are small enough that every sum is exact.
fn left(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 3) % 11) as f64
}

fn right(row: usize, column: usize) -> f64 {
    ((row * 5 + column) % 13) as f64
}

/// Returns a row of the product.
fn row_of_product(row: usize) -> Vec<f64> {
    let element = |column| (0..SIDE).map(|at| left(row, at) * right(at, column)).sum();
    (0..SIDE).map(element).collect()
}

fn any_task() -> Template {
    Template(vec!["row".into(), FieldKind::Integer.into()])
}

/// Puts a task for each row and gathers the rows.
fn master(operations: &mut TupleOperations<'_>) -> Result<f64> {
    for row in 0..SIDE {
        operations.out(Tuple(vec!["row".into(), (row as i64).into()]))?;
    }
    let mut trace = 0.0;
    for row in 0..SIDE {
        let wanted = vec!["done".into(), (row as i64).into(), FieldKind::Bytes.into()];
        let done = operations.in_(&Template(wanted))?;
        let elements = Buffer::from_bytes(done.bytes(2)?);
        trace += elements.elements::<f64>()[row];
    }
    Ok(trace)
}

/// Does tasks until no more can come. Returns the number of tasks that it has done.
fn worker(operations: &mut TupleOperations<'_>, withdraws: bool, vanishes: bool) -> Result<usize> {
    let mut done = 0;
    loop {
        let leased = match operations.lease(&any_task(), LEASE) {
            Err(Error::NoProducerLeft) => return Ok(done),
            other => other?,
        };
        if vanishes {
            return Ok(done);
        }
        let row = leased.tuple.integer(1)?;
        let bytes = row_of_product(row as usize).iter().flat_map(|one| one.to_le_bytes()).collect();
        let result = Tuple(vec!["done".into(), row.into(), Vec::<u8>::into(bytes)]);
        match operations.complete(&leased, vec![result]) {
            // It took too long. Another worker has the task, and the master still gets one result.
            Err(Error::LeaseLost) => {}
            other => other.map(|()| done += 1)?,
        }
        if withdraws {
            operations.leave()?;
            operations.join()?;
        }
    }
}

/// Runs on every rank, over any fabric.
fn program(rank: &mut dyn Rank) -> Result<()> {
    let (me, size) = (rank.rank(), rank.size());
    if size < 2 {
        println!("start it with two ranks or more");
        return Ok(());
    }
    let mut space = TupleSpace::open(rank, 0, 2 * SIDE)?;
    let mut operations = space.enter(rank);
    operations.join()?;
    if me == 0 {
        let trace = master(&mut operations)?;
        println!("{size} ranks: the diagonal of the product sums to {trace}");
    } else {
        let vanishes = me == size - 1 && size > 2;
        let done = worker(&mut operations, me == 1, vanishes)?;
        println!("rank {me} has done {done} tasks");
        if vanishes {
            // The space takes back the leased tuples of a rank that closes it. A lost worker must not close it before
            // its lease has expired.
            let end = operations.rank().now() + LEASE + LEASE;
            operations.rank().wait_until(end);
        }
    }
    drop(operations);
    space.close(rank)
}

fn main() -> ExitCode {
    launched::run(|rank| program(rank).map_err(Error::into_contract))
}
