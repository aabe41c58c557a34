//! Blocks, broadcasts and ports.

use random::SplitMix64;
use services::hcs::ClusterError;

use super::{LONG, SHORT, ends_with, in_cluster, words};
use crate::hcs::Ended;

/// Returns the data that node `from` sends to node `to` as block `number`.
fn contents(from: usize, to: usize, number: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + from * 31 + to * 17 + number) as u8).collect()
}

#[test]
fn blocks_of_all_lengths_pass_each_other() {
    for nodes in [1, 2, 3, 5] {
        in_cluster(nodes, |node| {
            let (me, nodes) = (node.node(), node.nodes());
            let mut room = vec![0; 70_000];
            for (number, bytes) in [0, 1, 1024, 1025, 70_000].into_iter().enumerate() {
                // Blocks go around the ring. The even nodes send first, so that long blocks find their receivers. A
                // ring of odd length has two even neighbours, of which the last receives first.
                let (to, from) = ((me + 1) % nodes, (me + nodes - 1) % nodes);
                let data = contents(me, to, number, bytes);
                let send_first = me % 2 == 0 && me + 1 < nodes;
                if send_first || nodes == 1 {
                    node.send_block(to, &data)?;
                }
                let got = node.get_block(from, &mut room)?;
                assert_eq!(room[..got], contents(from, me, number, bytes)[..]);
                if !send_first && nodes > 1 {
                    node.send_block(to, &data)?;
                }
            }
            Ok(())
        });
    }
}

#[test]
fn random_blocks_arrive_whole_and_in_order() {
    const EACH: usize = 60;
    const SEED: u64 = 0xb10c;
    in_cluster(4, |node| {
        let (me, nodes) = (node.node(), node.nodes());
        // Every node computes the receivers and lengths of every other from that node's seed.
        let plan = |from: usize| {
            let mut random = SplitMix64::new(SEED + from as u64);
            (0..EACH).map(move |number| (random.below(nodes), random.below(1024), number))
        };
        for (to, bytes, number) in plan(me) {
            node.send_block(to, &contents(me, to, number, bytes))?;
        }
        let mut room = vec![0; 1024];
        for from in 0..nodes {
            for (_, bytes, number) in plan(from).filter(|(to, ..)| *to == me) {
                let got = node.get_block(from, &mut room)?;
                let expected = contents(from, me, number, bytes);
                assert_eq!(room[..got], expected[..], "seed {SEED:#x}, {from} to {me}");
            }
        }
        Ok(())
    });
}

#[test]
fn every_node_can_broadcast_to_all() {
    for nodes in [1, 2, 5, 8] {
        in_cluster(nodes, |node| {
            let mut room = vec![0; 40_000];
            for from in 0..node.nodes() {
                for bytes in [3, 40_000] {
                    let data = contents(from, 0, bytes, bytes);
                    if from == node.node() {
                        node.send_broadcast(&data)?;
                    } else {
                        let got = node.get_broadcast(from, &mut room)?;
                        assert_eq!(room[..got], data[..]);
                    }
                }
            }
            Ok(())
        });
    }
}

/// Compares the tree over eight nodes with figure 8. The root sends to the nodes below it: those of a half, a quarter
/// and an eighth of the nodes.
#[test]
fn eight_nodes_form_the_tree_of_figure_8() {
    let below: Vec<Vec<usize>> = (0..8)
        .map(|me| collectives::Membership { me, size: 8 }.children_from(0).collect())
        .collect();
    let expected: [&[usize]; 8] = [&[4, 2, 1], &[], &[3], &[], &[6, 5], &[], &[7], &[]];
    assert_eq!(below, expected);
    let above: Vec<Option<usize>> =
        (0..8).map(|me| collectives::Membership { me, size: 8 }.parent_from(0)).collect();
    let expected = [None, Some(0), Some(0), Some(2), Some(0), Some(4), Some(4), Some(6)];
    assert_eq!(above, expected);
    // From node 5 it is the same tree, five nodes further round.
    let from_5 = collectives::Membership { me: 5, size: 8 }.children_from(5);
    assert_eq!(from_5.collect::<Vec<_>>(), [1, 7, 6]);
}

