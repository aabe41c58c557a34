//! Every collective compared with its definition, on the reference fabric, and mistakes that must be detected.

use collectives::Algorithm;
use collectives::Collective::{AllToAll, Allgather, Allreduce, Broadcast, Reduce, Scatter};

use crate::reference;
use contract::collective::{all_to_all, allgather, allreduce, broadcast, gather, reduce, scatter};
use contract::{Element, Error, Operation, Rank, Reduction, Result};

/// Returns byte `index` of the operand of rank `rank`. It differs between ranks, blocks and places.
fn byte(rank: usize, index: usize) -> u8 {
    (rank * 31 + index * 7 + index / 251) as u8
}

fn given(rank: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| byte(rank, index)).collect()
}

/// Runs on 1 to 9 ranks, and on two larger counts that are not powers of two.
fn on_all_sizes(program: impl Fn(&mut dyn Rank, usize) -> Result<()> + Sync) {
    // Miri interprets each step, so it gets the sizes that differ in their rounds.
    let all = (1..=9).chain([13, 24]);
    for ranks in all.filter(|&ranks| !cfg!(miri) || ranks <= 3) {
        let outcome = reference::run(ranks, |machine| program(machine, ranks));
        assert_eq!(outcome, Ok(()), "on {ranks} ranks");
    }
}

const LENGTHS: &[usize] = if cfg!(miri) { &[0, 1, 257] } else { &[0, 1, 8, 257, 1000, 20_000] };

/// Returns each length with each algorithm of a collective, and with the default one.
fn lengths_and_algorithms(
    of: collectives::Collective,
) -> impl Iterator<Item = (usize, Option<Algorithm>)> {
    let algorithms = of.algorithms().iter().copied().map(Some).chain([None]);
    LENGTHS.iter().flat_map(move |&length| algorithms.clone().map(move |one| (length, one)))
}

#[test]
fn broadcast_reaches_every_rank_from_every_root() {
    on_all_sizes(|machine, ranks| {
        for root in 0..ranks {
            for (bytes, algorithm) in lengths_and_algorithms(Broadcast) {
                let mut buffer = vec![0; bytes];
                if machine.rank() == root {
                    buffer = given(root, bytes);
                }
                broadcast(machine, algorithm, root, &mut buffer)?;
                assert!(buffer == given(root, bytes), "{bytes} bytes from root {root}");
            }
        }
        Ok(())
    });
}

#[test]
fn scatter_moves_each_block_to_its_rank_and_gather_returns_it() {
    on_all_sizes(|machine, ranks| {
        for root in 0..ranks {
            for (bytes, algorithm) in lengths_and_algorithms(Scatter) {
                let all = if machine.rank() == root { given(root, ranks * bytes) } else { vec![] };
                let mut block = vec![0; bytes];
                scatter(machine, algorithm, root, &all, &mut block)?;
                let begin = machine.rank() * bytes;
                assert!(block == given(root, ranks * bytes)[begin..begin + bytes], "{bytes} bytes");
                let mut back = vec![0; all.len()];
                gather(machine, algorithm, root, &block, &mut back)?;
                assert!(back == all, "{bytes} bytes to root {root}");
            }
        }
        Ok(())
    });
}

#[test]
fn allgather_copies_every_block_to_every_rank() {
    on_all_sizes(|machine, ranks| {
        for (bytes, algorithm) in lengths_and_algorithms(Allgather) {
            let expected: Vec<u8> = (0..ranks).flat_map(|rank| given(rank, bytes)).collect();
            let own = given(machine.rank(), bytes);
            let mut buffer = vec![0; ranks * bytes];
            buffer[machine.rank() * bytes..][..bytes].copy_from_slice(&own);
            machine.allgather_in_place(&mut buffer)?;
            assert!(buffer == expected, "{bytes} bytes in place");
            let mut all = vec![0; ranks * bytes];
            allgather(machine, algorithm, &own, &mut all)?;
            assert!(all == expected, "{bytes} bytes");
        }
        Ok(())
    });
}

