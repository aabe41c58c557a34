//! Shared segments.

use services::hcs::{ClusterError, ClusterOptions, sci_init_lib};

use super::{LONG, SHORT, in_cluster, words};

#[test]
fn a_segment_is_written_and_read_by_all() {
    for nodes in [1, 2, 4] {
        in_cluster(nodes, |node| {
            let (me, nodes) = (node.node(), node.nodes());
            let mut own = node.safe_shared_memory_make(9, 100)?;
            let next = (me + 1) % nodes;
            let mut room = [1; 100];
            node.sci().read_shm(&own, 0, &mut room)?;
            assert_eq!(room, [0; 100], "a new segment is zeros");
            node.barrier_sync()?;
            let mut mapped = node.safe_shared_memory_map(next, 9, LONG)?;
            assert_eq!((mapped.node(), mapped.key(), mapped.bytes()), (next, 9, 100));
            node.sci().write_shm(&mapped, 40, &[me as u8 + 1; 60])?;
            node.barrier_sync()?;
            node.sci().read_shm(&own, 39, &mut room[..61])?;
            let before = (me + nodes - 1) % nodes;
            assert_eq!((room[0], &room[1..61]), (0, &[before as u8 + 1; 60][..]));
            let stays = words(node.sci().sci_remove_shm(&mut own));
            assert_eq!(stays, "segment 9 is mapped 1 times, and stays");
            let others = words(node.sci().sci_remove_shm(&mut mapped));
            assert!(others.contains("who mapped it unmaps it"), "{others}");
            assert!(words(node.sci().sci_unmap_shm(&mut own)).contains("belongs to node"));
            node.barrier_sync()?;
            node.sci().sci_unmap_shm(&mut mapped)?;
            node.barrier_sync()?;
            node.sci().sci_remove_shm(&mut own)?;
            for segment in [&own, &mapped] {
                assert!(
                    words(node.sci().read_shm(segment, 0, &mut [0])).contains("has no segment 9")
                );
            }
            node.barrier_sync()?;
            let gone = words(node.sci().sci_map_shm(next, 9));
            assert_eq!(gone, format!("node {next} has no segment 9"));
            Ok(())
        });
    }
}

#[test]
fn a_map_waits_for_the_segment_to_be_made() {
    in_cluster(2, |node| {
        if node.node() == 0 {
            let mut segment = node.safe_shared_memory_map(1, 4, LONG)?;
            node.sci().write_shm(&segment, 0, b"here")?;
            node.sci().sci_unmap_shm(&mut segment)?;
            return node.send_signal(1, 0);
        }
        // The other node waits by now, or finds the segment at once.
        node.service_signals(SHORT)?;
        let mut segment = node.safe_shared_memory_make(4, 4)?;
        while node.take_signal().is_none() {
            node.service_signals(LONG)?;
        }
        let mut room = [0; 4];
        node.sci().read_shm(&segment, 0, &mut room)?;
        assert_eq!(&room, b"here");
        node.sci().sci_remove_shm(&mut segment)
    });
}

#[test]
fn memory_has_an_end() {
    in_cluster(2, |node| {
        let me = node.node();
        let mut whole = node.safe_shared_memory_make(1, 1 << 16)?;
        let error = words(node.safe_shared_memory_make(2, 1));
        let expected = "no room for a segment of 1 bytes: the longest free part of node";
        assert_eq!(error, format!("{expected} {me} has 0"));
        assert_eq!(
            words(node.safe_shared_memory_make(1, 1)),
            format!("segment 1 of node {me} is in use")
        );
        node.sci().sci_remove_shm(&mut whole)?;
        let mut all = Vec::new();
        for key in 0..64 {
            all.push(node.safe_shared_memory_make(key, 0)?);
        }
        let error = words(node.safe_shared_memory_make(64, 0));
        assert_eq!(error, format!("node {me} has 64 segments, and room for no more"));
        let info = node.sci().sci_lib_info();
        // The library has a port for each node. Each empty segment takes a cache line.
        assert_eq!((info.segments, info.ports, info.free_bytes), (64, 2, (1 << 16) - 64 * 64));
        for mut segment in all {
            node.sci().sci_remove_shm(&mut segment)?;
        }
        Ok(())
    });
}

/// With the lower library alone, a node that closes it must serve the nodes that have not closed it.
#[test]
fn a_node_that_closes_answers_until_all_do() {
    crate::on_each(3, |rank| {
        let me = rank.rank();
        let program = |rank: &mut dyn contract::Rank| {
            let mut library = sci_init_lib(rank, ClusterOptions::default())?;
            if me > 0 {
                let mut sci = library.enter(rank);
                let later = sci.rank().now() + SHORT;
                sci.rank().wait_until(later);
                assert_eq!(words(sci.sci_map_shm(0, 5)), "node 0 has no segment 5");
            }
            library.sci_close_lib(rank)
        };
        assert_eq!(program(rank).map_err(ClusterError::into_contract)?, 0);
        Ok(())
    });
}
