//! Ranks on rings of SCI, with expected times derived by hand.

use contract::{
    Element, Error, Operation, Rank, RankWindow, Reduction, Result, Source, Time, TimeSpan,
};

use super::{TAG, machine, time_of_one};
use crate::machine::{add_faults, find, parse};
use crate::{Level, Machine, Options};

/// Returns a ring. A symbol takes 16 ns. From a node to the next a head takes 16 ns on the link and 32 ns in the
/// stripper, and 16 ns more if it continues. The host interface takes 100 ns, the responder 200 ns. Processors take no
/// time but 250 ns for a poll.
fn ring(nodes: usize) -> Machine {
    rings(&format!("shape = \"ring:{nodes}\""))
}

pub(super) fn rings(lines: &str) -> Machine {
    machine(&format!("[processor]\npolling_us = 0.25\n[sci]\n{lines}\n"))
}

/// Returns the reason why a machine file with these lines is refused. Its numbers of these sections have a source.
pub(super) fn error_of(lines: &str, sections: &[&str]) -> String {
    let text = format!(
        "name = \"x\"\ntitle = \"x\"\n{lines}\n[[source]]\nof = {sections:?}\nkind = \"assumed\"\nfrom = \"a test\"\n"
    );
    parse("m.toml", &text).unwrap_err().to_string()
}

const HEAD_NS: u64 = 16 + 32;
const HOP_NS: u64 = HEAD_NS + 16;
const SYMBOL_NS: u64 = 16;
const SERVED_NS: u64 = 100 + 200;

fn message_ns(machine: &Machine, to: usize, bytes: usize) -> u64 {
    let ranks = machine.ranks_max.unwrap();
    time_of_one(machine, &Options::new(ranks), to, bytes).as_ps() / 1000
}

/// 8 symbols of header, and 32 of data.
#[test]
fn a_message_of_64_bytes_takes_its_hops_and_its_symbols() {
    let packet = HEAD_NS + 40 * SYMBOL_NS + SERVED_NS;
    assert_eq!(message_ns(&ring(8), 1, 64), packet);
    assert_eq!(message_ns(&ring(8), 2, 64), packet + HOP_NS);
    assert_eq!(message_ns(&ring(8), 7, 64), packet + 6 * HOP_NS);
    // At 8 Gbit/s a symbol takes 2 ns.
    let fast = rings("shape = \"ring:8\"\nlink_gbit_per_s = 8");
    assert_eq!(message_ns(&fast, 1, 64), HEAD_NS + 40 * 2 + SERVED_NS);
}

/// Each packet follows the one before after its 40 symbols and an idle one. The target serves the third while the short
/// one of 8 bytes arrives, and then that one.
#[test]
fn a_longer_message_is_a_row_of_packets() {
    let took = message_ns(&ring(8), 1, 200);
    assert_eq!(took, HEAD_NS + (2 * 41 + 40) * SYMBOL_NS + 2 * SERVED_NS);
    // The fifth packet needs the place of the first, whose echo of 4 symbols has 8 links to pass from node 1 to node 0:
    // the last 7 of them as a head. That is before the fourth has left.
    let echo = HEAD_NS + 7 * HOP_NS;
    assert!(echo < 4 * 41 * SYMBOL_NS);
    assert_eq!(message_ns(&ring(8), 1, 320), HEAD_NS + (4 * 41 + 40) * SYMBOL_NS + SERVED_NS);
}

/// RTS and CTS are moves of 16 bytes: 16 symbols. The CTS passes the other 7 links of the ring.
#[test]
fn a_rendezvous_goes_around_the_ring() {
    let eager = ring(8);
    let mut long = eager.clone();
    long.protocol.eager_bytes = 63;
    let control = 2 * (HEAD_NS + 16 * SYMBOL_NS + SERVED_NS) + 6 * HOP_NS;
    assert_eq!(message_ns(&long, 1, 64), control + message_ns(&eager, 1, 64));
}

