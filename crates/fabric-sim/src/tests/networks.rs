//! Several networks in one machine: which one carries a message, and what happens when one fails.

use contract::{Buffer, Error, Rank, Result, Source, Time, TimeSpan};

use super::{TAG, machine, time_of_one};
use crate::machine::{Broken, Fault};
use crate::random::Random;
use crate::{Level, Machine, MessageKind, Options, unloaded};

/// Pairs of nodes on a bus of 100 MB/s, rings of four pairs at 50 MB/s, and a switch of 10 MB/s between all.
const LEVELS: &str = "level = \"packets\"\n[endpoint]\nsend_us = 1\nreceive_us = 1\n\
    [[inner_network]]\nname = \"bus\"\nnodes = 2\nshape = \"bus\"\nlink_mb_per_s = 100\n\
    [[inner_network]]\nname = \"ring\"\nnodes = 8\nnodes_per_port = 2\nshape = \"ring\"\none_way = true\n\
    link_mb_per_s = 50\npacket_bytes = 1000\nnotice_us = 100\nDETOUR\n\
    [network]\nname = \"switch\"\nshape = \"switch\"\nnodes_per_port = 2\nlink_mb_per_s = 10\n\
    packet_bytes = 500\nmessage_us = 20\nDETOUR\nnotice_us = 100\n";

fn levels(detour: &str) -> Machine {
    machine(&LEVELS.replace("DETOUR", detour))
}

fn at(us: u64) -> Time {
    Time::ZERO + TimeSpan::from_us(us)
}

#[test]
fn a_message_takes_the_innermost_network_that_joins_its_ranks() {
    let machine = levels("");
    // Bus: one link. Ring of pairs: 6 is the last pair, three links away. Switch: two links.
    for (to, network, links) in [(1, 0, 1), (2, 1, 1), (7, 1, 3), (8, 2, 2), (15, 2, 2)] {
        let over = machine.over(network);
        let ends = machine.endpoint.send.of(0) + machine.endpoint.receive.of(0);
        for bytes in [0, 1, 1000, 5300] {
            let expected = ends + unloaded::transfer(&over, bytes, links, MessageKind::Data);
            let found = time_of_one(&machine, &Options::new(16), to, bytes as usize);
            assert_eq!(found, expected, "{to}, {bytes} B");
        }
    }
}

/// Sends messages of growing length from rank 0 to rank 2, numbered, and returns the times of their arrival.
fn stream(rank: &mut dyn Rank, messages: u8, bytes: usize) -> Result<Vec<Time>> {
    let mut times = Vec::new();
    match rank.rank() {
        0 => {
            let data = |number: u8| {
                let mut data = Buffer::zeroed(bytes + usize::from(number));
                data.fill(number);
                data
            };
            let posted: Result<Vec<_>> =
                (0..messages).map(|number| rank.post_send(2, TAG, data(number))).collect();
            for one in posted? {
                rank.wait(one)?;
            }
        }
        2 => {
            for number in 0..messages {
                let mut room = vec![255; bytes + usize::from(number)];
                let status = rank.receive(Source::Rank(0), TAG.into(), &mut room)?;
                assert_eq!(status.bytes, room.len(), "message {number} is whole and in order");
                assert!(room.iter().all(|&byte| byte == number), "message {number}");
                times.push(rank.now());
            }
        }
        _ => {}
    }
    Ok(times)
}

fn times_of_stream(machine: &Machine, messages: u8, bytes: usize) -> Vec<Time> {
    let outcome = super::run(machine, 8, move |rank| stream(rank, messages, bytes));
    outcome.unwrap_or_else(|(rank, error)| panic!("rank {rank}: {error}")).results.swap_remove(2)
}

#[test]
fn a_long_queue_sends_the_next_messages_by_the_network_further_out() {
    let last = |detour: &str| *times_of_stream(&levels(detour), 20, 10_000).last().unwrap();
    let names = |detour: &str| {
        let outcome = super::run(&levels(detour), 8, |rank| stream(rank, 20, 10_000)).unwrap();
        outcome.channels.into_iter().map(|channel| channel.name).collect::<Vec<_>>()
    };
    assert_eq!(names(""), ["ring: node 0 to 1"]);
    let both = ["ring: node 0 to 1", "switch: node 0 to switch", "switch: switch to node 1"];
    assert_eq!(names("detour_bytes = 15000"), both);
    // Both together carry 60 MB/s instead of 50, less what the software of the switch takes.
    assert!(last("detour_bytes = 15000") < last(""));
}