#[test]
fn ports_have_names_and_one_partner_each() {
    in_cluster(3, |node| {
        let me = node.node();
        if me == 0 {
            let port = node.safe_create_receive_port(7)?;
            assert_eq!(words(node.safe_create_receive_port(7)), "port 7 of node 0 is in use");
            assert_eq!(node.sci().sci_receive_port_connected(&port)?, None);
            node.barrier_sync()?;
            assert_eq!(node.safe_wait_for_connection(&port, LONG)?, 1);
            let mut room = [0; 8];
            assert_eq!(node.sci().sci_read_msg(&port, &mut room)?, 5);
            assert_eq!(&room[..5], b"first");
            // The name is free again once the port is removed, and messages to the old port do not come to the new one.
            node.barrier_sync()?;
            node.sci().sci_remove_receive_port(port)?;
            let port = node.safe_create_receive_port(7)?;
            assert_eq!(node.safe_wait_for_connection(&port, LONG)?, 2);
            assert_eq!(node.sci().sci_read_msg(&port, &mut room)?, 6);
            assert_eq!(&room[..6], b"second");
            node.barrier_sync()?;
            return node.sci().sci_remove_receive_port(port);
        }
        node.barrier_sync()?;
        if me == 1 {
            let port = node.safe_connect_transmit_port(0, 7, LONG)?;
            let again = words(node.sci().sci_connect_transmit_port(0, 7));
            assert_eq!(again, "port 7 of node 0 is connected to node 1");
            let missing = words(node.sci().sci_connect_transmit_port(0, 8));
            assert_eq!(missing, "node 0 has no port 8");
            node.sci().sci_write_msg(&port, b"first")?;
            node.barrier_sync()?;
            node.barrier_sync()?;
            // The port to which this one was connected is removed. The port that has its name now must not change.
            return node.sci().sci_remove_transmit_port(port);
        }
        node.barrier_sync()?;
        let port = node.safe_connect_transmit_port(0, 7, LONG)?;
        node.sci().sci_write_msg(&port, b"second")?;
        node.barrier_sync()
    });
}

#[test]
fn a_transmit_port_that_is_removed_makes_room_for_another() {
    in_cluster(3, |node| {
        const ROUNDS: usize = 4;
        if node.node() == 0 {
            let port = node.safe_create_receive_port(1)?;
            let mut sum = 0;
            for _ in 0..2 * ROUNDS {
                let mut byte = [0];
                node.sci().sci_read_msg(&port, &mut byte)?;
                sum += usize::from(byte[0]);
            }
            assert_eq!(sum, ROUNDS * (1 + 2));
            return node.sci().sci_remove_receive_port(port);
        }
        for _ in 0..ROUNDS {
            let port = node.safe_connect_transmit_port(0, 1, LONG)?;
            let me = node.node() as u8;
            node.sci().sci_write_msg(&port, &[me])?;
            node.sci().sci_remove_transmit_port(port)?;
        }
        Ok(())
    });
}

#[test]
fn what_nobody_reads_is_dropped_and_told() {
    let ended = Ended { signals: vec![], unread: 2, left: 1 };
    ends_with(
        2,
        SHORT,
        |node| {
            let other = 1 - node.node();
            let _port = node.safe_create_receive_port(3)?;
            node.barrier_sync()?;
            node.send_block(other, &[1; 10])?;
            // No node takes the long block. It stays under way, and is dropped in the end.
            let long = node.send_block(other, &[1; 50_000]);
            assert!(matches!(long, Err(ClusterError::TimedOut { .. })), "{long:?}");
            Ok(())
        },
        ended,
    );
}
