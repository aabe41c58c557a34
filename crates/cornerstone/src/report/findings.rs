//! Findings: facts that a reader needs before quoting a number.

use analysis::limits::Limits;
use maud::{Markup, html};
use record::{Measurement, Run, StopReason};

use super::elements::{anchor, prose, swatch};
use super::environment;
use super::fits;
use super::grouping::{Benchmark, Metric, full_label};
use super::remarks::oversubscribed;
use crate::choice::{Verdict, choices};
use crate::fabric_name::simulated_machine;
use crate::wording::{quantity, significant, whole_percent};

/// Least ratio of the 99th percentile to the median of a noisy measurement.
const NOISY_P99: f64 = 3.0;
/// Least number of samples for the 99th percentile. With fewer it is the maximum.
const SAMPLES_FOR_P99: u64 = 100;
/// Maximum number of examples of a finding.
const EXAMPLES: usize = 6;

/// Importance of a finding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It may make a number unsuitable for quoting.
    Caution,
    /// It is for information.
    Note,
}

/// A finding about the runs.
pub(super) struct Finding {
    pub(super) weight: Weight,
    /// One sentence.
    pub(super) title: String,
    /// Its meaning and its remedy.
    pub(super) advice: String,
    /// Worst cases.
    pub(super) examples: Vec<Example>,
}

/// A case of a finding: its place in the page, its run, and a text.
pub(super) struct Example {
    pub(super) anchor: String,
    pub(super) run: usize,
    pub(super) text: String,
}

/// A measurement with its place in the page and its run.
struct Case<'a> {
    anchor: String,
    run: usize,
    measurement: &'a Measurement,
}

/// Returns all findings about the runs, cautions first.
pub(super) fn findings(runs: &[Run], benchmarks: &[Benchmark]) -> Vec<Finding> {
    let cases = cases(benchmarks);
    let mut findings: Vec<Finding> = unfinished(runs)
        .into_iter()
        .chain(differing_machines(runs))
        .chain(busy_machine(runs))
        .chain(moved_processors(runs))
        .chain(not_converged(&cases))
        .chain(noisy(&cases))
        .chain(oversubscribed_cases(&cases, runs))
        .chain(crooked(runs, benchmarks))
        .chain(clock_bound(&cases))
        .chain(late_starts(&cases))
        .chain(slower_choices(&cases, runs))
        .collect();
    findings.sort_by_key(|finding| finding.weight == Weight::Note);
    findings
}

