//! Reads the clock continuously, and detects the times in which the processor did something else.

use analysis::pauses::{PauseTotals, classify};
use contract::{Rank, Result, Source, Time, TimeSpan};
use record::{Measurement, Parameters, Pause, PauseCause, PauseSummary, Pauses};

use super::pause_causes::{PauseCauses, from_text, named_by};
use crate::bench::Bench;
use crate::case::once;
use crate::declaration::{Benchmark, Group, Repeats};
use crate::event::Event;
use crate::options::RunOption;
use crate::paper;
use crate::presentation::View;
use crate::program::{Program, Timing};
use crate::programs::common::{BENCHMARK, ITS_TAG, NO_DATA, TAG};
use crate::ranks::{Placement, RankRule};
use crate::timed_loop::latest_arrival;

pub(in crate::programs) const CLOCK: Benchmark = Benchmark {
    name: "clock",
    group: Group::RealTime,
    summary: "pauses of all processors: when, how long, which are periodic",
    explains: "A rank on every processor reads the clock continuously, all ranks at the same time. If two \
        readings are farther apart than --threshold, this is a pause: the processor did something else. `pause` \
        has their lengths in order, for each rank; `lost` is the share of the time that they took. Pauses are \
        grouped into kinds by length and period: the timer tick, pauses once a second, and irregular pauses, by \
        the decade of their length. `cornerstone calibrate` writes them into a machine file, and the simulator \
        replays them. After each pause the rank reads Linux's counters of interrupts, softirqs, switches to other \
        programs, page faults and steal; counters that increased are named as the cause. Reading takes at most 5 % \
        of the time. With --osnoise the kernel's tracer names the causes, where it is permitted. The record has the available share of the time with a lower bound, and the intervals of 1 ms \
        to 1 s in which most time was lost. With --limit the run ends with status 1 if a pause was longer. \
        --duration sets the time of the measurement (default 1 s); above 5 s, results are reported repeatedly, so \
        an interrupted run keeps them. The paper measures for half an hour.",
    source: paper::MITRE.part("section 4.2"),
    ranks: RankRule::EveryProcessorUnlessRequested,
    placement: Placement::InOrder,
    view: View::Pauses,
    cases: once,
    program: Program { timing: Timing::Slowest, in_a_row: false, ..NO_DATA },
    measure,
    lasts_s: Some(|settings, _| settings.real_time.trial_s()),
    repeats: Repeats::Never,
    options: &[&[RunOption::Duration, RunOption::Threshold, RunOption::Limit, RunOption::Osnoise]],
    repeatable: false,
    ..BENCHMARK
};

/// Maximum number of pauses that a rank stores: 2 MiB.
const KEPT_MAX: usize = 1 << 17;
/// Maximum number of pauses that it reports before the end, in addition to the summary.
const KEPT_MEANWHILE: usize = 1000;
/// Threshold if the user specifies none: a multiple of the cost of a reading, and a minimum.
const READINGS: f64 = 20.0;
const THRESHOLD_MIN: TimeSpan = TimeSpan::from_us(2);
/// Time before the ranks begin, for the agreement on the beginning.
const LEAD: TimeSpan = TimeSpan::from_us(200);

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let real_time = &bench.settings.real_time;
    let duration = TimeSpan::from_s(real_time.trial_s());
    let reading = TimeSpan::from_ps((READINGS * bench.overheads.clock_cost_ps) as u64);
    let limit = real_time.pause_limit_s.map(TimeSpan::from_s);
    // A pause that is longer than the limit must be found.
    let threshold = reading.max(THRESHOLD_MIN).min(limit.unwrap_or(TimeSpan::from_ps(u64::MAX)));
    let threshold = real_time.threshold_s.map_or(threshold, TimeSpan::from_s);
    // Each rank would take its own cost of a reading; rank 0's counts.
    let mut agreed = threshold.as_ps().to_le_bytes();
    bench.rank.broadcast(0, &mut agreed)?;
    let threshold = TimeSpan::from_ps(u64::from_le_bytes(agreed));
    let reading = TimeSpan::from_ps(bench.overheads.clock_cost_ps as u64);
    let trace = bench.settings.real_time.trace_pauses;
    let mut seen = SeenPauses::new(limit, PauseCauses::of(bench.rank.operating_system(), trace));
    let begin = latest_arrival(bench.rank)? + LEAD + bench.overheads.agreement;
    bench.rank.wait_until(begin);
    for until in ends(duration) {
        seen.watch(bench.rank, begin, until, (threshold, reading))?;
        // No rank sends while another still measures.
        bench.rank.barrier()?;
        let kept = if until < duration { KEPT_MEANWHILE } else { KEPT_MAX };
        let all = bring(bench.rank, &seen.to_bytes(kept))?;
        let watched = Watched { until, threshold, reading, limit };
        let mut measurements = Vec::new();
        for (rank, seen) in all.iter().enumerate() {
            measurements.extend(describe(bench, rank, &BroughtPauses::new(seen), watched)?);
        }
        if bench.shape.me == 0 {
            bench.emit(Event::Measured(measurements))?;
        }
        // No rank measures again while another still sends.
        bench.rank.barrier()?;
    }
    Ok(())
}