#[test]
fn all_to_all_is_a_transpose() {
    on_all_sizes(|machine, ranks| {
        for (bytes, algorithm) in lengths_and_algorithms(AllToAll) {
            let rank = machine.rank();
            let block = |from: usize, to: usize| given(from * 100 + to, bytes);
            let send: Vec<u8> = (0..ranks).flat_map(|to| block(rank, to)).collect();
            let expected: Vec<u8> = (0..ranks).flat_map(|from| block(from, rank)).collect();
            let mut receive = vec![0; send.len()];
            all_to_all(machine, algorithm, &send, &mut receive)?;
            assert!(receive == expected, "{bytes} bytes");
        }
        Ok(())
    });
}

/// Sum of the operands of all ranks: of integers, because their sum is the same in any order.
const SUM: Reduction = Reduction::new(Element::I32, Operation::Sum);

fn sum_of_all(ranks: usize, bytes: usize) -> Result<Vec<u8>> {
    let mut sum = given(0, bytes);
    (1..ranks).try_for_each(|rank| SUM.combine(&mut sum, &given(rank, bytes)))?;
    Ok(sum)
}

/// If there are fewer elements than ranks, some ranks have an empty part.
#[test]
fn allreduce_combines_the_operands_of_all_ranks() {
    on_all_sizes(|machine, ranks| {
        for (count, algorithm) in lengths_and_algorithms(Allreduce) {
            let own = given(machine.rank(), 4 * count);
            let mut all = vec![0; 4 * count];
            allreduce(machine, algorithm, SUM, &own, &mut all)?;
            assert!(all == sum_of_all(ranks, 4 * count)?, "{count} by {algorithm:?}");
        }
        Ok(())
    });
}

