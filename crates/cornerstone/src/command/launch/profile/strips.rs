//! The activities of each rank over time, coarse enough for a picture.

use profile::{RankRecord, Stretch, Wait};

use super::model::Strip;

/// Number of time intervals in a picture.
const PIECES: usize = 400;
/// Maximum number of ranks that are drawn.
pub(super) const RANKS_DRAWN: usize = 64;

/// Seconds of an activity in each piece of the run.
struct Pieces {
    length_s: f64,
    seconds: Vec<f64>,
}

impl Pieces {
    fn new(run_s: f64) -> Self {
        Pieces { length_s: run_s / PIECES as f64, seconds: vec![0.0; PIECES] }
    }

    /// Distributes a span over the pieces that it overlaps.
    fn add(&mut self, begin_s: f64, end_s: f64) {
        let piece = |s: f64| ((s / self.length_s) as usize).min(PIECES - 1);
        for index in piece(begin_s.max(0.0))..=piece(end_s.max(0.0)) {
            let (from, to) = (index as f64 * self.length_s, (index + 1) as f64 * self.length_s);
            self.seconds[index] += (end_s.min(to) - begin_s.max(from)).max(0.0);
        }
    }

    /// Returns the share of each piece.
    fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        self.seconds.iter().map(|seconds| (seconds / self.length_s).min(1.0))
    }
}

/// Returns the strips of the first ranks.
pub(super) fn strips(
    records: &[RankRecord],
    waits: &[Wait],
    path: &[Stretch],
    zero_s: f64,
    run_s: f64,
) -> Vec<Strip> {
    if run_s <= 0.0 {
        return Vec::new();
    }
    let strip = |(index, record): (usize, &RankRecord)| {
        let (mut inside, mut waiting) = (Pieces::new(run_s), Pieces::new(run_s));
        let at = |ticks: u64| record.clock.seconds(ticks) - zero_s;
        for event in record.events.iter().filter(|event| event.is_span) {
            inside.add(at(event.begin), at(event.end));
        }
        for wait in waits.iter().filter(|wait| wait.waiter == index) {
            waiting.add(wait.begin_s - zero_s, wait.end_s - zero_s);
        }
        let on_path = path.iter().filter(|stretch| stretch.record == index);
        let known_s = record.events.last().map_or(0.0, |event| at(event.end));
        let end_s = if record.events_lost > 0 { known_s } else { at(record.last) };
        Strip {
            rank: record.rank,
            begin_s: at(record.begin),
            end_s,
            pieces: inside.shares().zip(waiting.shares()).collect(),
            path: joined(on_path.map(|one| (one.begin_s - zero_s, one.end_s - zero_s)), run_s),
        }
    };
    records.iter().enumerate().take(RANKS_DRAWN).map(strip).collect()
}

/// Returns spans in the order of time. Spans that are closer to each other than a piece are joined.
fn joined(spans: impl Iterator<Item = (f64, f64)>, run_s: f64) -> Vec<(f64, f64)> {
    let mut found: Vec<(f64, f64)> = Vec::new();
    for (begin, end) in spans {
        match found.last_mut() {
            Some(last) if begin - last.1 < run_s / PIECES as f64 => last.1 = end,
            _ => found.push((begin, end)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of 400 s has pieces of 1 s. The rank is in MPI from 10.5 to 20 s and in the last quarter of a second.
    #[test]
    fn pieces_show_how_much_of_each_is_spent_so() {
        let mut inside = Pieces::new(400.0);
        inside.add(10.5, 20.0);
        inside.add(399.75, 400.0);
        let found: Vec<f64> = inside.shares().collect();
        assert_eq!((found.len(), found[9], found[10], found[11]), (400, 0.0, 0.5, 1.0));
        assert_eq!((found[19], found[20], found[399]), (1.0, 0.0, 0.25));
    }

    #[test]
    fn spans_that_touch_are_one() {
        let spans = [(0.0, 1.0), (1.0, 2.0), (50.0, 60.0)];
        assert_eq!(joined(spans.into_iter(), 400.0), [(0.0, 2.0), (50.0, 60.0)]);
    }
}