/// Returns the moments of reports: first after five seconds, then after twice as long each time, and finally every ten
/// minutes.
fn ends(duration: TimeSpan) -> Vec<TimeSpan> {
    let (first, longest) = (TimeSpan::from_s(5.0), TimeSpan::from_s(600.0));
    let next = |end: &TimeSpan| Some(*end + (*end).min(longest));
    let mut ends: Vec<TimeSpan> =
        std::iter::successors(Some(first), next).take_while(|end| *end < duration).collect();
    ends.push(duration);
    ends
}

/// The settings of the measurement.
#[derive(Clone, Copy)]
struct Watched {
    /// Time of their end, after their beginning.
    until: TimeSpan,
    threshold: TimeSpan,
    /// The time of reading the clock.
    reading: TimeSpan,
    limit: Option<TimeSpan>,
}

/// The observations of one rank.
struct SeenPauses {
    processor: u64,
    totals: PauseTotals,
    /// Beginning of each pause, after the beginning of the observation, and its length, in picoseconds.
    kept: Vec<[u64; 2]>,
    causes: PauseCauses,
    /// End of the observation, after its beginning.
    until: TimeSpan,
}

impl SeenPauses {
    /// Creates it with all its memory touched: a page fault would be a pause that the measurement itself causes, as the
    /// paper found.
    fn new(limit: Option<TimeSpan>, causes: PauseCauses) -> Self {
        let mut kept = vec![[1; 2]; KEPT_MAX];
        kept.clear();
        SeenPauses {
            processor: u64::MAX,
            totals: PauseTotals::new(limit.map_or(u64::MAX, TimeSpan::as_ps)),
            kept,
            causes,
            until: TimeSpan::ZERO,
        }
    }

    /// Measures from now until this time after the beginning.
    fn watch(
        &mut self,
        rank: &mut dyn Rank,
        begin: Time,
        until: TimeSpan,
        (threshold, reading): (TimeSpan, TimeSpan),
    ) -> Result<()> {
        self.processor = rank.processor().map_or(u64::MAX, |processor| processor as u64);
        self.causes.begin(rank);
        let end = begin + until;
        let mut last = rank.now();
        self.leave_out(self.until, last.since(begin));
        while last < end {
            if rank.skip_idle_polls(end)? {
                last = rank.now();
                continue;
            }
            let now = rank.now();
            let gap = now.since(last);
            let pause_began = last;
            last = now;
            if gap > threshold {
                let at = pause_began.since(begin).as_ps();
                let length_ps = length_ps(gap.as_ps(), reading);
                self.totals.add(at, length_ps);
                if self.kept.len() < KEPT_MAX {
                    self.kept.push([at, gap.as_ps()]);
                }
                last = self.causes.after(rank, (now, now.since(begin)), length_ps);
                self.leave_out(now.since(begin), last.since(begin));
            }
        }
        self.until = last.since(begin);
        Ok(())
    }

