//! The same input gives the same run.

use contract::Reduction;

use crate::machine::find;
use crate::{Level, Options};

fn hash(level: Level, seed: u64) -> (u64, contract::Time) {
    let machine = find("paragon-osf1").unwrap();
    let options = Options { level: Some(level), seed, ..Options::new(12) };
    let outcome = crate::run(&machine, &options, |rank| {
        let mut sum = [0; 8];
        for _ in 0..20 {
            rank.allreduce(Reduction::SUM_F64, &1.5f64.to_ne_bytes(), &mut sum)?;
        }
        rank.all_to_all(&vec![1; 12 * 3000], &mut vec![0; 12 * 3000])
    });
    let outcome = outcome.unwrap();
    (outcome.event_hash, outcome.end)
}

#[test]
fn the_same_input_gives_the_same_events_and_another_seed_others() {
    for level in [Level::LogGp, Level::Packets] {
        assert_eq!(hash(level, 1), hash(level, 1));
        // The pauses of the operating system are at other times.
        assert_ne!(hash(level, 1), hash(level, 2));
    }
}

/// The expected value is a constant: if it must change, earlier runs no longer repeat.
#[test]
fn the_event_hash_is_that_of_every_other_machine() {
    let machine = super::machine(
        "[endpoint]\nsend_us = 1\nreceive_us = 1\n[network]\nshape = \"switch\"\nlink_mb_per_s = 100",
    );
    let outcome = super::run(&machine, 4, |rank| rank.barrier()).unwrap();
    assert_eq!(format!("{:016x}", outcome.event_hash), "2b50f475d8a77b88");
}
