//! Accesses to memory of other ranks by the network, with expected times derived by hand.

use contract::{Element, Error, Operation, Rank, RankWindow, Reduction, Result, Time, TimeSpan};

use super::machine;
use crate::machine::{Broken, Fault, find};
use crate::{Level, Machine};

/// Two links of 100 MB/s from rank to rank, each with 1 us of delay; each link carries whole messages. Messages cost so
/// much that an access made by a message would be noticed.
const BY_NETWORK: &str = "[processor]\npolling_us = 0.25\n[endpoint]\nsend_us = 1000\nreceive_us = 1000\nsetup_us = 1000\n\
    [network]\nshape = \"switch\"\nlink_mb_per_s = 100\nlatency_us = 1\n\
    [windows]\nput_us = 1\nput_ns_per_byte = 1\nget_us = 2\nupdate_us = 3\ntarget_us = 4\ntarget_ns_per_byte = 2\n\
    target_update_us = 5\ndone_us = 0.5\nsee_us = 0.125\nrequest_bytes = 100\nanswer_bytes = 10\n";
const WORD: Reduction = Reduction::new(Element::U64, Operation::Sum);

fn by_network(level: Level) -> Machine {
    Machine { level, ..machine(BY_NETWORK) }
}

/// Opens a window, lets every rank but the last begin `deed` at the same moment and returns the times that it took. The
/// last rank is in no call meanwhile.
fn times(
    machine: &Machine,
    ranks: usize,
    operation: impl Fn(&mut RankWindow, &mut dyn Rank) -> Result<()> + 'static,
) -> Vec<TimeSpan> {
    let outcome = super::run(machine, ranks, move |rank| {
        let mut window = rank.open_window(4096)?;
        window.fence(rank)?;
        let begin = Time::ZERO + TimeSpan::from_us(1_000_000);
        rank.wait_until(begin);
        if rank.rank() + 1 < rank.size() {
            operation(&mut window, rank)?;
        }
        let took = rank.now().since(begin);
        if rank.rank() + 1 == rank.size() {
            rank.wait_until(begin + TimeSpan::from_us(10_000));
        }
        rank.close_window(window)?;
        Ok(took)
    });
    outcome.unwrap().results
}

/// Returns a time from thousandths of a us. Links carry n bytes in n / 100 us each, and 1 us more. A poll of 0.25 us
/// after 0.5 us detects the end.
fn ns(us_by_1000: u64) -> TimeSpan {
    TimeSpan::from_ns(us_by_1000)
}

#[test]
fn an_access_takes_its_parts_and_not_the_targets_processor() {
    for level in [Level::LogGp, Level::Packets] {
        let machine = by_network(level);
        // 1 + 1 to start; 1100 bytes over two links; 4 + 2 at the adapter; 10 bytes back; the end.
        let put = times(&machine, 2, |window, rank| {
            window.put(rank, 1, 0, &[7; 1000])?;
            window.flush(rank, Some(1))
        });
        assert_eq!(put[0], ns(2_000 + 2 * 12_000 + 6_000 + 2 * 1_100 + 750));
        // 2 to start; 100 bytes there; 6 at the adapter; 1010 bytes back.
        let get = times(&machine, 2, |window, rank| window.get(rank, 1, 0, &mut [0; 1000]));
        assert_eq!(get[0], ns(2_000 + 2 * 2_000 + 6_000 + 2 * 11_100 + 750));
        // 3 to start; two words there, one back; 5 at the adapter.
        let swap = times(&machine, 2, |window, rank| {
            let found = window.compare_and_swap(rank, (1, 8), 0, 9)?;
            assert_eq!(found, 0);
            Ok(())
        });
        assert_eq!(swap[0], ns(3_000 + 2 * 2_160 + 5_000 + 2 * 1_180 + 750));
    }
}

/// Both put 1000 bytes at once. The second's 11 us on the target's link follow those of the first, and the adapter's 6
/// us fit between.
#[test]
fn puts_meet_on_the_links_of_their_target() {
    let mut took = times(&by_network(Level::Packets), 3, |window, rank| {
        window.put(rank, 2, 0, &[7; 1000])?;
        window.flush(rank, Some(2))
    });
    let alone = 2_000 + 2 * 12_000 + 6_000 + 2 * 1_100 + 750;
    // The arbiter chooses which is first.
    took.sort_unstable();
    assert_eq!(took[1..], [ns(alone), ns(alone + 11_000)]);
}

/// Requests of 108 bytes arrive 1.08 us after each other, and the adapter takes 5 us for each update. Answers do not
/// meet. The clock is read twice, which takes one poll more.
#[test]
fn updates_are_served_by_the_target_one_after_the_other() {
    let mut took = times(&by_network(Level::Packets), 4, |window, rank| {
        let (place, mut found) = ((3, 0), [0; 8]);
        window.accumulate(rank, place, WORD, &1_u64.to_ne_bytes(), Some(&mut found))?;
        let us = rank.now().as_ps() / 1_000_000 - 1_000_000;
        // Alone it takes between 15 and 16 us, and 5 us more for each before it.
        assert_eq!(u64::from_ne_bytes(found), (us - 15) / 5, "in the order of their coming");
        Ok(())
    });
    let alone = 3_000 + 2 * 2_080 + 5_000 + 2 * 1_180 + 750 + 250;
    took.sort_unstable();
    assert_eq!(took[1..], [ns(alone), ns(alone + 5_000), ns(alone + 10_000)]);
}

