//! How far pauses explain that an instance was late.

use crate::constants::KINDS;
use record::{Broken, LateInstance, PeriodSearch, SeenPause};

/// The time by which an instance took longer than usual, and the part of it that pauses explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explanation<'a> {
    /// The longest pause that affected the instance.
    pub longest: Option<&'a SeenPause>,
    /// Time beyond the usual: its lateness and its period, less the usual response, in microseconds.
    pub longer_us: f64,
    /// The part of that in which some rank was in a pause. The rest is not explained.
    pub by_pauses_us: f64,
}

impl Explanation<'_> {
    /// Returns whether pauses explain it but for what caches and polls may take.
    pub fn is_whole(&self) -> bool {
        self.by_pauses_us >= KINDS.wholly * self.longer_us
    }

    /// Returns the time that no pause explains, in microseconds.
    pub fn rest_us(&self) -> f64 {
        self.longer_us - self.by_pauses_us
    }
}

/// Returns how far the pauses of a search explain one of its late instances: as long as they took, and no longer. Pauses of
/// several ranks at one time delay it once. A pause that ended before the instance began has put off work; its rank is assumed
/// to make up for that as fast as time passes.
pub fn explain<'a>(search: &'a PeriodSearch, late: &LateInstance) -> Explanation<'a> {
    let took_us = limit_us(search, late) + late.late_us;
    let longer_us = (took_us - usual_us(search, late.broken)).max(late.late_us);
    let (begin_s, end_s) = (late.at_s - took_us / 1e6, late.at_s);
    let delays = search.pauses.iter().filter_map(|pause| {
        let (from_s, until_s) = (pause.at_s, pause.at_s + pause.length_us / 1e6);
        let span = match until_s >= begin_s {
            true => (from_s, until_s.min(end_s)),
            false => (begin_s, begin_s + (until_s - from_s) - (begin_s - until_s)),
        };
        (span.0 < span.1).then_some((span, pause))
    });
    let mut delays: Vec<((f64, f64), &SeenPause)> = delays.collect();
    delays.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    let (mut paused_s, mut until_s) = (0.0, f64::NEG_INFINITY);
    for ((from_s, to_s), _) in &delays {
        paused_s += (to_s - from_s.max(until_s)).max(0.0);
        until_s = to_s.max(until_s);
    }
    let pauses = delays.into_iter().map(|(_, pause)| pause);
    let longest = pauses.max_by(|a, b| a.length_us.total_cmp(&b.length_us));
    Explanation { longest, longer_us, by_pauses_us: (1e6 * paused_s).min(longer_us) }
}

