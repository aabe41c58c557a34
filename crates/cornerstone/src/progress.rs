//! How far a run has come, on standard error: a live line on a terminal, a plain line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use contract::record::Trial;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::quantity::{percent, quantity, wait};

/// Where nobody watches a terminal, a line this often shows that the run lives.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(10);

/// Progress over steps whose lengths were estimated beforehand.
pub(crate) struct Progress {
    display: Display,
    steps: usize,
    done: usize,
    estimate_s: f64,
    /// The estimates of the steps that are done.
    done_estimate_s: f64,
    /// The step under way, and its estimate.
    label: String,
    step_estimate_s: f64,
    began: Instant,
}

enum Display {
    Live(ProgressBar),
    Plain { last: Instant },
}

impl Progress {
    /// Progress over `steps` steps that will take about `estimate_s` seconds.
    pub(crate) fn new(steps: usize, estimate_s: f64) -> Self {
        let display = if std::io::stderr().is_terminal() {
            Display::Live(bar(steps))
        } else {
            Display::Plain { last: Instant::now() }
        };
        Progress {
            display,
            steps,
            done: 0,
            estimate_s,
            done_estimate_s: 0.0,
            label: String::new(),
            step_estimate_s: 0.0,
            began: Instant::now(),
        }
    }

    /// Work begins on a step that will take about `estimate_s` seconds.
    pub(crate) fn begin(&mut self, label: &str, estimate_s: f64) {
        // A step of the plan may turn out to be several, such as a search for each mode of a chain.
        self.steps = self.steps.max(self.done + 1);
        self.step_estimate_s = estimate_s;
        self.label = label.to_string();
        self.show(label.to_string());
    }

    /// The step under way has so many samples, and so wide an interval of their median.
    pub(crate) fn detail(&mut self, samples: u64, half_width: Option<f64>) {
        let width = half_width.filter(|width| width.is_finite());
        let width = width.map_or_else(String::new, |width| format!(", ±{}", percent(width)));
        self.show(format!("{}: {samples} samples{width}", self.label));
    }

    /// Says how the last trial of a period went.
    pub(crate) fn trial(&mut self, trial: &Trial) {
        let Trial { instances, missed, .. } = trial;
        let period = quantity(trial.period_us, "us");
        let verdict = match (trial.sustained, trial.refused) {
            (true, _) => "sustained",
            (false, true) => "refused",
            (false, false) => "unclear",
        };
        self.show(format!("{}: {period} {verdict}, {missed} of {instances} missed", self.label));
    }

    fn show(&mut self, now: String) {
        let left = wait(self.left_s());
        let (done, steps) = (self.done, self.steps);
        match &mut self.display {
            Display::Live(bar) => {
                bar.set_prefix(format!("about {left} left"));
                bar.set_message(now);
            }
            Display::Plain { last } if last.elapsed() >= PLAIN_LINE_EVERY => {
                *last = Instant::now();
                note(&format!("{done} of {steps} done, about {left} left; now {now}"));
            }
            Display::Plain { .. } => {}
        }
    }

    /// The step under way is done.
    pub(crate) fn end(&mut self) {
        self.done += 1;
        self.done_estimate_s += self.step_estimate_s;
        if let Display::Live(bar) = &self.display {
            bar.set_length(self.steps as u64);
            bar.set_position(self.done as u64);
        }
    }

    /// Takes the live line away while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.display {
            Display::Live(bar) => bar.suspend(write),
            Display::Plain { .. } => write(),
        }
    }

    /// Takes the live line away for good.
    pub(crate) fn clear(&self) {
        if let Display::Live(bar) = &self.display {
            bar.finish_and_clear();
        }
    }

    /// Seconds left: by the estimates, corrected by how they have fared so far once that can be judged.
    fn left_s(&self) -> f64 {
        let left = (self.estimate_s - self.done_estimate_s).max(0.0);
        let elapsed = self.began.elapsed().as_secs_f64();
        if self.done_estimate_s > 0.0 && elapsed > 2.0 {
            left * elapsed / self.done_estimate_s
        } else {
            left
        }
    }
}

fn bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {prefix}  {wide_msg}");
    bar.set_style(style.expect("the template is a constant").progress_chars("━╸─"));
    bar
}

/// A line on standard error; that nobody reads it is no reason to end a run.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