/// A rank that waits for a notice sees it 0.125 us and a poll after the adapter's 5 us.
#[test]
fn a_notice_wakes_whoever_waits_for_it() {
    let took = super::run(&by_network(Level::LogGp), 2, |rank| {
        let mut window = rank.open_window(8)?;
        let begin = Time::ZERO + TimeSpan::from_us(1_000_000);
        rank.wait_until(begin);
        match rank.rank() {
            0 => window.notify(rank, 1, 3)?,
            _ => window.await_notice(rank, 3, 1)?,
        }
        let took = rank.now().since(begin);
        rank.close_window(window)?;
        Ok(took)
    });
    assert_eq!(took.unwrap().results[1], ns(3_000 + 2 * 2_000 + 5_000 + 125 + 250));
}

#[test]
fn loads_and_stores_take_the_origin_alone() {
    let machine = machine(
        "[processor]\npolling_us = 0.25\n[network]\nshape = \"switch\"\nlink_mb_per_s = 1\nlatency_us = 50\n\
         [windows]\npath = \"processor\"\nput_us = 1\nput_ns_per_byte = 1\nget_us = 2\nupdate_us = 3\n",
    );
    let took = times(&machine, 2, |window, rank| {
        window.put(rank, 1, 0, &[7; 1000])?;
        window.flush(rank, Some(1))?;
        let mut found = [0; 1000];
        window.get(rank, 1, 0, &mut found)?;
        assert_eq!(found, [7; 1000]);
        window.compare_and_swap(rank, (1, 1000), 0, 5).map(drop)
    });
    assert_eq!(took[0], ns(2_000 + 2_000 + 3_000));
}

/// All ranks increment a word of every rank while ports fail: each update happens once.
#[test]
fn what_breaks_loses_no_access_and_does_none_twice() {
    const ROUNDS: u64 = 50;
    let mut machine = find("scale-cluster").unwrap();
    assert!(machine.windows.is_some());
    machine.faults = [(300, 0), (700, 2), (1900, 6)]
        .map(|(us, node)| Fault {
            at: Time::ZERO + TimeSpan::from_us(us),
            until: Some(Time::ZERO + TimeSpan::from_us(us + 400)),
            broken: Broken::Port { network: 1, node },
        })
        .into();
    let sums = super::run(&machine, 8, |rank| {
        let mut window = rank.open_window(8)?;
        window.fence(rank)?;
        for round in 0..ROUNDS {
            let target = (rank.rank() + round as usize) % rank.size();
            window.accumulate(rank, (target, 0), WORD, &1_u64.to_ne_bytes(), None)?;
        }
        window.fence(rank)?;
        let (mut found, me) = ([0; 8], rank.rank());
        window.get(rank, me, 0, &mut found)?;
        let end = rank.now();
        rank.close_window(window)?;
        Ok((u64::from_ne_bytes(found), end))
    });
    let sums = sums.unwrap().results;
    assert_eq!(sums.iter().map(|sum| sum.0).sum::<u64>(), 8 * ROUNDS);
    // Rank r is the target of rank q in the rounds that are r - q modulo 8: 50 = 6 * 8 + 2.
    assert!(sums.iter().all(|sum| sum.0 == ROUNDS), "{sums:?}");
}

#[test]
fn a_lock_that_is_never_given_back_is_a_deadlock_by_name() {
    let failed = super::run(&by_network(Level::LogGp), 2, |rank| {
        let mut window = rank.open_window(8)?;
        window.lock(rank, 0, true)?;
        rank.barrier()?;
        rank.close_window(window)
    });
    let (_, error) = failed.map(drop).unwrap_err();
    let Error::Deadlock { explanation } = error else { panic!("{error:?}") };
    assert!(explanation.contains("rank 1 waits to receive"), "{explanation}");
}

#[test]
fn mistakes_in_the_section_are_named() {
    let wrong = |lines: &str| {
        let text = format!(
            "name = \"x\"\ntitle = \"x\"\n[network]\nshape = \"switch\"\nlink_mb_per_s = 1\n[windows]\n{lines}\n[[source]]\n\
             of = [\"network\", \"windows\"]\nkind = \"assumed\"\nfrom = \"a test\"\n"
        );
        crate::machine::parse("m.toml", &text).unwrap_err().to_string()
    };
    assert_eq!(
        wrong("put_us = -1"),
        "m.toml, line 7: `windows.put_us` is -1; it must be a number from 0 up to 10^12"
    );
    assert!(wrong("puts_us = 1").contains("unknown field `puts_us` (is it `put_us`?)"));
    assert!(
        wrong("path = \"processor\"\ntarget_us = 1")
            .starts_with("m.toml, line 8: `windows.target_us` belongs to the path \"network\"")
    );
}
