//! The pauses of a machine's processors, from those that `clock` measured.
//!
//! A regular kind becomes pauses at its period, each delayed by up to its jitter. Pauses without a period become one
//! pause in each stretch of their mean distance, at a random moment of it. Their number and length are as measured, but
//! they are spread more evenly than at random.

use std::fmt::Write;

use record::{Measurement, ParameterValue, PauseKind, Pauses, Run};

/// Pauses of a simulated machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwinPauses {
    /// True if the run measured pauses at all.
    pub looked: bool,
    /// Pauses in the machine file.
    pub written: Vec<TwinPause>,
    /// Pauses that are not in it, each with the reason, as sentences.
    pub left_out: Vec<String>,
}

/// One kind of pause of a twin.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinPause {
    /// The kind as measured on the first of its processors.
    pub kind: PauseKind,
    /// Processors that have it; `None` if all have it.
    pub processors: Option<Vec<usize>>,
    /// True if all of them have it at the same moments.
    pub at_once: bool,
}

/// Share of the time between two pauses of a kind that must be left for the program.
const LEFT_FOR_PROGRAMS: f64 = 0.1;
/// Largest difference between the moments of a regular kind, as a share of its period, if it is on all processors at
/// once.
const SAME_MOMENT: f64 = 0.02;
/// Factors within which period and length of a kind agree on two processors.
const SAME_PERIOD: f64 = 1.02;
const SAME_IRREGULAR_PERIOD: f64 = 1.5;
const SAME_LENGTH: f64 = 1.5;

/// Returns the pauses in `run`; none if it does not contain `clock`.
pub(crate) fn find(run: &Run) -> TwinPauses {
    let seen = seen(run);
    let mut found = TwinPauses { looked: !seen.is_empty(), ..TwinPauses::default() };
    let mut on: Vec<(PauseKind, Vec<(usize, f64)>)> = Vec::new();
    for (processor, pauses) in &seen {
        if pauses.not_kept > 0 {
            found.left_out.push(format!(
                "processor {processor}: {} pauses that `clock` counted and did not keep",
                pauses.not_kept
            ));
        }
        for kind in &pauses.kinds {
            if let Some(why) = refused(kind) {
                found.left_out.push(format!("processor {processor}: {}: {why}", words(kind)));
                continue;
            }
            let here = (*processor, kind.first_s);
            let has = |on: &[(usize, f64)]| on.iter().any(|(other, _)| other == processor);
            match on.iter_mut().find(|(earlier, on)| are_alike(earlier, kind) && !has(on)) {
                Some((_, on)) => on.push(here),
                None => on.push((kind.clone(), vec![here])),
            }
        }
    }
    found.written = on.into_iter().map(|(kind, on)| twin(kind, &on, seen.len())).collect();
    found
}

/// Returns the pauses of each rank's processor. Of two measurements of one rank, the later counts.
fn seen(run: &Run) -> Vec<(usize, &Pauses)> {
    let mut seen: Vec<(usize, &Pauses)> = Vec::new();
    let lost = |m: &&Measurement| m.benchmark == "clock" && m.metric == "lost";
    for lost in run.measurements.iter().filter(lost) {
        let (Some(ParameterValue::Number(rank)), Some(pauses)) =
            (lost.parameters.get("rank"), &lost.pauses)
        else {
            continue;
        };
        seen.retain(|(earlier, _)| *earlier as u64 != *rank);
        seen.push((*rank as usize, pauses));
    }
    seen
}

fn twin(kind: PauseKind, on: &[(usize, f64)], processors: usize) -> TwinPause {
    let period_s = kind.period_us / 1e6;
    let distance = |first_s: f64| {
        let phase = (first_s - on[0].1).rem_euclid(period_s) / period_s;
        phase.min(1.0 - phase)
    };
    let together = on.iter().all(|&(_, first_s)| distance(first_s) < SAME_MOMENT);
    TwinPause {
        at_once: kind.regular && on.len() > 1 && together,
        processors: (on.len() < processors).then(|| on.iter().map(|(place, _)| *place).collect()),
        kind,
    }
}

/// Returns by how much a pause may be shorter or longer than the median without leaving the measured range.
fn length_jitter_us(kind: &PauseKind) -> f64 {
    let PauseKind { length_median_us, length_min_us, length_max_us, .. } = *kind;
    (length_median_us - length_min_us).min(length_max_us - length_median_us).max(0.0)
}

/// Returns by how much a pause may be delayed: one of a regular kind by its jitter to either side, another as far as
/// there is room.
fn period_jitter_us(kind: &PauseKind) -> f64 {
    let room = kind.period_us * (1.0 - LEFT_FOR_PROGRAMS / 2.0);
    let room = (room - kind.length_median_us - length_jitter_us(kind)).max(0.0);
    if kind.regular { (2.0 * kind.period_jitter_us).min(room) } else { room }
}