/// Opens a window, lets rank 0 access the window of another rank at a moment, and returns the time that it took in ns.
fn access_ns(
    machine: &Machine,
    operation: impl Fn(&mut RankWindow, &mut dyn Rank) -> Result<()> + 'static,
) -> u64 {
    let ranks = machine.ranks_max.unwrap();
    let outcome = super::run(machine, ranks, move |rank| {
        let mut window = rank.open_window(4096)?;
        window.fence(rank)?;
        let begin = Time::ZERO + TimeSpan::from_us(1_000_000);
        rank.wait_until(begin);
        if rank.rank() == 0 {
            operation(&mut window, rank)?;
        }
        let took = rank.now().since(begin);
        // The target is in no call meanwhile.
        rank.wait_until(begin + TimeSpan::from_us(1000));
        rank.close_window(window)?;
        Ok(took)
    });
    outcome.unwrap().results[0].as_ps() / 1000
}

/// From node 0 to node 2 are 2 links, back 6. A poll of 250 ns detects the end.
#[test]
fn accesses_are_transactions() {
    let there = |symbols: u64| HEAD_NS + HOP_NS + symbols * SYMBOL_NS + SERVED_NS;
    let back = |symbols: u64| HEAD_NS + 5 * HOP_NS + symbols * SYMBOL_NS + 100;
    let put = access_ns(&ring(8), |window, rank| {
        window.put(rank, 2, 0, &[7; 64])?;
        window.flush(rank, Some(2))
    });
    assert_eq!(put, there(8 + 32) + back(8) + 250);
    let get = access_ns(&ring(8), |window, rank| window.get(rank, 2, 0, &mut [0; 64]));
    assert_eq!(get, there(8) + back(8 + 32) + 250);
    let swap = access_ns(&ring(8), |window, rank| {
        window.compare_and_swap(rank, (2, 8), 0, 9).map(|found| assert_eq!(found, 0))
    });
    assert_eq!(swap, there(8 + 8) + back(8 + 8) + 250);
    // Requests of 8 symbols and an idle one come faster than responses of 40 leave. The echo of the fourth comes when
    // the first response has just begun, and leaves before the second.
    let (fourth_at, first_at) = (2 * HOP_NS + 3 * 9 * SYMBOL_NS, there(8));
    assert!(fourth_at > first_at && fourth_at - 9 * SYMBOL_NS < first_at);
    let four = access_ns(&ring(8), |window, rank| window.get(rank, 2, 0, &mut [0; 256]));
    assert_eq!(four, there(8) + (3 * 41 + 5) * SYMBOL_NS + back(8 + 32) + 250);
}

#[test]
fn costs_of_the_processor_come_before_and_after() {
    let costs = "[windows]\nput_us = 3\ndone_us = 2\n";
    let costly =
        machine(&format!("[processor]\npolling_us = 0.25\n[sci]\nshape = \"ring:8\"\n{costs}"));
    let put = |machine: &Machine| {
        access_ns(machine, |window, rank| {
            window.put(rank, 2, 0, &[7; 64])?;
            window.flush(rank, Some(2))
        })
    };
    assert_eq!(put(&costly), put(&ring(8)) + 5000);
}

const STREAM_MESSAGES: usize = 30;
const STREAM_BYTES: usize = 4096;

/// Returns the time until all ranks have sent messages to the node `ahead` of them.
fn time_of_streams(ahead: usize) -> TimeSpan {
    let outcome = super::run(&ring(8), 8, move |rank| {
        let (me, size) = (rank.rank(), rank.size());
        let mut data = vec![0; STREAM_BYTES];
        for _ in 0..STREAM_MESSAGES {
            rank.send((me + ahead) % size, TAG, &[1; STREAM_BYTES])?;
        }
        for _ in 0..STREAM_MESSAGES {
            rank.receive(Source::Rank((me + size - ahead) % size), TAG.into(), &mut data)?;
        }
        Ok(())
    });
    outcome.unwrap().end.since(Time::ZERO)
}

