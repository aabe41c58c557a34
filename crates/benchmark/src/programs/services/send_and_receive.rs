//! SEND and RECV of buffers, queued and the latest alone.

use ::services::{Calls, Error, Medium, Paslib, ReceiveMode};
use analysis::limits::{BoundRule, Traffic};
use contract::{Rank, Result};
use record::Parameters;

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, OWN_DATA};
use crate::shape::Role;

const WORD_BYTES: u64 = 2;
/// Sizes from one word to the maximum, with those of the paper's text and around a cache line.
const WORDS: [u64; 14] = [1, 2, 4, 8, 16, 20, 23, 32, 48, 64, 96, 128, 180, 255];
const WORDS_MAX: u64 = 255;

const MODES: [ReceiveMode; 2] = [ReceiveMode::Synchronous, ReceiveMode::Asynchronous];
const MODE: &str = "mode";
const PARTNER: &str = "partner";
const OTHER: &str = "another rank";
const ITSELF: &str = "itself";

pub(in crate::programs) const SEND_AND_RECEIVE: Benchmark = Benchmark {
    name: "send-and-receive",
    group: Group::Services,
    summary: "SEND and RECV of 1 to 255 words, all buffers or the latest",
    explains: "Ranks 0 and 1 exchange a buffer of 16-bit words by SEND and RECV; the time is half of the round \
        trip. In synchronous mode RECV waits for the first of a queue; in asynchronous mode the receiver reads the \
        latest buffer until it is a new one. With partner=itself, rank 0 sends to itself and receives: this is the \
        time of both calls without the transfer between two ranks. Sizes are rounded up to whole words of 2 bytes, \
        at most 510.",
    source: paper::FEM.part("section 5"),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    headlines: &[Headline {
        words: "4 bytes by SEND and RECV",
        metric: "time",
        size_bytes: Some(4),
    }],
    cases,
    repeatable: false,
    measure: buffers,
    program: Program { parts: |_| 2, ..OWN_DATA },
    ..BENCHMARK
};

/// Program of both calls of one rank.
const CALLS: Program = Program { parts: |_| 1, ..SEND_AND_RECEIVE.program };

fn cases(scope: &Scope) -> Vec<Case> {
    let words = WORDS.map(|words| words * WORD_BYTES);
    let in_words = |case: Case| case.size_bytes.max(WORD_BYTES).next_multiple_of(WORD_BYTES);
    let mut sizes: Vec<u64> = sized(scope, &words).into_iter().map(in_words).collect();
    sizes.dedup();
    let of = |mode: ReceiveMode, partner: &str| {
        let mode = mode.to_string();
        Parameters::from([(MODE.into(), mode.as_str().into()), (PARTNER.into(), partner.into())])
    };
    let kinds = MODES.into_iter().flat_map(|mode| [OTHER, ITSELF].map(|partner| of(mode, partner)));
    kinds
        .flat_map(|parameters| {
            sizes.iter().map(move |&size_bytes| Case { parameters: parameters.clone(), size_bytes })
        })
        .collect()
}

/// One rank's side of the events.
struct Side {
    paslib: Paslib,
    mode: ReceiveMode,
    peer: usize,
    /// True if rank 0 sends to itself.
    itself: bool,
    words: Vec<u16>,
    received: Vec<u16>,
}

impl Side {
    fn send(&mut self, rank: &mut dyn Rank) -> ::services::Result<()> {
        self.paslib.enter(rank).send(Medium::Local, self.peer, &self.words)
    }

    /// Receives the next buffer; in asynchronous mode the first that is new.
    fn receive(&mut self, rank: &mut dyn Rank) -> ::services::Result<()> {
        let mut calls: Calls<'_> = self.paslib.enter(rank);
        if self.mode == ReceiveMode::Synchronous {
            return calls.receive(Medium::Local, self.peer, &mut self.received);
        }
        loop {
            if let Some(latest) = calls.latest(Medium::Local, self.peer)?.filter(|one| one.is_new) {
                self.received.clear();
                self.received.extend_from_slice(latest.words);
                return Ok(());
            }
        }
    }

    fn event(&mut self, rank: &mut dyn Rank, role: Role) -> ::services::Result<()> {
        match role {
            Role::First => self.send(rank).and_then(|()| self.receive(rank)),
            Role::Second if self.itself => Ok(()),
            Role::Second => self.receive(rank).and_then(|()| self.send(rank)),
            Role::Other => Ok(()),
        }
    }
}

fn buffers(bench: &mut Bench<'_>) -> Result<()> {
    let (bytes, role) = (bench.shape.size as u64, bench.shape.role());
    let count = bytes / WORD_BYTES;
    if count > WORDS_MAX {
        return bench.skip(format!("buffers of more than {WORDS_MAX} words are not measured"));
    }
    let is = |name: &str, value: &str| bench.step.parameters.get(name) == Some(&value.into());
    let mode = MODES.into_iter().find(|mode| is(MODE, &mode.to_string())).unwrap_or(MODES[0]);
    let itself = is(PARTNER, ITSELF);
    let program = if itself { CALLS } else { bench.definition.program };
    let takes_part = role == Role::First || (role == Role::Second && !itself);
    let peer = if itself { bench.shape.me } else { bench.shape.peer() };
    let expected = takes_part.then_some((peer, Medium::Local, mode));
    let paslib = Paslib::open(bench.rank, expected.as_slice()).map_err(Error::into_contract)?;
    let words: Vec<u16> = (0..count as u16).map(|at| at.wrapping_mul(0x9E37)).collect();
    let mut side = Side { paslib, mode, peer, itself, words, received: Vec::new() };
    let outcome = bench.sampled_as(program, |rank, data| {
        side.event(rank, data.role).map_err(Error::into_contract)
    })?;
    if takes_part && side.received != side.words {
        let what = format!("rank {} received other words than were sent", bench.shape.me);
        return Err(contract::Error::Program(what));
    }
    side.paslib.close(bench.rank).map_err(Error::into_contract)?;
    bench.report(program, outcome, Parameters::default())
}
