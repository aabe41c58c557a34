//! A rank of a chain: its parts of the source, of stages and of the sink, and the order in which they work.

use contract::{Rank, Result, Work, WorkKind};

use super::detection::{self, Found};
use super::flow::{Flow, Readiness};
use super::mode::Mode;
use super::pending::{Arrival, PendingOperations};
use super::sink::{SETTLING, SinkPart};
use super::source::SourcePart;
use super::stage::StagePart;
use super::stamps::{AllStamps, Stamps};
use super::swap_buffers::BufferSwaps;
use crate::chain::Chain;
use crate::chain::{Level, levels};
use crate::period::{Deadlines, Trial};

enum PartKind {
    Source(SourcePart),
    Stage(Box<StagePart>),
    Sink(SinkPart),
}

/// A part and its level.
struct MemberPart {
    level: usize,
    kind: PartKind,
}

/// This rank's parts of a chain, with all their memory.
pub(crate) struct Member {
    /// The parts, those furthest down the chain first: sent data make room for arriving ones.
    parts: Vec<MemberPart>,
    waiting: PendingOperations,
    swaps: BufferSwaps,
    stamps: Stamps,
    /// The trial that was run last, whose stamps there are.
    last: Option<Trial>,
    /// Number of matrices that may wait at the source.
    backlog: u64,
}

impl Member {
    /// Creates the parts of `rank` in `chain`, which must have as many ranks as there are. They can run in `mode`, and
    /// in the modes without functions or messages.
    ///
    /// # Errors
    /// [`contract::Error::OutOfMemory`] for buffers.
    pub(crate) fn new(chain: &Chain, mode: Mode, seed: u64, rank: &mut dyn Rank) -> Result<Self> {
        let levels = levels(chain);
        let (me, computes) = (rank.rank(), computes(rank));
        let mine = levels.iter().rev().filter(|level| level.ranks.contains(&me));
        let part = |level: &Level| {
            let number = level.number;
            let kind = if number == 0 {
                PartKind::Source(SourcePart::new(chain, &levels, me, seed)?)
            } else if number + 1 == levels.len() {
                PartKind::Sink(SinkPart::new(chain, &levels, me, seed, computes)?)
            } else {
                // A stage that waits for its time must have room for a whole matrix.
                let waiting = if mode == Mode::Synchronised { level.blocks() } else { 0 };
                let stage = &chain.stages[number - 1];
                let part = StagePart::new(stage, &levels[number - 1..], waiting, chain, me)?;
                PartKind::Stage(Box::new(part))
            };
            Ok(MemberPart { level: number, kind })
        };
        let parts = mine.map(part).collect::<Result<Vec<_>>>()?;
        let operations = parts.iter().map(MemberPart::operations_max).sum();
        let waiting = PendingOperations::new(operations);
        let swaps = BufferSwaps::new(levels.len(), operations);
        let (stamps, backlog) = (Stamps::new(levels.len())?, chain.backlog as u64);
        Ok(Member { parts, waiting, swaps, stamps, last: None, backlog })
    }

    /// Executes a trial.
    ///
    /// # Errors
    /// Any error of the contract, and wrong results at the sink.
    pub(crate) fn keep_up(
        &mut self,
        mode: Mode,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
    ) -> Result<()> {
        let Member { parts, waiting, swaps, stamps, last, backlog } = self;
        *last = Some(*trial);
        stamps.begin();
        deadlines.allow(trial.period.times(*backlog));
        deadlines.fills(SETTLING);
        let mut flow = Flow { rank, trial, deadlines, stamps, mode, waiting, swaps };
        if mode == Mode::FunctionsOnly {
            return work_alone(parts, &mut flow);
        }
        parts.iter_mut().for_each(|part| part.begin(trial.instances));
        while advance(parts, &mut flow)? {}
        Ok(())
    }

    /// Returns the trial that was run last.
    pub(crate) fn last(&self) -> Option<Trial> {
        self.last
    }

    /// Gathers the stamps of the last trial's first `matrices` at rank 0.
    pub(crate) fn bring_stamps(&self, rank: &mut dyn Rank, matrices: u64) -> Result<AllStamps> {
        self.stamps.bring(rank, matrices)
    }

    /// Gathers the targets found by the sink at rank 0. Collective; the other ranks receive nothing.
    pub(crate) fn bring_found(&self, rank: &mut dyn Rank, chain: &Chain) -> Result<Vec<Found>> {
        let mut parts = self.parts.iter();
        let detection = parts.find_map(|part| match &part.kind {
            PartKind::Sink(sink) => sink.detection.as_deref(),
            _ => None,
        });
        detection::bring(rank, chain, detection)
    }
}

