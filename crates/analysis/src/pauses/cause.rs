//! Finds the pause that made an instance late.

use record::{LateInstance, PeriodSearch, SeenPause};

/// Factor of a pause's length up to which it explains a lateness: work that was delayed in the pause is added to it.
const LATER_BY: f64 = 2.0;

/// Returns the pause that made `late` late, among those of the ranks. It is the longest of those that affected the
/// instance: the instance had begun before the pause's end, or met work that the pause had delayed. A rank is assumed
/// to finish delayed work in at most the length of the pause.
pub fn cause<'a>(late: &LateInstance, pauses: &'a [SeenPause]) -> Option<&'a SeenPause> {
    let begin_s = late.at_s - (late.late_us + late.period_us) / 1e6;
    let explains = |pause: &&SeenPause| {
        let felt_until_s = pause.at_s + 2.0 * pause.length_us / 1e6;
        pause.at_s < late.at_s
            && felt_until_s >= begin_s
            && late.late_us <= LATER_BY * pause.length_us
    };
    pauses.iter().filter(explains).max_by(|a, b| a.length_us.total_cmp(&b.length_us))
}

/// Returns the number of the latest instances of a search with such a cause.
pub fn explained(search: &PeriodSearch) -> usize {
    search.worst.iter().filter(|late| cause(late, &search.pauses).is_some()).count()
}

#[cfg(test)]
mod tests {
    use record::During;

    use super::*;

    fn pause(rank: usize, at_ms: f64, length_ms: f64) -> SeenPause {
        let (at_s, length_us) = (at_ms / 1e3, length_ms * 1e3);
        SeenPause { rank, at_s, length_us, during: During::Waiting, stage: None }
    }

    fn late(at_ms: f64, late_ms: f64) -> LateInstance {
        let (at_s, late_us) = (at_ms / 1e3, late_ms * 1e3);
        LateInstance {
            period_us: 1e3,
            instance: 0,
            rank: 0,
            stage: 0,
            late_us,
            broken: Default::default(),
            at_s,
        }
    }

    #[test]
    fn the_longest_pause_that_an_instance_met_is_its_cause() {
        let pauses = [pause(0, 10.0, 1.0), pause(1, 100.0, 4.0), pause(0, 101.0, 2.5)];
        // It began at 100.5 ms, was due at 101.5 and ended at 104.5.
        assert_eq!(cause(&late(104.5, 3.0), &pauses).map(|pause| pause.rank), Some(1));
        // It ended before the pause.
        assert_eq!(cause(&late(99.9, 0.5), &pauses), None);
    }

    #[test]
    fn what_a_pause_put_off_is_late_for_as_long_again_and_no_longer() {
        let pauses = [pause(0, 100.0, 4.0)];
        // Over at 104 ms, with effects until 108: an instance that began at 107 ms may be late by it, one that began at
        // 109 not.
        assert!(cause(&late(109.0, 1.0), &pauses).is_some());
        assert!(cause(&late(111.0, 1.0), &pauses).is_none());
    }

    #[test]
    fn a_short_pause_does_not_explain_a_long_delay() {
        assert_eq!(cause(&late(110.0, 9.0), &[pause(0, 101.0, 1.0)]), None);
    }
}
