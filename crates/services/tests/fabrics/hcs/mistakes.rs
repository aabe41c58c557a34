//! Mistakes in calls. Each is reported by name, and none hangs.

use contract::TimeSpan;
use services::hcs::{ClusterError, OWN_MAX, SEMAPHORES, ignore_signal_handler};

use super::{LONG, SHORT, cluster, ends_with, in_cluster, words};
use crate::hcs::Ended;

#[test]
fn what_does_not_exist_is_named() {
    in_cluster(3, |node| {
        let me = node.node();
        let outside = "there is no node 3: the cluster has nodes 0 to 2";
        assert_eq!(words(node.send_signal(3, 1)), outside);
        assert_eq!(words(node.send_signal_and_wait(3, 1)), outside);
        assert_eq!(words(node.send_block(3, &[])), outside);
        assert_eq!(words(node.get_block(3, &mut [])), outside);
        assert_eq!(words(node.get_broadcast(3, &mut [])), outside);
        assert_eq!(words(node.safe_connect_transmit_port(3, 1, LONG)), outside);
        assert_eq!(words(node.safe_shared_memory_map(3, 1, LONG)), outside);
        let oneself = format!("node {me} cannot send a signal to itself");
        assert_eq!(words(node.send_signal(me, 1)), oneself);
        assert_eq!(words(node.send_signal_and_wait(me, 1)), oneself);
        let own = words(node.get_broadcast(me, &mut []));
        assert_eq!(own, format!("node {me} cannot get its own broadcast"));
        let error = words(node.p(SEMAPHORES));
        assert_eq!(error, "there is no semaphore 64: a node has 0 to 63");
        assert_eq!(words(node.v(1000)), "there is no semaphore 1000: a node has 0 to 63");
        Ok(())
    });
}

#[test]
fn the_librarys_own_names_are_its_own() {
    in_cluster(1, |node| {
        let kept = "2147483648 is kept for the library: a program has 0 to 2147483647";
        let first = OWN_MAX + 1;
        assert_eq!(words(node.safe_create_receive_port(first)), format!("port {kept}"));
        assert_eq!(words(node.safe_shared_memory_make(first, 1)), format!("segment {kept}"));
        assert_eq!(words(node.send_signal(0, first)), format!("signal {kept}"));
        let set = node.set_signal_handler(first, ignore_signal_handler());
        assert_eq!(words(set), format!("signal {kept}"));
        assert_eq!(words(node.send_signal_and_wait(0, first)), format!("signal {kept}"));
        let mut ports = Vec::new();
        for name in 0..64 {
            ports.push(node.safe_create_receive_port(name)?);
        }
        let error = words(node.safe_create_receive_port(64));
        assert_eq!(error, "node 0 has 64 ports, and room for no more");
        ports.into_iter().try_for_each(|port| node.sci().sci_remove_receive_port(port))
    });
}

#[test]
fn a_wait_for_what_nobody_does_ends() {
    ends_with(
        2,
        SHORT,
        |node| {
            if node.node() == 1 {
                // It serves the other node, and does nothing for which the other waits.
                while node.barrier_sync().is_err() {}
                return Ok(());
            }
            let map = words(node.safe_shared_memory_map(1, 77, SHORT));
            assert_eq!(map, "node 1 has no segment 77 within 30 ms");
            let port = words(node.safe_connect_transmit_port(1, 5, SHORT));
            assert_eq!(port, "node 1 has no port 5 within 30 ms");
            let mine = node.safe_create_receive_port(1)?;
            let nobody = words(node.safe_wait_for_connection(&mine, SHORT));
            assert_eq!(nobody, "nobody connected to port 1 within 30 ms");
            let silent = words(node.sci().sci_read_msg(&mine, &mut []));
            assert_eq!(silent, "nothing came at port 1 within 30 ms");
            node.sci().sci_remove_receive_port(mine)?;
            assert_eq!(words(node.get_block(1, &mut [])), "no block came from node 1 within 30 ms");
            let broadcast = words(node.get_broadcast(1, &mut []));
            assert_eq!(broadcast, "no broadcast of node 1 came from node 1 within 30 ms");
            assert_eq!(node.service_signals(SHORT)?, 0);
            while node.barrier_sync().is_err() {}
            Ok(())
        },
        Ended::default(),
    );
}

#[test]
fn a_block_that_does_not_fit_stays() {
    in_cluster(2, |node| {
        if node.node() == 0 {
            return node.send_block(1, &[5; 9]);
        }
        let mut room = [0; 9];
        let short = words(node.get_block(0, &mut room[..8]));
        assert_eq!(short, "a block of 9 bytes from node 0 does not fit a buffer of 8 bytes");
        assert_eq!((node.get_block(0, &mut room)?, room), (9, [5; 9]));
        Ok(())
    });
}

#[test]
fn memory_beyond_a_segment_is_refused_here_and_there() {
    in_cluster(2, |node| {
        let mut own = node.safe_shared_memory_make(2, 10)?;
        let mut other = node.safe_shared_memory_map(1 - own.node(), 2, LONG)?;
        for segment in [&own, &other] {
            let error = words(node.sci().write_shm(segment, 8, &[1; 3]));
            let expected = "3 bytes at offset 8 are outside of segment 2, which has 10 bytes";
            assert_eq!(error, expected);
            assert!(words(node.sci().read_shm(segment, usize::MAX, &mut [0])).contains("outside"));
        }
        node.sci().sci_unmap_shm(&mut other)?;
        node.barrier_sync()?;
        node.sci().sci_remove_shm(&mut own)
    });
}

/// A node does not handle its signals. The first signal must wait there, and the second at the sender.
#[test]
fn a_signal_that_is_not_dealt_with_holds_up_the_next() {
    ends_with(
        2,
        SHORT,
        |node| {
            if node.node() == 0 {
                node.send_signal(1, 1)?;
                let second = words(node.send_signal(1, 2));
                assert_eq!(second, "node 1 did not take the signal before within 30 ms");
            } else {
                // It serves accesses to its memory and handles no signals.
                let until = node.sci().rank().now() + TimeSpan::from_us(90_000);
                while node.sci().rank().now() < until {
                    let _missing = node.sci().sci_map_shm(1, 9);
                    let _missing = node.sci().sci_connect_transmit_port(0, 9);
                }
            }
            while node.barrier_sync().is_err() {}
            let taken = node.take_signal().map(|signal| signal.number);
            assert_eq!(taken, (node.node() == 1).then_some(1));
            Ok(())
        },
        Ended::default(),
    );
}

#[test]
fn a_node_that_fails_ends_the_waits_of_all() {
    let program = |rank: &mut dyn contract::Rank| {
        let ended = cluster(rank, LONG, |node| match node.node() {
            1 => Err(ClusterError::Fabric(contract::Error::Program("node 1 is lost".into()))),
            0 => node.get_block(1, &mut []).map(drop),
            2 => node.barrier_sync(),
            _ => node.p(0).and_then(|()| node.p(0)),
        });
        match ended {
            Err(ClusterError::Fabric(error)) => Err(error),
            other => panic!("{other:?}"),
        }
    };
    let (rank, error) = conformance::reference::run(4, program).expect_err("it must fail");
    assert_eq!((rank, error.to_string()), (1, "node 1 is lost".into()));
}
