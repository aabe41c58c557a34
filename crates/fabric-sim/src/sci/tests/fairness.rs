//! Shares of nodes of a saturated ring, and delays of urgent packets beside saturation.

use super::*;

/// Returns the number of bytes that each node moves to node 0, if all others send to it whenever there is room.
fn shares(access: Access) -> Vec<u64> {
    let mut settings = RingSettings { access, output_packets: 16, input_packets: 64, ..ring(8) };
    settings.delays.host = TimeSpan::ZERO;
    settings.delays.responder = TimeSpan::ZERO;
    let traffic = Traffic {
        nodes: (1..8).collect(),
        pace: Pace::Available,
        destination: Destination::Fixed(0),
        operation: TransactionKind::Move(64),
        priority: 0,
    };
    let (warm_up, duration) = (TimeSpan::from_us(50), TimeSpan::from_us(1000));
    let study =
        study::Study { settings, traffic: vec![traffic], warm_up, duration, joined: None, seed: 1 };
    study::run(&study).unwrap().traffic[0].bytes.split_off(1)
}

#[test]
fn without_go_bits_a_saturating_neighbour_takes_everything() {
    let shares = shares(Access::Free);
    // Node 1 has no traffic before it. Node 2 sends one packet, and its bypass FIFO is never empty again.
    assert!(shares[1..].iter().all(|&bytes| bytes * 20 < shares[0]), "{shares:?}");
}

#[test]
fn go_bits_and_trains_give_every_node_a_share() {
    // A node without traffic before it recovers at once. It sees the other nodes' go bits a round trip late, which is
    // about the time of a packet here. So it gets more than they do, and the last one gets less. A train gives each
    // node the same.
    for (access, factor) in [(Access::GoBits, 7), (Access::Train { seats: 2 }, 1)] {
        let shares = shares(access);
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        // Two packets more or less are possible at the ends of the time.
        assert!(least * factor + 4 * 64 >= *most, "{access:?}: {shares:?}");
    }
}

/// Returns the delays in us, shortest first, of urgent transactions of 16 bytes from node 4 to 0 each 20 us, while all
/// others make transactions of 64 bytes with node 0 whenever there is room.
fn urgent(operation: fn(u32) -> TransactionKind, urgency: Urgency) -> Vec<f64> {
    let make = |pace, nodes, priority, bytes| Traffic {
        nodes,
        pace,
        destination: Destination::Fixed(0),
        operation: operation(bytes),
        priority,
    };
    let often = TimeSpan::from_us(20);
    let traffic = vec![
        make(Pace::Uniform(often), vec![4], 3, 16),
        make(Pace::Available, vec![1, 2, 3, 5, 6, 7], 0, 64),
    ];
    let (warm_up, duration, joined) = (TimeSpan::from_us(50), TimeSpan::from_us(4000), None);
    let settings = RingSettings { urgency, ..ring(8) };
    let study = study::Study { settings, traffic, warm_up, duration, joined, seed: 1 };
    let results = study::run(&study).unwrap();
    results.traffic[0].delays.iter().map(|delay| delay.as_us()).collect()
}

fn longest(delays: &[f64]) -> f64 {
    delays[delays.len() - 1]
}

#[test]
fn urgent_packets_have_a_bound_beside_saturation() {
    // At each of seven nodes at most twice 41 symbols of 16 ns come first. The target's input queue holds four packets
    // that take 300 ns each, and may refuse the packet. With the path around the ring that is below 15 us.
    let longest_of_moves = |urgency| {
        let delays = urgent(TransactionKind::Move, urgency);
        // There is one each 20 us, except at the ends.
        assert!(delays.len() >= 190, "{} were done", delays.len());
        longest(&delays)
    };
    let preempted = longest_of_moves(Urgency::Preempt);
    assert!(preempted < 15.0, "{preempted} us");
    let plain = longest_of_moves(Urgency::None);
    assert!(preempted < plain, "{preempted} us beside {plain} us");
    let levels = longest_of_moves(Urgency::TwoBits);
    assert!(levels < plain, "{levels} us beside {plain} us");
}