/// Returns why a machine cannot have this kind; `None` if it can.
fn refused(kind: &PauseKind) -> Option<String> {
    let longest = kind.length_median_us + length_jitter_us(kind);
    let none_left = longest > kind.period_us * (1.0 - LEFT_FOR_PROGRAMS);
    let usable = [kind.period_us, kind.length_median_us, kind.length_min_us, kind.length_max_us];
    match usable.iter().all(|us| us.is_finite() && *us > 0.0) {
        false => Some("no numbers of a pause".into()),
        true => {
            none_left.then(|| "they would leave a program less than a tenth of the time".into())
        }
    }
}

fn are_alike(a: &PauseKind, b: &PauseKind) -> bool {
    let period = if a.regular { SAME_PERIOD } else { SAME_IRREGULAR_PERIOD };
    a.regular == b.regular && a.agrees(b, period, SAME_LENGTH)
}

/// Returns a kind in words: `every 10000 us, 112 us long`.
pub(crate) fn words(kind: &PauseKind) -> String {
    let when = if kind.regular { "every" } else { "irregular, one in" };
    format!(
        "{when} {:.0} us, {:.1} us long ({} seen)",
        kind.period_us, kind.length_median_us, kind.count
    )
}

impl TwinPauses {
    /// Returns the `[[pause]]` tables of the machine file.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for TwinPause { kind, processors, at_once } in &self.written {
            let _ = write!(
                text,
                "\n# {}\n[[pause]]\nperiod_us = {:.3}\nlength_us = {:.6}\nperiod_jitter_us = {:.3}\nlength_jitter_us = {:.6}\n",
                words(kind),
                kind.period_us,
                kind.length_median_us,
                period_jitter_us(kind),
                length_jitter_us(kind),
            );
            if *at_once {
                text += "at_once = true\n";
            }
            if let Some(processors) = processors {
                let _ = writeln!(text, "processors = {processors:?}");
            }
        }
        text
    }

    /// Returns the source of the pauses, for the machine file; `None` if there are none.
    pub(crate) fn source(&self, from: &str) -> Option<(&'static str, &'static str, String)> {
        let from = format!(
            "clock of {from}. Regular kinds keep their period; others come once in each stretch of their mean distance, at a random moment of it. Processors that were not looked at have the kinds that all looked at had."
        );
        (!self.written.is_empty()).then_some(("pause", "measured", from))
    }
}

impl std::fmt::Display for TwinPause {
    /// Formats as `every 10000 us, 112.0 us long (200 seen), on processor 0`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&words(&self.kind))?;
        match &self.processors {
            None => f.write_str(", on every processor")?,
            Some(places) => {
                let places: Vec<String> = places.iter().map(usize::to_string).collect();
                write!(f, ", on processor {}", places.join(", "))?;
            }
        }
        if self.at_once { f.write_str(", at once") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(regular: bool, first_s: f64, period_us: f64, lengths_us: [f64; 3]) -> PauseKind {
        let [length_min_us, length_median_us, length_max_us] = lengths_us;
        PauseKind {
            regular,
            first_s,
            period_us,
            period_jitter_us: 10.0,
            count: 100,
            length_median_us,
            length_min_us,
            length_max_us,
        }
    }

    fn on(kinds: &[(usize, PauseKind)]) -> TwinPauses {
        let mut found = TwinPauses { looked: true, ..Default::default() };
        let seen: Vec<(usize, f64)> = kinds.iter().map(|(p, kind)| (*p, kind.first_s)).collect();
        found.written = vec![twin(kinds[0].1.clone(), &seen, 2)];
        found
    }

    #[test]
    fn a_tick_that_comes_to_both_processors_is_one_kind_at_once_if_its_moments_agree() {
        let tick = |first_s| kind(true, first_s, 10_000.0, [105.0, 112.0, 120.0]);
        // 0.0031 and 0.0131 are one period apart; 0.0081 is half a period off.
        let same = on(&[(0, tick(0.0031)), (1, tick(0.0131))]);
        assert!(same.written[0].at_once && same.written[0].processors.is_none());
        assert!(!on(&[(0, tick(0.0031)), (1, tick(0.0081))]).written[0].at_once);
        let text = same.text();
        // The jitter to either side is 10 µs; lengths reach 7 below the median and 8 above.
        for line in [
            "period_us = 10000.000",
            "period_jitter_us = 20.000",
            "length_jitter_us = 7.0",
            "at_once = true",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }

    #[test]
    fn what_has_no_period_comes_at_a_random_moment_of_its_mean_distance() {
        let rare = kind(false, 0.2, 1e6, [1000.0, 4000.0, 9000.0]);
        let text = on(&[(1, rare)]).text();
        // 950000 - 4000 - 3000.
        assert!(text.contains("period_jitter_us = 943000.000"), "{text}");
        assert!(
            text.contains("length_jitter_us = 3000.0") && text.contains("processors = [1]"),
            "{text}"
        );
    }

    #[test]
    fn pauses_that_would_leave_nothing_are_left_out() {
        let crowd = kind(false, 0.0, 100.0, [60.0, 95.0, 99.0]);
        assert!(refused(&crowd).unwrap().contains("less than a tenth"));
        assert!(refused(&kind(true, 0.0, f64::NAN, [1.0; 3])).is_some());
    }
}
