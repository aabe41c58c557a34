//! Hypercubes whose processors forward over simplex links, and those that forward nothing.

use contract::{Buffer, Rank, Result, Source, Time, TimeSpan, Work, WorkKind};

use super::{TAG, machine};
use crate::random::Random;
use crate::{Level, Machine, MessageKind, Options, Outcome, unloaded};

/// Returns a hypercube. Sending and receiving take 1 µs each, forwarding 2 µs of the processor; a link carries 100
/// bytes in 4 + 1 µs.
fn cube(more: &str) -> Machine {
    machine(&format!(
        "[processor]\nfloating_point_mflops = 1\n[endpoint]\nsend_us = 1\nreceive_us = 1\nprocessor_forwards = true\n[network]\n\
         shape = \"hypercube\"\npacket_us = 4\nforward_us = 2\nlink_mb_per_s = 100\n{more}"
    ))
}

/// Runs a program on 4 nodes at the level of packets. Each rank returns the time at which it ended.
fn run(machine: &Machine, program: fn(&mut dyn Rank) -> Result<()>) -> Outcome<Time> {
    let options = Options { level: Some(Level::Packets), ..Options::new(4) };
    let timed = move |rank: &mut dyn Rank| program(rank).map(|()| rank.now());
    crate::run(machine, &options, timed).unwrap()
}

fn us(outcome: &Outcome<Time>, rank: usize) -> f64 {
    outcome.results[rank].since(Time::ZERO).as_us()
}

/// Sends messages of 100 bytes and does not wait for one before it sends the next.
fn send(rank: &mut dyn Rank, to: &[usize]) -> Result<()> {
    let post = |&to: &usize| rank.post_send(to, TAG, Buffer::zeroed(100));
    let posted = to.iter().map(post).collect::<Result<Vec<_>>>()?;
    posted.into_iter().try_for_each(|one| rank.wait(one).map(drop))
}

fn receive(rank: &mut dyn Rank, count: usize) -> Result<()> {
    (0..count).try_for_each(|_| rank.receive(Source::Any, TAG.into(), &mut [0; 100]).map(drop))
}

/// Node 0 sends for 1 µs, link 0 to 1 carries for 5, node 1 forwards for 2, link 1 to 3 carries for 5, node 3 receives
/// for 1. Node 1 computes for 20 µs meanwhile, and ends 2 later.
#[test]
fn forwarding_takes_time_of_the_nodes_own_program() {
    let outcome = run(&cube(""), |rank| match rank.rank() {
        0 => send(rank, &[3]),
        1 => {
            rank.compute(Work::new(WorkKind::FloatingPoint, 20), &mut || {});
            Ok(())
        }
        3 => receive(rank, 1),
        _ => Ok(()),
    });
    assert_eq!((us(&outcome, 3), us(&outcome, 1)), (14.0, 22.0));
}

/// Two messages for node 1 leave node 0 at 1 and 2 µs, one for node 2 at 3. The link to node 1 carries from 1 to 6 and
/// from 6 to 11; that to node 2 from 3 to 8.
#[test]
fn a_message_for_a_busy_link_holds_up_none_for_another() {
    let outcome = run(&cube(""), |rank| match rank.rank() {
        0 => send(rank, &[1, 1, 2]),
        1 => receive(rank, 2),
        2 => receive(rank, 1),
        _ => Ok(()),
    });
    assert_eq!((us(&outcome, 1), us(&outcome, 2)), (12.0, 9.0));
    let link = |name: &str| outcome.channels.iter().find(|link| link.name == name).unwrap();
    let busy = link("node 0 to 1");
    // The second waits from 2 to 6.
    assert_eq!((busy.waited, busy.queue_max), (TimeSpan::from_us(4), 1));
    let idle = link("node 0 to 2");
    assert_eq!((idle.waited, idle.queue_max, idle.packets), (TimeSpan::ZERO, 0, 1));
}

/// Nodes 0 and 1 send each other two messages from 1 µs on. A simplex link carries them from 1 to 6, 6 to 11, 11 to 16
/// and 16 to 21, in turns, so one node has its last at 16 and the other at 21; receiving takes 1 µs more. Duplex links
/// carry both at once, until 11.
#[test]
fn a_simplex_link_carries_both_ways_in_turns() {
    let both = |rank: &mut dyn Rank| match rank.rank() {
        me @ (0 | 1) => {
            send(rank, &[1 - me, 1 - me])?;
            receive(rank, 2)
        }
        _ => Ok(()),
    };
    let duplex = run(&cube(""), both);
    assert_eq!((us(&duplex, 0), us(&duplex, 1)), (12.0, 12.0));
    let simplex = run(&cube("simplex_links = true"), both);
    let mut ends = [us(&simplex, 0), us(&simplex, 1)];
    ends.sort_by(f64::total_cmp);
    assert_eq!(ends, [17.0, 22.0]);
}

