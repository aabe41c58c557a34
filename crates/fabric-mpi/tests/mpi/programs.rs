//! Programs that this executable runs as a rank.

use std::path::PathBuf;
use std::process::Command;

use contract::{Buffer, Error, Rank, Reduction, Result, Tag};
use fabric_mpi::{Collectives, Launcher, Options, Skew, World};

use crate::endpoints;

/// A program, and the options by which its ranks join.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) collectives: Collectives,
    pub(crate) skewed: bool,
}

const NAME: &str = "CORNERSTONE_TEST_PROGRAM";
const LIBRARY: &str = "CORNERSTONE_TEST_LIBRARY";
const COLLECTIVES: &str = "CORNERSTONE_TEST_CONTRACT_COLLECTIVES";
const SKEWED: &str = "CORNERSTONE_TEST_SKEWED";

/// Clocks of hosts that are 3 ms apart and drift by 40 parts in a million, both times the rank.
const SKEW: Skew = Skew { offset_ns: 3_000_000, drift: 40e-6 };

impl Program {
    pub(crate) fn hand_to(&self, command: &mut Command, launcher: &Launcher) {
        command.env(NAME, &self.name);
        command.envs(launcher.library.as_ref().map(|library| (LIBRARY, library)));
        command.envs((self.collectives == Collectives::Contract).then_some((COLLECTIVES, "1")));
        command.envs(self.skewed.then_some((SKEWED, "1")));
    }
}

/// Returns the program for which this process was started, if it is a rank.
pub(crate) fn asked_for() -> Option<Program> {
    let name = std::env::var(NAME).ok()?;
    let requested = |variable| std::env::var_os(variable).is_some();
    let collectives = if requested(COLLECTIVES) { Collectives::Contract } else { Collectives::Mpi };
    Some(Program { name, collectives, skewed: requested(SKEWED) })
}

/// Runs the program, and returns the exit status.
pub(crate) fn run(program: &Program) -> i32 {
    let options = Options {
        library: std::env::var_os(LIBRARY).map(PathBuf::from),
        collectives: program.collectives,
        skew: program.skewed.then_some(SKEW),
        ..Options::default()
    };
    let world = match World::join(options) {
        Ok(world) => world,
        Err(error) => {
            eprintln!("{error}");
            return 1;
        }
    };
    let outcome = match program.name.as_str() {
        "all-that-end-well" => all_that_end_well(&world),
        "endpoints" => endpoints::all(&world),
        "contexts" => endpoints::contexts(&world),
        "common-clock" => common_clock(&world, program.skewed),
        "work" => work(&world),
        "longer-than-32-bits" => longer_than_32_bits(&world),
        name => match conformance::find(name) {
            Some(case) => one(&world, case),
            None => Err(Error::Program(format!("there is no program {name}"))),
        },
    };
    if let Err(error) = &outcome {
        eprintln!("rank {}: {error}", world.rank());
    }
    world.finish(&outcome)
}

/// Runs a case on ranks and communicators of its own.
fn one(world: &World, case: &conformance::Case) -> Result<()> {
    let mut process = world.first(world.size())?;
    case.run(&mut process.world())?;
    process.end()
}

fn all_that_end_well(world: &World) -> Result<()> {
    let probe = world.first(world.size())?;
    let tag_max = probe.endpoint().tag_max();
    probe.end()?;
    let cases = conformance::cases().iter();
    for case in cases.filter(|case| case.runs_at(world.size()) && !case.must_fail()) {
        if let Some(reason) =
            crate::conformance::cannot(&world.library_version(), tag_max, case.name)
        {
            say(world, &format!("skipped {}: {reason}", case.name));
            continue;
        }
        say(world, &format!("began {}", case.name));
        one(world, case)?;
        say(world, &format!("passed {}", case.name));
    }
    Ok(())
}

pub(crate) fn say(world: &World, line: &str) {
    if world.rank() == 0 {
        println!("{line}");
    }
}

