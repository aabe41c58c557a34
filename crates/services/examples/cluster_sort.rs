//! A sort by a master and workers, as in 1996: each node sorts a part, and the master merges. Build it and start it as
//! several ranks:
//!
//! ```text
//! cargo build --release -p cornerstone && cargo build --release -p services --example cluster_sort
//! target/release/cornerstone launch -n 4 target/release/examples/cluster_sort
//! target/release/cornerstone launch -n 4 --fabric tcp target/release/examples/cluster_sort
//! ```

use std::process::ExitCode;

use contract::Rank;
use services::hcs::{ClusterError, ClusterOptions, ClusterResult, MASTER, Node, cluster_init};

/// Number of numbers that each node sorts.
const PART: usize = 20_000;
const WORD: usize = size_of::<u64>();
/// The segment with the count of numbers that workers have sorted, and the semaphore that guards it.
const COUNT: u32 = 1;
const GUARD: u32 = 0;

/// Returns numbers in no order, by SplitMix64 (Steele, Lea and Flood, 2014).
fn number(at: usize) -> u64 {
    let z = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 27)
}

fn to_bytes(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn to_numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<WORD>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Runs on every node, over any fabric.
fn program(rank: &mut dyn Rank) -> ClusterResult<()> {
    let mut cluster = cluster_init(rank, ClusterOptions::default())?;
    let mut node = cluster.enter(rank);
    if node.node() == MASTER {
        master(&mut node)?
    } else {
        worker(&mut node)?
    }
    drop(node);
    let ended = cluster.safe_exit(rank)?;
    assert_eq!((ended.signals.len(), ended.unread, ended.left), (0, 0, 0));
    Ok(())
}

fn master(node: &mut Node<'_>) -> ClusterResult<()> {
    let nodes = node.nodes();
    let mut count = node.safe_shared_memory_make(COUNT, WORD)?;
    for to in 1..nodes {
        let part: Vec<u64> = (to * PART..(to + 1) * PART).map(number).collect();
        node.send_block(to, &to_bytes(&part))?;
    }
    let mut parts = vec![(0..PART).map(number).collect::<Vec<_>>()];
    parts[0].sort_unstable();
    for from in 1..nodes {
        let mut bytes = vec![0; PART * WORD];
        node.get_block(from, &mut bytes)?;
        parts.push(to_numbers(&bytes));
    }
    // The workers unmap before they come to the barrier.
    node.barrier_sync()?;
    let mut word = [0; WORD];
    node.sci().read_shm(&count, 0, &mut word)?;
    node.sci().sci_remove_shm(&mut count)?;
    let sorted = merge(&parts);
    assert!(sorted.is_sorted() && sorted.len() == nodes * PART);
    let counted = u64::from_le_bytes(word);
    println!("{nodes} nodes: {} numbers in order, {counted} of them by workers", sorted.len());
    Ok(())
}

fn worker(node: &mut Node<'_>) -> ClusterResult<()> {
    let mut bytes = vec![0; PART * WORD];
    node.get_block(MASTER, &mut bytes)?;
    let mut part = to_numbers(&bytes);
    part.sort_unstable();
    node.send_block(MASTER, &to_bytes(&part))?;
    let timeout = ClusterOptions::default().timeout;
    let mut count = node.safe_shared_memory_map(MASTER, COUNT, timeout)?;
    node.p(GUARD)?;
    let mut word = [0; WORD];
    node.sci().read_shm(&count, 0, &mut word)?;
    let sum = u64::from_le_bytes(word) + PART as u64;
    node.sci().write_shm(&count, 0, &sum.to_le_bytes())?;
    node.v(GUARD)?;
    node.sci().sci_unmap_shm(&mut count)?;
    node.barrier_sync()
}

/// Takes the least of the first numbers repeatedly.
fn merge(parts: &[Vec<u64>]) -> Vec<u64> {
    let mut next = vec![0; parts.len()];
    let mut merged = Vec::new();
    let least = |next: &[usize]| {
        let firsts = parts.iter().zip(next).enumerate();
        firsts.filter_map(|(at, (part, &next))| Some((*part.get(next)?, at))).min()
    };
    while let Some((number, at)) = least(&next) {
        merged.push(number);
        next[at] += 1;
    }
    merged
}

fn main() -> ExitCode {
    launched::run(|rank| program(rank).map_err(ClusterError::into_contract))
}
