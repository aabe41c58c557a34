//! How a process finds out that it is a rank, and joins the run.

use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};

use contract::{Error, Result};

use super::{Purpose, ShmEndpoint, ShmProcess};
use crate::clock::Clock;
use crate::engine::Engine;
use crate::launcher::{LIBRARY_PLACE_VARIABLE, PLACE_VARIABLE};
use crate::segment::{Bell, Segment, State};
use crate::system;

/// The place of a rank as its environment gives it: `rank=R memory=FD reports=FD`, and `bell=FD` for each rank if ranks
/// have bells.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    rank: usize,
    memory: RawFd,
    reports: RawFd,
    bells: Vec<RawFd>,
}

/// Joins the run if this process was started by [`launch`](crate::launch). Returns `None` otherwise.
///
/// Must be called first in `main`, before other threads exist. It removes the launcher's variable from the environment,
/// so that programs which a rank starts do not take themselves for ranks.
pub fn join_if_rank() -> Option<Result<ShmProcess>> {
    let joined = join_by(PLACE_VARIABLE, Purpose::Program)?;
    Some(joined.map(ShmProcess::new))
}

/// As [`join_if_rank`], for a library in any program: joins the run if the process was started with
/// [`any_program`](crate::LaunchOptions::any_program).
pub(super) fn join_from_library() -> Option<Result<ShmEndpoint>> {
    join_by(LIBRARY_PLACE_VARIABLE, Purpose::Library)
}

fn join_by(variable: &'static str, purpose: Purpose) -> Option<Result<ShmEndpoint>> {
    let words = std::env::var(variable).ok()?;
    // SAFETY: the documentation above requires a process with one thread.
    unsafe { std::env::remove_var(variable) };
    let joined = parse(&words)
        .ok_or_else(|| {
            format!("{variable} holds {words:?}, which no launcher of this version wrote; unset it")
        })
        .and_then(|place| join(place, purpose));
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
        let slot = ["rank", "memory", "reports"].iter().position(|&known| known == name);
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

fn join(place: Place, purpose: Purpose) -> std::result::Result<ShmEndpoint, String> {
    let memory = take(place.memory)?;
    let reports = take(place.reports)?;
    let bells = place.bells.into_iter().map(|bell| take(bell).map(Bell::from));
    let bells = bells.collect::<std::result::Result<_, String>>()?;
    let segment = Segment::open(memory, bells)?;
    if place.rank >= segment.ranks() {
        return Err(format!("rank {} of {}", place.rank, segment.ranks()));
    }
    let block = segment.block(place.rank);
    block.set_process(std::process::id());
    block.set_state(State::Alive);
    system::allow_cma_from_family();
    let engine = Engine::new(segment, place.rank);
    let header = engine.segment().header();
    let clock = header.clock().map(Clock::new);
    let clock = clock.ok_or_else(|| header.abort.error().to_string())?;
    let processor = match system::allowed_processors() {
        Ok(processors) if processors.len() == 1 => Some(processors[0]),
        _ => None,
    };
    Ok(ShmEndpoint::new(engine, clock, processor, reports, purpose))
}

/// Takes ownership of a descriptor that the launcher passed on, and closes it in programs that this rank starts.
fn take(fd: RawFd) -> std::result::Result<OwnedFd, String> {
    // SAFETY: the launcher opened this descriptor for this process alone, and nothing else in the process knows its
    // number.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    match system::close_on_exec(fd.as_fd(), true) {
        Ok(()) => Ok(fd),
        Err(error) => {
            let number = std::os::fd::IntoRawFd::into_raw_fd(fd);
            Err(format!("descriptor {number} from the launcher is not open: {error}"))
        }
    }
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
