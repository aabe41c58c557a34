//! Measures what each stage of a comparison is worth, on models of three kinds of machines: `make ablation`.
//!
//! Two runs of a build are compared, in which a quarter of the numbers takes longer by a planted difference, with all
//! stages and without each of them. Last comes how often intervals cover. The tables of docs/results.md are what it prints.

mod coverage;
mod models;

use analysis::compare::{STAGES, Settings, Verdict, Without, compare};
use analysis::launches::pooled;
use record::Run;

use models::{CASES, MODELS, Machine, Model};

/// Planted differences with the thresholds at which they are judged, as shares.
const PLANTED: [(f64, f64); 4] = [(0.0, 0.05), (0.01, 0.05), (0.03, 0.01), (0.1, 0.05)];
const LAUNCHES: [u32; 2] = [10, 30];

fn is_planted(case: usize) -> bool {
    case % 4 == 1
}

/// Verdicts on some numbers.
#[derive(Default)]
struct Counts {
    all: f64,
    /// Called different although they are not, or in the other direction.
    wrong: f64,
    undecided: f64,
    /// Numbers with a difference beyond the threshold: how many, how many were found, and how many were called the same.
    different: f64,
    found: f64,
    missed: f64,
}

impl Counts {
    fn add(&mut self, verdict: Verdict, is_slower: bool) {
        let add = |count: &mut f64, is_one: bool| *count += f64::from(u8::from(is_one));
        let differs = matches!(verdict, Verdict::Slower | Verdict::Faster);
        add(&mut self.all, true);
        add(&mut self.undecided, verdict == Verdict::Undecided);
        add(&mut self.different, is_slower);
        add(&mut self.found, is_slower && verdict == Verdict::Slower);
        add(&mut self.missed, is_slower && verdict == Verdict::Same);
        add(&mut self.wrong, differs && !(is_slower && verdict == Verdict::Slower));
    }

    /// Returns the shares of a row: false and undecided, and missed and found if a difference was planted.
    fn shares(&self) -> String {
        let percent = |count: f64, of: f64| format!(" {:.1} % |", 100.0 * count / of);
        let shares = percent(self.wrong, self.all) + &percent(self.undecided, self.all);
        match self.different {
            0.0 => shares,
            all => shares + &percent(self.missed, all) + &percent(self.found, all),
        }
    }
}

/// Returns pairs of runs, minutes apart.
fn pairs(model: Model, launches: u32, planted: f64, count: u64) -> Vec<[Run; 2]> {
    let pair = |seed| {
        let mut machine = Machine::new(model, 1000 + seed);
        let first = pooled(machine.run(launches, |_| 1.0));
        machine.begin_minute();
        let times = |case| if is_planted(case) { 1.0 + planted } else { 1.0 };
        [first, pooled(machine.run(launches, times))]
    };
    (0..count).map(pair).collect()
}

fn counted(pairs: &[[Run; 2]], (planted, margin): (f64, f64), without: Without) -> Counts {
    let mut counts = Counts::default();
    for [first, second] in pairs {
        let settings = Settings { margin, mostly_alike: true, without, ..Settings::default() };
        let compared = compare(first, second, settings);
        assert_eq!(compared.comparisons.len(), CASES, "every number is in both runs");
        for (case, one) in compared.comparisons.iter().enumerate() {
            counts.add(one.verdict, is_planted(case) && planted > margin);
        }
    }
    counts
}

fn main() {
    let count = match std::env::args().nth(1).map(|word| word.parse()) {
        None => 100,
        Some(Ok(count)) => count,
        Some(Err(_)) => {
            eprintln!("ablation: the number of pairs of runs is a number, such as 100");
            std::process::exit(2);
        }
    };
    let off = |name: &str| Without::default().and(name).expect("the name of a stage");
    let mut variants = vec![("all".to_string(), Without::default())];
    variants
        .extend(STAGES.iter().map(|stage| (format!("without `{}`", stage.name), off(stage.name))));
    for model in MODELS {
        println!("\n{} ({})\n", model.name, model.source);
        println!("| launches | stages |{}", PLANTED.map(header).concat());
        println!("|---|---|{}", "---|".repeat(2 * PLANTED.len() + 4));
        for launches in LAUNCHES {
            let pairs = PLANTED.map(|(planted, _)| pairs(model, launches, planted, count));
            for (variant, without) in &variants {
                let shares = |(pairs, planted)| counted(pairs, planted, *without).shares();
                let shares: Vec<String> =
                    pairs.iter().map(Vec::as_slice).zip(PLANTED).map(shares).collect();
                println!("| {launches} | {variant} |{}", shares.concat());
            }
        }
    }
    println!("\n| machine | launches | claimed | its minute | all minutes | ratio of two runs |");
    println!("|---|---|---|---|---|---|");
    MODELS.iter().for_each(|&model| coverage::rows(model, count));
}

/// Returns the header of the shares of a planted difference.
fn header((planted, margin): (f64, f64)) -> String {
    let words: &[&str] = if planted > margin {
        &["false", "undecided", "missed", "found"]
    } else {
        &["false", "undecided"]
    };
    let of = format!("{:.0} % at {:.0} %", 100.0 * planted, 100.0 * margin);
    words.iter().map(|word| format!(" {of}: {word} |")).collect()
}

#[cfg(test)]
mod tests {
    use models::{BARE, CLOUD, VIRTUAL};

    use super::*;

    /// Returns the share of the numbers of one build that are called different, and of those that are undecided.
    fn of_one_build(model: Model, without: &str) -> [f64; 2] {
        let without = Without::default().and(without).unwrap_or_default();
        let counts = counted(&pairs(model, 10, 0.0, 24), PLANTED[0], without);
        [counts.wrong / counts.all, counts.undecided / counts.all]
    }

    #[test]
    fn runs_of_one_build_are_hardly_ever_called_different_and_a_bare_host_decides_all() {
        for model in MODELS {
            let [wrong, _] = of_one_build(model, "");
            assert!(wrong <= 0.02, "{}: {wrong}", model.name);
        }
        assert!(of_one_build(BARE, "")[1] <= 0.1);
        let found = counted(&pairs(BARE, 10, 0.1, 12), PLANTED[3], Without::default());
        assert!(found.found >= 0.95 * found.different, "{}", found.found / found.different);
    }

    #[test]
    fn each_stage_is_worth_what_it_is_there_for() {
        let [with, without] =
            ["", "states"].map(|off| of_one_build(VIRTUAL, off).iter().sum::<f64>());
        assert!(without > with + 0.02, "states: {with} and {without}");
        let [with, without] = ["", "speed"].map(|off| of_one_build(VIRTUAL, off)[1]);
        assert!(without > with + 0.02, "speed: {with} and {without}");
        let [with, without] = ["", "shared"].map(|off| of_one_build(CLOUD, off)[0]);
        assert!(without > with + 0.02, "shared: {with} and {without}");
    }
}