#[test]
fn a_broken_link_is_gone_around_and_used_again_when_it_is_mended() {
    let whole = levels("");
    let broken = Broken::Link { network: 1, between: (0, 2) };
    let fault = Fault { at: at(1000), until: Some(at(3000)), broken };
    let hurt = Machine { faults: vec![fault], ..whole.clone() };
    let (before, after) = (times_of_stream(&whole, 40, 10_000), times_of_stream(&hurt, 40, 10_000));
    let until = |times: &[Time], end: u64| times.iter().filter(|&&time| time <= at(end)).count();
    // A message of 10 kB takes 200 us over the ring and 1 ms over the switch.
    assert_eq!(until(&before, 1000), until(&after, 1000));
    assert!(until(&after, 3000) < until(&before, 3000));
    assert!(until(&after, 3000) > until(&after, 1000), "the switch carries some");
    assert_eq!(after.len(), 40);
    // Once repaired, the ring carries messages sent from then on; those queued at the switch are not moved.
    let names = super::run(&hurt, 8, |rank| stream(rank, 40, 10_000)).unwrap().channels;
    assert!(names.iter().any(|channel| channel.name.starts_with("switch")));
}

#[test]
fn random_faults_lose_nothing_and_double_nothing() {
    for seed in 0..60 {
        let mut random = Random::new(seed, 0);
        let mut machine = levels(["", "detour_bytes = 20000"][random.below(2) as usize]);
        if random.below(2) == 0 {
            machine.network.switching = crate::machine::Switching::CutThrough;
            machine.inner_networks[1].network.switching = crate::machine::Switching::CutThrough;
        }
        for _ in 0..1 + random.below(6) {
            let from = random.below(5000);
            let broken = match random.below(4) {
                0 => Broken::Link { network: 1, between: (0, 2) },
                1 => Broken::Port {
                    network: 1 + random.below(2) as usize,
                    node: random.below(8) as usize,
                },
                2 => Broken::Switch { network: random.below(3) as usize },
                _ => Broken::Node(random.below(8) as usize),
            };
            let until = Some(at(from + 1 + random.below(2000)));
            machine.faults.push(Fault { at: at(from), until, broken });
        }
        let outcome = super::run(&machine, 8, |rank| {
            let times = stream(rank, 30, 5000)?;
            // All ranks with all others, over all networks, checked.
            let (mine, mut all) = (vec![rank.rank() as u8; 8 * 3000], vec![0; 8 * 3000]);
            rank.all_to_all(&mine, &mut all)?;
            let right =
                all.chunks(3000).zip(0..).all(|(part, from)| part.iter().all(|&b| b == from));
            assert!(right);
            Ok(times.len())
        });
        let outcome =
            outcome.unwrap_or_else(|(rank, error)| panic!("seed {seed}, rank {rank}: {error}"));
        assert_eq!(outcome.results[2], 30, "seed {seed}");
    }
}

#[test]
fn a_machine_that_is_cut_in_two_names_the_rank_and_the_parts() {
    let mut machine = levels("");
    let forever = |broken| Fault { at: at(100), until: None, broken };
    machine.faults =
        vec![forever(Broken::Switch { network: 1 }), forever(Broken::Port { network: 2, node: 2 })];
    let error = super::run(&machine, 8, |rank| stream(rank, 20, 5000)).map(drop).unwrap_err().1;
    let Error::RankDied { rank: 2, how } = error else { panic!("{error:?}") };
    let words = "nothing leads to it from rank 0 at 200 us; broken is ring: node 0 to 1, switch: switch to node 1";
    assert_eq!(how, words);
    machine.faults = vec![forever(Broken::Node(3))];
    let error = super::run(&machine, 8, |rank| rank.barrier()).map(drop);
    assert_eq!(error, Ok(()), "the run has ended before node 3 breaks");
    let error = super::run(&machine, 8, |rank| stream(rank, 20, 5000).and_then(|_| rank.barrier()));
    let how = "its node 3 broke at 100 us".to_string();
    assert_eq!(error.map(drop), Err((3, Error::RankDied { rank: 3, how })));
}

