//! Tests every algorithm against the definition of its collective, with members of random speed.
//!
//! A unit is a text. Combination is concatenation, which is associative and not commutative, so the result shows the
//! members that were combined, how often and in which order.

mod between;
mod cases;
mod model;

use cases::{case, nothing, units};
use model::run;
use random::SplitMix64;

use crate::{Area, Blocks, Cursor, HostMap, Membership, Own, Part, Round};

/// Returns the members in a combined unit, in order.
fn sorted(units: &[String]) -> Vec<Vec<&str>> {
    units
        .iter()
        .map(|unit| {
            let mut operands: Vec<&str> = unit.split_inclusive(')').collect();
            operands.sort_unstable();
            operands
        })
        .collect()
}

fn check(seed: u64, kind: usize, size: usize, in_output: bool, random: &mut SplitMix64) {
    let case = case(kind, size, random);
    for &algorithm in case.calls[0].collective().algorithms() {
        if !case.calls.iter().all(|call| call.is_served_by(algorithm)) {
            let serves = case.calls.iter().filter(|call| call.is_served_by(algorithm)).count();
            assert_eq!(
                serves, 0,
                "the members disagree about {algorithm:?} for {:?}",
                case.calls[0]
            );
            continue;
        }
        let own = |me: usize| match &case.own_place[me] {
            // The root of a broadcast always has its data in the output.
            Some(place) if in_output || kind == 1 => (Own::InOutput, Some(place.clone())),
            _ => (Own::InInput, None),
        };
        let mut inputs: Vec<Vec<String>> = (0..size).map(|me| units(me, case.input[me])).collect();
        let mut outputs: Vec<Vec<String>> = (0..size).map(|me| nothing(case.output[me])).collect();
        // Two-level algorithms use the hosts if these are known.
        let hosts = HostMap::new((0..size).map(|_| random.below(3)).collect::<Vec<_>>());
        let hosts = (random.below(3) > 0).then_some(&hosts);
        let mut schedules = Vec::new();
        for me in 0..size {
            let (own, place) = own(me);
            if let Some(place) = place {
                let count = place.len();
                outputs[me][place].clone_from_slice(&units(me, count));
                inputs[me] = Vec::new();
            }
            let group = Membership { me, size };
            schedules.push(case.calls[me].schedule(algorithm, group, own, hosts));
        }
        println!("seed {seed}: {algorithm:?} for {:?}", case.calls);
        let found = run(seed, &case.calls, schedules, inputs, outputs);
        for me in 0..size {
            let what =
                format!("seed {seed}: {algorithm:?} for {:?}, {me} of {size}", case.calls[me]);
            match case.any_order {
                true => {
                    assert_eq!(sorted(&found[me]), sorted(&case.wanted[me]), "{what}");
                    // The same bits at all members.
                    assert!(kind != 7 || found[me] == found[0], "{what}");
                }
                false => assert_eq!(found[me], case.wanted[me], "{what}"),
            }
        }
    }
}

#[test]
fn every_algorithm_implements_its_collective() {
    for kind in 0..11 {
        for size in (1..=9).chain([13, 16, 21]) {
            for turn in 0..6 {
                let seed = (kind as u64) << 32 | (size as u64) << 8 | turn;
                // Any seed except 0 is valid.
                let mut random = SplitMix64::new(seed | 1 << 60);
                check(seed | 1 << 60, kind, size, turn % 2 == 1, &mut random);
            }
        }
    }
}

#[test]
fn a_long_ring_is_made_round_by_round() {
    let blocks = Blocks::equal(5000, 1);
    let group = Membership { me: 17, size: 5000 };
    let schedule = crate::algorithm::allgather::ring(group, &blocks, Own::InInput);
    // One round copies the own block to its place; each other block takes one more.
    assert_eq!(schedule.count(), 5000);
    let mut cursor = Cursor::default();
    let rounds = std::iter::from_fn(|| schedule.next(&mut cursor)).collect::<Vec<Round>>();
    assert_eq!(rounds.len(), 5000);
    // The last block to arrive, from the left, is that of the member after this one.
    let last = rounds[4999].receives[0];
    assert_eq!((last.rank, last.part), (16, Part::of(Area::Output, 18..19)));
}