/// The bounds of docs/simulation/sci.md: a packet of each node takes 41 symbols of the links that it passes, and its
/// echo 5 of the others. Only the echoes of the last packets, at most 4 for each queue, may come after the end.
#[test]
fn streams_share_the_links() {
    let packets = (STREAM_MESSAGES * STREAM_BYTES / 64) as u64;
    for (ahead, symbols) in [(1, 41 + 5 * 7), (7, 41 * 7 + 5)] {
        let least = TimeSpan::from_ns((packets - 4) * symbols * SYMBOL_NS);
        let took = time_of_streams(ahead);
        assert!(took >= least, "{ahead} ahead: {took:?}; links take {least:?}");
        assert!(
            took.as_ps() * 4 <= least.as_ps() * 5,
            "{ahead} ahead: {took:?}; links take {least:?}"
        );
    }
}

/// All send to node 0, whose queue has one place: packets are refused and arrive later than the next ones.
#[test]
fn refused_packets_keep_messages_in_order() {
    for retry in ["again", "directed"] {
        let machine = rings(&format!("shape = \"ring:6\"\nqueue_packets = 1\nretry = \"{retry}\""));
        let outcome = super::run(&machine, 6, |rank| {
            for number in 0..40_u8 {
                if rank.rank() > 0 {
                    rank.send(0, TAG, &vec![number; 1 + 9 * usize::from(number)])?;
                }
            }
            for turn in 0..if rank.rank() == 0 { 200 } else { 0 } {
                let (mut data, number) = (vec![0; 400], turn / 5);
                rank.receive(Source::Rank(1 + turn % 5), TAG.into(), &mut data)?;
                assert_eq!(data[..=9 * number], vec![number as u8; 1 + 9 * number]);
            }
            Ok(())
        });
        outcome.unwrap();
    }
}

fn counting(machine: &Machine) -> (u64, Time, Vec<u64>) {
    const WORD: Reduction = Reduction::new(Element::U64, Operation::Sum);
    let outcome = super::run(machine, 8, |rank| {
        let mut window = rank.open_window(8)?;
        for round in 0..20 {
            let target = (rank.rank() + round) % rank.size();
            window.accumulate(rank, (target, 0), WORD, &1_u64.to_ne_bytes(), None)?;
            rank.barrier()?;
        }
        window.fence(rank)?;
        let (mut found, me) = ([0; 8], rank.rank());
        window.get(rank, me, 0, &mut found)?;
        rank.close_window(window)?;
        Ok(u64::from_ne_bytes(found))
    });
    let outcome = outcome.unwrap();
    (outcome.event_hash, outcome.end, outcome.results)
}

#[test]
fn the_same_program_has_the_same_events_and_other_rings_have_others() {
    let machine = rings("shape = \"ring:8\"\nqueue_packets = 1");
    let found = counting(&machine);
    // Rank r is the target of rank q in the rounds that are r - q modulo 8: 20 = 2 * 8 + 4.
    assert_eq!(found.2.iter().sum::<u64>(), 8 * 20);
    assert_eq!(counting(&machine), found);
    assert_ne!(counting(&rings("shape = \"bridge:4+4\"")).0, found.0);
}

/// The train circulates for ever, also while no node has anything to send.
#[test]
fn a_deadlock_is_found_while_a_train_goes_around() {
    let machine = rings("shape = \"ring:4\"\naccess = \"train\"");
    let outcome = super::run(&machine, 4, |rank| {
        rank.barrier()?;
        rank.receive(Source::Rank(rank.rank() ^ 1), TAG.into(), &mut []).map(drop)
    });
    let (_, error) = outcome.map(drop).unwrap_err();
    let Error::Deadlock { explanation } = error else { panic!("{error:?}") };
    assert!(explanation.starts_with("rank 0 waits to receive"), "{explanation}");
    assert!(!explanation.contains("stuck"), "{explanation}");
}

