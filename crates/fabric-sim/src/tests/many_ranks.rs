//! As many ranks as large machines have.

use stacks::StackPool;

use crate::machine::find;
use crate::{Level, Options};

const RANKS: usize = 100_000;

/// More ranks than a process may have mappings for stacks of their own (32 750). The barrier takes 17 rounds, because
/// 2^17 is the first power of two that is not less, with a message of each rank. The broadcast takes a message to each
/// rank but the root.
#[test]
fn a_hundred_thousand_ranks_meet_in_a_barrier_and_hear_a_broadcast() {
    let tree = find("fat-tree").unwrap();
    let options =
        Options { level: Some(Level::LogGp), check_results: false, ..Options::new(RANKS) };
    let outcome = crate::run(&tree, &options, |rank| {
        rank.barrier()?;
        let mut data = [if rank.rank() == 0 { 7 } else { 0 }; 64];
        rank.broadcast(0, &mut data)?;
        Ok(data == [7; 64])
    });
    match outcome {
        Ok(outcome) => {
            assert!(outcome.results.len() == RANKS && outcome.results.iter().all(|&right| right));
            assert_eq!(outcome.counts.messages, 17 * RANKS as u64 + RANKS as u64 - 1);
        }
        // Before Linux 6.13 the limit of mappings prevents the run, unless it was raised; then the error names the
        // limit.
        Err((rank, error)) => {
            assert!(!StackPool::new(1, 4096).unwrap().is_one_mapping(), "{error}");
            assert!(rank == 0 && error.to_string().contains("vm.max_map_count"), "{error}");
        }
    }
}