#[test]
fn a_message_alone_takes_the_time_of_the_closed_form_at_both_levels() {
    let seed = 11;
    let mut random = Random::new(seed, 0);
    for _ in 0..60 {
        let simplex = random.below(2) == 0;
        let machine = machine(&format!(
            "[endpoint]\nsend_us = 3\nreceive_us = 4\nsimplex = {simplex}\nprocessor_forwards = {}\n[network]\nshape = \"hypercube\"\n\
             packet_us = {}\nlink_mb_per_s = {}\nforward_us = {}\nsimplex_links = {simplex}\nlatency_us = {}",
            random.below(2) == 0,
            random.below(9),
            1 + random.below(90),
            random.below(5),
            random.below(2),
        ));
        let (bytes, to) = (random.below(900) as usize, 1 + random.below(7) as usize);
        let links = to.count_ones().into();
        let alone = unloaded::transfer(&machine, bytes as u64, links, MessageKind::Data);
        for level in [Level::LogGp, Level::Packets] {
            let options = Options { level: Some(level), ..Options::new(8) };
            let outcome = crate::run(&machine, &options, move |rank| {
                match rank.rank() {
                    0 => rank.send(to, TAG, &vec![0; bytes])?,
                    me if me == to => {
                        rank.receive(Source::Any, TAG.into(), &mut vec![0; bytes])?;
                    }
                    _ => {}
                }
                Ok(rank.now())
            });
            let took = outcome.unwrap().results[to].since(Time::ZERO);
            let expected = alone + TimeSpan::from_us(7);
            assert_eq!(
                took, expected,
                "seed {seed}, {level:?}, {bytes} bytes to {to}: {machine:?}"
            );
        }
    }
}

#[test]
fn random_messages_all_arrive_and_every_run_is_the_same() {
    let program = |rank: &mut dyn Rank| {
        let (me, ranks) = (rank.rank(), rank.size());
        let mut random = Random::new(7, me as u64);
        let others: Vec<usize> =
            (0..40).map(|_| (me + 1 + random.below(ranks as u64 - 1) as usize) % ranks).collect();
        let mut counts = vec![0u8; ranks];
        others.iter().for_each(|&to| counts[to] += 1);
        let mut expected = vec![0u8; ranks];
        rank.all_to_all(&counts, &mut expected)?;
        send(rank, &others)?;
        receive(rank, expected.iter().map(|&count| usize::from(count)).sum())
    };
    // 13 nodes of 16: packets pass nodes without a rank.
    let options = Options { level: Some(Level::Packets), ..Options::new(13) };
    let machine = cube("simplex_links = true");
    let hashes = [(); 2].map(|()| crate::run(&machine, &options, program).unwrap().event_hash);
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn nodes_that_pass_nothing_on_refuse_a_message_to_those_far_away() {
    let lines = "[network]\nshape = \"hypercube\"\nsingle_hop = true\nlink_mb_per_s = 1";
    let to = |to: usize| {
        let program = move |rank: &mut dyn Rank| {
            rank.barrier()?;
            match rank.rank() {
                0 => rank.send(to, TAG, &[1]),
                me if me == to => rank.receive(Source::Any, TAG.into(), &mut [0]).map(drop),
                _ => Ok(()),
            }
        };
        crate::run(&machine(lines), &Options::new(8), program).map(drop)
    };
    // Collectives belong to the operating system, and neighbours are reached.
    assert_eq!(to(4), Ok(()));
    let (rank, error) = to(5).unwrap_err();
    let words =
        "send from node 0 to node 5, 2 hops away: its operating system passes no messages on";
    assert_eq!(rank, 0);
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn what_a_network_cannot_have_is_refused() {
    let refused = |lines: &str| {
        let head = "name = \"x\"\ntitle = \"x\"\n";
        let source =
            "[[source]]\nof = [\"endpoint\", \"network\"]\nkind = \"assumed\"\nfrom = \"a test\"\n";
        let text = format!("{head}[endpoint]\nsend_us = 1\n{lines}\nlink_mb_per_s = 1\n{source}");
        crate::machine::parse("m.toml", &text).unwrap_err().to_string()
    };
    let forwards = refused("processor_forwards = true\n[network]\nshape = \"ring\"");
    assert!(
        forwards.contains("`endpoint.processor_forwards` needs a single network"),
        "{forwards}"
    );
    let cut =
        refused("[network]\nshape = \"hypercube\"\nswitching = \"cut-through\"\npacket_us = 1");
    assert!(cut.contains("`network.packet_us` is the time of a whole packet"), "{cut}");
    for field in ["simplex_links", "single_hop"] {
        let ring = refused(&format!("[network]\nshape = \"ring\"\n{field} = true"));
        assert!(ring.contains(&format!("`network.{field}` belongs to links")), "{ring}");
    }
}
