//! Boards of which a corrupt rank overwrites words while two others make collectives.

use collectives::ReductionId;
use collectives::plan::{Boards, CallShape, Capabilities, Collective};
use contract::{Apply, Combine, Error};
use engine::Messages;
use random::SplitMix64;

use super::*;
use crate::board::{BOARD_BYTES, SLOT_BYTES};
use crate::primitive::AtomicU64;
use crate::segment::{Segment, in_threads};
use crate::transport::{Engine, Rings};

/// Number of runs. Each maps arenas, which stay mapped.
const RUNS: u64 = 24;
/// Number of words that are overwritten in a run, before the corrupt rank fails.
const WORDS: usize = 300;
const GUARD_BYTES: usize = 64;
const UNTOUCHED: u8 = 0xa5;

/// A caller like the endpoint.
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

fn add(left: *const u8, right: *const u8, result: *mut u8, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: the caller of an operation promises bytes at all three places.
        unsafe { *result.add(index) = (*left.add(index)).wrapping_add(*right.add(index)) };
    }
}

/// Makes collectives of many lengths, until one fails.
fn be_victim(rank: &mut Rank, team: &mut Team, seed: u64) {
    let mut random = SplitMix64::new(seed);
    loop {
        let bytes = random.pick(&[8, 48, 49, 5_000, SLOT_BYTES + 9, 300_000]);
        let collective = random.pick(&[Collective::Allreduce, Collective::Allgather]);
        let send = vec![3; bytes];
        let mut receive = vec![UNTOUCHED; GUARD_BYTES + 2 * bytes + GUARD_BYTES];
        let room = receive[GUARD_BYTES..].as_mut_ptr();
        let memory = Memory { send: send.as_ptr(), receive: room };
        let boards = Boards {
            most_ranks: 3,
            most_bytes: usize::MAX,
            slots: SLOTS,
            slot_bytes: SLOT_BYTES,
            piece_bytes: SLOT_BYTES,
        };
        team.count_call();
        let capabilities = Capabilities { boards, cma: false };
        let plan = team.plan(CallShape::of_bytes(collective, bytes), &capabilities);
        let call = Call { call_id: CallId::rooted(collective, 0), plan };
        let mut apply = add;
        let apply: &mut Apply<'_> = &mut apply;
        let combine = Combine { element_bytes: 1, id: ReductionId::new(1, 1), apply };
        // SAFETY: there is room for the data of both members.
        let outcome = unsafe {
            match collective {
                Collective::Allreduce => team.allreduce(rank, call, memory, combine),
                _ => team.allgather(rank, call, memory),
            }
        };
        let guards = [&receive[..GUARD_BYTES], &receive[GUARD_BYTES + 2 * bytes..]].concat();
        assert!(guards.iter().all(|&byte| byte == UNTOUCHED), "seed {seed}, {bytes} bytes");
        if outcome.is_err() {
            return;
        }
    }
}

/// Overwrites words of both boards, those of the lines more often than those of the slots.
fn be_corrupt(segment: &Segment, seed: u64) {
    let mut random = SplitMix64::new(seed);
    for _ in 0..WORDS {
        let board = segment.board(random.below(2));
        let bytes = random.pick(&[size_of::<Board>(), size_of::<Board>(), BOARD_BYTES]);
        let word = random.below(bytes / size_of::<u64>());
        // Steps and numbers that may be right, in either half.
        let half = |random: &mut SplitMix64| match random.below(4) {
            0 => random.edge() & 0xffff_ffff,
            _ => random.below(40) as u64,
        };
        let number = half(&mut random) << 32 | half(&mut random);
        // SAFETY: the word lies in the board, which is mapped, and aligned.
        let word = unsafe { &*board.cast::<AtomicU64>().add(word) };
        word.store(number, crate::primitive::Ordering::Relaxed);
        std::thread::yield_now();
    }
}

#[test]
fn no_word_of_a_board_reaches_other_memory() {
    for seed in 0..RUNS {
        in_threads(3, |segment| {
            let me = segment.seat().rank();
            if me == 2 {
                let engine = Rings::begin(segment);
                be_corrupt(engine.transport().segment(), seed);
                let why = Error::Aborted { why: "it is corrupt".into() };
                engine.into_transport().seat().finish(Err(why));
                return;
            }
            let boards = vec![segment.board(0), segment.board(1)];
            let mut rank = Rank(Rings::begin(segment));
            let oversubscription = Oversubscription::of(rank.0.transport(), &[0, 1]);
            // SAFETY: the boards of both lie in the segment, which outlives the team.
            let mut team = unsafe { Team::new(vec![0, 1], me, boards, oversubscription) };
            be_victim(&mut rank, &mut team, seed);
            drop(team);
            rank.0.into_transport().seat().finish(Ok(()));
        });
    }
}
