//! Seeded random transactions on every kind of ring: each completes once, and no packet is left.

use super::*;
use crate::random::Random;

/// Returns every combination of shape, access, retry and urgency.
fn all() -> Vec<RingSettings> {
    let shapes = [
        Shape::Ring { nodes: 1 },
        Shape::Ring { nodes: 6 },
        Shape::Bridge { left: 3, right: 2 },
        Shape::InnerRing { rings: 3, nodes_each: 2 },
        Shape::MultiService { rings: 3, nodes_each: 2 },
    ];
    let mut all = Vec::new();
    for shape in shapes {
        for access in [Access::Free, Access::GoBits, Access::Train { seats: 2 }] {
            for retry in [Retry::Aged, Retry::Again, Retry::Directed] {
                for urgency in [Urgency::None, Urgency::Preempt, Urgency::TwoBits] {
                    let settings = RingSettings { shape, access, retry, urgency, ..ring(1) };
                    all.extend(settings.check().is_ok().then_some(settings));
                }
            }
        }
    }
    all
}

/// Runs random transactions. Returns the hash and the tags that completed.
fn run(settings: &RingSettings, seed: u64, count: u64) -> (u64, Vec<u64>) {
    let mut random = Random::new(seed, 0);
    let mut engine = Engine::new(settings.clone()).unwrap();
    let hosts = u64::from(settings.shape.hosts());
    let (mut tag, mut done, mut steps) = (0, Vec::new(), 0u64);
    while (done.len() as u64) < count {
        if tag < count && random.below(4) == 0 {
            let pair = (random.below(hosts) as u32, random.below(hosts) as u32);
            let operation = draw(settings.shape, &mut random);
            let to = match operation {
                TransactionKind::Join(..) | TransactionKind::Separate(..) => {
                    engine.controller().unwrap()
                }
                _ => pair.1,
            };
            let call = (random.below(4) as u8, engine.now(), tag);
            tag += u64::from(engine.request((pair.0, to), operation, call));
        }
        let went = engine.step();
        assert!(
            went || tag < count,
            "{} of {count} done, and nothing happens: {settings:?}",
            done.len()
        );
        done.extend(engine.take_complete().map(|complete| complete.tag));
        steps += 1;
        assert!(steps < 4_000_000, "{} of {count} done: {settings:?}", done.len());
    }
    // Echoes of the last packets are under way. Trains never end.
    let trains = match settings.access {
        Access::Train { .. } => engine.rings.group.len(),
        _ => 0,
    };
    for _ in 0..20_000 {
        engine.step();
    }
    assert_eq!(engine.under_way(), 0);
    let control: usize = engine.nodes.iter().map(|node| node.control.len()).sum();
    assert_eq!(control, 0);
    assert!(engine.packets() <= trains, "{} packets are left: {settings:?}", engine.packets());
    for node in &engine.nodes {
        assert!(node.output.iter().all(|output| output.held == 0 && output.waiting.is_empty()));
        assert!(node.input.iter().all(|input| input.reserved == 0 && input.taken.is_empty()));
    }
    (engine.event_hash(), done)
}

fn draw(shape: Shape, random: &mut Random) -> TransactionKind {
    let bytes = [16, 64, 256][random.below(3) as usize];
    let ring = |random: &mut Random| random.below(4) as u8;
    match random.below(10) {
        0..=2 => TransactionKind::Read(bytes),
        3..=5 => TransactionKind::Write(bytes),
        6 | 7 => TransactionKind::Move(bytes),
        8 if matches!(shape, Shape::MultiService { .. }) => {
            let rings = (ring(random), ring(random));
            match random.below(2) {
                0 => TransactionKind::Join(rings.0, rings.1),
                _ => TransactionKind::Separate(rings.0, rings.1),
            }
        }
        _ => TransactionKind::Lock,
    }
}

#[test]
fn every_transaction_completes_once_and_leaves_nothing() {
    for (number, settings) in all().iter().enumerate() {
        let seed = 100 + number as u64;
        let (_, mut done) = run(settings, seed, 300);
        done.sort_unstable();
        assert_eq!(done, (0..300).collect::<Vec<u64>>(), "seed {seed}: {settings:?}");
    }
}

/// Events may be lost. The transactions among them must keep their turns, places and echoes.
#[test]
fn every_event_is_carried_out_or_lost_and_leaves_nothing() {
    for (number, settings) in all().iter().enumerate() {
        let seed = 500 + number as u64;
        let mut random = Random::new(seed, 0);
        let mut engine = Engine::new(settings.clone()).unwrap();
        let hosts = u64::from(settings.shape.hosts());
        let (mut made, mut done, mut others) = (0, 0, 0);
        for _ in 0..3000 {
            // Half of all packets go to node 0, whose queues fill.
            let to = (random.below(hosts) * random.below(2)) as u32;
            let is_event = random.below(4) > 0;
            let operation = match is_event {
                true => TransactionKind::Event([16, 64][random.below(2) as usize]),
                false => draw(settings.shape, &mut random),
            };
            let to = match operation {
                TransactionKind::Join(..) | TransactionKind::Separate(..) => {
                    engine.controller().unwrap()
                }
                _ => to,
            };
            let call = (random.below(4) as u8, engine.now(), u64::from(is_event));
            if engine.request((random.below(hosts) as u32, to), operation, call) {
                made += u64::from(is_event);
                others += u64::from(!is_event);
            }
            for _ in 0..random.below(3) {
                engine.step();
            }
        }
        for _ in 0..200_000 {
            engine.step();
        }
        for complete in engine.take_complete() {
            done += complete.tag;
            others -= 1 - complete.tag;
        }
        assert!(
            made > 0 && done > 0 && done <= made,
            "seed {seed}: {done} of {made}: {settings:?}"
        );
        assert_eq!((others, engine.under_way()), (0, 0), "seed {seed}: {settings:?}");
        assert!(made - done <= engine.counts().refused, "seed {seed}: {settings:?}");
        let held = engine.nodes.iter().flat_map(|node| &node.output).any(|output| output.held > 0);
        assert!(!held && engine.without_echo.iter().all(|&count| count == 0), "{settings:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let settings = RingSettings { shape: Shape::InnerRing { rings: 3, nodes_each: 2 }, ..ring(1) };
    assert_eq!(run(&settings, 1, 200), run(&settings, 1, 200));
    assert_ne!(run(&settings, 1, 200).0, run(&settings, 2, 200).0);
}

#[test]
fn a_bypass_fifo_holds_no_more_than_comes_while_a_packet_is_sent() {
    for settings in all() {
        if settings.urgency == Urgency::Preempt {
            continue;
        }
        let traffic = Traffic {
            nodes: Vec::new(),
            pace: Pace::Available,
            destination: Destination::Itself,
            operation: TransactionKind::Move(64),
            priority: 0,
        };
        let (warm_up, duration) = (TimeSpan::ZERO, TimeSpan::from_us(100));
        let study = study::Study {
            settings,
            traffic: vec![traffic],
            warm_up,
            duration,
            joined: None,
            seed: 3,
        };
        let counts = study::run(&study).unwrap().counts;
        // While 41 symbols are sent the heads of at most 41 arrive, and the last packet may just have begun.
        assert!(counts.bypass_symbols_max < 2 * 41, "{counts:?}: {:?}", study.settings);
    }
}
