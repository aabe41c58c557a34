//! Collectives of two members over boards in every order of memory operations: the code of this folder, over boards
//! with few and short slots, and the engine's waits.

mod levels;
mod reductions;
mod started;
mod steps;

use collectives::CallId;
use collectives::plan::{Boards, CallShape, Capabilities, Plan};
use contract::{Apply, Combine, Error};
use engine::Messages;

use super::{Call, Caller, CompiledCaller, Memory, Stop, Team};
use crate::board::{SLOT_BYTES, SLOTS};
use crate::segment::Segment;
use crate::transport::{Engine, Rings};

/// Length of the longest piece while each rank has a processor.
const PIECE_BYTES: usize = 64;

/// Where the members of a model run.
#[derive(Clone, Copy)]
enum Places {
    OwnProcessors,
    Oversubscribed,
    /// More ranks than processors, and both members bound to one, or each to another.
    OneProcessor,
    TwoProcessors,
}

/// The rank of a member: a caller like the endpoint, whose calls are compiled with their steps.
struct Rank(Engine);

impl Caller for Rank {
    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        self.0.parts_mut()
    }

    fn wait_until(
        &mut self,
        done: &mut dyn FnMut(&mut dyn Caller) -> bool,
    ) -> contract::Result<()> {
        Engine::wait_until(self, |rank| &mut rank.0, &mut |rank| done(rank))
    }

    fn waits(&self) -> bool {
        true
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        error
    }
}

impl CompiledCaller for Rank {
    const HAS_OWN_STEPS: bool = true;
}

/// A member of the team.
struct Member {
    rank: Rank,
    team: Team,
}

impl Member {
    fn new(segment: Segment, me: usize) -> Self {
        let engine = Rings::of_model(segment, me);
        Member { team: Team::world(engine.transport()), rank: Rank(engine) }
    }

    /// Returns a call as the endpoint announces it.
    fn call(&mut self, shape: CallShape, root: usize) -> Call {
        let boards = Boards {
            most_ranks: 3,
            most_bytes: usize::MAX,
            slots: SLOTS,
            slot_bytes: SLOT_BYTES,
            piece_bytes: PIECE_BYTES,
        };
        self.team.count_call();
        let plan = self.team.plan(shape, &Capabilities { boards, cma: false });
        Call { call_id: CallId::rooted(shape.collective, root), plan }
    }
}

/// Makes both members `act` in every order of memory operations with so many preemptions.
fn check(places: Places, preemptions: usize, act: fn(&mut Member)) {
    match places {
        Places::OwnProcessors => check_ranks([None, None], true, preemptions, act),
        Places::Oversubscribed => check_ranks([None, None], false, preemptions, act),
        Places::OneProcessor => check_ranks([Some(0), Some(0)], false, preemptions, act),
        Places::TwoProcessors => check_ranks([Some(0), Some(1)], false, preemptions, act),
    }
}

/// As [`check`], for members that are bound to these processors, or to none.
fn check_ranks<const N: usize>(
    processors: [Option<u32>; N],
    every_rank_has_a_processor: bool,
    preemptions: usize,
    act: fn(&mut Member),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 10_000;
    model.check(move || {
        let mut segments = Segment::of_model(&processors, every_rank_has_a_processor);
        let first = segments.remove(0);
        let run = move |segment, me| act(&mut Member::new(segment, me));
        let others = segments.into_iter().enumerate();
        let others: Vec<_> = others
            .map(|(index, segment)| loom::thread::spawn(move || run(segment, 1 + index)))
            .collect();
        run(first, 0);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// The data of a member in one of its calls: its bytes differ from each other and from those of other calls.
fn data(call: usize, member: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (100 * call + 31 * member + index) as u8).collect()
}

/// Returns the outcome of a blocking call.
fn ended(outcome: super::Result<()>) -> Result<(), Error> {
    outcome.map_err(|stop| match stop {
        Stop::Failed(error) => error,
        Stop::Later => unreachable!("a call that waits comes to its end"),
    })
}
