//! Collective operations, each as a schedule that blocking, non-blocking and persistent calls share.

mod call;
mod exchange;
mod native;
mod reduce;
mod schedule;
mod spread;

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

pub(crate) use call::{Call, Kind};
pub(crate) use exchange::*;
pub(crate) use native::{NO_BOARD, TeamPlace, new_board, take_back};
pub(crate) use reduce::*;
pub(crate) use schedule::{Party, Schedule, Schedules, start};
pub(crate) use spread::*;

use fabric_shm::ShmEndpoint as Endpoint;

use crate::abi::*;
use crate::communicator::Communicator;
use crate::datatype::Memory;
use crate::failure::{Result, ensure};
use crate::process::process;
use crate::request::{self, Action};

/// How a call goes on once its arguments are checked.
#[derive(Clone, Copy)]
pub(crate) enum How {
    /// To its end.
    Blocking,
    /// It is under way, and the request tells its end.
    Nonblocking(*mut Request),
    /// The request starts it, any number of times.
    Persistent(*mut Request),
}

/// Goes on with a schedule, which `build` makes at each start.
unsafe fn run(
    communicator: &Communicator,
    how: How,
    call: Call,
    build: impl Fn(Party) -> Result<Schedule> + 'static,
) -> Result {
    let party = communicator.next_party(call.going(how));
    match how {
        How::Blocking => finish(build(party)?),
        How::Nonblocking(place) => {
            *place = request::register(Action::Collective(start(build(party)?)?));
            Ok(())
        }
        How::Persistent(place) => {
            let start = move || Ok(Action::Collective(start(build(party.clone())?)?));
            *place = request::register_persistent(Box::new(start));
            Ok(())
        }
    }
}

fn finish(schedule: Schedule) -> Result {
    let running: Rc<RefCell<Schedule>> = start(schedule)?;
    if !running.borrow().has_ended() {
        // In MPI_Finalize all others are leaving too, and still go through its barrier.
        let leaving = process().leaving.get();
        let hopeless = |endpoint: &Endpoint| match leaving {
            true => None,
            false => running.borrow().hopeless(endpoint),
        };
        request::wait_for(&mut |_| running.borrow().has_ended(), &hopeless)?;
    }
    running.borrow_mut().take_outcome()
}

/// Gathers as many bytes from every member, in the order of their ranks.
pub(crate) fn allgather_bytes(party: &Party, mine: &[u8]) -> Result<Vec<u8>> {
    let all = Rc::new(RefCell::new(Vec::new()));
    let place = all.clone();
    finish(gather_then(party.clone(), mine.to_vec(), move |bytes| {
        *place.borrow_mut() = bytes.to_vec();
    }))?;
    Ok(all.take())
}

/// The schedule of the same, which hands the bytes on.
pub(crate) fn gather_then(
    party: Party,
    mine: Vec<u8>,
    then: impl FnOnce(&[u8]) + 'static,
) -> Schedule {
    let (each, rank, ranks) = (mine.len(), party.rank, party.members.size());
    let mut schedule = Schedule::new(party);
    let all = schedule.temporary(each * ranks);
    // SAFETY: the schedule keeps the memory, which has `each` bytes for every rank, until its last step has been made.
    unsafe { std::ptr::copy_nonoverlapping(mine.as_ptr(), all.add(rank * each), each) };
    let round = schedule.round();
    for other in (0..ranks).filter(|&other| other != rank) {
        // SAFETY: as above.
        unsafe {
            round.receive(other, all.add(other * each), each);
            round.send(other, all.add(rank * each), each);
        }
    }
    schedule.finally(move || {
        // SAFETY: as above.
        then(unsafe { std::slice::from_raw_parts(all, each * ranks) });
        Ok(())
    });
    schedule
}

fn is_in_place(buffer: *const c_void) -> bool {
    buffer as usize == IN_PLACE
}

/// What is received must not be written over what is sent: MPI_IN_PLACE is there for that.
fn check_apart(from: &Memory, to: &Memory) -> Result {
    ensure!(!from.overlaps(to), ERR_BUFFER, "what is sent and what is received overlap in memory");
    Ok(())
}

/// The same, of two buffers where there are both.
fn check_both_apart(from: Option<&Memory>, to: Option<&Memory>) -> Result {
    from.zip(to).map_or(Ok(()), |(from, to)| check_apart(from, to))
}

/// Copies data within this process.
unsafe fn copy(from: &Memory, to: &Memory) {
    // One address may mean two places: with MPI_BOTTOM it is the datatypes that tell them apart.
    let same = from.start == to.start && from.count == to.count && Rc::ptr_eq(&from.of, &to.of);
    if !same {
        to.copy_from(from);
    }
}
