//! Signals, semaphores and barriers.

use std::cell::Cell;
use std::rc::Rc;

use services::hcs::{
    Ended, MASTER, Node, Signal, SignalHandler, default_signal_handler, ignore_signal_handler,
    p_signal, v_signal,
};

use super::{LONG, SHORT, ends_with, in_cluster, words};

#[test]
fn signals_are_kept_ignored_or_answered() {
    in_cluster(3, |node| {
        let me = node.node();
        if me != MASTER {
            assert_eq!(node.send_signal_and_wait(MASTER, 5)?, 0, "the default handler");
            assert_eq!(node.send_signal_and_wait(MASTER, 6)?, 0, "ignored");
            assert_eq!(node.send_signal_and_wait(MASTER, 7)?, 70 + me as u32, "its own");
            return node.barrier_sync();
        }
        let count = Rc::new(Cell::new(0));
        let seen = count.clone();
        node.set_signal_handler(5, default_signal_handler())?;
        node.set_signal_handler(6, ignore_signal_handler())?;
        let own = SignalHandler::own(move |signal| {
            seen.set(seen.get() + 1);
            signal.number * 10 + signal.from as u32
        });
        node.set_signal_handler(7, own)?;
        let mut served = 0;
        while served < 6 {
            served += node.service_signals(LONG)?;
        }
        assert_eq!((served, count.get()), (6, 2));
        let mut kept = [node.take_signal(), node.take_signal()].map(Option::unwrap);
        kept.sort_by_key(|signal| signal.from);
        let expected = [1, 2].map(|from| Signal { from, number: 5, waits: true });
        assert_eq!((kept, node.take_signal()), (expected, None));
        node.barrier_sync()
    });
}

#[test]
fn signals_that_cross_each_other_all_arrive_in_order() {
    const EACH: u32 = 50;
    in_cluster(4, |node| {
        let (me, nodes) = (node.node(), node.nodes());
        for number in 0..EACH {
            for to in (0..nodes).filter(|&to| to != me) {
                node.send_signal(to, number)?;
            }
        }
        node.barrier_sync()?;
        let mut next = vec![0; nodes];
        while let Some(signal) = node.take_signal() {
            assert_eq!(signal.number, next[signal.from], "from {}", signal.from);
            next[signal.from] += 1;
        }
        // The barrier's signal comes after the others of a node below, but other nodes may still send after it.
        node.barrier_sync()?;
        node.service_signals(contract::TimeSpan::ZERO)?;
        while let Some(signal) = node.take_signal() {
            next[signal.from] += 1;
        }
        next[me] = EACH;
        assert_eq!(next, vec![EACH; nodes]);
        Ok(())
    });
}

/// Every node reads a number in the master's memory, computes, and writes the next one. Without mutual exclusion some
/// increments would be lost.
#[test]
fn semaphores_keep_others_out() {
    for nodes in [1, 2, 5] {
        in_cluster(nodes, |node| {
            const ROUNDS: u64 = 20;
            let mut count = match node.node() {
                MASTER => node.safe_shared_memory_make(1, 8)?,
                _ => node.safe_shared_memory_map(MASTER, 1, LONG)?,
            };
            for round in 0..ROUNDS {
                // Both forms of the calls are used.
                let plain = round % 2 == 0 && node.node() != MASTER;
                match plain {
                    true => drop(node.send_signal_and_wait(MASTER, p_signal(3))?),
                    false => node.p(3)?,
                }
                let mut word = [0; 8];
                node.sci().read_shm(&count, 0, &mut word)?;
                let time = node.sci().rank().now() + contract::TimeSpan::from_us(3);
                node.sci().rank().wait_until(time);
                let next = u64::from_ne_bytes(word) + 1;
                node.sci().write_shm(&count, 0, &next.to_ne_bytes())?;
                match plain {
                    true => drop(node.send_signal_and_wait(MASTER, v_signal(3))?),
                    false => node.v(3)?,
                }
            }
            node.barrier_sync()?;
            let mut word = [0; 8];
            node.sci().read_shm(&count, 0, &mut word)?;
            assert_eq!(u64::from_ne_bytes(word), ROUNDS * node.nodes() as u64);
            node.barrier_sync()?;
            if node.node() != MASTER {
                node.sci().sci_unmap_shm(&mut count)?;
            }
            node.barrier_sync()?;
            if node.node() == MASTER { node.sci().sci_remove_shm(&mut count) } else { Ok(()) }
        });
    }
}

/// A P that is not granted in time must have no effect: the next V releases the unit to another node.
#[test]
fn a_semaphore_that_is_not_granted_in_time_is_not_taken() {
    ends_with(
        3,
        SHORT,
        |node| {
            let me = node.node();
            if me == 1 {
                node.p(0)?;
            }
            node.barrier_sync()?;
            if me != 1 {
                let late = words(node.p(0));
                assert!(late.contains("within 30 ms"), "{late}");
            } else {
                let until = node.sci().rank().now() + SHORT + SHORT + SHORT;
                // It serves no other node, which is no problem because the master arbitrates.
                node.sci().rank().wait_until(until);
                node.v(0)?;
            }
            if me == MASTER {
                // The other nodes need the master.
                node.service_signals(SHORT)?;
            }
            while node.barrier_sync().is_err() {}
            node.p(0)?;
            node.v(0)?;
            while node.barrier_sync().is_err() {}
            Ok(())
        },
        Ended::default(),
    );
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    for nodes in [1, 2, 3, 8] {
        in_cluster(nodes, |node| {
            let mut own = node.safe_shared_memory_make(0, 1)?;
            node.barrier_sync()?;
            for round in 1..6 {
                node.sci().write_shm(&own, 0, &[round])?;
                node.barrier_sync()?;
                for other in (0..node.nodes()).filter(|&other| other != own.node()) {
                    let mut there = [0];
                    let mut segment = node.safe_shared_memory_map(other, 0, LONG)?;
                    node.sci().read_shm(&segment, 0, &mut there)?;
                    node.sci().sci_unmap_shm(&mut segment)?;
                    assert!((round..=round + 1).contains(&there[0]), "{other} has {there:?}");
                }
            }
            node.barrier_sync()?;
            node.sci().sci_remove_shm(&mut own)
        });
    }
}

#[test]
fn a_barrier_to_which_a_node_does_not_come_names_it_and_goes_on() {
    ends_with(
        2,
        SHORT,
        |node| {
            if node.node() == 0 {
                let late = words(node.barrier_sync());
                assert_eq!(late, "node 1 did not come to the barrier within 30 ms");
                node.send_signal(1, 8)?;
            } else {
                while node.take_signal().is_none() {
                    node.service_signals(LONG)?;
                }
            }
            while node.barrier_sync().is_err() {}
            Ok(())
        },
        Ended::default(),
    );
}

#[test]
fn signals_that_nobody_took_are_told_in_the_end() {
    super::on_each(2, move |rank| {
        let me = rank.rank();
        let body = |node: &mut Node<'_>| match node.node() {
            0 => node.send_signal(1, 3),
            _ => Ok(()),
        };
        let ended = super::cluster(rank, LONG, body).map_err(|error| error.into_contract())?;
        let expected = [Signal { from: 0, number: 3, waits: false }];
        assert_eq!(ended.signals[..], expected[..me], "{ended:?}");
        Ok(())
    });
}
