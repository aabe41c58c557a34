//! The critical path of a run, which is as long as the run.

use contract::{Reduction, SimulatedTime, TimeSpan};

use super::boards::BOARDS;
use super::machine;
use crate::machine::find;
use crate::{CriticalPath, Level, Machine, Options, SimEndpoint};
use contract::{Destination, Endpoint, Process, Rank, Readable, Result, Selector, Writable};

fn us(us: u64) -> TimeSpan {
    TimeSpan::from_us(us)
}

/// Returns the path of a run, which must be as long as the run, and must not change its events.
fn path_of(
    machine: &Machine,
    options: &Options,
    program: impl Fn(SimEndpoint<'_>) -> Result<()> + Clone + 'static,
) -> CriticalPath {
    let plain = crate::run_endpoints(machine, options, program.clone()).unwrap();
    let wanted = Options { critical_path: true, ..options.clone() };
    let outcome = crate::run_endpoints(machine, &wanted, program).unwrap();
    assert_eq!(plain.critical_path, None);
    assert_eq!((plain.event_hash, plain.end), (outcome.event_hash, outcome.end));
    let path = outcome.critical_path.unwrap();
    assert_eq!(path.length(), outcome.end.since(contract::Time::ZERO), "{path:?}");
    path
}

/// A send and a receive take 1 us and 2 us, a byte 10 ns on each link, and the latency of the two links is 50 us.
const SIMPLE: &str = "[endpoint]\nsend_us = 1\nreceive_us = 2\n[protocol]\neager_bytes = 4096\n\
    [network]\nshape = \"switch\"\nlink_mb_per_s = 100\nlatency_us = 25";

const TAG: u32 = 3;

fn send(endpoint: &mut SimEndpoint<'_>, to: usize, bytes: usize) -> Result<()> {
    endpoint.send(Destination { rank: to, context: 2, tag: TAG }, &vec![0; bytes])
}

fn receive(endpoint: &mut SimEndpoint<'_>, from: u32, bytes: usize) -> Result<()> {
    let selector = Selector { context: 2, source: Some(from), tag: Some(TAG) };
    endpoint.receive(selector, &mut vec![0; bytes]).map(drop)
}

/// Rank 1 computes for 100 us and sends (1 us); its 500 bytes pass two links, each 25 us and 5 us; rank 0 receives them
/// in 2 us, and computes for 7 us. Its earlier work overlapped with that.
#[test]
fn the_path_goes_over_to_the_rank_that_is_waited_for() {
    let path = path_of(&machine(SIMPLE), &Options::new(2), |mut endpoint| {
        if endpoint.number() == 1 {
            endpoint.occupy(us(100));
            return send(&mut endpoint, 0, 500);
        }
        endpoint.occupy(us(90));
        receive(&mut endpoint, 1, 500)?;
        endpoint.occupy(us(7));
        Ok(())
    });
    let (computing, library, moving) = (us(107), us(3), us(60));
    let sleeping = TimeSpan::ZERO;
    assert_eq!(path, CriticalPath { rank: 0, computing, library, moving, sleeping, changes: 1 });
}

/// The receiver sleeps for 300 us before it posts the receive that a long message waits for. So the path begins there,
/// passes to the sender with the CTS and returns with the data. The number of changes is 0, because only the receiver
/// is ever woken.
#[test]
fn a_rendezvous_depends_on_who_comes_last() {
    let path = path_of(&machine(SIMPLE), &Options::new(2), |mut endpoint| {
        if endpoint.number() == 1 {
            return send(&mut endpoint, 0, 10_000);
        }
        let until = contract::Time::ZERO + us(300);
        endpoint.wait_until_time(until);
        receive(&mut endpoint, 1, 10_000)
    });
    assert_eq!((path.rank, path.sleeping, path.changes), (0, us(300), 0), "{path:?}");
    // Two links of 100 us and 25 us for the data, and as long as the CTS takes.
    assert!(path.moving >= us(250) && path.library >= us(2), "{path:?}");
}

/// Random programs of messages and collectives: none of their time is lost or counted twice.
#[test]
fn the_path_is_as_long_as_the_run_on_machines_of_all_kinds() {
    let seeds = [1_u64, 2, 3];
    let machines = ["cluster", "fat-tree", "paragon-osf1", "sharc-ring"];
    let all = machines.map(|name| find(name).unwrap()).into_iter().chain([machine(BOARDS)]);
    for one in all {
        for (seed, sharing) in seeds.into_iter().flat_map(|seed| [(seed, 1), (seed, 2)]) {
            let mut options = Options { ranks_per_processor: Some(sharing), ..Options::new(5) };
            options.level = Some(Level::Packets);
            let path = path_of(&one, &options, move |endpoint| random(endpoint, seed));
            assert!(path.changes > 0 && path.moving > us(0), "{} {seed} {path:?}", one.name);
        }
    }
}

fn random(endpoint: SimEndpoint<'_>, seed: u64) -> Result<()> {
    let (me, size) = (endpoint.number(), endpoint.ranks());
    let mut process = Process::new(endpoint);
    let mut state = seed;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..40 {
        let (kind, distance) = (draw(5), 1 + draw(size as u64 - 1) as usize);
        let (bytes, span) = (draw(20_000) as usize, draw(100));
        let (to, from) = ((me + distance) % size, ((me + size - distance) % size) as u32);
        process.endpoint_mut().occupy(us(span * (me as u64 + 1)));
        match kind {
            0 => process.world().barrier()?,
            1 => process.world().allreduce(Reduction::SUM_F64, &[0; 64], &mut [0; 64])?,
            2 => process.world().broadcast(distance, &mut vec![0; bytes])?,
            3 => {
                let (data, mut room) = (vec![0; bytes], vec![0; bytes]);
                let selector = Selector { context: 2, source: Some(from), tag: Some(TAG) };
                process.endpoint_mut().exchange(
                    (Destination { rank: to, context: 2, tag: TAG }, &data),
                    (selector, &mut room),
                )?;
            }
            _ => {
                let (data, mut room) = (vec![0; bytes], vec![0; bytes]);
                // SAFETY: both are waited for below.
                #[allow(unsafe_code)]
                let (readable, writable) = unsafe {
                    let readable = Readable::new(data.as_ptr(), bytes);
                    (readable, Writable::new(room.as_mut_ptr(), bytes))
                };
                let endpoint = process.endpoint_mut();
                let selector = Selector { context: 2, source: Some(from), tag: Some(TAG) };
                let local = contract::Completion::Local;
                let requests = [
                    endpoint.post_send(
                        Destination { rank: to, context: 2, tag: TAG },
                        readable,
                        local,
                    )?,
                    endpoint.post_receive(selector, writable)?,
                ];
                for request in requests {
                    endpoint.wait_any(&[request])?;
                    endpoint.end(request);
                }
            }
        }
    }
    Ok(())
}
