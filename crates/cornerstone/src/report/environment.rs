//! The provenance of the numbers: the machine, the command and the fabric of each run.

use maud::{Markup, html};
use record::{Run, RunHeader, Warning};

use super::elements::swatch;
use super::grouping::words;
use crate::wording::{about_size, states_met};

/// One fact of every run.
pub(super) struct Fact {
    pub(super) name: String,
    /// A value for each run. Empty if it is not known.
    pub(super) values: Vec<String>,
}

impl Fact {
    /// Returns whether the runs have different values.
    pub(super) fn differs(&self) -> bool {
        self.values.iter().any(|value| value != &self.values[0])
    }
}

/// Returns the facts of the machine, which should be equal in runs that are compared.
pub(super) fn machine(runs: &[Run]) -> Vec<Fact> {
    let mut facts = facts(
        runs,
        &[
            ("host", |h| h.environment.host.clone()),
            ("processor", |h| h.environment.processor.clone()),
            ("processors available", |h| h.environment.processors_available.to_string()),
            ("caches", |h| h.environment.caches.join(", ")),
            ("memory", |h| about_size(h.environment.memory_bytes)),
            ("operating system", |h| h.environment.kernel.clone()),
            ("clock source", |h| h.environment.clock_source.clone()),
            ("frequency governor", |h| h.environment.governor.clone()),
            ("virtualisation", |h| h.environment.virtualisation.clone()),
            ("load before", |h| {
                h.environment.load_before.map_or(String::new(), |load| format!("{load:.2}"))
            }),
        ],
    );
    facts.extend(named(runs, |header| &header.environment.other));
    facts
}

/// Returns the facts of the run.
pub(super) fn provenance(runs: &[Run]) -> Vec<Fact> {
    let mut facts = facts(
        runs,
        &[
            ("command", |h| h.command.join(" ")),
            ("started", |h| h.started.clone()),
            ("Cornerstone", |h| format!("{}, revision {}", h.cornerstone_version, h.revision)),
            ("seed", |h| h.seed.to_string()),
            ("wanted precision", |h| {
                let (precision, confidence) = (h.precision * 100.0, h.confidence * 100.0);
                format!("± {precision} % of the median at {confidence} % confidence")
            }),
            ("time limit of a measurement", |h| format!("{} s", h.time_limit_s)),
            ("fabric", |h| format!("{} {}", h.fabric.name, h.fabric.version)),
        ],
    );
    facts.extend(named(runs, |header| &header.fabric.details));
    let states = |run: &Run| states_met(run).unwrap_or_default();
    facts.push(Fact {
        name: "states of the machine".into(),
        values: runs.iter().map(states).collect(),
    });
    facts.push(Fact { name: "warnings".into(), values: runs.iter().map(warnings).collect() });
    facts.push(Fact { name: "sessions".into(), values: runs.iter().map(sessions).collect() });
    facts
}

/// Returns a table of facts with a column for each run. A row with different values is marked.
pub(super) fn table(title: &str, facts: &[Fact], runs: &[Run]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(title) {
            table.facts {
                caption { (title) }
                @if runs.len() > 1 {
                    thead { tr {
                        td {}
                        @for (index, run) in runs.iter().enumerate() {
                            th scope="col" { (swatch(index)) (run.label) }
                        }
                    } }
                }
                tbody {
                    @for fact in facts.iter().filter(|fact| fact.values.iter().any(|v| !v.is_empty())) {
                        tr.differs[fact.differs()] {
                            th scope="row" {
                                (fact.name)
                                @if fact.differs() { span.tag { "differs" } }
                            }
                            @for value in &fact.values { td { (value) } }
                        }
                    }
                }
            }
        }
    }
}

/// Extracts a fact from a header.
type Pick = fn(&RunHeader) -> String;

fn facts(runs: &[Run], pick: &[(&str, Pick)]) -> Vec<Fact> {
    pick.iter()
        .map(|(name, of)| Fact {
            name: (*name).into(),
            values: runs.iter().map(|run| of(run.header())).collect(),
        })
        .collect()
}

fn named(
    runs: &[Run],
    of: fn(&RunHeader) -> &std::collections::BTreeMap<String, String>,
) -> Vec<Fact> {
    let mut names: Vec<&String> = runs.iter().flat_map(|run| of(run.header()).keys()).collect();
    names.sort_unstable();
    names.dedup();
    let value = |run: &Run, name: &String| of(run.header()).get(name).cloned().unwrap_or_default();
    names
        .iter()
        .map(|name| Fact {
            name: words(name),
            values: runs.iter().map(|run| value(run, name)).collect(),
        })
        .collect()
}

fn warnings(run: &Run) -> String {
    let words = |one: &Warning| format!("launch {}: {}", one.launch + 1, one.text);
    run.warnings.iter().map(words).collect::<Vec<_>>().join("; ")
}

fn sessions(run: &Run) -> String {
    let count = match run.headers.len() {
        1 => "one".to_string(),
        more => format!("{more}, the later ones resumed the first"),
    };
    let end = match (run.ended, run.cut_off) {
        (true, _) => "ended in order",
        (false, true) => "stopped in the middle of a line",
        (false, false) => "did not end in order",
    };
    format!("{count}; {end}")
}
