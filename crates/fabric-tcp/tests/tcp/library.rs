//! A library in an arbitrary program, which detects that its process is a rank, and the fabric of the run.

use contract::{Endpoint, Error, Process, Rank, Result, Source, Tag, TagSelector};
use fabric_tcp::Secret;
use fabric_tcp::library::{job, join_from_library};
use launcher::{LaunchError, LaunchOptions, Seat};

use crate::harness::{Test, check, launch_and_gather};

/// Names the case in the environment of a program with such a library.
const CASE: &str = "FABRIC_TCP_TEST_LIBRARY";
const TAG: Tag = Tag::new(4);

/// Returns a launch of this program, which gets its case from its environment and its fabric from the job.
fn options(ranks: usize, case: &str, job: Vec<u8>) -> LaunchOptions {
    let mut options = LaunchOptions::new(ranks, job);
    options.any_program = true;
    options.environment.push((CASE.into(), case.into()));
    options
}

fn tcp_job() -> Vec<u8> {
    job(&Secret::generate().expect("the system has random numbers"))
}

/// Runs the part of such a program and returns its status, if this process is one.
pub(crate) fn serve() -> Option<i32> {
    let case = std::env::var(CASE).ok()?;
    let joined = match Seat::take_in_library()? {
        Ok(seat) => join_from_library(seat),
        Err(error) => Err(error),
    };
    Some(match (joined, case.as_str()) {
        (Ok(Ok(endpoint)), "tcp") => run(endpoint, uses_everything),
        (Ok(Ok(endpoint)), "dies") => run(endpoint, dies),
        // Its ranks meet, and no fabric joins.
        (Ok(Err(seat)), "other-fabric") => seat.finish(seat.meet()),
        (Ok(_), _) => panic!("{case} has joined over another fabric"),
        (Err(error), _) => {
            eprintln!("{error}");
            1
        }
    })
}

fn run<E: Endpoint>(endpoint: E, program: fn(&mut Process<E>) -> Result<()>) -> i32 {
    let mut process = Process::new(endpoint);
    let outcome = program(&mut process);
    process.finish(outcome)
}

/// Tests messages, contexts, and the end of a run as an MPI ends it: all ranks leave, and then enter a barrier.
fn uses_everything<E: Endpoint>(process: &mut Process<E>) -> Result<()> {
    let mut world = process.world();
    let (me, size) = (world.rank(), world.size());
    let (next, before) = ((me + 1) % size, (me + size - 1) % size);
    let mut room = [0; 8];
    let own = (me as u64).to_le_bytes();
    let source = Source::Rank(before);
    world.send_receive((next, TAG, &own), (source, TAG.into(), &mut room))?;
    expect(u64::from_le_bytes(room) == before as u64, "a message around the ring")?;
    let colour = Some(me as u32 % 2);
    let context = world.split(colour, -(me as i64))?.expect("it gave a colour");
    let mut half = world.within(&context);
    let mut all = vec![0; 8 * half.size()];
    half.allgather(&own, &mut all)?;
    let members = all.as_chunks::<8>().0.iter().map(|member| u64::from_le_bytes(*member));
    let expected = (0..size as u64).rev().filter(|rank| rank % 2 == me as u64 % 2);
    expect(members.eq(expected), "the ranks of a context")?;
    drop(half);
    // A message sent in a context is invisible outside.
    if me == 0 {
        world.within(&context).send(0, TAG, &[])?;
    }
    world.barrier()?;
    expect(world.probe(Source::Any, TagSelector::Any)?.is_none(), "a context's message outside")?;
    process.endpoint_mut().long_waits().map_or(Ok(()), |waits| waits.leave())?;
    process.world().barrier()
}

fn dies<E: Endpoint>(process: &mut Process<E>) -> Result<()> {
    process.world().barrier()?;
    if process.world().rank() == 1 {
        std::process::exit(7);
    }
    process.world().receive(Source::Any, TagSelector::Any, &mut []).map(drop)
}

fn expect(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Program(what.into())) }
}

pub(crate) fn tests() -> Vec<Test> {
    let ends_well = |name: &'static str, job: fn() -> Vec<u8>| {
        Test::new(format!("library/joins-a-run-over-{name}"), move || {
            [1, 2, 5].into_iter().try_for_each(|ranks| {
                let (ended, _) = launch_and_gather(&options(ranks, name, job()));
                ended.map_err(|error| format!("{ranks} ranks: {error}"))
            })
        })
    };
    vec![
        ends_well("tcp", tcp_job),
        ends_well("other-fabric", Vec::new),
        Test::new("library/a-job-without-a-whole-secret-is-refused", no_secret),
        Test::new("library/a-rank-that-dies-is-named", || {
            let (ended, _) = launch_and_gather(&options(3, "dies", tcp_job()));
            let named = matches!(ended, Err(LaunchError::RankFailed { rank: 1, status: 7, .. }));
            check(named, || format!("expected the failure of rank 1, not {ended:?}"))
        }),
    ]
}

fn no_secret() -> std::result::Result<(), String> {
    let mut job = tcp_job();
    job.pop();
    let (ended, _) = launch_and_gather(&options(2, "tcp", job));
    let words = ended.err().map(|error| error.to_string()).unwrap_or_default();
    check(words.contains("a secret of 31 bytes"), || format!("it said {words:?}"))
}
