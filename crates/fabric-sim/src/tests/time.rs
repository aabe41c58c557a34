//! The virtual time of polls, computations, simplex nodes, buses and posts.

use contract::{Buffer, Progress, Source, TimeSpan, Work, WorkKind};

use super::{TAG, machine, run};
use crate::Level;

#[test]
fn programs_that_poll_get_on() {
    let machine = machine(
        "[processor]\npolling_us = 2\n[endpoint]\nsend_us = 7\nreceive_us = 1\n[network]\nshape = \"switch\"\nlink_mb_per_s = 1000",
    );
    let outcome = run(&machine, 2, |rank| {
        if rank.rank() == 0 {
            rank.send(1, TAG, &[])?;
            return Ok(0);
        }
        let mut polls = 0;
        let mut posted = rank.post_receive(Source::Rank(0), TAG.into(), Buffer::zeroed(8))?;
        loop {
            polls += 1;
            match rank.test(posted)? {
                Progress::Done(_) => break,
                Progress::Pending(same) => posted = same,
            }
        }
        assert_eq!(
            rank.now().as_ps(),
            9_000_000,
            "the fourth poll ends at 8, and receiving takes 1"
        );
        while rank.now().as_ps() < 20_000_000 {}
        Ok(polls)
    });
    // The message arrives at 7 µs; polls end at 2, 4, 6 and 8.
    assert_eq!(outcome.unwrap().results[1], 4);
}

#[test]
fn computing_takes_the_machines_time_and_is_left_out_on_demand() {
    let machine =
        machine("[processor]\nfft_mflops = 50\n[network]\nshape = \"line\"\nlink_mb_per_s = 1");
    for check_results in [true, false] {
        let options = crate::Options { check_results, ..crate::Options::new(1) };
        let outcome = crate::run(&machine, &options, |rank| {
            let mut done = false;
            let work = Work::new(WorkKind::Fft, 2500);
            rank.compute(work, &mut || done = true);
            rank.compute(work.without_result(), &mut || panic!("nobody uses a result"));
            Ok((rank.now(), done))
        });
        // 5000 operations at 50 million a second.
        let (now, done) = outcome.unwrap().results[0];
        assert_eq!((now.as_ps(), done), (100_000_000, check_results));
    }
}

/// Both send 10 kB, which take 100 µs on the link in each direction. Ranks that can do both at once need 100 µs;
/// simplex ones 200, at both levels.
#[test]
fn a_simplex_node_sends_and_takes_in_one_after_the_other() {
    let cases =
        [Level::LogGp, Level::Packets].map(|level| [(level, false, 100), (level, true, 200)]);
    for (level, simplex, us) in cases.into_iter().flatten() {
        let mut machine = machine(&format!(
            "[endpoint]\nsimplex = {simplex}\n[network]\nshape = \"line\"\nlink_mb_per_s = 100\npacket_bytes = 1000"
        ));
        machine.level = level;
        let outcome = run(&machine, 2, |rank| {
            let other = 1 - rank.rank();
            rank.send_receive(
                (other, TAG, &[0; 10_000]),
                (other.into(), TAG.into(), &mut [0; 10_000]),
            )?;
            Ok(rank.now())
        });
        let end = outcome.unwrap().end.since(contract::Time::ZERO);
        assert_eq!(end, TimeSpan::from_us(us));
    }
}

#[test]
fn a_bus_carries_one_packet_at_a_time_and_starts_them_at_its_slots() {
    let machine = machine(
        "[endpoint]\nsend_us = 1\n[network]\nshape = \"bus\"\nlink_mb_per_s = 100\nslot_us = 4\npacket_bytes = 500",
    );
    let options = crate::Options { level: Some(crate::Level::Packets), ..crate::Options::new(3) };
    let outcome = crate::run(&machine, &options, |rank| {
        match rank.rank() {
            2 => (0..2)
                .try_for_each(|_| rank.receive(Source::Any, TAG.into(), &mut [0; 500]).map(drop))?,
            _ => rank.send(2, TAG, &[0; 500])?,
        }
        Ok(rank.now())
    });
    // 500 bytes take 5 µs, so two slots of 4: from 4 to 12 and from 12 to 20.
    assert_eq!(outcome.unwrap().results[2].as_ps(), 20_000_000);
}

/// Two posts of 5 µs before a message of 7 µs. Without `library_posts` the operations inside a barrier cost no posts.
#[test]
fn posting_costs_the_program_but_not_the_steps_of_a_collective() {
    let machine = machine(
        "[endpoint]\npost_us = 5\nsend_us = 7\n[network]\nshape = \"switch\"\nlink_mb_per_s = 1000",
    );
    let times = run(&machine, 2, |rank| {
        let other = 1 - rank.rank();
        let begin = rank.now();
        rank.send_receive((other, TAG, &[]), (Source::Rank(other), TAG.into(), &mut []))?;
        let exchanged = rank.now();
        rank.barrier()?;
        Ok([exchanged.since(begin), rank.now().since(exchanged)])
    });
    assert_eq!(times.unwrap().results[0], [TimeSpan::from_us(17), TimeSpan::from_us(7)]);
}
