//! A summary of the pauses of a processor, in words.

use record::PauseSummary;

use super::numbers::{percent, quantity};
use super::phrases::counted;

/// Maximum number of causes that are named.
const CAUSES_NAMED: usize = 6;
/// Digits after the point of a share of the time. The lost share may be small.
const DIGITS: usize = 4;

/// Returns lines for the available share of the time, the worst times, the causes, and the result of the limit.
pub(crate) fn pause_summary(summary: &PauseSummary) -> Vec<String> {
    let share = |share: f64| format!("{:.DIGITS$} %", 100.0 * share);
    let at_least = summary.available_at_least.map_or_else(String::new, |least| {
        format!(", at least {} with {}", share(least), percent(summary.confidence))
    });
    let mut lines = vec![format!("available: {} of the time{at_least}", share(summary.available))];
    let worst = summary.worst_windows.iter().map(|window| {
        let (lost, of) = (quantity(window.lost_us, "us"), quantity(window.length_us, "us"));
        format!("{lost} of {of}")
    });
    let worst: Vec<String> = worst.collect();
    if !worst.is_empty() {
        lines.push(format!("lost at worst: {}", worst.join(", ")));
    }
    lines.extend(summary.causes_by.as_ref().map(|by| format!("causes by {by}")));
    for cause in summary.causes.iter().take(CAUSES_NAMED) {
        lines.push(format!(
            "{}: {}, {} in all, {} at most",
            cause.name,
            counted(cause.count as usize, "pause"),
            quantity(cause.lost_us, "us"),
            quantity(cause.longest_us, "us")
        ));
    }
    lines.extend(limit(summary));
    lines
}

/// Returns whether all pauses were within the limit, if there is one. If none was longer in a time T, longer pauses
/// come less often than one in T / -ln(1 - confidence), at the stated confidence.
fn limit(summary: &PauseSummary) -> Option<String> {
    let limit = quantity(summary.limit_us?, "us");
    Some(match summary.beyond_limit {
        0 => {
            let one_in_s = summary.looked_s / -(1.0 - summary.confidence).ln();
            format!(
                "limit {limit}: held, the longest was {}; longer ones come less often than one in {} with {}",
                quantity(summary.longest_us, "us"),
                quantity(one_in_s, "s"),
                percent(summary.confidence)
            )
        }
        beyond => format!(
            "limit {limit}: exceeded by {beyond} of {} pauses, the longest {}",
            summary.count,
            quantity(summary.longest_us, "us")
        ),
    })
}

#[cfg(test)]
mod tests {
    use record::{PauseCause, WorstWindow};

    use super::*;

    #[test]
    fn what_pauses_come_to_in_words() {
        let cause = |name: &str, count, lost_us| PauseCause {
            name: name.into(),
            count,
            lost_us,
            longest_us: 30.0,
        };
        let mut summary = PauseSummary {
            count: 2,
            longest_us: 30.0,
            looked_s: 60.0,
            available: 0.9996,
            available_at_least: Some(0.99887),
            confidence: 0.95,
            worst_windows: vec![WorstWindow { length_us: 1e3, at_s: 0.5, lost_us: 40.0 }],
            limit_us: Some(20.0),
            beyond_limit: 1,
            causes: vec![cause("timer interrupt", 2, 40.0)],
            causes_by: Some("the tracer osnoise".into()),
        };
        assert_eq!(
            pause_summary(&summary),
            [
                "available: 99.9600 % of the time, at least 99.8870 % with 95 %",
                "lost at worst: 40.0 µs of 1.00 ms",
                "causes by the tracer osnoise",
                "timer interrupt: 2 pauses, 40.0 µs in all, 30.0 µs at most",
                "limit 20.0 µs: exceeded by 1 of 2 pauses, the longest 30.0 µs",
            ]
        );
        summary.beyond_limit = 0;
        summary.limit_us = Some(50.0);
        // 60 s / ln 20 = 20.03 s.
        assert_eq!(
            limit(&summary).unwrap(),
            "limit 50.0 µs: held, the longest was 30.0 µs; longer ones come less often than one in 20.0 s with 95 %"
        );
        summary.limit_us = None;
        assert_eq!(limit(&summary), None);
    }
}
