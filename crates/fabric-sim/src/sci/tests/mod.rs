//! Compares rings with times, bounds and shares derived by hand, and runs seeded random traffic on every kind of ring.

mod bounds;
mod conservation;
mod fairness;
mod random;

use contract::{Time, TimeSpan};

use super::*;

/// Returns settings in which a symbol takes 16 ns, a hop 64 ns, hosts 100 ns and responders 200 ns.
fn ring(nodes: u32) -> RingSettings {
    RingSettings::ring(nodes)
}

/// Returns the time in ns of one transaction on rings without other traffic.
fn alone(settings: RingSettings, pair: (u32, u32), operation: TransactionKind) -> u64 {
    let mut engine = Engine::new(settings).unwrap();
    assert!(engine.request(pair, operation, (0, Time::ZERO, 7)));
    let mut done = None;
    while done.is_none() && engine.step() {
        done = engine.take_complete().next();
    }
    let done = done.expect("it completes");
    assert_eq!((done.tag, done.requester, done.responder), (7, pair.0, pair.1));
    done.done.as_ps() / 1000
}

#[test]
fn a_move_to_the_next_node_takes_a_hop_the_packet_and_the_host() {
    // The head arrives after 16 ns of link and 32 ns of stripping. The packet has 8 + 32 symbols of 16 ns. Then host
    // and responder follow.
    assert_eq!(alone(ring(4), (0, 1), TransactionKind::Move(64)), 16 + 32 + 40 * 16 + 100 + 200);
    // The time is the same without an echo.
    assert_eq!(alone(ring(4), (0, 1), TransactionKind::Event(64)), 16 + 32 + 40 * 16 + 100 + 200);
}

#[test]
fn each_node_between_adds_a_hop() {
    let one = alone(ring(8), (0, 1), TransactionKind::Move(64));
    // A hop is 16 ns of link, 32 ns of stripping and 16 ns of bypass.
    assert_eq!(alone(ring(8), (0, 6), TransactionKind::Move(64)), one + 5 * 64);
    assert_eq!(alone(ring(8), (5, 1), TransactionKind::Move(64)), one + 3 * 64);
}

#[test]
fn a_read_goes_around_the_ring_once() {
    // The request of 8 symbols takes 48 + 128 ns, then 300 ns of host and responder. The response of 40 symbols passes
    // three links: two hops of 64 ns, 48 ns to the last stripper, 640 ns for itself, 100 ns for the host.
    let request = 48 + 8 * 16 + 300;
    assert_eq!(
        alone(ring(4), (0, 1), TransactionKind::Read(64)),
        request + 2 * 64 + 48 + 640 + 100
    );
}

#[test]
fn a_node_reaches_itself_around_the_ring() {
    let one = alone(ring(4), (0, 1), TransactionKind::Move(16));
    assert_eq!(alone(ring(4), (2, 2), TransactionKind::Move(16)), one + 3 * 64);
}

#[test]
fn a_bridge_adds_its_routing_and_a_ring() {
    // Hosts 0 and 1 and an agent are on one ring; hosts 2 and 3 and an agent on the other. From 0 over 1 to the agent
    // are two links. The packet takes 640 ns to arrive there and 64 ns of routing. From the agent to host 2 is one
    // link, to host 3 two.
    let settings = RingSettings { shape: Shape::Bridge { left: 2, right: 2 }, ..ring(1) };
    let to_agent = 64 + 48 + 640 + 64;
    assert_eq!(
        alone(settings.clone(), (0, 2), TransactionKind::Move(64)),
        to_agent + 48 + 640 + 300
    );
    assert_eq!(alone(settings, (0, 3), TransactionKind::Move(64)), to_agent + 64 + 48 + 640 + 300);
}

#[test]
fn an_inner_ring_lies_between_outer_rings() {
    // Host 1 is next to its agent. On the inner ring the agents of rings 0 and 1 are neighbours; from 2 to 0, too.
    let settings = RingSettings { shape: Shape::InnerRing { rings: 3, nodes_each: 2 }, ..ring(1) };
    let agent = 48 + 640 + 64;
    assert_eq!(
        alone(settings.clone(), (1, 2), TransactionKind::Move(64)),
        2 * agent + 48 + 640 + 300
    );
    assert_eq!(alone(settings, (5, 0), TransactionKind::Move(64)), 2 * agent + 48 + 640 + 300);
}

#[test]
fn a_crossbar_makes_one_ring_of_two() {
    let settings =
        RingSettings { shape: Shape::MultiService { rings: 2, nodes_each: 2 }, ..ring(1) };
    let mut engine = Engine::new(settings).unwrap();
    let controller = engine.controller().unwrap();
    let time_of = |engine: &mut Engine, pair, operation| {
        let requested_at = engine.now();
        assert!(engine.request(pair, operation, (0, requested_at, 0)));
        loop {
            assert!(engine.step(), "it completes");
            if let Some(done) = engine.take_complete().next() {
                return done.done.since(requested_at).as_ps() / 1000;
            }
        }
    };
    // The path is host 1, both sides of the agent of ring 0, and those of the agent of ring 1. The inner ring is 0, 1,
    // controller.
    let move_64 = TransactionKind::Move(64);
    let separate = time_of(&mut engine, (1, 2), move_64);
    let agent = 48 + 640 + 64;
    assert_eq!(separate, 2 * agent + 48 + 640 + 300);
    time_of(&mut engine, (0, controller), TransactionKind::Join(0, 1));
    // Now host 1 is followed by its agent, which is followed by the first host of ring 1.
    assert_eq!(time_of(&mut engine, (1, 2), move_64), 64 + 48 + 640 + 300);
    assert_eq!(time_of(&mut engine, (3, 0), move_64), 64 + 48 + 640 + 300);
    time_of(&mut engine, (3, controller), TransactionKind::Separate(1, 0));
    assert_eq!(time_of(&mut engine, (1, 2), move_64), separate);
}

#[test]
fn what_cannot_be_simulated_is_told() {
    let refusal =
        |settings: RingSettings| Engine::new(settings).err().expect("it is refused").to_string();
    assert_eq!(refusal(ring(0)), "a ring has no node");
    let symbol = TimeSpan::ZERO;
    assert_eq!(refusal(RingSettings { symbol, ..ring(2) }), "the time of a symbol is zero");
    assert_eq!(
        refusal(RingSettings { input_packets: 0, ..ring(2) }),
        "the input queues hold no packet"
    );
    let shape = Shape::Bridge { left: 0, right: 3 };
    assert_eq!(refusal(RingSettings { shape, ..ring(2) }), "a ring has no node");
    let shape = Shape::MultiService { rings: 2, nodes_each: 2 };
    let refused = refusal(RingSettings { shape, access: Access::Train { seats: 1 }, ..ring(2) });
    assert_eq!(refused, "rings that a crossbar joins would have two trains; take go bits");
    let traffic = Traffic {
        nodes: vec![9],
        pace: Pace::Available,
        destination: Destination::Random,
        operation: TransactionKind::Move(64),
        priority: 0,
    };
    let refusal =
        |traffic: Traffic| traffic.check(Shape::Ring { nodes: 4 }).unwrap_err().to_string();
    assert_eq!(refusal(traffic.clone()), "no node 9 among 4");
    let operation = TransactionKind::Read(100);
    let other = Traffic { nodes: vec![], operation, ..traffic };
    assert_eq!(refusal(other), "no packet holds 100 bytes; 16, 64 or 256");
}