/// Posts and sends as much as possible, and then makes one step of the part that is ready and furthest down the chain,
/// or waits until something arrives. Returns false when all is done.
fn advance(parts: &mut [MemberPart], flow: &mut Flow<'_>) -> Result<bool> {
    loop {
        parts.iter_mut().try_for_each(|part| part.prepare(flow))?;
        let mut changed = false;
        while let Some(arrival) = flow.swaps.next() {
            take(parts, arrival);
            changed = true;
        }
        if !changed {
            break;
        }
    }
    let readiness = |part: &MemberPart| part.readiness(flow.trial, flow.mode);
    if let Some(ready) = parts.iter().position(|part| readiness(part) == Readiness::Now) {
        flow.deadlines.note_work();
        hear_requests(parts, flow)?;
        parts[ready].step(flow)?;
        return Ok(true);
    }
    let gate = parts.iter().enumerate().filter_map(|(index, part)| match readiness(part) {
        Readiness::At(time) => Some((time, index)),
        _ => None,
    });
    let idle = parts.len() == 1 || flow.waiting.is_empty();
    match gate.min() {
        Some((time, gated)) => {
            let now = flow.rank.now();
            flow.deadlines.polled(now);
            if idle || now >= time {
                hear_requests(parts, flow)?;
                if now < time {
                    flow.rank.wait_until(time);
                    flow.deadlines.began(time, flow.rank.now());
                }
                flow.deadlines.note_work();
                parts[gated].step(flow)?;
            } else if let Some(ended) = flow.waiting.any_that_ended(flow.rank)? {
                take(parts, ended);
            } else if flow.rank.skip_idle_polls(time)? {
                flow.deadlines.note_work();
            }
        }
        None if flow.waiting.is_empty() && parts.iter().all(MemberPart::is_done) => {
            return Ok(false);
        }
        None => {
            flow.deadlines.note_work();
            let ended = flow.waiting.next(flow.rank)?;
            take(parts, ended);
        }
    }
    Ok(true)
}

/// Sends requested blocks before a part works, so that no receiver waits for that work.
fn hear_requests(parts: &mut [MemberPart], flow: &mut Flow<'_>) -> Result<()> {
    while parts.iter().any(MemberPart::has_queued) {
        let heard = flow.waiting.request_that_came(flow.rank)?;
        let Some(ended) = heard else { break };
        let (level, ..) = ended;
        take(parts, ended);
        let requested = parts.iter_mut().find(|part| part.level == level);
        requested.map_or(Ok(()), |part| part.advance(flow))?;
    }
    Ok(())
}

fn take(parts: &mut [MemberPart], (level, purpose, came): Arrival) {
    let part = parts.iter_mut().find(|part| part.level == level);
    match part.map(|part| &mut part.kind) {
        Some(PartKind::Source(source)) => source.take(purpose, came),
        Some(PartKind::Stage(stage)) => stage.take(purpose, came),
        Some(PartKind::Sink(sink)) => sink.take(purpose, came),
        None => unreachable!("only parts of this rank post anything"),
    }
}

/// Runs a trial without messages: each stage processes each matrix, one stage after the other.
fn work_alone(parts: &mut [MemberPart], flow: &mut Flow<'_>) -> Result<()> {
    for part in parts.iter_mut() {
        if let PartKind::Stage(stage) = &mut part.kind {
            stage.clear();
        }
    }
    for matrix in 0..flow.trial.instances {
        flow.deadlines.wait_for(flow.rank, matrix);
        for part in parts.iter_mut().rev() {
            let PartKind::Stage(stage) = &mut part.kind else { continue };
            let (begin, end) = stage.work_alone(flow.rank)?;
            let level = part.level as u64;
            flow.deadlines.computed(&mut stage.usual_alone, level, (begin, end));
            flow.stamps.worked(part.level, matrix, end.since(begin));
            flow.stamps.ended(part.level, matrix, end);
            flow.deadlines.ended(matrix, level, end);
        }
    }
    Ok(())
}

impl MemberPart {
    fn operations_max(&self) -> usize {
        match &self.kind {
            PartKind::Source(source) => source.operations_max(),
            PartKind::Stage(stage) => stage.operations_max(),
            PartKind::Sink(sink) => sink.operations_max(),
        }
    }

    fn begin(&mut self, matrices: u64) {
        match &mut self.kind {
            PartKind::Source(source) => source.begin(matrices),
            PartKind::Stage(stage) => stage.begin(matrices),
            PartKind::Sink(sink) => sink.begin(matrices),
        }
    }

    fn prepare(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        match &mut self.kind {
            PartKind::Source(source) => source.prepare(flow),
            PartKind::Stage(stage) => stage.prepare(flow),
            PartKind::Sink(sink) => sink.prepare(flow),
        }
    }

    fn readiness(&self, trial: &Trial, mode: Mode) -> Readiness {
        match &self.kind {
            PartKind::Source(source) => source.readiness(trial),
            PartKind::Stage(stage) => stage.readiness(trial, mode),
            PartKind::Sink(sink) => sink.readiness(),
        }
    }

    fn step(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        match &mut self.kind {
            PartKind::Source(source) => {
                source.step(flow);
                Ok(())
            }
            PartKind::Stage(stage) => stage.step(flow),
            PartKind::Sink(sink) => sink.step(flow),
        }
    }

    /// Returns whether a block of a stage waits for a data request of another rank.
    fn has_queued(&self) -> bool {
        matches!(&self.kind, PartKind::Stage(stage) if stage.outgoing.has_queued())
    }

    /// Sends requested blocks.
    fn advance(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        match &mut self.kind {
            PartKind::Stage(stage) => stage.outgoing.advance(flow.rank, flow.waiting, flow.swaps),
            _ => Ok(()),
        }
    }

    fn is_done(&self) -> bool {
        match &self.kind {
            PartKind::Source(source) => source.is_done(),
            PartKind::Stage(stage) => stage.is_done(),
            PartKind::Sink(sink) => sink.is_done(),
        }
    }
}

/// Returns whether this machine really computes; a simulated one may only let the time pass.
fn computes(rank: &mut dyn Rank) -> bool {
    let mut computes = false;
    rank.compute(Work::new(WorkKind::FloatingPoint, 0), &mut || computes = true);
    computes
}
