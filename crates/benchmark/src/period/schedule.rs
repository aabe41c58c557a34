//! The time of a search, and of the confirmation of its result.

use crate::settings::RealTime;

/// Length of a confirmation in trials, if the user specifies none.
const TIMES: u32 = 10;
/// Share of a search's time for finding a period, if the rest is used to confirm it.
const FINDING: f64 = 0.5;
/// Share of the finding after which gaps are not narrowed further and the trials of the ends are repeated.
const NARROWING: f64 = 0.5;

/// Ends of the parts of a search, in seconds since it began. Infinite without a time limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    /// End of the narrowing of gaps.
    pub(super) narrowing_s: f64,
    /// End of the search for a period.
    pub(super) finding_s: f64,
    /// Time until which a confirmation may begin. The first one may begin later if the user requested it.
    pub(super) confirming_s: f64,
    /// Length of a confirmation in trials; 0 for none.
    pub(super) times: u32,
    /// True if a confirmation that has begun is completed because the user requested it. Otherwise it ends with the
    /// time limit.
    pub(super) to_its_end: bool,
}

impl Schedule {
    pub(super) fn new(real_time: &RealTime) -> Schedule {
        let limit_s = match real_time.period_s {
            Some(_) => f64::INFINITY,
            None => real_time.search_limit_s.unwrap_or(f64::INFINITY),
        };
        let (finding_s, confirming_s, times) = match real_time.confirm {
            Some(0) => (limit_s, limit_s, 0),
            Some(times) => (limit_s, 2.0 * limit_s, times),
            None if limit_s.is_finite() => (FINDING * limit_s, limit_s, TIMES),
            None => (limit_s, limit_s, 0),
        };
        let to_its_end = real_time.confirm.is_some();
        Schedule { narrowing_s: NARROWING * finding_s, finding_s, confirming_s, times, to_its_end }
    }

    /// Returns the schedule on a machine on which the same work always takes the same time, or not. There one whole trial
    /// confirms what shorter ones have found, unless the user specifies otherwise.
    pub(super) fn on_machine(self, is_steady: bool) -> Schedule {
        let is_open = is_steady && !self.to_its_end;
        let times = if is_open { 1 } else { self.times };
        Schedule { times, to_its_end: is_open || self.to_its_end, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(search_limit_s: Option<f64>, confirm: Option<u32>) -> Schedule {
        Schedule::new(&RealTime { search_limit_s, confirm, ..RealTime::default() })
    }

    #[test]
    fn a_search_with_a_limit_confirms_within_it_if_nothing_is_said() {
        let Schedule { narrowing_s, finding_s, confirming_s, times, to_its_end } =
            schedule(Some(30.0), None);
        assert_eq!((narrowing_s, finding_s, confirming_s), (7.5, 15.0, 30.0));
        assert!(times == 10 && !to_its_end);
    }

    #[test]
    fn a_confirmation_that_is_asked_for_comes_after_the_search_and_takes_as_long_again_at_most() {
        let Schedule { narrowing_s, finding_s, confirming_s, times, to_its_end } =
            schedule(Some(30.0), Some(4));
        assert_eq!((narrowing_s, finding_s, confirming_s), (15.0, 30.0, 60.0));
        assert!(times == 4 && to_its_end);
    }

    #[test]
    fn where_work_always_takes_the_same_time_one_trial_confirms_a_period() {
        let steady = |limit_s, confirm| {
            let Schedule { times, to_its_end, .. } = schedule(limit_s, confirm).on_machine(true);
            (times, to_its_end)
        };
        assert_eq!([steady(None, None), steady(Some(30.0), None)], [(1, true); 2]);
        assert_eq!([steady(None, Some(0)), steady(None, Some(4))], [(0, true), (4, true)]);
        assert_eq!(schedule(None, None).on_machine(false), schedule(None, None));
    }

    #[test]
    fn nothing_is_confirmed_where_that_is_unwanted_or_time_has_no_end() {
        assert_eq!((schedule(Some(30.0), Some(0)).times, schedule(None, None).times), (0, 0));
        assert_eq!(schedule(Some(30.0), Some(0)).finding_s, 30.0);
        // A given period is tested for as long as this takes.
        let real_time =
            RealTime { period_s: Some(1.0), search_limit_s: Some(30.0), ..RealTime::default() };
        assert_eq!(Schedule::new(&real_time).finding_s, f64::INFINITY);
        assert_eq!(Schedule::new(&real_time).times, 0);
    }
}
