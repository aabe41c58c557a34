//! Measures two commands alternately, launch by launch, until every number is decided or the time is over.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use analysis::compare::{ComparedRuns, Settings, Verdict, Without, compare, interim_checks};
use analysis::launches::pooled;
use record::{Measurement, Run};
use serde_json::json;

use super::{Outcome, note_differences, show};
use crate::arguments::{CompareArguments, Seconds, Share};
use crate::comparison::timed_only;
use crate::failure::Failure;
use crate::interruption::{Interruption, interrupted};
use crate::measured::{MeasuredCommand, Unmeasured, as_launch};
use crate::output::{comparison_name, print};
use crate::progress::note;
use crate::results::{self, ResultsFile};
use crate::wording::{counted, wait};

/// Default time of measuring.
const WITHIN_S: f64 = 600.0;

/// Default time limit of a case in a launch. Launches differ by more than their samples, so more launches decide more
/// than longer ones.
const LAUNCH_LIMIT: &str = "200ms";

/// Confidence of all checks together.
const CONFIDENCE: f64 = 0.95;

/// Number of failed pairs in a row that ends the comparison.
const FAILED_IN_A_ROW_MAX: u32 = 3;

/// A command with all its measurements.
struct Side {
    letter: char,
    command: MeasuredCommand,
    kept: Option<ResultsFile>,
    /// The launches of the complete pairs.
    run: Option<Run>,
    failed: u32,
}

/// Measures, and prints the result.
pub(super) fn execute(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    let [second] = &arguments.after[..] else {
        return Err(Failure::usage("--measure takes two commands")
            .hint("write each as one word: --measure 'OLD COMMAND' 'NEW COMMAND'"));
    };
    let mut pair = Pair {
        sides: [Side::new('a', &arguments.before)?, Side::new('b', second)?],
        begin: Instant::now(),
        within: Duration::from_secs_f64(arguments.within.map_or(WITHIN_S, |Seconds(s)| s)),
        interruption: Interruption::watch(),
        made: 0,
        failed_in_a_row: 0,
        dealt: None,
        time_over: false,
        out: arguments.out.clone(),
        without: arguments.stages.without(),
    };
    let ended = pair.measure(arguments.threshold);
    pair.end_files()?;
    let compared = ended?;
    let outcome = if arguments.json {
        print(&pair.json(&compared))?;
        Outcome::of(&compared, arguments)
    } else {
        let outcome = show(&compared, arguments)?;
        print(&pair.summary(&compared))?;
        outcome
    };
    Ok(outcome.status())
}

impl Side {
    fn new(letter: char, line: &Path) -> Result<Side, Failure> {
        let line = line.to_str().ok_or_else(|| Failure::usage("a command is not text"))?;
        let command = MeasuredCommand::new(line)?;
        Ok(Side { letter, command, kept: None, run: None, failed: 0 })
    }

    /// One launch, after so many that dealt their places; none if it is to keep the first places.
    fn launch(
        &self,
        launches_before: Option<u32>,
        until: Instant,
        interruption: &Interruption,
    ) -> Result<Run, Unmeasured> {
        let mut words = Vec::new();
        if !self.command.gives("--launches") {
            words.extend(["--launches", "1"]);
        }
        if self.command.has_ordinary_times() {
            words.extend(["--time-limit", LAUNCH_LIMIT]);
        }
        self.command.measure(&words, launches_before, until, interruption)
    }

    /// Keeps a launch, as number `number` of this side.
    fn keep(&mut self, launch: Run, number: u32, out: &Path) -> Result<(), Failure> {
        let headers = launch.headers.clone();
        let measurements = as_launch(launch, number);
        let kept = match &mut self.kept {
            Some(kept) => kept,
            None => {
                let mut file = ResultsFile::create(&of_side(out, self.letter))?;
                headers.iter().try_for_each(|header| file.append_header(header))?;
                self.kept.insert(file)
            }
        };
        kept.append(&measurements)?;
        let label = self.letter.to_string();
        let run = self.run.get_or_insert_with(|| Run::of(&label, headers, Vec::new()));
        run.measurements.extend(measurements);
        Ok(())
    }

    fn launches(&self) -> Run {
        self.run
            .clone()
            .map_or_else(|| Run::of("", Vec::new(), Vec::new()), |run| timed_only(pooled(run)))
    }
}