    /// Records that the clock was not read between these moments, because messages were sent or the counters read.
    fn leave_out(&mut self, from: TimeSpan, until: TimeSpan) {
        let length_ps = until.as_ps().saturating_sub(from.as_ps());
        if length_ps > 0 {
            self.totals.add_unobserved(from.as_ps(), length_ps);
        }
    }

    /// Returns the message to rank 0, with this number of pauses.
    fn to_bytes(&self, kept: usize) -> Vec<u8> {
        let kept = &self.kept[..self.kept.len().min(kept)];
        let totals = self.totals.to_words();
        let head = [self.processor, self.until.as_ps(), kept.len() as u64, totals.len() as u64];
        let words = head.into_iter().chain(kept.iter().flatten().copied()).chain(totals);
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        bytes.extend(self.causes.to_text().bytes());
        bytes
    }
}

/// The report of one rank.
struct BroughtPauses {
    processor: u64,
    /// End of the observation, after its beginning.
    until_ps: u64,
    kept: Vec<[u64; 2]>,
    totals: PauseTotals,
    causes: Vec<PauseCause>,
    causes_by: Option<String>,
}

/// Number of words before the pauses.
const HEAD: usize = 4;

impl BroughtPauses {
    fn new(bytes: &[u8]) -> Self {
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let head: Vec<u64> = bytes.as_chunks::<8>().0.iter().take(HEAD).map(word).collect();
        let kept_end = HEAD + 2 * head[2] as usize;
        let words_end = kept_end + head[3] as usize;
        let (words, text) = bytes.split_at(8 * words_end);
        let words: Vec<u64> = words.as_chunks::<8>().0.iter().map(word).collect();
        let text = String::from_utf8_lossy(text);
        let (totals, _) =
            PauseTotals::from_words(&words[kept_end..]).expect("a rank of this build");
        BroughtPauses {
            processor: head[0],
            until_ps: head[1],
            kept: words[HEAD..kept_end].as_chunks::<2>().0.to_vec(),
            totals,
            causes: from_text(&text),
            causes_by: named_by(&text),
        }
    }
}

/// Gathers the reports of all ranks at rank 0. Returns nothing at other ranks.
fn bring(rank: &mut dyn Rank, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    if rank.rank() != 0 {
        rank.send(0, TAG, &(mine.len() as u64).to_le_bytes())?;
        rank.send(0, TAG, mine)?;
        return Ok(all);
    }
    all.push(mine.to_vec());
    for from in 1..rank.size() {
        let mut length = [0; 8];
        rank.receive(Source::Rank(from), ITS_TAG, &mut length)?;
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        rank.receive(Source::Rank(from), ITS_TAG, &mut bytes)?;
        all.push(bytes);
    }
    Ok(all)
}