/// Returns the findings as a list.
pub(super) fn list(findings: &[Finding], several: bool) -> Markup {
    html! {
        @if findings.is_empty() {
            p.calm { "Nothing: every measurement converged, none is oversubscribed or noisy." }
        }
        ul.findings {
            @for finding in findings {
                li.caution[finding.weight == Weight::Caution] {
                    p {
                        span.weight { @if finding.weight == Weight::Caution { "Caution" } @else { "Note" } }
                        strong { (finding.title) }
                    }
                    p { (prose(&finding.advice)) }
                    @if !finding.examples.is_empty() {
                        ul.examples { @for example in &finding.examples {
                            li {
                                @if several { (swatch(example.run)) }
                                a href={ "#" (example.anchor) } { (example.text) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// Returns the measurements with samples. A rate that was computed from a time would count the same measurement twice.
fn cases<'a>(benchmarks: &[Benchmark<'a>]) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    for (index, benchmark) in benchmarks.iter().enumerate() {
        let sampled = |metric: &&Metric| {
            metric.points.iter().any(|point| !point.measurement.samples.is_empty())
        };
        let primary = benchmark.metrics.iter().find(sampled).or(benchmark.metrics.first());
        for point in primary.iter().flat_map(|metric| &metric.points) {
            cases.push(Case {
                anchor: anchor(index),
                run: point.run,
                measurement: point.measurement,
            });
        }
    }
    cases
}

fn unfinished(runs: &[Run]) -> Option<Finding> {
    let open: Vec<&str> = runs.iter().filter(|r| !r.ended).map(|r| r.label.as_str()).collect();
    (!open.is_empty()).then(|| Finding {
        weight: Weight::Caution,
        title: format!("{} did not end in order.", open.join(", ")),
        advice: "The results so far are here; `cornerstone run --resume` continues the run.".into(),
        examples: Vec::new(),
    })
}

/// Returns the runs during which the machine changed. Hypervisors move virtual processors, so numbers before and after
/// such a move are of different machines.
fn moved_processors(runs: &[Run]) -> Vec<Finding> {
    let moved = |run: &Run| {
        let (low, high) = Limits::of(run).moved_us()?;
        Some(Finding {
            weight: Weight::Caution,
            title: format!("{}: the machine changed during the run.", run.label),
            advice: format!(
                "Handing a cache line between the same two processors took {} at one time and {} at another, as when a \
                 hypervisor moves them apart. Shares of the limit use the hand-over measured next to each group; do not \
                 compare numbers of different groups.",
                quantity(low, "us"),
                quantity(high, "us")
            ),
            examples: Vec::new(),
        })
    };
    runs.iter().filter_map(moved).collect()
}

fn differing_machines(runs: &[Run]) -> Option<Finding> {
    let mut differing: Vec<String> = environment::machine(runs)
        .into_iter()
        .filter(|fact| fact.differs() && fact.name != "load before")
        .map(|fact| fact.name)
        .collect();
    if differing.len() > EXAMPLES {
        let more = differing.split_off(EXAMPLES).len();
        differing.push(format!("and {more} more"));
    }
    (!differing.is_empty()).then(|| Finding {
        weight: Weight::Note,
        title: format!("The machines of the runs differ: {}.", differing.join(", ")),
        advice:
            "This may cause differences between their numbers. The environment below shows both."
                .into(),
        examples: Vec::new(),
    })
}

fn busy_machine(runs: &[Run]) -> Vec<Finding> {
    // The load of the machine does not influence virtual time.
    let busy = |run: &&Run| {
        if simulated_machine(&run.header().fabric.name).is_some() {
            return false;
        }
        let environment = &run.header().environment;
        environment
            .load_before
            .is_some_and(|load| load > 0.5 * environment.processors_available as f64)
    };
    let finding = |run: &Run| {
        let environment = &run.header().environment;
        Finding {
            weight: Weight::Caution,
            title: format!("{}: the machine was busy before the run began.", run.label),
            advice: format!(
                "Its load was {:.1} on {} processors. Measure again on a quiet machine before comparing.",
                environment.load_before.unwrap_or_default(),
                environment.processors_available
            ),
            examples: Vec::new(),
        }
    };
    runs.iter().filter(busy).map(finding).collect()
}

fn not_converged(cases: &[Case]) -> Option<Finding> {
    let mut open: Vec<&Case> =
        cases.iter().filter(|case| !case.measurement.stop_reason.converged()).collect();
    let half_width = |case: &Case| case.measurement.summary.half_width();
    open.sort_by(|a, b| half_width(b).total_cmp(&half_width(a)));
    let by = |reason| open.iter().filter(|case| case.measurement.stop_reason == reason).count();
    let (time, samples) = (by(StopReason::TimeLimit), by(StopReason::SampleLimit));
    let text = |m: &Measurement| {
        let s = &m.summary;
        format!(
            "{}, ± {} after {} samples",
            quantity(s.median, &m.unit),
            whole_percent(s.half_width()),
            s.n
        )
    };
    finding(
        &open,
        Weight::Caution,
        format!("{} of {} measurements did not converge.", open.len(), cases.len()),
        format!(
            "Their intervals are wider than wanted: {time} met the time limit, {samples} the sample limit. \
             A longer `--time-limit` or a quieter machine narrows them."
        ),
        text,
    )
}

fn noisy(cases: &[Case]) -> Option<Finding> {
    let tail = |m: &Measurement| m.summary.p99 / m.summary.median;
    let mut noisy: Vec<&Case> = cases
        .iter()
        .filter(|case| {
            let m = case.measurement;
            // Virtual time has no noise: its tails are caused by queues.
            let is_real = simulated_machine(&m.fabric).is_none();
            is_real
                && m.summary.n >= SAMPLES_FOR_P99
                && m.summary.median > 0.0
                && tail(m) > NOISY_P99
        })
        .collect();
    noisy.sort_by(|a, b| tail(b.measurement).total_cmp(&tail(a.measurement)));
    finding(
        &noisy,
        Weight::Caution,
        format!("{} of {} measurements are noisy.", noisy.len(), cases.len()),
        format!(
            "Their 99th percentile is more than {NOISY_P99} medians. For a deadline the tail counts, not the median; \
             look at the samples over time for what repeats."
        ),
        |m| {
            format!(
                "median {}, p99 {}, max {}",
                quantity(m.summary.median, &m.unit),
                quantity(m.summary.p99, &m.unit),
                quantity(m.summary.max, &m.unit)
            )
        },
    )
}

fn oversubscribed_cases(cases: &[Case], runs: &[Run]) -> Option<Finding> {
    let times = |case: &Case| oversubscribed(case.measurement, &runs[case.run]).unwrap_or(0.0);
    let over: Vec<&Case> = cases.iter().filter(|case| times(case) > 0.0).collect();
    let most = over.iter().map(|case| times(case)).fold(0.0, f64::max);
    let mut finding = finding(
        &over,
        Weight::Note,
        format!("{} of {} measurements have more ranks than processors.", over.len(), cases.len()),
        format!(
            "Up to {} ranks share a processor there. Such times hold process switches; they tell how the service copes, \
             not how fast the machine passes messages.",
            significant(most)
        ),
        |_| String::new(),
    )?;
    finding.examples.clear();
    Some(finding)
}

/// Returns the times over message size that a straight line does not describe.
fn crooked(runs: &[Run], benchmarks: &[Benchmark]) -> Option<Finding> {
    let mut all = 0;
    let mut examples = Vec::new();
    let messages = |benchmark: &Benchmark| benchmark.group != analysis::limits::GROUP;
    for (index, benchmark) in benchmarks.iter().enumerate().filter(|(_, b)| messages(b)) {
        for fit in fits::all(benchmark, runs) {
            all += 1;
            if fit.model.failing_sizes().next().is_none() {
                continue;
            }
            let name =
                [benchmark.name, &fit.label].join(if fit.label.is_empty() { "" } else { ", " });
            let text = format!("{name}: fails {}", fits::failure(&fit.model));
            examples.push(Example { anchor: anchor(index), run: fit.run, text });
        }
    }
    let failing = examples.len();
    examples.truncate(EXAMPLES);
    (failing > 0).then(|| Finding {
        weight: Weight::Note,
        title: format!("A straight line fails for {failing} of {all} series of times over message size."),
        advice: "A start-up time and a rate do not describe them at every size; a change of protocol or the end of a \
                 cache does that. The residuals show where."
            .into(),
        examples,
    })
}

fn clock_bound(cases: &[Case]) -> Option<Finding> {
    let bound: Vec<&Case> =
        cases.iter().filter(|case| case.measurement.timing.clock_share > 0.05).collect();
    finding(
        &bound,
        Weight::Note,
        format!("{} measurements are affected by the cost of the clock.", bound.len()),
        "Reading the clock takes more than 5 % of each sample there.".into(),
        |m| whole_percent(m.timing.clock_share),
    )
}

fn late_starts(cases: &[Case]) -> Option<Finding> {
    let share = |m: &Measurement| m.timing.late_starts as f64 / m.summary.n.max(1) as f64;
    let mut late: Vec<&Case> = cases.iter().filter(|case| share(case.measurement) > 0.1).collect();
    late.sort_by(|a, b| share(b.measurement).total_cmp(&share(a.measurement)));
    finding(
        &late,
        Weight::Note,
        format!("In {} measurements ranks were often late for the start.", late.len()),
        "More than one sample in ten was discarded and repeated because of this: something else uses the processors.".into(),
        |m| format!("{} late starts for {} samples", m.timing.late_starts, m.summary.n),
    )
}

/// Returns the collectives for which a named algorithm was faster than the fabric's choice.
fn slower_choices(cases: &[Case], runs: &[Run]) -> Option<Finding> {
    let mut slower: Vec<(&Case, f64, String)> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let of_run = cases.iter().filter(|case| case.run == index);
        for choice in choices(of_run.clone().map(|case| case.measurement), &run.header().fabric) {
            let mut of_run = of_run.clone();
            let case = of_run.find(|case| std::ptr::eq(case.measurement, choice.chosen));
            if let (Verdict::Slower(times), Some(case)) = (choice.verdict(), case) {
                let name = choice.name.as_deref().unwrap_or("the choice");
                let fastest = choice.fastest_name();
                let text =
                    format!("{name} takes {} times as long as {fastest}", significant(times));
                slower.push((case, times, text));
            }
        }
    }
    slower.sort_by(|a, b| b.1.total_cmp(&a.1));
    let cases: Vec<&Case> = slower.iter().map(|(case, ..)| *case).collect();
    let text = |one: &Measurement| {
        let found = slower.iter().find(|(case, ..)| std::ptr::eq(case.measurement, one));
        found.map_or_else(String::new, |(.., text)| text.clone())
    };
    finding(
        &cases,
        Weight::Note,
        format!("Of {} collectives another algorithm is faster than the chosen one.", cases.len()),
        "The choice is a table for all machines; `cornerstone run --explain-plan` prints it. docs/collectives.md says how to \
         change it."
            .into(),
        text,
    )
}

/// Returns a finding with its first few cases, or `None` without cases.
fn finding(
    cases: &[&Case],
    weight: Weight,
    title: String,
    advice: String,
    text: impl Fn(&Measurement) -> String,
) -> Option<Finding> {
    let example = |case: &&Case| Example {
        anchor: case.anchor.clone(),
        run: case.run,
        text: format!(
            "{}, {}: {}",
            case.measurement.benchmark,
            full_label(case.measurement),
            text(case.measurement)
        ),
    };
    let examples = cases.iter().take(EXAMPLES).map(example).collect();
    (!cases.is_empty()).then_some(Finding { weight, title, advice, examples })
}
