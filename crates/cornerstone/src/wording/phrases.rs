//! Ranges, counts and waits in words.

use benchmark::PAIR;
use record::{Measurement, PauseKind};

use super::numbers::quantity;

/// Returns `low` and `high` of `unit` as a range.
pub(crate) fn range(low: f64, high: f64, unit: &str) -> String {
    between(quantity(low, unit), quantity(high, unit))
}

/// Returns two quantities as a range, with their unit once if it is the same.
pub(crate) fn between(low: String, high: String) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} .. {high}"),
        _ => format!("{low} .. {high}"),
    }
}

/// Returns a count with its noun: `1 launch`, `2 launches`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    let ending = match thing {
        _ if count == 1 => "",
        _ if thing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {thing}{ending}")
}

/// Returns a number of ranks.
pub(crate) fn ranks(count: usize) -> String {
    counted(count, "rank")
}

/// Returns the number of ranks of a measurement, and the place of its pair if it has one.
pub(crate) fn ranks_of(measurement: &Measurement) -> String {
    let count = ranks(measurement.ranks);
    match measurement.parameters.get(PAIR) {
        Some(pair) => format!("{count}, {}", pair.to_string().replace('-', " ")),
        None => count,
    }
}

/// Returns the words for a kind of pauses: their interval and their length.
pub(crate) fn pause_kind(kind: &PauseKind) -> String {
    let us = |us: f64| quantity(us, "us");
    let when = if kind.regular {
        format!("every {}", us(kind.period_us))
    } else {
        format!("irregular, {} in all, one in {}", kind.count, us(kind.period_us))
    };
    format!(
        "{when}: {} ({} .. {})",
        us(kind.length_median_us),
        us(kind.length_min_us),
        us(kind.length_max_us)
    )
}

/// Returns a time to wait in words, at least one second: `45 s`, `3 min 05 s`.
pub(crate) fn wait(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match seconds {
        0 => "1 s".into(),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_names_its_unit_once_where_both_ends_have_it() {
        assert_eq!(range(0.1714, 0.1801, "us"), "171 .. 180 ns");
        assert_eq!(range(0.95, 1.05, "us"), "950 ns .. 1.05 µs");
        assert_eq!(range(17_000.0, 18_230.0, "MB/s"), "17.0 .. 18.2 GB/s");
    }

    #[test]
    fn one_thing_is_singular_and_none_is_plural() {
        let all = [(1, "number"), (0, "number"), (1, "more launch"), (2, "more launch")];
        assert_eq!(
            all.map(|(count, thing)| counted(count, thing)),
            ["1 number", "0 numbers", "1 more launch", "2 more launches"]
        );
    }

    #[test]
    fn waits_are_said_in_two_units_at_most() {
        assert_eq!(wait(0.01), "1 s");
        assert_eq!(wait(44.6), "45 s");
        assert_eq!(wait(185.0), "3 min 05 s");
        assert_eq!(wait(7500.0), "2 h 05 min");
    }
}
