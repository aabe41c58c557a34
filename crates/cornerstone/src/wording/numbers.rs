//! Numbers with their units, in three significant digits.

/// Returns a value with its unit, scaled to a suitable one: `0.293` in `us` becomes `293 ns`.
///
/// Unknown units are not scaled.
pub(crate) fn quantity(value: f64, unit: &str) -> String {
    match unit {
        _ if value == 0.0 => format!("0 {}", unit_name(unit)),
        "ns" => time_ns(value),
        "us" => time_ns(value * 1e3),
        "ms" => time_ns(value * 1e6),
        "s" => time_ns(value * 1e9),
        "MB/s" => scaled(value, &[(1e6, "TB/s"), (1e3, "GB/s"), (1.0, "MB/s"), (1e-3, "kB/s")]),
        "MFLOP/s" => scaled(value, &[(1e6, "TFLOP/s"), (1e3, "GFLOP/s"), (1.0, "MFLOP/s")]),
        "operations/s" => scaled(value, &[(1e6, "Mop/s"), (1e3, "kop/s"), (1.0, "op/s")]),
        _ => format!("{} {}", significant(value), unit_name(unit)),
    }
}

/// Returns a message size or a capacity: `64 KiB`. A size that is no whole number of a larger unit is shown in bytes.
pub(crate) fn size(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (unit, name) in units {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} B")
}

