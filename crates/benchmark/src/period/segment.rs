//! Segments: stretches of a trial that all ranks run at once, and whose records rank 0 gathers.

use contract::{Buffer, Element, Operation, Rank, Reduction, Result, TimeSpan};

use super::acceptance::Limits;
use super::constants::CONSTANTS;
use super::deadlines::{Body, Deadlines};
use super::notes::{Interruption, LateEnd, NOTE_WORDS, Note};
use super::trial::Trial;
use crate::timed_loop::latest_arrival;

const LATEST: Reduction = Reduction::new(Element::U64, Operation::Maximum);

/// Time between an agreement on an instant and the instant, as a multiple of the time of the agreement, and its
/// minimum. A rank that is late for its first instance counts against the period.
const AGREEMENTS: u64 = 8;
const SLACK_MIN: TimeSpan = TimeSpan::from_us(20);
/// Maximum number of times that this time is doubled because a rank was late. Later segments use the doubled time.
const DOUBLED_MAX: u32 = 6;
/// Number of instances below which a segment is repeated if a rank was late for the first, because that one would count
/// for more than the permitted share. In a longer one the rank was paused at this moment as at any other, and a
/// repetition would cost as much again.
const REPEATED_BELOW: u64 = 100;

/// Records of a segment; empty at every rank except 0.
#[derive(Default)]
pub(super) struct TrialSegment {
    /// Time from the start of each instance to its last end on any rank, in picoseconds.
    pub(super) responses_ps: Vec<u64>,
    /// Latency and jitter of each instance, in picoseconds.
    pub(super) latencies_ps: Vec<u64>,
    pub(super) jitters_ps: Vec<u64>,
    /// Latest ends of each rank, with the rank.
    pub(super) worst: Vec<(usize, LateEnd)>,
    /// Longest pauses of each rank, with the rank.
    pub(super) pauses: Vec<(usize, Interruption)>,
}

/// Buffers for segments. They are created before the first one, so that no segment allocates.
pub(super) struct TrialSegments<'a> {
    body: Body<'a>,
    /// Time of an agreement on an instant.
    agreement: TimeSpan,
    limits: Limits,
    deadlines: Option<Deadlines>,
    room: u64,
    run: u64,
    /// Number of times that a rank was late for the first instance, at most `DOUBLED_MAX`; the same at every rank.
    late_starts: u32,
}

impl<'a> TrialSegments<'a> {
    pub(super) fn new(body: Body<'a>, agreement: TimeSpan) -> Self {
        let limits = Limits::default();
        TrialSegments { body, agreement, limits, deadlines: None, room: 0, run: 0, late_starts: 0 }
    }

    /// Changes them so that ranks note the instances that exceed `limits`.
    pub(super) fn within(self, limits: Limits) -> Self {
        TrialSegments { limits, ..self }
    }

    /// Allocates for segments of up to `instances`.
    pub(super) fn reserve(&mut self, instances: u64) -> Result<()> {
        if self.deadlines.is_none() || self.room < instances {
            self.deadlines = Some(Deadlines::new(instances)?.within(self.limits));
            self.room = instances;
        }
        Ok(())
    }

    /// Runs `instances` of `period`. Collective.
    pub(super) fn run(
        &mut self,
        rank: &mut dyn Rank,
        period: TimeSpan,
        instances: u64,
    ) -> Result<TrialSegment> {
        self.reserve(instances)?;
        let Some(deadlines) = &mut self.deadlines else { unreachable!("room was just made") };
        loop {
            let slack = (self.agreement.times(AGREEMENTS) + SLACK_MIN).times(1 << self.late_starts);
            let begin = latest_arrival(rank)? + slack;
            let mine_is_late = rank.now() > begin;
            let trial = Trial { period, instances, begin, number: self.run };
            self.run += 1;
            deadlines.begin(trial);
            rank.wait_until(begin);
            (self.body)(rank, &trial, deadlines)?;
            // The reduction also keeps every rank here until all have ended: no rank sends while another still works.
            let mine = [u64::from(mine_is_late), deadlines.pauses().len() as u64];
            let [late, pauses] = maximums(rank, mine)?;
            let any_is_late = late > 0;
            let may_repeat = instances < REPEATED_BELOW && self.late_starts < DOUBLED_MAX;
            self.late_starts = DOUBLED_MAX.min(self.late_starts + u32::from(any_is_late));
            if !(any_is_late && may_repeat) {
                return bring(rank, deadlines, pauses as usize);
            }
        }
    }
}

fn maximums(rank: &mut dyn Rank, mine: [u64; 2]) -> Result<[u64; 2]> {
    let mut all = [[0; 8]; 2];
    let mine = mine.map(u64::to_ne_bytes);
    rank.allreduce(LATEST, mine.as_flattened(), all.as_flattened_mut())?;
    Ok(all.map(u64::from_ne_bytes))
}

/// Gathers the notes of a segment in which no rank noted more than so many pauses.
fn bring(rank: &mut dyn Rank, deadlines: &Deadlines, pauses_max: usize) -> Result<TrialSegment> {
    let root = rank.rank() == 0;
    let mut longest = |times: &[u8]| {
        let mut all = Buffer::try_zeroed(if root { times.len() } else { 0 })?;
        rank.reduce(0, LATEST, times, &mut all)?;
        Ok(all.elements::<u64>().to_vec())
    };
    let [responses, latencies, jitters] = deadlines.times();
    let (responses_ps, latencies_ps) = (longest(responses)?, longest(latencies)?);
    let jitters_ps = longest(jitters)?;
    let worst = bring_notes(rank, deadlines.worst(), CONSTANTS.late_noted)?;
    let pauses = bring_notes(rank, deadlines.pauses(), pauses_max)?;
    Ok(TrialSegment { responses_ps, latencies_ps, jitters_ps, worst, pauses })
}

const NOTE_BYTES: usize = NOTE_WORDS * size_of::<u64>();

/// Gathers every rank's records, at most `most` of each, at rank 0.
fn bring_notes<T: Note>(rank: &mut dyn Rank, mine: &[T], most: usize) -> Result<Vec<(usize, T)>> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let bytes = most * NOTE_BYTES;
    let mut send = vec![0; bytes];
    let words = mine.iter().flat_map(|note| note.to_words());
    for (place, word) in send.chunks_exact_mut(size_of::<u64>()).zip(words) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    let root = rank.rank() == 0;
    let mut receive = vec![0; if root { rank.size() * bytes } else { 0 }];
    rank.gather(0, &send, &mut receive)?;
    let mut all = Vec::new();
    for (from, block) in receive.chunks_exact(bytes).enumerate() {
        let notes = block.chunks_exact(NOTE_BYTES).map(|bytes| {
            let (words, _) = bytes.as_chunks::<8>();
            T::from_words(std::array::from_fn(|index| u64::from_ne_bytes(words[index])))
        });
        all.extend(notes.filter(|note| note.length() > TimeSpan::ZERO).map(|note| (from, note)));
    }
    Ok(all)
}