#[test]
fn reduce_combines_the_operands_of_all_ranks_at_any_root() {
    on_all_sizes(|machine, ranks| {
        for (count, algorithm) in lengths_and_algorithms(Reduce) {
            let (bytes, own) = (4 * count, given(machine.rank(), 4 * count));
            let sum = sum_of_all(ranks, bytes)?;
            for root in [0, ranks / 2, ranks - 1] {
                let is_root = machine.rank() == root;
                let mut result = vec![0; if is_root { bytes } else { 0 }];
                reduce(machine, algorithm, root, SUM, &own, &mut result)?;
                assert!(!is_root || result == sum, "{count} to {root} by {algorithm:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn an_algorithm_of_another_collective_is_refused() {
    on_all_sizes(|machine, _| {
        let refused = broadcast(machine, Some(Algorithm::Pairwise), 0, &mut [1]);
        let Err(Error::Unsupported { what, .. }) = refused else { panic!("{refused:?}") };
        assert!(what.contains("broadcast") && what.contains("pairwise"), "{what}");
        Ok(())
    });
}

#[test]
fn allreduce_returns_the_same_bits_on_each_rank() {
    // Sums of these depend on their order, and so do minima of zeros of both signs and the payloads of NaNs.
    let hard = |rank: usize, index: usize| match (rank + index) % 5 {
        0 => 1e16,
        1 => -1.0 / (rank + 3) as f64,
        2 => -0.0,
        3 => f64::from_bits(0x7ff8_0000_0000_0000 + rank as u64),
        _ => 0.0,
    };
    on_all_sizes(|machine, ranks| {
        for (operation, count) in
            Operation::ALL.into_iter().flat_map(|o| [(o, 1), (o, 7), (o, 2500)])
        {
            let own: Vec<f64> = (0..count).map(|index| hard(machine.rank(), index)).collect();
            let mut result = vec![0; 8 * count];
            let reduction = Reduction::new(Element::F64, operation);
            machine.allreduce(reduction, bytemuck::cast_slice(&own), &mut result)?;
            let mut all = vec![0; ranks * result.len()];
            machine.allgather(&result, &mut all)?;
            for other in all.chunks(result.len()) {
                assert!(other == result, "{operation:?} of {count} numbers");
            }
        }
        Ok(())
    });
}

#[test]
fn lengths_that_contradict_each_other_are_refused_before_any_message() {
    on_all_sizes(|machine, ranks| {
        let refused = |result: Result<()>| {
            assert!(matches!(result, Err(Error::UnequalCounts { .. })), "{result:?}");
        };
        let root = machine.rank();
        let blocks = vec![0; 8 * ranks];
        let mut room = vec![0; 8 * ranks + 1];
        refused(machine.scatter(root, &blocks, &mut room[..9]));
        refused(machine.gather(root, &blocks[..8], &mut room));
        refused(machine.allgather(&blocks[..8], &mut room));
        refused(machine.all_to_all(&blocks, &mut room));
        refused(machine.reduce(root, Reduction::SUM_F64, &blocks, &mut room));
        refused(machine.reduce(root, Reduction::SUM_F64, &blocks[..7], &mut room[..7]));
        refused(machine.allreduce(Reduction::SUM_F64, &blocks, &mut room));
        refused(machine.allreduce(Reduction::SUM_F64, &blocks[..7], &mut room[..7]));
        if ranks > 1 {
            refused(machine.allgather_in_place(&mut room));
        }
        Ok(())
    });
}

#[test]
fn ranks_that_disagree_on_the_length_find_out() {
    type Collective = fn(&mut dyn Rank, usize) -> Result<()>;
    let collectives: [(&str, Collective); 8] = [
        ("broadcast", |m, n| m.broadcast(0, &mut vec![0; n])),
        ("scatter", |m, n| m.scatter(0, &vec![0; n * m.size()], &mut vec![0; n])),
        ("gather", |m, n| m.gather(0, &vec![0; n], &mut vec![0; n * m.size()])),
        ("allgather", |m, n| m.allgather(&vec![0; n], &mut vec![0; n * m.size()])),
        ("in place", |m, n| m.allgather_in_place(&mut vec![0; n * m.size()])),
        ("reduce", |m, n| m.reduce(0, Reduction::SUM_F64, &vec![0; n], &mut vec![0; n])),
        ("allreduce", |m, n| m.allreduce(Reduction::SUM_F64, &vec![0; n], &mut vec![0; n])),
        ("all to all", |m, n| m.all_to_all(&vec![0; n * m.size()], &mut vec![0; n * m.size()])),
    ];
    for (name, collective) in collectives {
        for (ranks, odd_one) in (2..=9).flat_map(|ranks| (0..ranks).map(move |odd| (ranks, odd))) {
            for (usual, odd) in
                [(8, 16), (16, 8), (8, 0), (20_000, 20_008), (64, 40_000), (40_000, 64)]
            {
                let outcome = reference::run(ranks, |machine| {
                    let bytes = if machine.rank() == odd_one { odd } else { usual };
                    collective(machine, bytes)?;
                    machine.barrier()
                });
                let found = matches!(
                    outcome,
                    Err((_, Error::UnequalCounts { .. } | Error::MismatchedCollective { .. }))
                );
                assert!(
                    found,
                    "{name}: {odd} bytes at {odd_one} of {ranks}, else {usual}: {outcome:?}"
                );
            }
        }
    }
}

#[test]
fn different_collectives_do_not_pass() {
    let outcome = reference::run(4, |machine| match machine.rank() {
        2 => machine.allgather(&[1], &mut [0; 4]),
        _ => machine.barrier(),
    });
    let Err((_, Error::MismatchedCollective { explanation })) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(explanation.contains("allgather") && explanation.contains("barrier"), "{explanation}");
}

#[test]
fn another_root_shows_at_the_latest_in_the_next_barrier() {
    for ranks in 2..=9 {
        let outcome = reference::run(ranks, |machine| {
            let root = usize::from(machine.rank() == 1);
            machine.broadcast(root, &mut [0; 8])?;
            machine.barrier()
        });
        assert!(matches!(outcome, Err((_, Error::MismatchedCollective { .. }))), "{outcome:?}");
    }
}

#[test]
fn two_roots_of_a_gather_that_wait_for_each_other_are_a_deadlock() {
    let outcome = reference::run(2, |machine| {
        let root = machine.rank();
        machine.gather(root, &[1], &mut [0; 2])
    });
    assert!(matches!(outcome, Err((0, Error::Deadlock { .. }))), "{outcome:?}");
}
