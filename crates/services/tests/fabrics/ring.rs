//! The ring protocol.

use contract::Rank;
use random::SplitMix64;
use services::{Error, RING_NODES_MAX, Result, RingNode, SharcRing};

use crate::{failure, on_each_fabric};

/// Opens the ring, calls `operation` with it and closes it.
fn in_ring(
    rank: &mut dyn Rank,
    operation: impl FnOnce(&mut RingNode<'_>) -> Result<()>,
) -> Result<()> {
    let mut ring = SharcRing::open(rank)?;
    operation(&mut ring.enter(rank))?;
    ring.close(rank)
}

/// Returns bytes that depend on their sender, their receiver and their place.
fn contents(from: usize, to: u32, bytes: usize) -> Vec<u8> {
    let seed = from as u64 * 1000 + u64::from(to);
    let mut random = SplitMix64::new(seed);
    (0..bytes).map(|_| random.below(256) as u8).collect()
}

/// Lengths around those of one packet and of two.
const LENGTHS: [usize; 8] = [0, 1, 20, 2047, 2048, 2049, 4096, 30_001];

#[test]
fn messages_of_any_length_go_around_the_ring_to_each_other_node() {
    for ranks in [2, 3, 5] {
        on_each_fabric(ranks, |rank| {
            in_ring(rank, |node| {
                let (me, nodes) = (node.me(), node.nodes());
                for (index, bytes) in LENGTHS.into_iter().enumerate() {
                    for (from, to) in
                        (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)))
                    {
                        if from == to {
                            continue;
                        }
                        let sent = contents(from, to as u32, bytes);
                        if me == from {
                            node.send(to, index as u32, &sent)?;
                        } else if me == to {
                            let mut room = vec![0; bytes + 3];
                            assert_eq!(node.receive(from, index as u32, &mut room)?, bytes);
                            assert_eq!(room[..bytes], sent, "{from} to {to}, {bytes} bytes");
                        }
                    }
                    // Nodes that take no part pass packets on until all have come.
                    node.barrier()?;
                }
                Ok(())
            })
        });
    }
}

/// Seeded random rounds. In each round up to two senders send to several nodes each, and the nodes without a message
/// wait at the barrier. Each node is in one message at most.
#[test]
fn random_messages_to_several_nodes_arrive_once_and_whole() {
    const ROUNDS: u32 = 30;
    for ranks in [3, 6] {
        on_each_fabric(ranks, |rank| {
            let seed = 0x51AC;
            in_ring(rank, |node| {
                let (me, nodes) = (node.me(), node.nodes());
                let mut random = SplitMix64::new(seed);
                for round in 0..ROUNDS {
                    // Each node joins message 0 or 1, or none. The lowest node of a message sends it to the others.
                    let groups: Vec<usize> = (0..nodes).map(|_| random.below(3)).collect();
                    let bytes = LENGTHS[random.below(LENGTHS.len())];
                    let own = groups[me];
                    let members: Vec<usize> =
                        (0..nodes).filter(|&one| groups[one] == own).collect();
                    if own < 2 && members.len() > 1 {
                        let from = members[0];
                        let to: u32 = members[1..].iter().map(|one| 1_u32 << one).sum();
                        let sent = contents(from, to, bytes);
                        if me == from {
                            node.send_to_many(to, round, &sent)?;
                        } else {
                            let mut room = vec![0; bytes];
                            assert_eq!(node.receive(from, round, &mut room)?, bytes);
                            assert_eq!(room, sent, "round {round}, seed {seed:#x}");
                        }
                    }
                    node.barrier()?;
                }
                Ok(())
            })
        });
    }
}

/// All nodes send to the node before them at once, which is the longest path. Every node passes the packets of all
/// others on.
#[test]
fn a_full_ring_gets_on() {
    on_each_fabric(6, |rank| {
        in_ring(rank, |node| {
            let (me, nodes) = (node.me(), node.nodes());
            let (before, after) = ((me + nodes - 1) % nodes, (me + 1) % nodes);
            // Even nodes send first, so that every receiver is ready.
            for turn in 0..2 {
                if me % 2 == turn {
                    node.send(before, 1, &contents(me, 1 << before, 60_000))?;
                } else {
                    let mut room = vec![0; 60_000];
                    node.receive(after, 1, &mut room)?;
                    assert_eq!(room, contents(after, 1 << me, 60_000));
                }
            }
            node.barrier()
        })
    });
}

#[test]
fn broadcast_and_allgather_reach_all() {
    for ranks in [1, 2, 4, 7] {
        on_each_fabric(ranks, |rank| {
            in_ring(rank, |node| {
                let (me, nodes) = (node.me(), node.nodes());
                for bytes in LENGTHS {
                    for root in 0..nodes {
                        let sent = contents(root, 0, bytes);
                        let mut data = if me == root { sent.clone() } else { vec![0; bytes] };
                        node.broadcast(root, &mut data)?;
                        assert_eq!(data, sent, "{bytes} bytes from {root}");
                    }
                    let mut all = vec![0; nodes * bytes];
                    node.allgather(&contents(me, 0, bytes), &mut all)?;
                    let expected: Vec<u8> =
                        (0..nodes).flat_map(|from| contents(from, 0, bytes)).collect();
                    assert_eq!(all, expected, "{bytes} bytes of each");
                }
                Ok(())
            })
        });
    }
}

