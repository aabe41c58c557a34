//! The progress of a run on standard error: a live line on a terminal, a plain line from time to time elsewhere.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use benchmark::Launch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::{Key, Trial};

use crate::remaining::Remaining;
use crate::wording::{percent, quantity, wait};

/// Interval of lines if standard error is no terminal. They show that the run is alive.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(20);
/// Shortest interval of changes of the live line: more often would disturb the ranks.
const LIVE_LINE_EVERY: Duration = Duration::from_millis(100);

/// Progress of a run.
pub(crate) struct Progress {
    display: Display,
    remaining: Remaining,
    began: Instant,
    /// Name of the step in progress.
    step: String,
    /// The time of the last line.
    shown: Instant,
}

enum Display {
    Live(ProgressBar),
    Plain,
}

impl Progress {
    /// Creates the progress of a run that begins now.
    pub(crate) fn new(remaining: Remaining) -> Self {
        let display = if std::io::stderr().is_terminal() {
            Display::Live(bar(remaining.steps().1))
        } else {
            Display::Plain
        };
        let now = Instant::now();
        Progress { display, remaining, began: now, step: String::new(), shown: now }
    }

    /// Returns the seconds since the beginning of the run.
    pub(crate) fn passed_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Sets the expected number of launches of cases.
    pub(crate) fn expect(&mut self, launches: &BTreeMap<Key, u32>) {
        self.remaining.expect(launches);
    }

    /// Begins the launch at this position of the plan, and ends the step before.
    pub(crate) fn begin_launch(&mut self, position: usize, launch: &Launch) {
        self.remaining.begin_launch(position, launch, self.passed_s());
    }

    /// Begins the next step of the launch, and ends the step before.
    pub(crate) fn begin(&mut self, label: &str) {
        self.remaining.begin_step(self.passed_s());
        self.step = label.into();
        self.show("");
    }

    /// Shows the number of samples of the step, and the half width of the interval of their median.
    pub(crate) fn detail(&mut self, samples: u64, half_width: Option<f64>) {
        let width = half_width.filter(|width| width.is_finite());
        let width = width.map_or_else(String::new, |width| format!(", ±{}", percent(width)));
        self.show(&format!(": {samples} samples{width}"));
    }

    /// Shows the result of the last trial of a period.
    pub(crate) fn trial(&mut self, trial: &Trial) {
        let Trial { instances, missed, .. } = trial;
        let period = quantity(trial.period_us, "us");
        let verdict = match (trial.sustained, trial.refused) {
            (true, _) if trial.proven => "sustained",
            (true, _) => "not refused",
            (false, true) => "refused",
            (false, false) => "unclear",
        };
        self.show(&format!(": {period} {verdict}, {missed} of {instances} missed"));
    }

    /// Shows the step in progress and its state.
    fn show(&mut self, state: &str) {
        let every = match self.display {
            Display::Live(_) => LIVE_LINE_EVERY,
            Display::Plain => PLAIN_LINE_EVERY,
        };
        if self.shown.elapsed() < every {
            return;
        }
        self.shown = Instant::now();
        let now = format!("{}{state}", self.step);
        let left = wait(self.remaining.left_s(self.passed_s()));
        let (done, steps) = self.remaining.steps();
        match &self.display {
            Display::Live(bar) => {
                bar.set_length(steps as u64);
                bar.set_position(done as u64);
                bar.set_prefix(format!("about {left} left"));
                bar.set_message(record::printable(&now).into_owned());
            }
            Display::Plain => {
                note(&format!(
                    "{done} of about {steps} measurements done, about {left} left; now {now}"
                ));
            }
        }
    }

    /// Hides the live line while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.display {
            Display::Live(bar) => bar.suspend(write),
            Display::Plain => write(),
        }
    }

    /// Removes the live line.
    pub(crate) fn clear(&self) {
        if let Display::Live(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

fn bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {prefix}  {wide_msg}");
    bar.set_style(style.expect("the template is a constant").progress_chars("━╸─"));
    bar
}

/// Writes a line to standard error, as [`say`] does.
pub(crate) fn note(line: &str) {
    say(&format!("{line}\n"));
}

/// Writes words to standard error. They may quote files and command lines, which may come from a stranger. There is one write,
/// because several could be split by the output of other processes, or by a launcher that ends. A failure is ignored, because
/// a run does not end because its output is not read.
pub(crate) fn say(words: &str) {
    let _ = std::io::stderr().write_all(record::printable(words).as_bytes());
}