/// Both commands, and the progress of the comparison.
struct Pair {
    sides: [Side; 2],
    begin: Instant,
    within: Duration,
    interruption: Interruption,
    /// Number of complete pairs.
    made: u32,
    failed_in_a_row: u32,
    /// The number of launches of a command in a pair, if places are dealt anew in each of them on both sides.
    dealt: Option<u32>,
    /// Whether the time ended before every number was decided.
    time_over: bool,
    out: Option<PathBuf>,
    without: Without,
}

/// Outcome of an attempt at a pair of launches.
enum Attempt {
    Whole(Box<[Run; 2]>),
    Failed,
    TimeOver,
}

impl Pair {
    fn measure(&mut self, threshold: Share) -> Result<ComparedRuns, Failure> {
        let Share(margin) = threshold;
        // The error probability that the checks so far have used. When the time is over, no more checks follow, so the
        // last may use all that is left.
        let mut spent = 0.0;
        for (launches, confidence) in interim_checks(CONFIDENCE) {
            while (self.made as usize) < launches {
                match self.attempt()? {
                    Attempt::Whole(runs) => {
                        let are_exact = are_exact(&runs);
                        self.keep(*runs)?;
                        if are_exact {
                            return self.check(margin, CONFIDENCE);
                        }
                    }
                    Attempt::Failed => {}
                    Attempt::TimeOver => {
                        self.time_over = true;
                        return self.check(margin, CONFIDENCE + spent);
                    }
                }
            }
            let compared = self.check(margin, confidence)?;
            spent += 1.0 - confidence;
            let untold = compared.count(Verdict::Undecided);
            if untold == 0 {
                return Ok(compared);
            }
            let all = compared.comparisons.len();
            note(&format!(
                "after {launches} launches of each: {untold} of {} undecided yet",
                counted(all, "number")
            ));
        }
        unreachable!("there is always another check")
    }

    /// Makes a launch of each command. The first of the pair alternates between them, so that a machine that becomes
    /// slower affects both equally.
    fn attempt(&mut self) -> Result<Attempt, Failure> {
        let until = self.begin + self.within;
        // Both commands of a pair get the same places. In the first pair these are the first ones, whether a command
        // deals places or not.
        let before = if self.made == 0 { Some(0) } else { self.dealt.map(|each| each * self.made) };
        let order = if self.made.is_multiple_of(2) { [0, 1] } else { [1, 0] };
        let mut runs = [None, None];
        for side in order {
            match self.sides[side].launch(before, until, &self.interruption) {
                Ok(run) => runs[side] = Some(run),
                Err(Unmeasured::Interrupted(signal)) => {
                    return Err(
                        interrupted(signal).hint("the measurements are kept in the results files")
                    );
                }
                Err(Unmeasured::TimeOver) => return Ok(Attempt::TimeOver),
                Err(Unmeasured::Failed(why)) => {
                    return self.failed(side, &why).map(|()| Attempt::Failed);
                }
            }
        }
        let [Some(a), Some(b)] = runs else { unreachable!("both were measured") };
        self.failed_in_a_row = 0;
        Ok(Attempt::Whole(Box::new([a, b])))
    }

    /// Notes a failed launch. The other launches count. Fails if there are none, or if too many have failed in a row.
    fn failed(&mut self, side: usize, why: &str) -> Result<(), Failure> {
        self.failed_in_a_row += 1;
        let made = self.made;
        let side = &mut self.sides[side];
        side.failed += 1;
        let what = format!(
            "command {} ('{}') failed",
            side.letter.to_ascii_uppercase(),
            side.command.line()
        );
        if made == 0 || self.failed_in_a_row >= FAILED_IN_A_ROW_MAX {
            return Err(
                Failure::failed(format!("{what}: {why}")).hint("run it alone to see the cause")
            );
        }
        note(&format!(
            "note: {what} in one launch, which is discarded together with its partner: {why}"
        ));
        Ok(())
    }

