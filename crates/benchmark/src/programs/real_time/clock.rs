//! Reads the clock without pause, and finds when the processor did something else.

use analysis::pauses::classify;
use contract::record::{self, Measurement, Parameters, Pause, Pauses};
use contract::{Rank, Result, Source, Time, TimeSpan};

use crate::bench::Bench;
use crate::case::once;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::paper;
use crate::presentation::View;
use crate::program::{Program, Timing};
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, ITS_TAG, TAG};
use crate::ranks::{Placement, RankRule};
use crate::timed_loop::latest_arrival;

pub(in crate::programs) const CLOCK: Benchmark = Benchmark {
    name: "clock",
    group: Group::RealTime,
    summary: "pauses of every processor at once: when, how long, which come again",
    explains: "A rank on every processor reads the clock again and again, all at the same time. Two readings farther apart \
        than --threshold are a pause: the processor did something else. `pause` holds their lengths in the order in \
        which they came, for each rank; `lost` is the share of the time that they took. The pauses are sorted into kinds \
        by length and period: the timer's tick, what comes once a second, and what is irregular, by the decade of its \
        length. `cornerstone calibrate` writes them into a machine file, and the simulator replays them. --duration says \
        how long to look (1 s if not given). The paper looks for half an hour.",
    source: paper::MITRE.part("section 4.2"),
    ranks: RankRule::EveryProcessor,
    placement: Placement::Spread,
    view: View::Pauses,
    cases: once,
    program: Program {
        timing: Timing::Slowest,
        in_a_row: false,
        blocks: |_| Blocks::NONE,
        received: Received::Nothing,
        moved: |_| 0,
        ..BETWEEN_TWO
    },
    measure,
    lasts_s: Some(|settings, _| settings.real_time.trial_s()),
    repeatable: false,
    ..BENCHMARK
};

/// The most pauses that a rank keeps: 2 MiB.
const KEPT_MAX: usize = 1 << 17;
/// The threshold if none is given: so many times the cost of a reading, and at least this.
const READINGS: f64 = 20.0;
const THRESHOLD_MIN: TimeSpan = TimeSpan::from_us(2);
/// Before the ranks begin, for the agreement on it.
const LEAD: TimeSpan = TimeSpan::from_us(200);

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let real_time = &bench.settings.real_time;
    let duration = TimeSpan::from_s(real_time.trial_s());
    let reading = TimeSpan::from_ps((READINGS * bench.overheads.clock_cost_ps) as u64);
    let threshold = real_time.threshold_s.map_or(reading.max(THRESHOLD_MIN), TimeSpan::from_s);
    // Each rank would take its own cost of a reading; rank 0's counts.
    let mut agreed = threshold.as_ps().to_le_bytes();
    bench.rank.broadcast(0, &mut agreed)?;
    let threshold = TimeSpan::from_ps(u64::from_le_bytes(agreed));
    let mut seen = SeenPauses::new();
    let begin = latest_arrival(bench.rank)? + LEAD + bench.overheads.agreement;
    bench.rank.wait_until(begin);
    seen.watch(bench.rank, begin, duration, threshold);
    // Nobody sends while another still looks.
    bench.rank.barrier()?;
    let all = bring(bench.rank, &seen)?;
    if bench.shape.me != 0 {
        return Ok(());
    }
    let mut measurements = Vec::new();
    for (rank, seen) in all.iter().enumerate() {
        measurements.extend(describe(bench, rank, seen, duration, threshold)?);
    }
    bench.tell(Event::Measured(measurements))
}

/// What one rank saw; as words, what it tells rank 0.
struct SeenPauses {
    processor: u64,
    count: u64,
    /// When each pause began, after the beginning, and how long it was, in picoseconds.
    kept: Vec<[u64; 2]>,
}

impl SeenPauses {
    /// With all its memory touched: a page fault would be a pause of our own making, as the paper found.
    fn new() -> Self {
        let mut kept = vec![[1; 2]; KEPT_MAX];
        kept.clear();
        SeenPauses { processor: u64::MAX, count: 0, kept }
    }