#[test]
fn what_is_urgent_finds_a_place_beside_the_node_s_own_load() {
    let make = |pace, nodes: &[u32], priority| Traffic {
        nodes: nodes.to_vec(),
        pace,
        destination: Destination::Fixed(0),
        operation: TransactionKind::Move(16),
        priority,
    };
    let often = TimeSpan::from_us(20);
    let traffic = vec![make(Pace::Available, &[], 0), make(Pace::Uniform(often), &[4], 3)];
    let settings = RingSettings { urgency: Urgency::Preempt, ..ring(8) };
    let (warm_up, duration, joined) = (TimeSpan::ZERO, TimeSpan::from_us(1000), None);
    let study = study::Study { settings, traffic, warm_up, duration, joined, seed: 1 };
    let results = study::run(&study).unwrap();
    // 49 or 50 are requested, and the last may be under way.
    assert!(results.traffic[1].delays.len() >= 48, "{} were done", results.traffic[1].delays.len());
    // The node to which all send requests nothing itself.
    assert_eq!((results.traffic[0].bytes[0], results.traffic[0].makes_requests[0]), (0, false));
}

/// Returns the number of transactions that each node completes with node 0 in 2 ms, if all others request them whenever
/// there is room. Hosts and responders have their usual delays.
fn completed(retry: Retry, operation: TransactionKind, access: Access) -> Vec<u64> {
    let settings = RingSettings { retry, access, ..ring(8) };
    let traffic = Traffic {
        nodes: (1..8).collect(),
        pace: Pace::Available,
        destination: Destination::Fixed(0),
        operation,
        priority: 0,
    };
    let (warm_up, duration) = (TimeSpan::from_us(100), TimeSpan::from_us(2000));
    let study =
        study::Study { settings, traffic: vec![traffic], warm_up, duration, joined: None, seed: 1 };
    let results = study::run(&study).unwrap();
    let bytes = u64::from(operation.data_bytes());
    results.traffic[0].bytes[1..].iter().map(|all| all / bytes).collect()
}

#[test]
fn refused_packets_have_their_turn_so_no_node_starves() {
    let kinds = [
        TransactionKind::Write(64),
        TransactionKind::Write(16),
        TransactionKind::Read(64),
        TransactionKind::Lock,
    ];
    for operation in kinds {
        for access in [Access::GoBits, Access::Train { seats: 2 }] {
            let shares = completed(Retry::Aged, operation, access);
            let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
            // A turn takes one to four packets of each node that waits.
            assert!(*least > 0 && least * 4 >= *most, "{operation:?} {access:?}: {shares:?}");
            // Host and responder take 300 ns for each, and four may have waited at the beginning.
            assert!(shares.iter().sum::<u64>() <= 2_000_000 / 300 + 4, "{operation:?}: {shares:?}");
        }
    }
}

#[test]
fn without_turns_some_nodes_starve() {
    let shares = completed(Retry::Again, TransactionKind::Write(64), Access::GoBits);
    assert!(shares.contains(&0), "{shares:?}");
}

#[test]
fn urgent_writes_have_a_bound_beside_others_that_are_refused() {
    let [plain, preempted, levels] = [Urgency::None, Urgency::Preempt, Urgency::TwoBits]
        .map(|urgency| urgent(TransactionKind::Write, urgency));
    // There is one each 20 us in 4 ms, except at the ends.
    for delays in [&preempted, &levels] {
        assert!(delays.len() >= 197, "{} were done", delays.len());
    }
    // The bound for moves is 15 us. The response adds to it: it waits behind at most four of the target, each of 9
    // symbols, and at each of four nodes behind a packet of 41.
    let bound = 15.0 + (4.0 * 9.0 + 4.0 * 41.0) * 0.016;
    assert!(longest(&preempted) <= bound, "{preempted:?}");
    // Without priorities node 4 has one packet in each turn, which is longer than 20 us.
    assert!(longest(&levels) < longest(&plain) && plain.len() < 197, "{levels:?} beside {plain:?}");
}
