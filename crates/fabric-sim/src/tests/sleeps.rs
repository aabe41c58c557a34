//! Ranks that poll, and yield or sleep instead.

use contract::{Destination, Endpoint, LongWaits, Selector, SimulatedTime, Time, TimeSpan};

use super::machine;
use crate::{Options, SimEndpoint, run_endpoints};

/// A switch. A poll takes 1 us; a message of 100 bytes is 1 us on each of two links, and nothing else takes time.
const SWITCH: &str =
    "[processor]\npolling_us = 1\n[network]\nshape = \"switch\"\nlink_mb_per_s = 100";

fn us(endpoint: &SimEndpoint<'_>) -> u64 {
    endpoint.now().since(Time::ZERO).as_ps() / 1_000_000
}

/// Rank 0 sends late. Rank 1 sleeps for a short time, which runs out, then until the message arrives, and then not at
/// all, as that is the first call since. A second reading of the clock at one moment takes the time of a poll, so what
/// follows it is later by that.
#[test]
fn a_sleep_of_a_rank_that_polls_ends_with_its_time_or_with_an_arrival() {
    let program = |mut endpoint: SimEndpoint<'_>| {
        let at = |us| Time::ZERO + TimeSpan::from_us(us);
        if endpoint.rank() == 0 {
            endpoint.wait_until_time(at(30));
            endpoint.send(Destination { rank: 1, context: 4, tag: 1 }, &[7; 100])?;
            endpoint.wait_until_time(at(3000));
            return Ok(Vec::new());
        }
        let mut slept = Vec::new();
        for longest_us in [10, 1000, 1000, 5] {
            let has_arrived = endpoint.sleep_a_while(TimeSpan::from_us(longest_us))?;
            slept.push((has_arrived, us(&endpoint)));
        }
        // The end that the sleep would have had without the message ends no other sleep.
        slept.push((endpoint.sleep_a_while(TimeSpan::from_us(2000))?, us(&endpoint)));
        let from = Selector { context: 4, source: Some(0), tag: Some(1) };
        endpoint.receive(from, &mut [0; 100]).map(|_| slept)
    };
    let slept = run_endpoints(&machine(SWITCH), &Options::new(2), program).unwrap().results;
    let expected = [(false, 10), (false, 32), (true, 33), (false, 38), (false, 2038)];
    assert_eq!(slept[1], expected);
}

/// Ranks 0 and 1 share a processor, rank 2 has one. Rank 0 yields within its time slice, so rank 1 does all its work
/// between the two parts of rank 0's (5 + 8 + 5). Without the yield rank 0 would do both first. Nobody waits for rank
/// 2.
#[test]
fn a_yield_passes_the_processor_to_a_rank_that_is_ready() {
    let shared = SWITCH.replace("[network]", "time_slice_us = 10\n[network]");
    let program = |mut endpoint: SimEndpoint<'_>| {
        let work = TimeSpan::from_us([5, 8, 3][endpoint.rank()]);
        endpoint.occupy(work);
        if endpoint.rank() != 1 {
            endpoint.yield_processor()?;
            endpoint.occupy(work);
        }
        Ok(us(&endpoint))
    };
    let options = Options { ranks_per_processor: Some(2), ..Options::new(3) };
    let ends = run_endpoints(&machine(&shared), &options, program).unwrap().results;
    assert_eq!(ends, [18, 13, 6]);
}

/// Pauses of 5 us every 50 us. Rank 1 polls each microsecond for a message that arrives at 122, two times 1 us after it
/// was sent at 120, and otherwise until 200. It sees every pause of its processor, each as long as if it had polled all
/// the time.
#[test]
fn a_rank_that_skips_idle_polls_sees_what_one_sees_that_polls() {
    let pauses = "[[pause]]\nperiod_us = 50\nlength_us = 5\nprocessors = [1]\n";
    let machine = machine(&format!("{SWITCH}\n{pauses}"));
    let observed = |skips: bool| {
        let program = move |mut endpoint: SimEndpoint<'_>| {
            let at = |us| Time::ZERO + TimeSpan::from_us(us);
            if endpoint.rank() == 0 {
                endpoint.wait_until_time(at(120));
                endpoint.send(Destination { rank: 1, context: 4, tag: 1 }, &[7; 100])?;
                return Ok(Vec::new());
            }
            let from = Selector { context: 4, source: Some(0), tag: Some(1) };
            let (mut seen, mut has_come) = (Vec::new(), false);
            let mut last = endpoint.now();
            while last < at(200) {
                if skips && endpoint.skip_idle_polls(at(200))? {
                    last = endpoint.now();
                    continue;
                }
                if !has_come && endpoint.probe(from, None)?.is_some() {
                    has_come = true;
                    seen.push(("message", us(&endpoint)));
                } else {
                    endpoint.progress(None)?;
                }
                let now = endpoint.now();
                if now.since(last) > TimeSpan::from_us(3) {
                    seen.push(("pause", us(&endpoint)));
                }
                last = now;
            }
            endpoint.receive(from, &mut [0; 100]).map(|_| seen)
        };
        let outcome = run_endpoints(&machine, &Options::new(2), program).unwrap();
        (outcome.results[1].clone(), outcome.counts.events)
    };
    let ((polled, many), (skipped, few)) = (observed(false), observed(true));
    assert!(polled.len() >= 4, "{polled:?}");
    let what =
        |seen: &[(&'static str, u64)]| seen.iter().map(|(what, _)| *what).collect::<Vec<_>>();
    assert_eq!(what(&polled), what(&skipped));
    // A rank that polls sees a message up to two polls after it has come.
    let near = polled.iter().zip(&skipped).all(|(a, b)| a.1.abs_diff(b.1) <= 2);
    assert!(near, "{polled:?} {skipped:?}");
    assert!(5 * few < many, "{few} of {many} events");
}