/// Returns the explanations of the latest instances of a search together: their share that pauses explain, and the number of
/// those that they explain wholly.
pub fn explained(search: &PeriodSearch) -> (f64, usize) {
    let all: Vec<Explanation<'_>> = search.worst.iter().map(|late| explain(search, late)).collect();
    let sum = |of: fn(&Explanation<'_>) -> f64| all.iter().map(of).sum::<f64>();
    let (by_pauses_us, longer_us) = (sum(|one| one.by_pauses_us), sum(|one| one.longer_us));
    let wholly = all.iter().filter(|one| one.is_whole()).count();
    (if longer_us > 0.0 { by_pauses_us / longer_us } else { 0.0 }, wholly)
}

/// Returns the time that an instance had.
fn limit_us(search: &PeriodSearch, late: &LateInstance) -> f64 {
    let required = search.required.unwrap_or_default();
    let limit_us = match late.broken {
        Broken::Deadline => Some(late.period_us),
        Broken::Latency => required.latency_us,
        Broken::Jitter => required.jitter_us,
    };
    limit_us.unwrap_or(late.period_us)
}

/// Returns the usual time of an instance: the median of a trial without a backlog, or of the judged instances.
fn usual_us(search: &PeriodSearch, broken: Broken) -> f64 {
    let judged = |metric: &str| search.judged.iter().find(|one| one.metric == metric);
    let median = |metric| judged(metric).map_or(0.0, |one| one.median_us);
    match broken {
        Broken::Deadline => {
            let least = search.trials.iter().map(|one| one.response_median_us);
            least.reduce(f64::min).unwrap_or_default()
        }
        Broken::Latency => median("latency"),
        Broken::Jitter => median("jitter"),
    }
}

#[cfg(test)]
mod tests {
    use record::{During, SearchEnd};

    use super::*;

    fn pause(rank: usize, at_ms: f64, length_ms: f64) -> SeenPause {
        let (at_s, length_us) = (at_ms / 1e3, length_ms * 1e3);
        SeenPause { rank, at_s, length_us, during: During::Waiting, stage: None }
    }

    /// Returns the explanation, in milliseconds, of an instance of 1 ms that ended at a moment and was so late, where 0.8 ms
    /// are usual: the time beyond the usual, the part by pauses, and the rank of the longest.
    fn explained_ms(pauses: &[SeenPause], at_ms: f64, late_ms: f64) -> (f64, f64, Option<usize>) {
        let late = LateInstance {
            period_us: 1e3,
            instance: 0,
            rank: 0,
            stage: 0,
            late_us: late_ms * 1e3,
            broken: Broken::Deadline,
            at_s: at_ms / 1e3,
        };
        let search = searched(pauses.to_vec(), vec![late.clone()]);
        let found = explain(&search, &late);
        let ms = |us: f64| (us * 10.0).round() / 1e4;
        (ms(found.longer_us), ms(found.by_pauses_us), found.longest.map(|pause| pause.rank))
    }

    fn searched(pauses: Vec<SeenPause>, worst: Vec<LateInstance>) -> PeriodSearch {
        let trial = record::Trial {
            period_us: 1e3,
            begin_s: 0.0,
            instances: 100,
            missed: 1,
            miss_rate_max: 0.1,
            miss_rate_min: 0.0,
            sustained: false,
            refused: false,
            proven: false,
            response_median_us: 800.0,
        };
        PeriodSearch {
            instances_needed: 299,
            trials: vec![trial],
            worst,
            pauses,
            ..PeriodSearch::new(SearchEnd::OnePeriod, 0.01, 0.95)
        }
    }

    #[test]
    fn a_pause_explains_as_much_as_it_is_long() {
        // Due at 101.5 ms and late by 3, it took 4 ms, 3.2 more than usual; the pause of 4 ms explains all of it.
        let pauses = [pause(0, 10.0, 1.0), pause(1, 100.6, 3.5), pause(0, 101.0, 2.5)];
        assert_eq!(explained_ms(&pauses, 104.5, 3.0), (3.2, 3.2, Some(1)));
        // 10 ms late, it took 10.2 more, of which a pause of 1 ms explains 1.
        assert_eq!(explained_ms(&[pause(0, 101.0, 1.0)], 111.0, 10.0), (10.2, 1.0, Some(0)));
        // It ended before the pause.
        assert_eq!(explained_ms(&pauses, 99.9, 0.5), (0.7, 0.0, None));
    }

    #[test]
    fn pauses_at_one_time_delay_once_and_those_after_each_other_add_up() {
        // It began at 100 ms and took 10. Two ranks pause from 102 to 105 and 104 to 106 ms, one from 108 to 109.
        let pauses = [pause(0, 102.0, 3.0), pause(1, 104.0, 2.0), pause(1, 108.0, 1.0)];
        assert_eq!(explained_ms(&pauses, 110.0, 9.0), (9.2, 5.0, Some(0)));
    }

    #[test]
    fn what_a_pause_put_off_is_made_up_for_as_time_passes() {
        // A pause until 104 ms. Instances that begin at 105, 107 and 108 ms find work of 3, 1 and no ms.
        let by_pauses =
            |begin_ms: f64| explained_ms(&[pause(0, 100.0, 4.0)], begin_ms + 5.0, 4.0).1;
        assert_eq!([105.0, 107.0, 108.0].map(by_pauses), [3.0, 1.0, 0.0]);
    }

    #[test]
    fn instances_are_explained_together_and_wholly() {
        let late = |at_ms: f64| LateInstance {
            period_us: 1e3,
            instance: 0,
            rank: 0,
            stage: 0,
            late_us: 3e3,
            broken: Broken::Deadline,
            at_s: at_ms / 1e3,
        };
        // Each took 4 ms, 3.2 more than usual. One met a pause of 3.5 ms, the other one of 0.8 ms.
        let pauses = vec![pause(0, 100.2, 3.5), pause(0, 201.0, 0.8)];
        let (share, wholly) = explained(&searched(pauses, vec![late(104.0), late(204.0)]));
        assert!((share - 4.0 / 6.4).abs() < 1e-6 && wholly == 1, "{share} {wholly}");
        assert_eq!(explained(&searched(Vec::new(), Vec::new())), (0.0, 0));
    }
}
