//! A shared vector that all nodes relax, by the ring protocol of MPI-SHARC. Each node owns a block, an allgather copies
//! all blocks to all nodes, and node 0 reports the end to all others by one message. Build it and start it as several
//! ranks:
//!
//! ```text
//! cargo build --release -p cornerstone && cargo build --release -p services --example ring_relaxation
//! target/release/cornerstone launch -n 4 target/release/examples/ring_relaxation
//! target/release/cornerstone launch -n 4 --fabric tcp target/release/examples/ring_relaxation
//! ```

use std::process::ExitCode;

use contract::Rank;
use services::{Error, Result, RingNode, SharcRing};

/// Number of numbers that each node owns.
const BLOCK: usize = 4;
const WORD: usize = size_of::<f64>();
/// Maximum difference of any number from the mean at rest.
const REST: f64 = 1e-6;
/// The tag of the messages with node 0's decision.
const VERDICT: u32 = 7;

fn to_bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn to_numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<WORD>().0.iter().map(|word| f64::from_le_bytes(*word)).collect()
}

/// Returns whether the numbers are at rest. Node 0 decides, and sends one message to all other nodes.
fn is_at_rest(node: &mut RingNode<'_>, numbers: &[f64]) -> Result<bool> {
    let mut verdict = [0];
    if node.me() != 0 {
        node.receive(0, VERDICT, &mut verdict)?;
        return Ok(verdict == [1]);
    }
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let at_rest = numbers.iter().all(|number| (number - mean).abs() <= REST);
    let others = (1..node.nodes()).map(|to| 1_u32 << to).sum::<u32>();
    if others != 0 {
        node.send_to_many(others, VERDICT, &[u8::from(at_rest)])?;
    }
    Ok(at_rest)
}

fn program(rank: &mut dyn Rank) -> Result<()> {
    let mut ring = SharcRing::open(rank)?;
    let mut node = ring.enter(rank);
    let (me, nodes) = (node.me(), node.nodes());
    let mut own: Vec<f64> = (0..BLOCK).map(|at| (me * BLOCK + at) as f64).collect();
    let mut all = vec![0; nodes * BLOCK * WORD];
    loop {
        node.allgather(&to_bytes(&own), &mut all)?;
        let numbers = to_numbers(&all);
        if is_at_rest(&mut node, &numbers)? {
            break;
        }
        // Each number becomes the mean of itself and its two neighbours, around the circle of all. The sum does not
        // change.
        let count = numbers.len();
        let around = |at: usize| numbers[at % count];
        for (at, number) in own.iter_mut().enumerate() {
            let place = me * BLOCK + at + count;
            *number = (around(place - 1) + around(place) + around(place + 1)) / 3.0;
        }
    }
    drop(node);
    ring.close(rank)?;
    // The numbers were 0 to n - 1.
    let mean = (nodes * BLOCK - 1) as f64 / 2.0;
    if own.iter().any(|number| (number - mean).abs() > 2.0 * REST) {
        return Err(Error::Program(format!("{own:?} where {mean} is expected")));
    }
    if me == 0 {
        println!("{nodes} nodes: all numbers have become {mean}");
    }
    Ok(())
}

fn main() -> ExitCode {
    launched::run(|rank| program(rank).map_err(Error::into_contract))
}