/// Tests the shared time. All ranks are on one host here, whose clock is the reference. The difference of a rank's
/// shared time from it must be the same on every rank, within the uncertainty that the rank reports and that of this
/// comparison; now, and some time later.
fn common_clock(world: &World, skewed: bool) -> Result<()> {
    let judge = if skewed { libc::CLOCK_MONOTONIC_RAW } else { libc::CLOCK_MONOTONIC };
    let mut process = world.first(world.size())?;
    let mut rank = process.world();
    for pause_ms in [0, 300, 700] {
        std::thread::sleep(std::time::Duration::from_millis(pause_ms));
        let (mine, uncertainty) = difference(&rank, judge);
        let mut of_first = [mine.to_ne_bytes(), uncertainty.to_ne_bytes()].concat();
        rank.broadcast(0, &mut of_first)?;
        let word = |index: usize| f64::from_ne_bytes(of_first.as_chunks::<8>().0[index]);
        let off_ns = ((mine - word(0)).abs() - uncertainty - word(1)).max(0.0);
        let uncertainty_ns = rank.clock().uncertainty.as_ns();
        if off_ns > uncertainty_ns {
            return Err(Error::Program(format!(
                "the clock is off by {off_ns} ns, and says {uncertainty_ns} ns"
            )));
        }
        let mut worst = [0; 8];
        rank.allreduce(Reduction::MAXIMUM_F64, &off_ns.to_ne_bytes(), &mut worst)?;
        let worst = f64::from_ne_bytes(worst);
        say(world, &format!("clock off by at most {worst:.0} ns of {uncertainty_ns:.0} ns"));
    }
    process.end()
}

/// Returns the rank's time minus the reference in nanoseconds, and its uncertainty: from the quickest of many readings
/// of one clock between two of the other.
fn difference(rank: &dyn Rank, judge: libc::clockid_t) -> (f64, f64) {
    let readings = (0..200).map(|_| {
        let before = judge_ns(judge);
        let now = rank.now().as_ps() as f64 / 1000.0;
        let half = (judge_ns(judge) - before) / 2.0;
        (now - before - half, half)
    });
    readings.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are readings")
}

fn judge_ns(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is live; both clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Sends and broadcasts more bytes than an `int` can count, by the functions with large counts.
fn longer_than_32_bits(world: &World) -> Result<()> {
    const BYTES: usize = (1 << 31) + 4097;
    let mut process = world.first(2)?;
    let mut rank = process.world();
    let mut data = Buffer::zeroed(BYTES);
    let marks = [0, 1 << 20, (1 << 31) - 1, 1 << 31, BYTES - 1];
    let tag = Tag::new(1);
    for (round, first) in [0usize, 1].into_iter().enumerate() {
        let mark = 7 + round as u8;
        if rank.rank() == first {
            marks.iter().for_each(|&at| data[at] = mark);
        }
        let bytes = match (round, rank.rank() == first) {
            (0, true) => rank.send(1, tag, &data).map(|()| BYTES)?,
            (0, false) => rank.receive(0.into(), tag.into(), &mut data)?.bytes,
            _ => rank.broadcast(first, &mut data).map(|()| BYTES)?,
        };
        if bytes != BYTES || marks.iter().any(|&at| data[at] != mark) {
            return Err(Error::Program(format!("{bytes} bytes of {BYTES}, or the wrong ones")));
        }
    }
    process.end()
}

/// Distributes work to idle ranks. Programs run on some of them, and then on all.
fn work(world: &World) -> Result<()> {
    if world.rank() == 0 {
        for ranks in 1..=world.size() {
            world.hand_out(&[ranks as u8])?;
            sum_of_ranks(world, ranks)?;
        }
        return world.hand_out(&[]);
    }
    while let [ranks] = world.next()?[..] {
        if world.rank() < usize::from(ranks) {
            sum_of_ranks(world, usize::from(ranks))?;
        }
    }
    Ok(())
}

fn sum_of_ranks(world: &World, ranks: usize) -> Result<()> {
    let mut process = world.first(ranks)?;
    let mut rank = process.world();
    let mut sum = [0; 8];
    rank.allreduce(Reduction::SUM_F64, &(rank.rank() as f64).to_ne_bytes(), &mut sum)?;
    let (sum, expected) = (f64::from_ne_bytes(sum), (ranks * (ranks - 1) / 2) as f64);
    if (rank.size(), sum) != (ranks, expected) {
        return Err(Error::Program(format!("{} ranks, sum {sum} of {expected}", rank.size())));
    }
    process.end()
}
