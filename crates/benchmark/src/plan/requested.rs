//! Checks that the selected benchmarks take what the user requests: numbers of ranks, sizes, and values of parameters.
//! Nothing is declared for that: the cases that a benchmark plans show what it takes.

use std::collections::{BTreeMap, BTreeSet};

use super::step::steps;
use super::{PlanError, counts};
use crate::declaration::Benchmark;
use crate::job::in_bytes;
use crate::ranks::RankRule;
use crate::settings::Settings;
use crate::similar::most_similar;
use crate::sizes::Sizes;

/// Least similarity of a suggested parameter or value.
const SIMILAR: f64 = 0.7;

/// A size that no benchmark has by itself, and a multiple of every unit that one needs.
const UNUSUAL_BYTES: u64 = 27 << 18;

/// Checks what the user requests of the `selection`. Returns sentences about what some of the benchmarks take in another
/// way, or not at all.
///
/// # Errors
/// [`PlanError`] for a request that no benchmark of the selection takes.
pub fn check_request(
    selection: &[&'static Benchmark],
    ranks: Option<&[usize]>,
    processors: usize,
    settings: &Settings,
) -> Result<Vec<String>, PlanError> {
    let mut planned = Vec::new();
    for benchmark in selection {
        planned.push((*benchmark, counts(benchmark, ranks, processors, settings)?));
    }
    check_parameters(&planned, settings)?;
    let ranks = ranks.map_or(Ok(None), |wanted| check_ranks(&planned, wanted))?;
    let sizes = settings.sizes.as_ref();
    let sizes = sizes.map_or(Ok(None), |wanted| check_sizes(&planned, wanted, settings))?;
    Ok(ranks.into_iter().chain(sizes).collect())
}

/// A benchmark with its numbers of ranks.
type Planned = (&'static Benchmark, Vec<usize>);

/// Refuses parameters that no case has, and values that no case has of them.
fn check_parameters(planned: &[Planned], settings: &Settings) -> Result<(), PlanError> {
    if settings.only.is_empty() {
        return Ok(());
    }
    let all = Settings { only: Vec::new(), ..settings.clone() };
    let mut available: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (benchmark, counts) in planned {
        for step in counts.iter().flat_map(|&count| steps(benchmark, count, &all)) {
            for (name, value) in step.parameters {
                available.entry(name).or_default().insert(value.to_string());
            }
        }
    }
    let nearest = |unknown: &str, names: &mut dyn Iterator<Item = &String>| {
        most_similar(unknown, names.map(String::as_str), SIMILAR).map(String::from)
    };
    for (name, values) in &settings.only {
        let Some(available_values) = available.get(name) else {
            let nearest = nearest(name, &mut available.keys());
            let available = available.into_keys().collect();
            return Err(PlanError::Parameter { name: name.clone(), nearest, available });
        };
        if let Some(value) = values.iter().find(|value| !available_values.contains(*value)) {
            return Err(PlanError::Value {
                name: name.clone(),
                value: value.clone(),
                nearest: nearest(value, &mut available_values.iter()),
                available: available_values.iter().cloned().collect(),
            });
        }
    }
    Ok(())
}

/// Returns a sentence about the benchmarks that do not run with some of the `wanted` numbers of ranks. Refuses them if no
/// benchmark runs with any.
fn check_ranks(planned: &[Planned], wanted: &[usize]) -> Result<Option<String>, PlanError> {
    let mut groups = Groups::default();
    let mut is_used = false;
    for (benchmark, counts) in planned {
        let (taken, left_out): (Vec<usize>, Vec<usize>) =
            wanted.iter().partition(|&count| counts.contains(count));
        is_used |= !taken.is_empty() || benchmark.ranks == RankRule::OfChain;
        if !left_out.is_empty() {
            let left_out: Vec<String> = left_out.iter().map(usize::to_string).collect();
            let text = format!("{}, not with {}", benchmark.ranks, left_out.join(", "));
            groups.add(text, benchmark.name);
        }
    }
    match planned.first() {
        Some((benchmark, _)) if !is_used => Err(PlanError::Ranks {
            benchmark: benchmark.name,
            needs: benchmark.ranks.to_string(),
            wanted: wanted.to_vec(),
        }),
        _ => Ok(groups.sentence("ranks", ["runs with", "run with"])),
    }
}

/// Returns a sentence about the sizes that are rounded. Refuses sizes that no benchmark takes.
fn check_sizes(
    planned: &[Planned],
    wanted: &Sizes,
    settings: &Settings,
) -> Result<Option<String>, PlanError> {
    let (mut groups, mut is_used) = (Groups::default(), false);
    for (benchmark, counts) in planned {
        let Some(&ranks) = counts.first() else { continue };
        let of = |size: Option<u64>| {
            let size = size.and_then(|size| Sizes::new(vec![size]).ok());
            benchmark.measured_sizes(ranks, size, settings)
        };
        if of(None) == of(Some(UNUSUAL_BYTES)) {
            continue;
        }
        let measured = |&size: &u64| (size, of(Some(size)));
        let all: Vec<(u64, BTreeSet<u64>)> = wanted.bytes().iter().map(measured).collect();
        is_used |= all.iter().any(|(_, measured)| !measured.is_empty());
        let others = all.iter().filter(|(size, measured)| !measured.contains(size));
        let others: Vec<String> =
            others.map(|(size, measured)| taken_as(*size, measured)).collect();
        if !others.is_empty() {
            groups.add(others.join(", "), benchmark.name);
        }
    }
    match is_used {
        true => Ok(groups.sentence("sizes", ["takes", "take"])),
        false => Err(PlanError::Sizes {
            wanted: wanted.bytes().iter().map(|&size| in_bytes(size)).collect(),
            benchmarks: planned.iter().map(|(benchmark, _)| benchmark.name).collect(),
        }),
    }
}

impl Benchmark {
    /// Returns the sizes that it measures with this number of ranks if a user requests these, or none.
    pub fn measured_sizes(
        &self,
        ranks: usize,
        wanted: Option<Sizes>,
        settings: &Settings,
    ) -> BTreeSet<u64> {
        let settings = Settings { sizes: wanted, ..settings.clone() };
        steps(self, ranks, &settings).into_iter().map(|step| step.size_bytes).collect()
    }
}

fn taken_as(size: u64, measured: &BTreeSet<u64>) -> String {
    match measured.is_empty() {
        true => format!("not {}", in_bytes(size)),
        false => {
            let measured: Vec<String> = measured.iter().map(|&size| in_bytes(size)).collect();
            format!("{} as {}", in_bytes(size), measured.join(" and "))
        }
    }
}

/// Benchmarks of which the same is said.
#[derive(Default)]
struct Groups(Vec<(String, Vec<&'static str>)>);

impl Groups {
    fn add(&mut self, text: String, name: &'static str) {
        match self.0.iter_mut().find(|(earlier, _)| *earlier == text) {
            Some((_, names)) => names.push(name),
            None => self.0.push((text, vec![name])),
        }
    }

    /// Returns what is said of all groups, with the verb for one benchmark or several. `None` if nothing is.
    fn sentence(&self, what: &str, verbs: [&str; 2]) -> Option<String> {
        let group = |(text, names): &(String, Vec<&str>)| {
            let verb = verbs[usize::from(names.len() > 1)];
            format!("{} {verb} {text}", listed(names))
        };
        let groups: Vec<String> = self.0.iter().map(group).collect();
        (!groups.is_empty()).then(|| format!("{what}: {}", groups.join("; ")))
    }
}

/// Returns some names, with the number of the others.
fn listed(names: &[&str]) -> String {
    const NAMED: usize = 4;
    match names.len() {
        0..=NAMED => names.join(", "),
        many => format!("{} and {} more", names[..NAMED - 1].join(", "), many + 1 - NAMED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::select;

    fn checked(
        names: &[&str],
        ranks: Option<&[usize]>,
        sizes: Option<&str>,
        only: &[(&str, &str)],
    ) -> Result<Vec<String>, String> {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        let only = only.iter().map(|(name, value)| ((*name).into(), vec![(*value).into()]));
        let settings = Settings {
            sizes: sizes.map(|sizes| sizes.parse().unwrap()),
            only: only.collect(),
            ..Settings::default()
        };
        let checked = check_request(&select(&names).unwrap(), ranks, 2, &settings);
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn sizes_that_are_measured_as_others_are_said() {
        let notes = |names: &[&str], sizes| checked(names, None, Some(sizes), &[]).unwrap();
        // 100 bytes are 12.5 numbers, and 3 x 3 of them are 72 bytes; a frame has 384 bytes; 1000 bytes are 62.5 points.
        assert_eq!(notes(&["multiply"], "100"), ["sizes: multiply takes 100 B as 72 B"]);
        assert_eq!(notes(&["tracking"], "100"), ["sizes: tracking takes 100 B as 384 B"]);
        assert_eq!(notes(&["parallel-fft"], "1000"), ["sizes: parallel-fft takes 1000 B as 512 B"]);
        assert_eq!(
            notes(&["reduce", "allreduce", "ping-pong"], "3,8,9"),
            ["sizes: reduce, allreduce take 3 B as 8 B, 9 B as 16 B"]
        );
        assert!(notes(&["reduce", "barrier"], "0,8,64KiB").is_empty());
    }

    #[test]
    fn requests_that_no_benchmark_takes_are_refused() {
        let refused = |names: &[&str], ranks, sizes, only: &[(&str, &str)], words: &str| {
            let error = checked(names, ranks, sizes, only).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        refused(&["barrier", "clock"], None, Some("8"), &[], "barrier, clock");
        refused(&["copy"], Some(&[4]), None, &[], "`copy` runs with 1 rank, not with 4");
        let spelling = [("acknowledgment", "no")];
        refused(&["adjacent-pair"], None, None, &spelling, "did you mean `acknowledgement`?");
        refused(&["many-pairs"], None, None, &[("acknowledgement", "no")], "layout");
        refused(&["multiply"], None, None, &[("grain", "4")], "there are grain=1,8");
        refused(&["multiply"], None, None, &[("form", "bloks")], "did you mean `blocks`?");
    }

    #[test]
    fn ranks_that_some_benchmarks_do_not_run_with_are_said() {
        let notes = |names: &[&str], ranks: &[usize]| checked(names, Some(ranks), None, &[]);
        assert_eq!(
            notes(&["copy", "peak", "ping-pong"], &[4]).unwrap(),
            ["ranks: copy, peak run with 1 rank, not with 4"]
        );
        assert_eq!(
            notes(&["allreduce"], &[1, 2]).unwrap(),
            ["ranks: allreduce runs with 2 ranks or more, not with 1"]
        );
        assert!(notes(&["clock"], &[1]).unwrap().is_empty());
    }
}
