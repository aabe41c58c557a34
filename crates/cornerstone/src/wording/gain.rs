//! The gain of parallel programs and its bound, in words.

use analysis::parallel::{COMMUNICATION, EFFICIENCY, Loss, UNEVEN, WORK};
use record::{Key, Measurement, ParameterValue};

use super::numbers::{significant, size};
use super::phrases::ranks;

/// One parallel program with its problem and its ranks.
struct Gain {
    key: Key,
    time: f64,
    efficiency: f64,
    work: f64,
    uneven: f64,
    communication: f64,
}

/// Returns the fastest form of each problem on each number of ranks, and the costs of the other forms with their
/// reasons. Each entry has a line for the fastest form, and one for each other. Empty without parallel programs.
pub(crate) fn gains<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Vec<Vec<String>> {
    let all: Vec<&Measurement> = measurements.collect();
    let mut found: Vec<Gain> = all.iter().filter_map(|m| Gain::of(m, &all)).collect();
    found.sort_by(|a, b| {
        let problem = |gain: &Gain| (gain.key.size_bytes, gain.key.ranks);
        problem(a).cmp(&problem(b)).then(a.time.total_cmp(&b.time))
    });
    let same =
        |a: &Gain, b: &Gain| (a.key.size_bytes, a.key.ranks) == (b.key.size_bytes, b.key.ranks);
    found.chunk_by(same).map(forms).collect()
}

fn forms(gains: &[Gain]) -> Vec<String> {
    let Some((first, others)) = gains.split_first() else { return Vec::new() };
    let problem = format!("{} on {}", size(first.key.size_bytes), ranks(first.key.ranks));
    let is_fastest = if others.is_empty() { "" } else { " is fastest" };
    let fastest = format!("{problem}: {}{is_fastest}, {}", first.form(), first.reason());
    let cost = |other: &Gain| {
        let times = significant(other.time / first.time);
        format!("{} takes {times} times as long, {}", other.form(), other.reason())
    };
    std::iter::once(fastest).chain(others.iter().map(cost)).collect()
}

impl Gain {
    /// Returns the program that has this efficiency.
    fn of(efficiency: &Measurement, all: &[&Measurement]) -> Option<Gain> {
        if efficiency.metric != EFFICIENCY {
            return None;
        }
        let key = efficiency.key();
        let of = |metric: &str| {
            let is_it = |m: &&&Measurement| {
                m.metric == metric && m.fabric == efficiency.fabric && m.key() == key
            };
            all.iter().find(is_it).map(|m| m.summary.median)
        };
        Some(Gain {
            time: of("time")?,
            efficiency: efficiency.summary.median,
            work: of(WORK)?,
            uneven: of(UNEVEN)?,
            communication: of(COMMUNICATION)?,
            key,
        })
    }

    /// Returns the form in words, such as `rows, grain 8`; the program itself if it has one form.
    fn form(&self) -> String {
        let parameters = self.key.parameters.iter();
        let (forms, others): (Vec<_>, Vec<_>) = parameters.partition(|(name, _)| *name == "form");
        let other = |(name, value): (&String, &ParameterValue)| format!("{name} {value}");
        let forms = forms.into_iter().map(|(_, value)| value.to_string());
        let words: Vec<String> = forms.chain(others.into_iter().map(other)).collect();
        if words.is_empty() { self.key.benchmark.clone() } else { words.join(", ") }
    }

    /// Returns the reason in words, such as `efficiency 45.1 %, bound by communication (work 104 %, uneven 3 %,
    /// communication 52 %)`.
    fn reason(&self) -> String {
        let Gain { efficiency, work, uneven, communication, .. } = *self;
        let bound = Loss::largest(efficiency, work, uneven, communication)
            .map(|loss| format!(", bound by {loss}"));
        format!(
            "efficiency {efficiency:.1} %{} (work {work:.0} %, uneven {uneven:.1} %, communication {communication:.1} %)",
            bound.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(form: &str, metric: &str, median: f64) -> Measurement {
        let summary = serde_json::json!({
            "median": median, "ci_low": median, "ci_high": median, "ci_confidence": 0.95,
            "mean": median, "min": median, "p99": median, "p999": median, "max": median, "n": 1,
            "outliers": { "low_severe": 0, "low_mild": 0, "high_mild": 0, "high_severe": 0 },
        });
        let mut record = serde_json::json!({
            "benchmark": "multiply", "group": "applications", "fabric": "local", "ranks": 2,
            "size_bytes": 8 << 20, "parameters": { "form": form, "grain": 8 },
            "metric": metric, "unit": "", "better": "lower", "stop_reason": "precision",
            "timing": { "events_per_sample": 1, "clock_share": 0.0, "start": "time",
                "late_starts": 0, "spent_s": 1.0 },
            "samples": [], "warm_up_samples": [],
        });
        record.as_object_mut().unwrap().extend(summary.as_object().unwrap().clone());
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn the_fastest_form_comes_first_and_the_others_say_what_they_cost() {
        let form = |name: &str, values: [f64; 5]| {
            let metrics = ["time", EFFICIENCY, WORK, UNEVEN, COMMUNICATION];
            metrics.into_iter().zip(values).map(|(m, v)| measured(name, m, v)).collect::<Vec<_>>()
        };
        let all = [
            form("rows", [60.0, 15.0, 300.0, 50.0, 5.0]),
            form("blocks", [20.0, 96.0, 101.0, 1.0, 2.0]),
        ];
        let found = gains(all.iter().flatten());
        let expected = [
            "8 MiB on 2 ranks: blocks, grain 8 is fastest, efficiency 96.0 % (work 101 %, uneven 1.0 %, communication 2.0 %)",
            "rows, grain 8 takes 3.00 times as long, efficiency 15.0 %, bound by more or slower computing than the best serial program's (work 300 %, uneven 50.0 %, communication 5.0 %)",
        ];
        assert_eq!(found, [expected.map(String::from).to_vec()]);
        assert!(gains(all[0][..1].iter()).is_empty());
    }
}