    fn keep(&mut self, runs: [Run; 2]) -> Result<(), Failure> {
        let out = match &self.out {
            Some(out) => out.clone(),
            None => results::default_path(runs[0].header())?.with_extension(""),
        };
        if self.made == 0 {
            self.dealt = dealt(&runs);
        }
        for (side, run) in self.sides.iter_mut().zip(runs) {
            side.keep(run, self.made, &out)?;
        }
        self.made += 1;
        if self.made == 1 {
            self.out = Some(out);
            let [a, b] = [0, 1].map(|side: usize| self.sides[side].launches());
            note_differences(&a, &b);
            if !are_exact(&[a, b]) {
                self.announce();
            }
        }
        Ok(())
    }

    /// Notes how many launches are possible, after the first pair.
    fn announce(&self) {
        let took = self.begin.elapsed();
        let most = self.within.as_secs_f64() / took.as_secs_f64();
        note(&format!(
            "a launch of both takes {}: about {most:.0} in {}",
            wait(took.as_secs_f64()),
            wait(self.within.as_secs_f64())
        ));
    }

    /// Returns the comparison of all pairs so far.
    fn check(&self, margin: f64, confidence: f64) -> Result<ComparedRuns, Failure> {
        if self.made == 0 {
            return Err(Failure::failed("no launch of each command ended within the time limit")
                .hint("allow more time with --within TIME, or measure less"));
        }
        let [a, b] = [0, 1].map(|side: usize| self.sides[side].launches());
        let without = self.without;
        let settings =
            Settings { confidence, margin, paired: true, without, ..Settings::default() };
        let compared = compare(&a, &b, settings);
        if compared.comparisons.is_empty() {
            return Err(Failure::usage("the commands have no measurement in common")
                .hint("let both measure the same benchmarks, ranks and sizes"));
        }
        Ok(compared)
    }

    fn end_files(&mut self) -> Result<(), Failure> {
        for side in &mut self.sides {
            if let Some(kept) = &mut side.kept {
                kept.end()?;
                note(&format!("results  {}", kept.path().display()));
            }
        }
        Ok(())
    }

    /// Returns the number of failed launches.
    fn discarded(&self) -> u32 {
        self.sides.iter().map(|side| side.failed).sum()
    }

    /// Returns the comparison for programs, with the facts of its measuring.
    fn json(&self, compared: &ComparedRuns) -> String {
        let mut all = serde_json::to_value(compared).expect("numbers and text are JSON");
        all["measured"] = json!({
            "pairs": self.made,
            "discarded": self.discarded(),
            "took_s": self.begin.elapsed().as_secs_f64(),
            "within_s": self.within.as_secs_f64(),
            "time_over": self.time_over,
        });
        format!("{all}\n")
    }

    /// Returns the number of launches, and the names of the undecided numbers.
    fn summary(&self, compared: &ComparedRuns) -> String {
        let untold: Vec<String> = compared
            .comparisons
            .iter()
            .filter(|comparison| comparison.verdict == Verdict::Undecided)
            .map(|comparison| format!("  {}\n", comparison_name(&comparison.name)))
            .collect();
        let took = wait(self.begin.elapsed().as_secs_f64());
        let made = counted(self.made as usize, "alternating launch");
        let mut text = format!("{made} of each, {took}");
        let failed = self.discarded();
        if failed > 0 {
            text += &format!("; {failed} more failed and were discarded");
        }
        match untold.len() {
            0 => text + "; every number is decided\n",
            many => {
                let within = wait(self.within.as_secs_f64());
                text + &format!("; undecided after {within}: {many}\n{}", untold.concat())
            }
        }
    }
}

/// Returns whether all numbers are exact, so that other launches would measure the same.
fn are_exact(runs: &[Run; 2]) -> bool {
    runs.iter().flat_map(|run| &run.measurements).all(Measurement::is_exact)
}

/// The number of launches in a run of the first pair, if both commands deal places by the launches before them.
fn dealt(runs: &[Run; 2]) -> Option<u32> {
    let are_dealt = runs.each_ref().map(|run| run.header().launches_before == Some(0));
    if let [true, false] | [false, true] = are_dealt {
        let other = if are_dealt[0] { 'B' } else { 'A' };
        note(&format!(
            "note: command {other} does not deal the places of its ranks; both keep the same in all launches"
        ));
    }
    let launches = runs.iter().flat_map(|run| &run.measurements).map(|one| one.launch + 1).max();
    launches.filter(|_| are_dealt == [true; 2])
}

/// The results file of a side.
fn of_side(out: &Path, letter: char) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    out.with_file_name(format!("{name}-{letter}.jsonl"))
}