#[test]
fn faults_outside_of_the_machine_and_other_levels_are_refused() {
    let refused = |machine: &Machine, options: &Options| {
        crate::run(machine, options, |_| Ok(())).map(drop).unwrap_err().1.to_string()
    };
    let mut machine = levels("");
    let options = Options { level: Some(Level::LogGp), ..Options::new(8) };
    assert!(refused(&machine, &options).contains("several networks"));
    for (broken, words) in [
        (Broken::Node(8), "names node 8, but these ranks are on nodes 0 to 7: it needs 9 nodes"),
        (
            Broken::Link { network: 1, between: (0, 4) },
            "fault 1 of the machine names a link between nodes 0 and 4, which `ring` does not have",
        ),
    ] {
        machine.faults = vec![Fault { at: at(1), until: None, broken }];
        let refusal = refused(&machine, &Options::new(8));
        assert!(refusal.ends_with(words), "{refusal}");
    }
}

#[test]
fn files_name_what_breaks_and_mistakes_in_them() {
    let mut machine = levels("");
    let mut read = |lines: &str| {
        let text = format!("[[fault]]\nat_us = 5\nnode = 1\n\n[[fault]]\n{lines}\n");
        crate::machine::add_faults("f.toml", &text, &mut machine)?;
        Ok(machine.faults[1].clone())
    };
    let error_of = |found: std::result::Result<Fault, definition_files::FileError>| {
        found.unwrap_err().to_string()
    };
    let link = read("network = \"ring\"\nlink = [0, 2]\nat_us = 1.5\nuntil_us = 9");
    let broken = Broken::Link { network: 1, between: (0, 2) };
    let begin = Time::ZERO + TimeSpan::from_ns(1500);
    assert_eq!(link, Ok(Fault { at: begin, until: Some(at(9)), broken }));
    for (lines, expected) in [
        ("at_us = 1", "f.toml, line 1: `fault` needs one of `link = [A, B]`, `port = NODE`"),
        (
            "at_us = 1\nport = 2",
            "f.toml, line 5: `fault.network` must be one of `bus`, `ring`, `switch`",
        ),
        (
            "at_us = 1\nport = 2\nnetwork = \"rign\"",
            "f.toml, line 8: `fault.network` is `rign`; there are `bus`, `ring`, `switch`",
        ),
        (
            "at_us = 4\nuntil_us = 4\nnode = 2",
            "f.toml, line 7: `fault.until_us` is not after `at_us`",
        ),
        (
            "at_us = 4\nnode = 2\nnetwork = \"bus\"",
            "f.toml, line 8: `fault.network` does not belong",
        ),
        ("att_us = 4", "f.toml, line 6: unknown field `att_us` (is it `at_us`?)"),
    ] {
        let found = error_of(read(lines));
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn networks_that_cannot_be_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = LEVELS.replace("DETOUR", "").replace(from, to);
        let text = format!(
            "name = \"x\"\ntitle = \"x\"\n{text}[[source]]\nof = [\"network\", \"inner_network\", \"endpoint\"]\n\
             kind = \"assumed\"\nfrom = \"a test\"\n"
        );
        crate::machine::parse("m.toml", &text).unwrap_err().to_string()
    };
    for (from, to, expected) in [
        ("level = \"packets\"", "", "`level` must be \"packets\": only this level"),
        (
            "nodes = 8",
            "nodes = 7",
            "`inner_network.nodes` must say how many nodes a group of it has",
        ),
        (
            "name = \"ring\"",
            "name = \"bus\"",
            "`inner_network.name` must be given, and be that of no other",
        ),
        (
            "nodes = 2\n",
            "nodes = 2\nnodes_per_port = 2\n",
            "`inner_network.nodes_per_port` is 2, and no",
        ),
        (
            "name = \"switch\"",
            "name = \"switch\"\nnodes = 4",
            "`network.nodes` belongs to an [[inner_network]]",
        ),
    ] {
        let found = refused(from, to);
        assert!(found.contains(expected), "{found}");
    }
}
