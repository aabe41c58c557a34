//! Synthetic communication: messages whose destinations, lengths and moments a model of locality draws.

use std::str::FromStr;

use analysis::limits::BoundRule;
use applications::traffic::{MessagePlan, Model, Rule, TrafficProgram, run_lengths};
use contract::{Error, Rank, Result, TimeSpan};
use record::{Better, Measurement, ParameterValue, Parameters};

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::data::Blocks;
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::options::{LOCALITY, TIMED};
use crate::paper;
use crate::presentation::View;
use crate::programs::applications::APPLICATION;
use crate::ranks::RankRule;
use crate::settings::TrafficSettings;

pub(in crate::programs) const TRAFFIC: Benchmark = Benchmark {
    name: "traffic",
    group: Group::Synthetic,
    summary: "messages with temporal and spatial locality, of random lengths",
    explains: "The ranks send `messages` messages together, each a P-th of them. With the probability of a hit a message goes to \
        the same rank as the one before, or to that at another place of a stack of the last destinations (`hits`); else to one \
        outside the stack, by a rule: uniform; sphere, one at no more than `radius` hops (with `inside_percent` of all); \
        decreasing, one at l hops in proportion to d^l (`decay_percent` is 100 d). Hops are those of a hypercube: the bits in \
        which two ranks' numbers differ. Lengths have a negative exponential distribution whose mean is the size, and no less \
        than 16 bytes; so have the gaps between the moments at which a rank makes messages, if there are any. Nobody waits for a \
        send, and receives are posted. Each event is another run of the model; the time is from a synchronised start to the \
        last rank's last message. `delay` is from the moment at which a message is made until its receiver has it, of the last run; `hops` and \
        `run-length`, the messages in a row to one rank, are means of what was drawn. `run-share` is the share of those runs that are `length` long. In virtual time a measurement goes on until its interval is narrow enough, \
        unless --time-limit is given. Simulated machines give the queue of each link, in the report and with --format json.",
    source: paper::HYPERCUBE.part("synthetic communication benchmarks, figures 7 to 9"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::None,
    view: View::Localities,
    cases: models,
    program: crate::program::Program { blocks: |_| Blocks::NONE, ..APPLICATION.program },
    measure,
    options: &[TIMED, LOCALITY],
    ..APPLICATION
};

const RULE: &str = "rule";
const RADIUS: &str = "radius";
const INSIDE: &str = "inside_percent";
const DECAY: &str = "decay_percent";
const HIT: &str = "hit_percent";
const HITS: &str = "hits";
const MESSAGES: &str = "messages";
const GAP: &str = "gap_us";
const FLUSH: &str = "flush";

const MEAN_BYTES: u64 = 512;
/// Rules of figure 7, and those of figure 8 with its probabilities of hits in percent.
const FIGURE_7: [&str; 10] = [
    "uniform",
    "sphere:1",
    "sphere:2",
    "sphere:3",
    "sphere:4",
    "decreasing:0.1",
    "decreasing:0.3",
    "decreasing:0.5",
    "decreasing:0.7",
    "decreasing:0.9",
];
const FIGURE_8: ([&str; 3], [&str; 3]) =
    (["uniform", "sphere:1", "decreasing:0.5"], ["0.3", "0.6", "0.9"]);
/// Lengths of the runs whose share is reported.
const LENGTHS: [usize; 6] = [1, 2, 5, 10, 20, 40];
/// Longest virtual time of a measurement, in seconds.
const VIRTUAL_LIMIT_S: f64 = 3600.0;

/// A rule and the probabilities of hits in the user's notation.
struct Written {
    rule: Rule,
    hits: Vec<f64>,
}

/// Checks a rule of spatial locality in the user's notation: the record contains probabilities in whole percents.
///
/// # Errors
/// The mistake in words, and the available rules.
pub fn check_rule(text: &str) -> std::result::Result<(), String> {
    let rule = Rule::from_str(text)?;
    let percents = match rule {
        Rule::Uniform => Vec::new(),
        Rule::Sphere { inside, .. } => vec![inside],
        Rule::Decreasing { decay } => vec![decay],
    };
    match percents.into_iter().all(|share| is_percent(100.0 * share)) {
        true => Ok(()),
        false => {
            Err(format!("'{text}' has more than two digits; give a probability in hundredths"))
        }
    }
}

/// Checks the probabilities of hits, `0.9` or `0.5+0.2+0.1`.
///
/// # Errors
/// The mistake in words, and the notation.
pub fn check_hits(text: &str) -> std::result::Result<(), String> {
    let words = "such as 0.9, or 0.5+0.2 for two places: hundredths of which the sum is at most 1";
    let hits =
        hits_of(text).ok_or_else(|| format!("'{text}' is no list of probabilities, {words}"))?;
    let sum: f64 = hits.iter().sum();
    match hits.iter().all(|hit| (0.0..=1.0).contains(hit) && is_percent(100.0 * hit))
        && sum < 1.0 + 1e-9
    {
        true => Ok(()),
        false => Err(format!("'{text}' are no probabilities of hits, {words}")),
    }
}

fn is_percent(percent: f64) -> bool {
    (percent - percent.round()).abs() < 1e-9
}

fn hits_of(text: &str) -> Option<Vec<f64>> {
    let hits = text.split('+').map(|hit| hit.trim().parse::<f64>().ok());
    let hits: Vec<f64> = hits.collect::<Option<_>>()?;
    // A stack without hits is the same as none.
    Some(if hits == [0.0] { Vec::new() } else { hits })
}

fn models(scope: &Scope) -> Vec<Case> {
    let TrafficSettings { rules, hits, messages, gap_us, flush } = &scope.settings.traffic;
    let mut written: Vec<(String, String)> = Vec::new();
    let named = |rules: &[String], hits: &[String]| -> Vec<(String, String)> {
        let of =
            |rule: &String| hits.iter().map(|hit| (rule.clone(), hit.clone())).collect::<Vec<_>>();
        rules.iter().flat_map(of).collect()
    };
    let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    if rules.is_empty() && hits.is_empty() {
        written.extend(named(&owned(&FIGURE_7), &owned(&["0"])));
        written.extend(named(&owned(&FIGURE_8.0), &owned(&FIGURE_8.1)));
        written.extend(named(&owned(&["decreasing:0.1"]), &owned(&["0.9"])));
    } else {
        let rules = if rules.is_empty() { owned(&FIGURE_8.0) } else { rules.clone() };
        let hits = if hits.is_empty() { owned(&["0"]) } else { hits.clone() };
        written.extend(named(&rules, &hits));
    }
    let of_sizes = |(rule, hits): (String, String)| {
        let parameters = parameters(&rule, &hits, (*messages, *gap_us, *flush));
        let of = move |case| Case { parameters: parameters.clone(), ..case };
        sized(scope, &[MEAN_BYTES]).into_iter().map(of)
    };
    written.into_iter().flat_map(of_sizes).collect()
}

/// Returns the parameters of a model for the record.
fn parameters(rule: &str, hits: &str, (messages, gap_us, flush): (u64, u64, u64)) -> Parameters {
    let percent = |share: f64| ParameterValue::Number((100.0 * share).round() as u64);
    let mut all = Parameters::from([(MESSAGES.to_string(), messages.into())]);
    let mut add = |name: &str, value: ParameterValue| all.insert(name.into(), value);
    match Rule::from_str(rule) {
        Ok(Rule::Uniform) | Err(_) => _ = add(RULE, "uniform".into()),
        Ok(Rule::Sphere { radius, inside }) => {
            add(RULE, "sphere".into());
            add(RADIUS, u64::from(radius).into());
            if inside < 1.0 {
                add(INSIDE, percent(inside));
            }
        }
        Ok(Rule::Decreasing { decay }) => {
            add(RULE, "decreasing".into());
            add(DECAY, percent(decay));
        }
    }
    match hits_of(hits).unwrap_or_default()[..] {
        [] => _ = add(HIT, 0u64.into()),
        [hit] => _ = add(HIT, percent(hit)),
        _ => _ = add(HITS, hits.into()),
    }
    for (name, value) in [(GAP, gap_us), (FLUSH, flush)] {
        if value > 0 {
            add(name, value.into());
        }
    }
    all
}

/// Returns the rule and the hits that the parameters of a step name.
fn written(bench: &Bench<'_>) -> Result<Written> {
    let text = |name: &str| bench.step.parameters.get(name).map(ToString::to_string);
    let share = |name: &str| bench.number(name).map(|percent| percent as f64 / 100.0);
    let rule = match text(RULE).unwrap_or_default().as_str() {
        "uniform" => Rule::Uniform,
        "sphere" => Rule::Sphere {
            radius: bench.number(RADIUS)? as u32,
            inside: if text(INSIDE).is_some() { share(INSIDE)? } else { 1.0 },
        },
        "decreasing" => Rule::Decreasing { decay: share(DECAY)? },
        _ => return Err(bench.unknown(RULE)),
    };
    let hits = match text(HITS) {
        Some(text) => hits_of(&text).ok_or_else(|| bench.unknown(HITS))?,
        None => Some(share(HIT)?).filter(|&hit| hit > 0.0).into_iter().collect(),
    };
    Ok(Written { rule, hits })
}

fn model(bench: &Bench<'_>) -> Result<Model> {
    let Written { rule, hits } = written(bench)?;
    let optional = |name: &str| bench.number(name).unwrap_or(0);
    Ok(Model {
        messages: bench.number(MESSAGES)?,
        hits,
        rule,
        mean_bytes: bench.step.size_bytes,
        mean_gap: TimeSpan::from_us(optional(GAP) as u64),
        flush_every: optional(FLUSH),
        seed: bench.settings.seed,
    })
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let model = model(bench)?;
    let mut traffic = match TrafficProgram::new(bench.rank, &model) {
        Err(Error::Program(reason)) => return bench.skip(reason),
        made => made?,
    };
    if bench.rank.clock().is_virtual && !bench.settings.time_limit_is_chosen {
        bench.limit = TimeSpan::from_s(VIRTUAL_LIMIT_S);
    }
    let program = bench.definition.program;
    let outcome = bench.measure(program.timing, program.in_a_row, |rank| traffic.run(rank))?;
    let delays = all_delays(bench.rank, &traffic.finished().delays_us)?;
    let Some(outcome) = outcome else { return Ok(()) };
    let subject = bench.subject(Parameters::new());
    let time = subject.time(1, &outcome)?;
    let timing = time.timing.clone();
    let delay = subject.metric(("delay", "us"), delays, timing)?;
    let drawn = drawn(&model, bench.shape.ranks)?;
    let mut all = vec![delay];
    for (name, value) in [("hops", drawn.hops), ("run-length", drawn.mean_run)] {
        let metric = subject.derived(&time, name, "", |_| value)?;
        all.push(Measurement { better: Better::Lower, ..metric });
    }
    for (length, share) in drawn.shares {
        let metric = subject.derived(&time, "run-share", "%", |_| 100.0 * share)?;
        let mut parameters = metric.parameters.clone();
        parameters.insert("length".into(), (length as u64).into());
        all.push(Measurement { better: Better::Lower, parameters, ..metric });
    }
    all.insert(0, time);
    bench.emit(Event::Measured(all))
}

/// Returns the delays of all messages of all ranks, at rank 0.
fn all_delays(rank: &mut dyn Rank, own: &[f64]) -> Result<Vec<f64>> {
    let ranks = rank.size();
    let mut counts = vec![0u64; ranks];
    rank.allgather(
        bytemuck::cast_slice(&[own.len() as u64]),
        bytemuck::cast_slice_mut(&mut counts),
    )?;
    let most = counts.iter().copied().max().unwrap_or(0) as usize;
    let mut padded = own.to_vec();
    padded.resize(most, 0.0);
    let mut all = vec![0.0f64; if rank.rank() == 0 { most * ranks } else { 0 }];
    rank.gather(0, bytemuck::cast_slice(&padded), bytemuck::cast_slice_mut(&mut all))?;
    let of_rank = |(all, &count): (&[f64], &u64)| all[..count as usize].to_vec();
    Ok(all.chunks(most.max(1)).zip(&counts).flat_map(of_rank).collect())
}

/// Properties of the model's first runs of all ranks.
struct Drawn {
    hops: f64,
    mean_run: f64,
    /// Shares of runs of some lengths, if hits make runs.
    shares: Vec<(usize, f64)>,
}

fn drawn(model: &Model, ranks: usize) -> Result<Drawn> {
    const RUNS: u64 = 20;
    let (mut hops, mut runs) = (0.0, Vec::new());
    for run in 0..RUNS {
        for me in 0..ranks {
            let plan = MessagePlan::new(model, me, ranks, run)?;
            hops += plan.mean_hops(me) / (RUNS as f64 * ranks as f64);
            runs.extend(run_lengths(&plan));
        }
    }
    let count = runs.len().max(1) as f64;
    let share = |&length: &usize| {
        let found = runs.iter().filter(|&&run| run == length).count() as f64 / count;
        (length, found)
    };
    let lengths: &[usize] = if model.hits.len() == 1 { &LENGTHS } else { &[] };
    Ok(Drawn {
        hops,
        mean_run: runs.iter().sum::<usize>() as f64 / count,
        shares: lengths.iter().map(share).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_hits_are_checked_as_they_are_written() {
        for good in ["uniform", "sphere:2", "sphere:2:0.75", "decreasing:0.07"] {
            assert_eq!(check_rule(good), Ok(()), "{good}");
        }
        assert!(check_rule("sphere").unwrap_err().contains("is no rule"));
        assert!(check_rule("decreasing:0.123").unwrap_err().contains("hundredths"));
        for good in ["0", "0.9", "1", "0.5+0.2+0.3"] {
            assert_eq!(check_hits(good), Ok(()), "{good}");
        }
        for wrong in ["", "x", "0.9+0.2", "-0.1", "0.555", "2"] {
            assert!(check_hits(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_record_has_what_the_model_is_made_of() {
        let all = parameters("sphere:2:0.75", "0.5+0.2", (3000, 700, 50));
        let recorded = |name: &str| all.get(name).map(ToString::to_string);
        let expected = [
            (RULE, "sphere"),
            (RADIUS, "2"),
            (INSIDE, "75"),
            (HITS, "0.5+0.2"),
            (MESSAGES, "3000"),
            (GAP, "700"),
            (FLUSH, "50"),
        ];
        for (name, value) in expected {
            assert_eq!(recorded(name).as_deref(), Some(value), "{name}");
        }
        assert_eq!(all.len(), expected.len());
    }
}