/// Returns the share of the time that was lost on `rank`, with its pauses, and the lengths of these, if there were any.
fn describe(
    bench: &Bench<'_>,
    rank: usize,
    seen: &BroughtPauses,
    watched: Watched,
) -> Result<Vec<Measurement>> {
    let subject = bench.subject(Parameters::from([("rank".into(), (rank as u64).into())]));
    let summary = PauseSummary {
        limit_us: watched.limit.map(|limit| limit.as_us()),
        causes: seen.causes.clone(),
        causes_by: seen.causes_by.clone(),
        ..seen.totals.summary(seen.until_ps, bench.settings.confidence)
    };
    let pauses: Vec<Pause> =
        seen.kept.iter().map(|&pause| to_pause(pause, watched.reading)).collect();
    let lengths: Vec<f64> = pauses.iter().map(|pause| pause.length_us).collect();
    let timing = || record::Timing::of_single_events("time", watched.until.as_s());
    let lost = vec![100.0 * (1.0 - summary.available)];
    let not_kept = summary.count - lengths.len() as u64;
    // Pauses after the last one that is kept are of no kind.
    let last = pauses.last().filter(|_| not_kept > 0);
    let kept_until_s = last.map_or(watched.until.as_s(), |last| last.at_s);
    let (longest_us, count) = (summary.longest_us, summary.count);
    let lost = Measurement {
        pauses: Some(Pauses {
            processor: usize::try_from(seen.processor).ok().filter(|&p| p != usize::MAX),
            threshold_us: watched.threshold.as_us(),
            duration_s: watched.until.as_s(),
            at_s: pauses.iter().map(|pause| pause.at_s).collect(),
            not_kept,
            kinds: classify(&pauses, kept_until_s),
            summary: Some(summary),
        }),
        ..subject.metric(("lost", "%"), lost, timing())?
    };
    if lengths.is_empty() {
        return Ok(vec![lost]);
    }
    let mut pause = subject.metric(("pause", "us"), lengths, timing())?;
    (pause.summary.max, pause.summary.n) = (longest_us, count);
    Ok(vec![lost, pause])
}

/// Returns the pause of a gap between two readings: the gap less the time of a reading, which is always in it.
fn to_pause([at, gap]: [u64; 2], reading: TimeSpan) -> Pause {
    let length = TimeSpan::from_ps(length_ps(gap, reading));
    Pause { at_s: TimeSpan::from_ps(at).as_s(), length_us: length.as_us() }
}

fn length_ps(gap_ps: u64, reading: TimeSpan) -> u64 {
    gap_ps.saturating_sub(reading.as_ps()).max(1)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::testing::Altered;

    /// Tests a machine on which a reading of the clock costs 1 µs and nothing else takes time.
    #[test]
    fn gaps_beyond_the_threshold_are_kept_and_others_are_not() {
        conformance::reference::run(1, |rank| {
            let time = Cell::new(0);
            let us = 1_000_000;
            let mut rank = Altered { time_ps: Some(&time), reading_ps: us, ..Altered::new(rank) };
            let at = |us| TimeSpan::from_us(us);
            let mut quiet = SeenPauses::new(None, PauseCauses::default());
            quiet.watch(&mut rank, Time::ZERO, at(100), (at(1), TimeSpan::ZERO))?;
            assert_eq!((quiet.kept.len(), quiet.until), (0, at(100)));
            let mut all = SeenPauses::new(None, PauseCauses::default());
            time.set(0);
            all.watch(&mut rank, Time::ZERO, at(100), (TimeSpan::from_ns(999), TimeSpan::ZERO))?;
            // The first reading is at 1 µs, the last at 100.
            assert_eq!((all.kept.len(), all.kept[0], all.kept[98]), (99, [us, us], [99 * us, us]));
            // The observations of a rank are unchanged by the transfer, and pauses that are not stored are counted.
            let brought = BroughtPauses::new(&all.to_bytes(10));
            assert_eq!((brought.kept.len(), brought.kept[9]), (10, all.kept[9]));
            assert_eq!((brought.processor, brought.until_ps), (u64::MAX, at(100).as_ps()));
            let found = brought.totals.summary(brought.until_ps, 0.95);
            // The time before the first reading was not observed.
            assert!((found.looked_s - 99e-6).abs() < 1e-12);
            assert_eq!((found.count, found.available), (99, 0.0));
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
    fn results_are_told_after_five_seconds_and_ever_more_rarely() {
        let s = |seconds: f64| TimeSpan::from_s(seconds);
        assert_eq!(ends(s(1.0)), [s(1.0)]);
        assert_eq!(ends(s(5.0)), [s(5.0)]);
        assert_eq!(ends(s(30.0)), [s(5.0), s(10.0), s(20.0), s(30.0)]);
        let of_two_hours = ends(s(7200.0));
        assert_eq!(of_two_hours[7..10], [s(640.0), s(1240.0), s(1840.0)]);
        assert_eq!(of_two_hours.last(), Some(&s(7200.0)));
    }
}
