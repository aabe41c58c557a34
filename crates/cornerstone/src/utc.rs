//! Dates and times in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// Returns the present time, as 2026-01-31T12:00:00Z.
pub(crate) fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    written(seconds)
}

/// Returns the present time, as 2026-01-31T12:00:00.000Z.
pub(crate) fn now_with_milliseconds() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = written(since.as_secs());
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), since.subsec_millis())
}

/// Returns `written` without the characters that are unsuitable for file names: 20260131T120000Z.
pub(crate) fn compact(written: &str) -> String {
    written.chars().filter(|c| !matches!(c, '-' | ':')).collect()
}

fn written(unix_seconds: u64) -> String {
    let (year, month, day) = civil(unix_seconds / SECONDS_PER_DAY);
    let second = unix_seconds % SECONDS_PER_DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Returns the Gregorian date `days` days after 1970-01-01.
///
/// Years are counted from 1 March, so that the leap day is the last of a year. There are 719468 days between 0000-03-01
/// and 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_agree_with_the_calendar() {
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        // `date -u -d @951782399`: the second before a leap day. Of the years that begin a century, only every fourth
        // has one.
        assert_eq!(written(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(written(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(written(1_767_225_599), "2025-12-31T23:59:59Z");
        assert_eq!(written(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_day_before() {
        // The oracle counts the days of each month by the rule of the calendar.
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..146_097 {
            assert_eq!(civil(days), (year, month, day), "day {days}");
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }

    #[test]
    fn compact_times_sort_like_times() {
        assert_eq!(compact("2026-01-31T12:00:00Z"), "20260131T120000Z");
    }
}
