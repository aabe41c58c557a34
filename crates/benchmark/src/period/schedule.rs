//! The time of a search, and of the confirmation of its result.

use super::constants::CONSTANTS;
use crate::settings::RealTime;

/// Ends of the parts of a search, in seconds since it began. Infinite without a time limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    /// End of the search for a period.
    pub(super) finding_s: f64,
    /// Time until which a confirmation may begin. The first one may begin later if the user requested it.
    pub(super) confirming_s: f64,
    /// Length of a confirmation in trials; 0 for none. Without the user's request it takes the rest of the time.
    pub(super) times: u32,
    /// True if a confirmation that has begun is completed because the user requested it. Otherwise it ends with the
    /// time limit.
    pub(super) to_its_end: bool,
}

impl Schedule {
    /// Returns the schedule on a machine on which the same work always takes the same time, or not. There one whole trial
    /// confirms what shorter ones have found, unless the user specifies otherwise.
    pub(super) fn new(real_time: &RealTime, is_steady: bool) -> Schedule {
        let limit_s = match real_time.period_s {
            Some(_) => f64::INFINITY,
            None => real_time.search_limit_s.unwrap_or(f64::INFINITY),
        };
        let (finding_s, confirming_s, times) = match real_time.confirm {
            Some(0) => (limit_s, limit_s, 0),
            Some(times) => (limit_s, 2.0 * limit_s, times),
            None if limit_s.is_finite() => (CONSTANTS.finding * limit_s, limit_s, 1),
            None => (limit_s, limit_s, 0),
        };
        let is_open = is_steady && real_time.confirm.is_none();
        Schedule {
            finding_s,
            confirming_s,
            times: if is_open { 1 } else { times },
            to_its_end: is_open || real_time.confirm.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmation_is_within_the_limit_or_as_long_as_requested() {
        let schedule = |search_limit_s, confirm, is_steady| {
            let real_time = RealTime { search_limit_s, confirm, ..RealTime::default() };
            let found = Schedule::new(&real_time, is_steady);
            (found.finding_s, found.confirming_s, found.times, found.to_its_end)
        };
        let no_end = f64::INFINITY;
        assert_eq!(schedule(Some(30.0), None, false), (15.0, 30.0, 1, false));
        assert_eq!(schedule(Some(30.0), Some(4), false), (30.0, 60.0, 4, true));
        assert_eq!(schedule(Some(30.0), Some(0), false), (30.0, 30.0, 0, true));
        assert_eq!(schedule(None, None, false), (no_end, no_end, 0, false));
        // Where work always takes the same time one trial confirms a period.
        assert_eq!(schedule(None, None, true), (no_end, no_end, 1, true));
        assert_eq!(schedule(Some(30.0), None, true), (15.0, 30.0, 1, true));
        assert_eq!(schedule(None, Some(4), true), (no_end, no_end, 4, true));
        // A given period is tested for as long as this takes.
        let real_time =
            RealTime { period_s: Some(1.0), search_limit_s: Some(30.0), ..RealTime::default() };
        assert_eq!(Schedule::new(&real_time, false).finding_s, no_end);
    }
}