#[test]
fn a_node_that_is_in_no_call_passes_on_what_has_come_when_it_serves() {
    on_each_fabric(3, |rank| {
        in_ring(rank, |node| {
            match node.me() {
                0 => node.send(2, 5, b"by node 1")?,
                1 => while !node.serve()? {},
                _ => {
                    let mut room = [0; 9];
                    node.receive(0, 5, &mut room)?;
                    assert_eq!(&room, b"by node 1");
                }
            }
            node.barrier()
        })
    });
}

/// A refused call must send nothing, and the ring must work afterwards.
#[test]
fn bad_use_is_told_by_name_and_leaves_the_ring_whole() {
    on_each_fabric(3, |rank| {
        in_ring(rank, |node| {
            let me = node.me();
            for destinations in [0, 1 << me, 0b1000, u32::MAX] {
                let printed = node.send_to_many(destinations, 0, &[]).unwrap_err();
                assert_eq!(printed, Error::NotOnRing { destinations, me, nodes: 3 });
            }
            let printed = node.receive(me, 0, &mut []).unwrap_err();
            assert_eq!(printed, Error::NotOnRing { destinations: 1 << me, me, nodes: 3 });
            let none = contract::Error::InvalidRank { rank: 3, size: 3 };
            assert_eq!(node.send(3, 0, &[]), Err(Error::Fabric(none.clone())));
            assert_eq!(node.broadcast(3, &mut []), Err(Error::Fabric(none)));
            assert!(matches!(
                node.allgather(&[1], &mut [0; 2]),
                Err(Error::Fabric(contract::Error::UnequalCounts { expected_bytes: 3, .. }))
            ));
            // The message is too long for its room. The room has the beginning, and the next message must be whole.
            match me {
                0 => (0..2).try_for_each(|_| node.send(1, 9, &[7; 5000]))?,
                1 => {
                    let mut room = [0; 10];
                    let (from, tag, bytes, room_bytes) = (0, 9, 5000, 10);
                    let too_long = Error::RingMessageTooLong { from, tag, bytes, room_bytes };
                    assert_eq!(node.receive(0, 9, &mut room), Err(too_long));
                    assert_eq!(room, [7; 10]);
                    assert_eq!(node.receive(0, 9, &mut [0; 5000])?, 5000);
                }
                _ => {}
            }
            node.barrier()?;
            // Every node gets the error with the different calls, and all can continue.
            let printed = match me {
                2 => node.broadcast(1, &mut [0; 5]),
                _ => node.barrier(),
            };
            assert_eq!(
                printed.unwrap_err().to_string(),
                "node 2 has called a broadcast of 5 bytes from node 1 where node 0 has called a barrier"
            );
            node.barrier()
        })
    });
}

#[test]
fn a_ring_has_as_many_nodes_as_a_word_has_bits() {
    on_each_fabric(RING_NODES_MAX, |rank| {
        in_ring(rank, |node| {
            let mut all = [0; RING_NODES_MAX];
            node.allgather(&[node.me() as u8], &mut all)?;
            assert!(all.iter().enumerate().all(|(at, &one)| at == one as usize));
            match node.me() {
                31 => node.send_to_many((1 << 31) - 1, 0, b"to all")?,
                _ => drop(node.receive(31, 0, &mut [0; 6])?),
            }
            node.barrier()
        })
    });
    on_each_fabric(RING_NODES_MAX + 1, |rank| {
        let printed = SharcRing::open(rank).map(drop).unwrap_err();
        assert_eq!(
            printed.to_string(),
            "a ring has at most 32 nodes, for an address is a bit of a 32-bit word, and there are 33 ranks"
        );
        Ok(())
    });
}

#[test]
fn a_neighbour_that_ends_is_an_error_of_whoever_needs_it() {
    // Node 2 waits for node 0 over node 1, which ends.
    let printed = failure(3, |rank| {
        let me = rank.rank();
        let mut ring = SharcRing::open(rank)?;
        match me {
            0 => ring.enter(rank).send(2, 0, &[1]),
            1 => Err(Error::Program("a fault of node 1".into())),
            _ => ring.enter(rank).receive(0, 0, &mut [0]).map(drop),
        }
    });
    assert_eq!(printed, "rank 1: a fault of node 1");
    // Both nodes receive, and none sends.
    let printed = failure(2, |rank| {
        let mut ring = SharcRing::open(rank)?;
        let mut node = ring.enter(rank);
        node.receive(1 - node.me(), 0, &mut [0]).map(drop)
    });
    assert!(printed.contains("waits"), "{printed}");
}
