//! Which pause made an instance late.

use record::{LateInstance, PeriodSearch, SeenPause};

/// A pause explains a lateness that is no more than so many times as long: what was put off meanwhile comes on top of
/// it.
const LATER_BY: f64 = 2.0;

/// The pause that made `late` what it is, among those that the ranks met: the longest of those that an instance begun
/// before its end, or was held up by what they had put off, can have felt. A rank that works off what a pause has left
/// behind is taken to need no more than as long as the pause was.
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

/// The number of the latest instances of a search with such a cause.
pub fn explained(search: &PeriodSearch) -> usize {
    search.worst.iter().filter(|late| cause(late, &search.pauses).is_some()).count()
}

#[cfg(test)]
mod tests {
    use record::During;

    use super::*;

    fn pause(rank: usize, at_ms: f64, length_ms: f64) -> SeenPause {
        let (at_s, length_us) = (at_ms / 1e3, length_ms * 1e3);
        SeenPause { rank, at_s, length_us, during: During::Waiting }
    }

    fn late(at_ms: f64, late_ms: f64) -> LateInstance {
        let (at_s, late_us) = (at_ms / 1e3, late_ms * 1e3);
        LateInstance { period_us: 1e3, instance: 0, rank: 0, stage: 0, late_us, at_s }
    }

    #[test]
    fn the_longest_pause_that_an_instance_met_is_its_cause() {
        let pauses = [pause(0, 10.0, 1.0), pause(1, 100.0, 4.0), pause(0, 101.0, 2.5)];
        // It began at 100.5 ms, was due at 101.5 and came at 104.5.
        assert_eq!(cause(&late(104.5, 3.0), &pauses).map(|pause| pause.rank), Some(1));
        // It came before the pause.
        assert_eq!(cause(&late(99.9, 0.5), &pauses), None);
    }

    #[test]
    fn what_a_pause_put_off_is_late_for_as_long_again_and_no_longer() {
        let pauses = [pause(0, 100.0, 4.0)];
        // Over at 104 ms, felt until 108: what began at 107 ms may be late by it, what began at 109 not.
        assert!(cause(&late(109.0, 1.0), &pauses).is_some());
        assert!(cause(&late(111.0, 1.0), &pauses).is_none());
    }

    #[test]
    fn a_short_pause_does_not_explain_a_long_delay() {
        assert_eq!(cause(&late(110.0, 9.0), &[pause(0, 101.0, 1.0)]), None);
    }
}