#[test]
fn faster_links_and_other_shapes_are_of_the_same_links() {
    let ring = ring(8);
    let faster = ring.scaled(1.0, 2.0);
    // The time on the link stays.
    let packet = 16 + 16 + 40 * 8 + 150;
    assert_eq!(message_ns(&faster, 1, 64), packet);
    assert_eq!(message_ns(&ring.nearer(2.0), 1, 64), 8 + 32 + 40 * SYMBOL_NS + SERVED_NS);
    let line = ring.shaped(&"line".parse().unwrap());
    assert_eq!((line.sci.is_none(), line.network.byte_time.rate_per_us()), (true, 125.0));
}

#[test]
fn what_rings_cannot_have_is_named_with_its_place() {
    let wrong = |lines: &str| error_of(lines, &["sci", "endpoint", "network", "windows"]);
    let shape = "[sci]\nshape = \"ring:8\"\n";
    assert_eq!(
        wrong("[sci]\nshape = \"star:8\""),
        "m.toml, line 4: `sci.shape` is `star:8`: write a shape such as ring:8, bridge:4+4, inner-ring:4x8 or multi-service:4x8"
    );
    assert_eq!(
        wrong("[sci]\nshape = \"ring:0\""),
        "m.toml, line 4: `sci.shape` is `ring:0`: a ring has no node"
    );
    assert_eq!(
        wrong(&format!("{shape}link_gbit_per_s = 0")),
        "m.toml, line 5: `sci.link_gbit_per_s` is 0; a rate must be above it"
    );
    assert!(wrong(&format!("{shape}link_gbit_per_s = 0.1")).starts_with(
        "m.toml, line 3: `sci` cannot be simulated: transmission, stripping and bypass delay together are below"
    ));
    assert!(
        wrong(&format!("{shape}queue_packets = 0"))
            .starts_with("m.toml, line 5: `sci.queue_packets` is 0")
    );
    assert!(
        wrong(&format!("{shape}retry = \"never\""))
            .contains("line 5: `retry`: unknown variant `never`")
    );
    assert!(
        wrong(&format!("{shape}seats = 3")).starts_with("m.toml, line 5: `sci.seats` belongs to")
    );
    assert!(wrong(&format!("{shape}link_rate = 3")).contains("unknown field `link_rate`"));
    assert!(
        wrong(&format!("level = \"loggp\"\n{shape}"))
            .starts_with("m.toml, line 3: `level` must be \"packets\"")
    );
    assert!(
        wrong(&format!("ranks_max = 9\n{shape}"))
            .starts_with("m.toml, line 3: `ranks_max` is 9; the rings of [sci] have 8")
    );
    assert!(
        wrong(&format!("[network]\nshape = \"switch\"\nlink_mb_per_s = 1\n{shape}"))
            .starts_with("m.toml, line 3: `network` stands beside [sci]")
    );
    assert!(
        wrong(&format!("[endpoint]\ngap_us = 1\n{shape}"))
            .starts_with("m.toml, line 4: `endpoint.gap_us` belongs to other networks")
    );
    assert!(
        wrong(&format!("{shape}[windows]\nrequest_bytes = 16"))
            .starts_with("m.toml, line 6: `windows.request_bytes` belongs to other networks")
    );
}

#[test]
fn runs_that_rings_cannot_have_are_refused() {
    let refused = |options: &Options| {
        crate::run(&ring(8), options, |_| Ok(())).map(drop).unwrap_err().1.to_string()
    };
    assert_eq!(refused(&Options::new(9)), "sim:test cannot have 9 ranks: it has at most 8");
    let by_loggp = Options { level: Some(Level::LogGp), ..Options::new(2) };
    assert!(refused(&by_loggp).contains("be simulated at level loggp: rings of SCI"));
    let mut broken = find("sci-ring").unwrap();
    let faults = add_faults("f.toml", "[[fault]]\nat_us = 1\nnode = 2\n", &mut broken);
    assert_eq!(
        faults.unwrap_err().to_string(),
        "f.toml, line 1: `fault` is for other machines: nothing breaks in the rings of `sci-ring`"
    );
}
