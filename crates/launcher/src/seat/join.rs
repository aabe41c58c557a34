//! How a process finds out that it is a rank, and takes its seat.

use std::fs::File;
use std::os::fd::{OwnedFd, RawFd};

use contract::{Error, Result};

use super::{Reporter, Seat};
use crate::clock::{Calibration, RunClock};
use crate::layout::Room;
use crate::memory::RunMemory;
use crate::page::{Bell, Choices, State};
use crate::system;

/// Environment variable that holds the place of a rank.
pub(crate) const PLACE_VARIABLE: &str = "CORNERSTONE_LOCAL_RANK";

/// The same for any program, which joins through a library if it joins at all. The name differs so that a program which
/// starts ranks itself, as the command line does, does not take itself for one of them.
pub(crate) const LIBRARY_PLACE_VARIABLE: &str = "CORNERSTONE_MPI_SEAT";

/// Variable by which older launchers passed a place. Without a look at it, each of their ranks would be a run of its own.
const PLACE_OF_OLDER_LAUNCHERS: &str = "CORNERSTONE_MPI_RANK";

/// The place of a rank as its environment gives it: `rank=R memory=FD reports=FD`, and `bell=FD` for each rank if ranks
/// have bells.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    rank: usize,
    memory: RawFd,
    reports: RawFd,
    bells: Vec<RawFd>,
}

impl Seat {
    /// Takes the seat of this process if a launcher has started it as a rank. Returns `None` otherwise.
    ///
    /// Must be called first in `main`, before other threads exist. It removes the launcher's variable from the
    /// environment, so that programs which a rank starts do not take themselves for ranks.
    pub fn take() -> Option<Result<Self>> {
        take_by(PLACE_VARIABLE)
    }

    /// As [`take`](Seat::take), for a library in any program: if the process was started with
    /// [`any_program`](crate::LaunchOptions::any_program).
    pub fn take_in_library() -> Option<Result<Self>> {
        take_by(LIBRARY_PLACE_VARIABLE).or_else(|| {
            let words = std::env::var(PLACE_OF_OLDER_LAUNCHERS).ok()?;
            words.contains("memory=").then(|| {
                let reason = "the launcher is an older version than the MPI library of the program: \
                              start it by the mpiexec that belongs to the library";
                Err(Error::System { what: "joining the run".into(), reason: reason.into() })
            })
        })
    }

    /// Creates a run of this process alone, without a launcher.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses the memory.
    pub fn alone(room: Room) -> Result<Self> {
        Seat::in_this_process(Seat::memory_in_this_process(1, room)?, 0)
    }

    /// Creates the memory of a run without a launcher, whose ranks are threads of this process.
    ///
    /// # Errors
    /// As of [`alone`](Seat::alone).
    pub fn memory_in_this_process(ranks: usize, room: Room) -> Result<OwnedFd> {
        let choices =
            Choices { every_rank_has_a_processor: true, cross_memory_attach: false, arenas: false };
        let memory = RunMemory::create(ranks, &[], room, choices).map_err(refused)?;
        memory.run_page().set_clock(Calibration::without());
        memory.file().try_clone_to_owned().map_err(refused)
    }

    /// Takes the seat of a rank of such a run.
    ///
    /// # Errors
    /// As of [`alone`](Seat::alone).
    pub fn in_this_process(memory: OwnedFd, rank: usize) -> Result<Self> {
        let nowhere = File::options().write(true).open("/dev/null").map_err(refused)?;
        // Nobody reads reports.
        let reporter = Reporter::new(OwnedFd::from(nowhere));
        let failed = |reason| Error::System { what: "joining the run".into(), reason };
        let mut memory = RunMemory::open(memory, Vec::new()).map_err(failed)?;
        enter(&mut memory, rank);
        let clock = memory.run_page().clock().expect("it was set with the memory");
        Ok(Seat::new(memory, rank, RunClock::new(clock), None, reporter))
    }
}

fn refused(error: std::io::Error) -> Error {
    Error::System { what: "making a run of one rank".into(), reason: error.to_string() }
}

fn take_by(variable: &'static str) -> Option<Result<Seat>> {
    let words = std::env::var(variable).ok()?;
    // SAFETY: the documentation above requires a process with one thread.
    unsafe { std::env::remove_var(variable) };
    let joined = parse(&words)
        .ok_or_else(|| {
            format!("{variable} holds {words:?}, which no launcher of this version wrote; unset it")
        })
        .and_then(join);
    Some(joined.map_err(|reason| Error::System { what: "joining the run".into(), reason }))
}

fn parse(words: &str) -> Option<Place> {
    let mut place = [None; 3];
    let mut bells = Vec::new();
    for word in words.split(' ') {
        let (name, number) = word.split_once('=').unwrap_or((word, ""));
        if name == "bell" {
            bells.push(number.parse().ok().filter(|&fd| fd > 2)?);
        }
        let slot = ["rank", "memory", "reports"].iter().position(|&stream| stream == name);
        if let (Some(slot), Ok(number)) = (slot, number.parse::<i32>()) {
            place[slot] = Some(number);
        }
    }
    match place {
        [Some(rank), Some(memory), Some(reports)] if rank >= 0 && memory > 2 && reports > 2 => {
            Some(Place { rank: rank as usize, memory, reports, bells })
        }
        _ => None,
    }
}

fn join(place: Place) -> std::result::Result<Seat, String> {
    let file = inherited(place.memory)?;
    let reports = inherited(place.reports)?;
    let bells = place.bells.into_iter().map(|bell| inherited(bell).map(Bell::from));
    let bells = bells.collect::<std::result::Result<_, String>>()?;
    let mut memory = RunMemory::open(file, bells)?;
    if place.rank >= memory.ranks() {
        return Err(format!("rank {} of {}", place.rank, memory.ranks()));
    }
    enter(&mut memory, place.rank);
    let clock = memory.run_page().clock().map(RunClock::new);
    let clock = clock.ok_or_else(|| memory.run_page().abort.error().to_string())?;
    let processor = system::only_processor().map(|processor| processor as usize);
    Ok(Seat::new(memory, place.rank, clock, processor, Reporter::new(reports)))
}

/// Takes a descriptor that the launcher passed on.
fn inherited(fd: RawFd) -> std::result::Result<OwnedFd, String> {
    // SAFETY: the launcher opened this descriptor for this process alone, and nothing else in the process knows its
    // number.
    unsafe { system::inherited(fd) }
}

/// Declares that this process is a rank.
fn enter(memory: &mut RunMemory, rank: usize) {
    let page = memory.rank_page(rank);
    page.set_process(std::process::id());
    page.processors().set_bound(system::only_processor());
    page.set_state(State::Alive);
    memory.run_page().count_joined();
    memory.open_arenas(rank);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launchers_words_are_read_and_others_refused() {
        let place = parse("rank=3 memory=5 reports=9").unwrap();
        assert_eq!(place, Place { rank: 3, memory: 5, reports: 9, bells: vec![] });
        let place = parse("rank=0 memory=5 reports=9 bell=7 bell=8").unwrap();
        assert_eq!(place.bells, [7, 8]);
        for words in [
            "",
            "rank=3",
            "rank=0 memory=5 reports=9 bell=x",
            "rank=-1 memory=5 reports=9",
            "rank=1 memory=x reports=9",
        ] {
            assert_eq!(parse(words), None, "{words:?}");
        }
    }
}