/// Returns a size in three digits: `23.5 GiB`.
pub(crate) fn about_size(bytes: u64) -> String {
    let bytes = bytes as f64;
    let steps =
        [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")]
            .map(|(unit, name)| (unit as f64, name));
    scaled(bytes, &steps)
}

/// Returns the name of a unit as it is printed.
pub(crate) fn unit_name(unit: &str) -> &str {
    if unit == "us" { "µs" } else { unit }
}

/// Formats a value with three significant digits, without an exponent between 0.001 and a million.
pub(crate) fn significant(value: f64) -> String {
    digits(value, 3)
}

/// Formats a value with five significant digits, for tables that readers copy into other programs.
pub(crate) fn precise(value: f64) -> String {
    digits(value, 5)
}

/// Returns a share as a percentage with one decimal: `68.4 %`.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// Returns a wanted share as it was written: `1 %`, and below 0.1 % `1e-6`.
pub(crate) fn wanted_share(share: f64) -> String {
    if share > 0.0 && share < 1e-3 { format!("{share:e}") } else { percent(share) }
}

/// Returns an upper bound of a share in two digits, rounded up: `0.75 %`, and below 0.01 % `3.1e-6`.
pub(crate) fn share_at_most(bound: f64) -> String {
    // What is only a rounding of the division above a number counts as that number.
    share_in_two_digits(bound, |digits| (digits - 1e-9).ceil())
}

/// Returns a lower bound of a share, as [`share_at_most`] does an upper one.
pub(crate) fn share_at_least(bound: f64) -> String {
    share_in_two_digits(bound, |digits| (digits + 1e-9).floor())
}

fn share_in_two_digits(share: f64, round: fn(f64) -> f64) -> String {
    if share <= 0.0 || share >= 1.0 {
        return percent(share.clamp(0.0, 1.0));
    }
    let magnitude = share.log10().floor() as i32;
    let rounded = scale(round(scale(share, 1 - magnitude)), magnitude - 1);
    match magnitude {
        ..-4 => format!("{rounded:.1e}"),
        _ => format!("{:.*} %", (-1 - magnitude).max(0) as usize, rounded * 100.0),
    }
}

/// Returns a share as a whole percentage: `93 %`. Below 1 % it has one significant digit: `0.4 %`.
pub(crate) fn whole_percent(share: f64) -> String {
    if share != 0.0 && share.abs() < 0.01 {
        format!("{} %", digits(share * 100.0, 1))
    } else {
        format!("{:.0} %", share * 100.0)
    }
}

/// Returns a ratio as a signed percentage.
pub(crate) fn ratio_change(ratio: f64) -> String {
    match 100.0 * (ratio - 1.0) {
        change if !change.is_finite() => "no bound".into(),
        change if change.abs() < 0.005 => "0 %".into(),
        change => format!("{}{} %", if change > 0.0 { "+" } else { "" }, significant(change)),
    }
}

/// Returns a ratio of exact numbers as a signed percentage, however small it is.
pub(crate) fn exact_change(ratio: f64) -> String {
    match 100.0 * (ratio - 1.0) {
        0.0 => "0 %".into(),
        change if change.is_finite() && change.abs() < 0.005 => format!("{change:+.1e} %"),
        _ => ratio_change(ratio),
    }
}

fn time_ns(ns: f64) -> String {
    scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"), (1e-3, "ps")])
}

/// Scales a value by the first step that it reaches, or by the last one.
fn scaled(value: f64, steps: &[(f64, &str)]) -> String {
    // 999.6 ns is 1000 ns in three digits, so it must be shown as 1.00 µs.
    let reaches = |step: f64| value.abs() >= step * 0.9995;
    let last = steps.len() - 1;
    let (step, name) = steps[steps.iter().position(|&(step, _)| reaches(step)).unwrap_or(last)];
    format!("{} {name}", significant(value / step))
}

/// Formats a value with `digits` significant digits. Halves are rounded away from zero, step by step as in
/// `assets/format.js`, so that a chart and the table below it agree.
fn digits(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let mut magnitude = value.abs().log10().floor() as i32;
    let mut whole = scale(value, digits - 1 - magnitude).round();
    if whole.abs() >= 10f64.powi(digits) {
        // 9.996 has one digit before the point, but in three digits it is 10.0.
        magnitude += 1;
        whole = scale(value, digits - 1 - magnitude).round();
    }
    if !(-3..=6).contains(&magnitude) {
        return format!("{:.*e}", (digits - 1) as usize, scale(whole, magnitude + 1 - digits));
    }
    let decimals = digits - 1 - magnitude;
    format!("{:.*}", decimals.max(0) as usize, scale(whole, -decimals))
}

/// Returns value x 10^power, in one rounding.
fn scale(value: f64, power: i32) -> f64 {
    if power < 0 { value / 10f64.powi(-power) } else { value * 10f64.powi(power) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_shares_are_rounded_to_the_safe_side() {
        // 1 - 0.05^(1/400) = 0.74612 %, 1 - 0.05^(1/2995731) = 1.0000e-6
        let above = [0.0074612, 9.9999e-7, 0.0264, 0.123, 0.996, 1.0, 0.0, 3.01e-6];
        let shown = above.map(share_at_most);
        assert_eq!(shown, ["0.75 %", "1.0e-6", "2.7 %", "13 %", "100 %", "100 %", "0 %", "3.1e-6"]);
        assert_eq!([0.0264, 0.928, 0.0075].map(share_at_least), ["2.6 %", "92 %", "0.75 %"]);
        assert_eq!([0.01, 1e-6, 0.0005].map(wanted_share), ["1 %", "1e-6", "5e-4"]);
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        assert_eq!(quantity(0.2934, "us"), "293 ns");
        assert_eq!(quantity(0.9996, "us"), "1.00 µs");
        assert_eq!(quantity(12_345.0, "us"), "12.3 ms");
        assert_eq!(quantity(2.0, "s"), "2.00 s");
        assert_eq!(quantity(0.0, "us"), "0 µs");
    }

    #[test]
    fn rates_take_the_unit_that_fits() {
        assert_eq!(quantity(21_340.0, "MB/s"), "21.3 GB/s");
        assert_eq!(quantity(94_100.0, "MFLOP/s"), "94.1 GFLOP/s");
        assert_eq!(quantity(0.5, "MB/s"), "500 kB/s");
        assert_eq!(quantity(1_213_000.0, "operations/s"), "1.21 Mop/s");
        assert_eq!(quantity(0.4, "operations/s"), "0.400 op/s");
    }

    #[test]
    fn an_unknown_unit_is_kept() {
        assert_eq!(quantity(1234.0, "widgets"), "1230 widgets");
    }

    #[test]
    fn sizes_are_exact_or_in_bytes() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1 << 20), "1 MiB");
        assert_eq!(size(1536), "1536 B");
        assert_eq!(about_size(25_276_510_208), "23.5 GiB");
    }

    #[test]
    fn significant_digits_do_not_grow_with_the_number() {
        assert_eq!(significant(0.012345), "0.0123");
        assert_eq!(significant(123_456.0), "123000");
        assert_eq!(significant(-1.5), "-1.50");
        assert_eq!(significant(1.5e9), "1.50e9");
        assert_eq!(significant(0.0), "0");
        assert_eq!(significant(9.996), "10.0");
        assert_eq!(significant(238.5), "239");
        assert_eq!(significant(-238.5), "-239");
        assert_eq!(whole_percent(0.931), "93 %");
        assert_eq!(whole_percent(1.634), "163 %");
        assert_eq!(whole_percent(0.0042), "0.4 %");
    }

    #[test]
    fn shares_are_percentages_to_a_tenth() {
        for (share, text) in [(0.05, "5 %"), (0.684, "68.4 %"), (0.9996, "100 %"), (0.0002, "0 %")]
        {
            assert_eq!(percent(share), text);
        }
    }
}
