//! How often intervals contain what they are intervals of.

use analysis::compare::{Settings, compare};
use analysis::launches::pooled;
use analysis::statistics::Sample;
use record::{Measurement, Run};

use crate::models::{CASES, Machine, Model};
use crate::{is_planted, pairs};

const LAUNCHES: [u32; 3] = [5, 10, 30];
/// Numbers of launches and of minutes that give the true medians.
const LAUNCHES_OF_MINUTE: u32 = 300;
const MINUTES: usize = 1000;
const PLANTED: f64 = 0.1;

/// A count of intervals, and of those that cover.
#[derive(Default)]
struct Covered(f64, f64);

impl Covered {
    fn add(&mut self, ends: [f64; 2], truth: f64) {
        self.0 += 1.0;
        self.1 += f64::from(u8::from((ends[0]..=ends[1]).contains(&truth)));
    }

    fn share(&self) -> String {
        format!("{:.1} %", 100.0 * self.1 / self.0)
    }
}

/// Prints a row for each number of launches: the confidence that intervals claim, and the shares that cover: of the
/// intervals of runs the median of the launches of their minute, and of all minutes, and of the intervals of the ratio of
/// two runs the planted one.
pub(crate) fn rows(model: Model, count: u64) {
    let of_all: Vec<Vec<f64>> =
        (0..model.states()).map(|state| of_all_minutes(model.in_state(state))).collect();
    for launches in LAUNCHES {
        let (mut claimed, mut minute, mut all) = (0.0, Covered::default(), Covered::default());
        for seed in 0..count {
            let mut machine = Machine::new(model, 5000 + seed);
            let run = pooled(machine.run(launches, |_| 1.0));
            let state = commonest(model, &run);
            machine.stay_in(state);
            let of_minute = medians(&machine.run(LAUNCHES_OF_MINUTE, |_| 1.0));
            for (case, m) in run.measurements.iter().enumerate() {
                let ends = [m.summary.ci_low, m.summary.ci_high];
                claimed += m.summary.ci_confidence / (count as f64 * CASES as f64);
                minute.add(ends, of_minute[case]);
                all.add(ends, of_all[state][case]);
            }
        }
        let ratio = of_ratios(model, launches, count);
        let [minute, all, ratio] = [minute, all, ratio].map(|covered| covered.share());
        println!(
            "| {} | {launches} | {:.1} % | {minute} | {all} | {ratio} |",
            model.name,
            100.0 * claimed
        );
    }
}

fn of_ratios(model: Model, launches: u32, count: u64) -> Covered {
    let settings = Settings { mostly_alike: true, ..Settings::default() };
    let mut covered = Covered::default();
    for [first, second] in pairs(model, launches, PLANTED, count) {
        for (case, one) in compare(&first, &second, settings).comparisons.iter().enumerate() {
            let truth = if is_planted(case) { 1.0 + PLANTED } else { 1.0 };
            if let Some(effect) = one.effect.filter(|effect| effect.reaches(settings.confidence)) {
                covered.add([effect.low, effect.high], truth);
            }
        }
    }
    covered
}

/// Returns the state in which most launches of a run were made, by their lines.
fn commonest(model: Model, run: &Run) -> usize {
    let lines = || run.measurements.iter().flat_map(|m| m.launch_lines_us.iter().flatten());
    let near = |state: usize| lines().filter(|&&us| model.nearest_state(us) == state).count();
    (0..model.states()).max_by_key(|&state| near(state)).unwrap_or(0)
}

/// Returns the median of each number over many minutes.
fn of_all_minutes(model: Model) -> Vec<f64> {
    let mut machine = Machine::new(model, 7);
    let mut all = Run::of("all", Vec::new(), Vec::new());
    for _ in 0..MINUTES {
        machine.begin_minute();
        all.measurements.extend(machine.run(1, |_| 1.0).measurements);
    }
    medians(&all)
}

/// Returns the median of the launches of each number.
fn medians(run: &Run) -> Vec<f64> {
    let of_case = |case: usize| {
        let own = |m: &&Measurement| m.benchmark == format!("number-{case}");
        let launches = run.measurements.iter().filter(own);
        let values: Vec<f64> = launches.map(|m| m.summary.median).collect();
        Sample::new(&values[..]).expect("every number was measured").median()
    };
    (0..CASES).map(of_case).collect()
}