    fn watch(&mut self, rank: &dyn Rank, begin: Time, duration: TimeSpan, threshold: TimeSpan) {
        self.processor = rank.processor().map_or(u64::MAX, |processor| processor as u64);
        let end = begin + duration;
        let mut last = rank.now();
        while last < end {
            let now = rank.now();
            let gap = now.since(last);
            if gap > threshold {
                self.count += 1;
                if self.kept.len() < KEPT_MAX {
                    self.kept.push([last.since(begin).as_ps(), gap.as_ps()]);
                }
            }
            last = now;
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let head = [self.processor, self.count, self.kept.len() as u64];
        let words = head.into_iter().chain(self.kept.iter().flatten().copied());
        words.flat_map(u64::to_le_bytes).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let words: Vec<u64> =
            bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let kept = words[HEAD..].as_chunks::<2>().0.to_vec();
        SeenPauses { processor: words[0], count: words[1], kept }
    }
}

/// Words before the pauses.
const HEAD: usize = 3;

/// Brings what every rank saw to rank 0; elsewhere nothing.
fn bring(rank: &mut dyn Rank, mine: &SeenPauses) -> Result<Vec<SeenPauses>> {
    let bytes = mine.to_bytes();
    let mut all = Vec::new();
    if rank.rank() != 0 {
        rank.send(0, TAG, &(bytes.len() as u64).to_le_bytes())?;
        rank.send(0, TAG, &bytes)?;
        return Ok(all);
    }
    all.push(SeenPauses::from_bytes(&bytes));
    for from in 1..rank.size() {
        let mut length = [0; 8];
        rank.receive(Source::Rank(from), ITS_TAG, &mut length)?;
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        rank.receive(Source::Rank(from), ITS_TAG, &mut bytes)?;
        all.push(SeenPauses::from_bytes(&bytes));
    }
    Ok(all)
}

/// The share of the time that was lost on `rank`, with its pauses, and how long each of them was, if there were any.
fn describe(
    bench: &Bench<'_>,
    rank: usize,
    seen: &SeenPauses,
    duration: TimeSpan,
    threshold: TimeSpan,
) -> Result<Vec<Measurement>> {
    let subject = bench.subject(Parameters::from([("rank".into(), (rank as u64).into())]));
    let reading = TimeSpan::from_ps(bench.overheads.clock_cost_ps as u64);
    let pauses: Vec<Pause> = seen.kept.iter().map(|&pause| to_pause(pause, reading)).collect();
    let lengths: Vec<f64> = pauses.iter().map(|pause| pause.length_us).collect();
    let timing = || record::Timing::of_single_events("time", duration.as_s());
    let lost = vec![100.0 * lengths.iter().sum::<f64>() / duration.as_us()];
    let lost = Measurement {
        pauses: Some(Pauses {
            processor: usize::try_from(seen.processor).ok().filter(|&p| p != usize::MAX),
            threshold_us: threshold.as_us(),
            duration_s: duration.as_s(),
            at_s: pauses.iter().map(|pause| pause.at_s).collect(),
            not_kept: seen.count - seen.kept.len() as u64,
            kinds: classify(&pauses, duration.as_s()),
        }),
        ..subject.metric(("lost", "%"), lost, timing())?
    };
    if lengths.is_empty() {
        return Ok(vec![lost]);
    }
    Ok(vec![lost, subject.metric(("pause", "us"), lengths, timing())?])
}

/// A gap between two readings, less what a reading takes, which is always in it.
fn to_pause([at, gap]: [u64; 2], reading: TimeSpan) -> Pause {
    let length = TimeSpan::from_ps(gap.saturating_sub(reading.as_ps()).max(1));
    Pause { at_s: TimeSpan::from_ps(at).as_s(), length_us: length.as_us() }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::testing::Altered;

    /// The clock costs 1 µs a reading on this machine; nothing else takes time.
    #[test]
    fn gaps_beyond_the_threshold_are_kept_and_others_are_not() {
        contract::reference::run(1, |rank| {
            let time = Cell::new(0);
            let us = 1_000_000;
            let rank = Altered { time_ps: Some(&time), reading_ps: us, ..Altered::new(rank) };
            let at = |us| TimeSpan::from_us(us);
            let mut quiet = SeenPauses::new();
            quiet.watch(&rank, Time::ZERO, at(100), at(1));
            assert_eq!((quiet.count, quiet.kept.len()), (0, 0));
            let mut all = SeenPauses::new();
            time.set(0);
            all.watch(&rank, Time::ZERO, at(100), TimeSpan::from_ns(999));
            // The first reading is at 1 µs, the last at 100.
            assert_eq!((all.count, all.kept[0], all.kept[98]), (99, [us, us], [99 * us, us]));
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn a_pause_is_a_gap_less_the_reading_that_is_in_it() {
        let us = |us| TimeSpan::from_us(us);
        let pause = to_pause([us(5).as_ps(), us(113).as_ps()], us(1));
        assert_eq!((pause.at_s, pause.length_us), (5e-6, 112.0));
    }

    #[test]
    fn what_a_rank_saw_survives_the_wire() {
        let seen = SeenPauses { processor: 3, count: 9, kept: vec![[1, 2], [3, 4]] };
        let back = SeenPauses::from_bytes(&seen.to_bytes());
        assert_eq!((back.processor, back.count, back.kept), (3, 9, vec![[1, 2], [3, 4]]));
    }
}
