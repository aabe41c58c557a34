//! Programmable message passing: any pattern of sends and receives, repeated each period.

mod interpreter;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use contract::{Error, Result};
use pattern::Pattern;
use record::Parameters;

use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group, Repeats};
use crate::options::PERIODS;
use crate::presentation::View;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO};
use crate::ranks::RankRule;
use crate::settings::PatternText;
use crate::{paper, period};

pub use interpreter::Interpreter;

pub(in crate::programs) const PMP: Benchmark = Benchmark {
    name: "pmp",
    group: Group::RealTime,
    summary: "a pattern of sends and receives from a file: the shortest sustained period",
    explains: "Each rank executes its node's code sequence once in every period: `R` waits for the posted \
        receive and posts the next, `S n b` sends b bytes to node n, `W f` waits until the fraction f of the \
        period has passed, `L n (...)` repeats. A rank meets its deadline if its sequence ends within the period. \
        `rate` is the amount sent by the node that sends most, divided by the shortest sustained period. The \
        messages received last are checked. Run it by `cornerstone pmp FILE`, with one rank for each node of the \
        pattern.",
    source: paper::MITRE.part("section 4.3.2"),
    ranks: RankRule::AtLeast(1),
    view: View::Pattern,
    cases,
    program: Program {
        in_a_row: false,
        blocks: |_| Blocks { send: 1, receive: 2, ..Blocks::NONE },
        received: Received::Nothing,
        ..BETWEEN_TWO
    },
    measure,
    lasts_s: Some(|settings, _| period::lasts_s(settings)),
    repeats: Repeats::Trials,
    options: &[PERIODS],
    repeatable: false,
    ..BENCHMARK
};

/// Returns one measurement if there is a pattern; its size is that of the longest message.
fn cases(scope: &Scope) -> Vec<Case> {
    let Some(text) = &scope.settings.pattern else { return Vec::new() };
    // An invalid pattern is refused when it is executed, and before that by the reader of the file.
    let size_bytes = text.read().map_or(0, |pattern| u64::from(pattern.largest_bytes()));
    let parameters = Parameters::from([("pattern".into(), text.title().into())]);
    period::variants(scope, vec![Case { parameters, size_bytes }])
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let text = bench.settings.pattern.as_ref();
    let text = text.ok_or_else(|| {
        Error::Program("there is no pattern to run; `cornerstone pmp FILE` brings one".into())
    })?;
    let pattern = text.read().map_err(|refusal| Error::Program(refusal.to_string()))?;
    check_nodes(&pattern, bench.shape.ranks)?;
    let mut interpreter = Interpreter::new(&pattern, bench.shape.me, bench.settings.seed)?;
    interpreter.begin(bench.rank)?;
    let found = period::find(bench, &mut |rank, trial, deadlines| {
        for instance in 0..trial.instances {
            let start = trial.start(instance);
            deadlines.wait_for(rank, instance);
            interpreter.period(rank, start, trial.period)?;
            deadlines.ended(instance, 0, rank.now());
        }
        Ok(())
    })?;
    interpreter.finish(bench.rank)?;
    let busiest = pattern.nodes.iter().map(|node| node.totals().sent_bytes).max().unwrap_or(0);
    period::report(bench, found, Parameters::new(), |first| {
        Ok(period::rate(first, busiest as f64).into_iter().collect())
    })
}

fn check_nodes(pattern: &Pattern, ranks: usize) -> Result<()> {
    let nodes = pattern.nodes.len();
    if nodes == ranks {
        return Ok(());
    }
    let name = &pattern.name;
    Err(Error::Program(format!(
        "{name} has {nodes} nodes and runs with as many ranks, not {ranks}"
    )))
}

const KEY: &str = "pattern ";

impl PatternText {
    /// Returns the parsed pattern.
    ///
    /// # Errors
    /// All mistakes in it.
    pub fn read(&self) -> std::result::Result<Pattern, pattern::Refusal> {
        pattern::read(&self.name, &self.text)
    }

    /// Returns its name among the texts of a run's record.
    pub fn key(&self) -> String {
        format!("{KEY}{}", self.name)
    }

    /// Returns the patterns among the texts of a run's record.
    pub fn among(texts: &BTreeMap<String, String>) -> impl Iterator<Item = PatternText> {
        texts.iter().filter_map(|(key, text)| {
            let name = key.strip_prefix(KEY)?.to_string();
            Some(PatternText { name, text: text.clone() })
        })
    }

    /// Returns its name without folders and extension, which distinguishes results.
    pub fn title(&self) -> &str {
        let file = self.name.rsplit('/').next().unwrap_or(&self.name);
        file.strip_suffix(".pmp").unwrap_or(file)
    }
}
