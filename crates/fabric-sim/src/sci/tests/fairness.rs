//! Shares of nodes of a saturated ring, and delays of urgent packets beside saturation.

use super::*;

/// The data that each node moves to node 0, if all others send to it whenever there is room.
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
    // Node 1 has nobody before it. Node 2 sends one packet, and its bypass FIFO is never empty again.
    assert!(shares[1..].iter().all(|&bytes| bytes * 20 < shares[0]), "{shares:?}");
}

#[test]
fn go_bits_and_trains_give_every_node_a_share() {
    // A node without traffic before it recovers at once and hears of others a round trip late, which is about the time of
    // a packet here: it gets more than they do, and the last one gets less. A train gives each node the same.
    for (access, factor) in [(Access::GoBits, 7), (Access::Train { seats: 2 }, 1)] {
        let shares = shares(access);
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        // Two packets more or less at the ends of the time.
        assert!(least * factor + 4 * 64 >= *most, "{access:?}: {shares:?}");
    }
}

/// The longest delay of an urgent move of 16 bytes from node 4 to 0 each 20 us beside saturation, in us.
fn urgent(access: Access, urgency: Urgency) -> f64 {
    let settings = RingSettings { access, urgency, ..ring(8) };
    let make = |pace, nodes, priority, bytes| Traffic {
        nodes,
        pace,
        destination: Destination::Fixed(0),
        operation: TransactionKind::Move(bytes),
        priority,
    };
    let often = TimeSpan::from_us(20);
    let traffic = vec![
        make(Pace::Uniform(often), vec![4], 3, 16),
        make(Pace::Available, vec![1, 2, 3, 5, 6, 7], 0, 64),
    ];
    let (warm_up, duration) = (TimeSpan::from_us(50), TimeSpan::from_us(4000));
    let study = study::Study { settings, traffic, warm_up, duration, joined: None, seed: 1 };
    let found = study::run(&study).unwrap();
    let delays = &found.traffic[0].delays;
    // One each 20 us, but for those at the ends.
    assert!(delays.len() >= 190, "{} were done", delays.len());
    delays.last().unwrap().as_us()
}

#[test]
fn urgent_packets_have_a_bound_beside_saturation() {
    // Twice 41 symbols of 16 ns wait at each of seven nodes at most, and the target's input queue holds four packets that
    // take 300 ns each, of which it may be refused: with its way around the ring that is below 15 us.
    let preempted = urgent(Access::GoBits, Urgency::Preempt);
    assert!(preempted < 15.0, "{preempted} us");
    let plain = urgent(Access::GoBits, Urgency::None);
    assert!(preempted < plain, "{preempted} us beside {plain} us");
    let levels = urgent(Access::GoBits, Urgency::TwoBits);
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
    let found = study::run(&study).unwrap();
    // 49 or 50 are requested; the last may be on their way.
    assert!(found.traffic[1].delays.len() >= 48, "{} were done", found.traffic[1].delays.len());
    // The node that all go to requests nothing itself.
    assert_eq!((found.traffic[0].bytes[0], found.traffic[0].makes_requests[0]), (0, false));
}
