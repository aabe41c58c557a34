//! Numbers as people read them: three digits and a unit that suits them.

/// `value` of `unit`, with three significant digits, in the unit that keeps it between 1 and 1000.
pub(crate) fn quantity(value: f64, unit: &str) -> String {
    let (value, unit) = scaled(value, unit);
    if unit.is_empty() { digits(value) } else { format!("{} {unit}", digits(value)) }
}

/// `low` and `high` of `unit` as a range in the unit that suits `high`.
pub(crate) fn range(low: f64, high: f64, unit: &str) -> String {
    let (scaled_high, shown) = scaled(high, unit);
    let factor = if high == 0.0 { 1.0 } else { scaled_high / high };
    let range = format!("{} .. {}", digits(low * factor), digits(scaled_high));
    if shown.is_empty() { range } else { format!("{range} {shown}") }
}

/// `value` and its unit in the neighbour unit that keeps it between 1 and 1000.
fn scaled(value: f64, unit: &str) -> (f64, String) {
    const TIMES: [&str; 5] = ["ps", "ns", "us", "ms", "s"];
    const RATES: [&str; 5] = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"];
    for ladder in [TIMES, RATES] {
        if let Some(start) = ladder.iter().position(|step| *step == unit) {
            let (mut value, mut at) = (value, start);
            // 999.5 would round to 1000.
            while value.abs() >= 999.5 && at + 1 < ladder.len() {
                (value, at) = (value / 1000.0, at + 1);
            }
            while value != 0.0 && value.abs() < 0.9995 && at > 0 {
                (value, at) = (value * 1000.0, at - 1);
            }
            return (value, ladder[at].replace("us", "µs"));
        }
    }
    (value, unit.to_string())
}

/// Three significant digits, without an exponent where a person would write none.
pub(crate) fn digits(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".into();
    }
    if size != 0.0 && !(0.001..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = match size {
        _ if size >= 99.95 || size == 0.0 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ if size >= 0.09995 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// A number of ranks.
pub(crate) fn ranks(count: usize) -> String {
    if count == 1 { "1 rank".into() } else { format!("{count} ranks") }
}

/// A message size: exact, in the largest unit that divides it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// An amount of memory, rounded.
pub(crate) fn memory(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{} {name}", digits(bytes as f64 / *unit as f64)),
        None => format!("{bytes} B"),
    }
}

/// A share as a percentage, to a tenth.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// A length of time to wait, a second at least: `45 s`, `3 min 05 s`.
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
    fn quantities_move_to_the_unit_that_suits_them() {
        assert_eq!(quantity(0.1714, "us"), "171 ns");
        assert_eq!(quantity(12.345, "us"), "12.3 µs");
        assert_eq!(quantity(999.7, "us"), "1.00 ms");
        assert_eq!(quantity(18_230.0, "MB/s"), "18.2 GB/s");
        assert_eq!(quantity(0.0, "us"), "0 µs");
        assert_eq!(quantity(3.5, "hops"), "3.50 hops");
        assert_eq!(quantity(0.5, ""), "0.500");
    }

    #[test]
    fn a_range_has_one_unit_for_both_ends() {
        assert_eq!(range(0.95, 1.05, "us"), "0.950 .. 1.05 µs");
        assert_eq!(range(0.0, 0.0, "us"), "0 .. 0 µs");
    }

    #[test]
    fn digits_are_three() {
        for (value, text) in
            [(0.1234, "0.123"), (9.996, "10.0"), (99.96, "100"), (1234.5, "1234"), (f64::NAN, "-")]
        {
            assert_eq!(digits(value), text);
        }
        assert_eq!(digits(1.5e-5), "1.50e-5");
    }

    #[test]
    fn sizes_are_exact_and_memory_is_rounded() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1000), "1000 B");
        assert_eq!(size(65536), "64 KiB");
        assert_eq!(size(1 << 20), "1 MiB");
        assert_eq!(memory(25_000_000_000), "23.3 GiB");
    }

    #[test]
    fn shares_are_percentages_to_a_tenth() {
        for (share, text) in [(0.05, "5 %"), (0.684, "68.4 %"), (0.9996, "100 %"), (0.0002, "0 %")]
        {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn waits_are_said_in_two_units_at_most() {
        assert_eq!(wait(0.01), "1 s");
        assert_eq!(wait(44.6), "45 s");
        assert_eq!(wait(185.0), "3 min 05 s");
        assert_eq!(wait(7500.0), "2 h 05 min");
    }
}
