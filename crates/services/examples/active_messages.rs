//! A table of numbers that is divided among the ranks, read and updated by active messages. Build it and start it as
//! several ranks:
//!
//! ```text
//! cargo build --release -p cornerstone && cargo build --release -p services --example active_messages
//! target/release/cornerstone launch -n 4 target/release/examples/active_messages
//! target/release/cornerstone launch -n 4 --fabric tcp target/release/examples/active_messages
//! ```

use std::process::ExitCode;

use contract::{Buffer, Rank};
use services::{ActiveMessages, Call, Error, Handlers, Result};

/// Number of entries of the table at each rank.
const PART: usize = 1000;
/// Number of updates that each rank makes.
const UPDATES: u64 = 20_000;

const ADD: u8 = 0;
const READ: u8 = 1;
const VALUE: u8 = 2;

/// The state of the handlers of one rank.
struct Table {
    part: Vec<u64>,
    answers: Vec<u64>,
}

/// Adds a number to an entry. There is no reply, because the service itself reports to the sender that the request was
/// handled.
fn add(table: &mut Table, call: &mut Call<'_>) -> Result<()> {
    let (entry, number) = (call.words()[0] as usize, call.words()[1]);
    table.part[entry] += number;
    Ok(())
}

/// Replies with an entry.
fn read(table: &mut Table, call: &mut Call<'_>) -> Result<()> {
    let entry = call.words()[0] as usize;
    call.reply(VALUE, &[table.part[entry]])
}

fn value(table: &mut Table, call: &mut Call<'_>) -> Result<()> {
    table.answers.push(call.words()[0]);
    Ok(())
}

/// Runs on every rank, over any fabric.
fn program(rank: &mut dyn Rank) -> Result<()> {
    let (me, size) = (rank.rank(), rank.size());
    let mut table = Table { part: vec![0; PART], answers: Vec::new() };
    let handlers = Handlers::new().with(ADD, add).with(READ, read).with(VALUE, value);
    let mut active = ActiveMessages::open(rank, handlers, Buffer::zeroed(0))?;
    let mut session = active.enter(rank, &mut table);
    // Every rank adds 1 to the entries 0, 1, 2, ... of the whole table, once for each update.
    for update in 0..UPDATES as usize {
        let entry = update % (PART * size);
        session.request(entry / PART, ADD, &[(entry % PART) as u64, 1])?;
    }
    // A reply comes after all earlier requests to the same rank were handled. After the barrier this holds for all
    // ranks' requests.
    for to in 0..size {
        session.request(to, READ, &[0])?;
    }
    session.wait_until(|table| table.answers.len() == size)?;
    session.barrier()?;
    if me == 0 {
        session.state().answers.clear();
        for entry in 0..PART * size {
            session.request(entry / PART, READ, &[(entry % PART) as u64])?;
        }
        session.wait_until(|table| table.answers.len() == PART * size)?;
        let sum: u64 = session.state().answers.iter().sum();
        println!("{size} ranks: {sum} updates in {} entries", PART * size);
    }
    drop(session);
    active.close(rank, &mut table)?;
    Ok(())
}

fn main() -> ExitCode {
    launched::run(|rank| program(rank).map_err(Error::into_contract))
}
